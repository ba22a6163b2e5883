/** Sources that comments cite: files of this repository, or files of other programs that `scripts/lint/sourceFiles.txt` lists. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['src', 'native', 'scripts', 'launcher', 'test', 'docs', 'contrib', 'data', 'man', '.ci'];
/** Files that a build or a run writes, programs whose name looks like a file, and patterns. */
const OTHER_NAMES: ReadonlySet<string> = new Set([
  'a.b.c',
  'coverage/coverage-summary.json',
  'herald.go',
  'lbrycrd/client.go',
  'lbryio/herald.go',
  'lbryio/reflector.go',
  'reflector.go',
  'test/vectors/lbcwalletSession.json',
  'THIRD-PARTY-NOTICES.md',
  'x.long.test.ts',
]);

const files = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    ),
  ),
];
/** Each file of the repository by its path and by each end of its path. */
const ownNames = new Set(
  files.flatMap((name) => name.split('/').map((_, n, parts) => parts.slice(n).join('/'))),
);
const listedNames = readFileSync(join(ROOT, 'scripts/lint/sourceFiles.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

/** Names of files in the comments of a source file. */
function citedFiles(content: string): string[] {
  const comments = content.match(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*$/gm) ?? [];
  return comments.flatMap((comment) =>
    [
      ...comment
        .replace(/\n\s*(?:\*|\/\/)/g, '')
        .matchAll(
          /(?<![\w/.-])((?:[\w.-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:py|cpp|h|go|md|c|rs|txt|tsx?|json))(?![\w/])/g,
        ),
    ].map(([, name]) => name!),
  );
}

const cited = new Map<string, string>();
for (const name of files.filter((file) =>
  /^(src|native|scripts|launcher|test)\/.*\.(tsx?|mjs|cpp|h|c)$/.test(file),
))
  if (!name.startsWith('src/metadata/messages/') && name !== 'test/lint/documentNames.test.ts')
    for (const found of citedFiles(readFileSync(join(ROOT, name), 'utf8'))) cited.set(found, name);

describe('sources that comments cite', () => {
  it('are files of this repository or are listed', () => {
    expect(cited.size).toBeGreaterThan(500);
    const unknown = [...cited].filter(
      ([name]) => !ownNames.has(name) && !listedNames.includes(name) && !OTHER_NAMES.has(name),
    );
    expect(unknown.map(([name, file]) => `${file}: ${name}`)).toEqual([]);
  });

  it('are listed only if a comment cites them', () => {
    expect(listedNames.filter((name) => !cited.has(name))).toEqual([]);
    expect(new Set(listedNames).size).toBe(listedNames.length);
  });

  it('are found in comments of both forms', () => {
    const other = ['design', 'md'].join('.');
    const text = `/** Source: lbrycrd\n * wallet/wallet.cpp "f". */\nconst a = 'b.md'; // see ${other}\n`;
    expect(citedFiles(text)).toEqual(['wallet/wallet.cpp', other]);
  });
});
