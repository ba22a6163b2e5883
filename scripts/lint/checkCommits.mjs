/**
 * Checks the subjects of new commits: `area: imperative summary`, at most 72 characters, no full stop at the end. Commits up to `FIRST`
 * are older than this rule. Without git, or without that commit (a shallow clone), nothing is checked.
 */
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

const FIRST = '8d2ee3e4';
const LONGEST = 72;
/** Beginnings of a summary that are not in the imperative: other forms of verbs, articles, pronouns, prepositions. */
const NO_IMPERATIVE =
  /^(\w+(ed|ing)|\w+[^s\W]s|an?|the|this|that|these|those|all|each|every|some|no|not|more|new|it|its|is|are|was|were|now|of|for|in|on|with|to|and)\b/i;
/** Imperatives and other verbs that end like the forms above. */
const IMPERATIVES = /^(bring|embed|feed|need|seed|shed|speed|bed|sing|ring|focus|bias)\b/i;

/** The error in a subject; null for a valid one. */
export function problemOf(subject) {
  if (subject.length > LONGEST) return `has ${subject.length} characters, at most ${LONGEST} are allowed`;
  const found = /^[a-zA-Z0-9_./, -]+: (.+)$/.exec(subject);
  if (found === null) return 'does not have the form "area: imperative summary"';
  const [, summary] = found;
  if (summary.endsWith('.')) return 'ends with a full stop';
  if (NO_IMPERATIVE.test(summary) && !IMPERATIVES.test(summary)) return 'does not start with an imperative';
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
