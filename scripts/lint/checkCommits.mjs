/**
 * Checks the subjects of new commits: `area: imperative summary`, at most 72 characters, no full stop at the end. The summary
 * begins with a verb of `commitVerbs.txt`. Commits up to `FIRST` are older than this rule. Without git, or without that commit
 * (a shallow clone), nothing is checked.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const FIRST = 'e617f415';
const LONGEST = 72;
/** Verbs in the imperative, in lower case. */
const VERBS = new Set(
  readFileSync(new URL('commitVerbs.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => /^[a-z]/.test(line)),
);

/** The error in a subject; null for a valid one. */
export function problemOf(subject) {
  if (subject.length > LONGEST) return `has ${subject.length} characters, at most ${LONGEST} are allowed`;
  const found = /^[a-zA-Z0-9_./, -]+: (.+)$/.exec(subject);
  if (found === null) return 'does not have the form "area: imperative summary"';
  const [, summary] = found;
  if (summary.endsWith('.')) return 'ends with a full stop';
  const [first] = summary.split(/[ ,]/);
  if (!VERBS.has(first.toLowerCase()))
    return `does not start with an imperative: scripts/lint/commitVerbs.txt does not contain "${first}"`;
  return null;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { status, stdout } = spawnSync('git', ['log', '--no-merges', '--format=%h %s', `${FIRST}..HEAD`], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    console.log('commit subjects are not checked: no git history here');
    process.exit(0);
  }
  const bad = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ line, problem: problemOf(line.slice(line.indexOf(' ') + 1)) }))
    .filter(({ problem }) => problem !== null);
  for (const { line, problem } of bad) console.error(`${line}: ${problem}`);
  process.exit(bad.length > 0 ? 1 : 0);
}
