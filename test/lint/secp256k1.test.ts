/** The source of libsecp256k1 in `third_party/` equals that of the release, byte by byte. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const FOLDER = fileURLToPath(new URL('../../third_party/', import.meta.url));
const SOURCE = join(FOLDER, 'secp256k1');

/** Git's id of a file's contents. */
function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Path and id of each line of `git ls-tree -r`. */
function listedFiles(): [path: string, id: string][] {
  const lines = readFileSync(join(FOLDER, 'secp256k1.files'), 'latin1').trimEnd().split('\n');
  return lines.map((line) => {
    const [, id, path] = /^100644 blob ([0-9a-f]{40})\t(\S+)$/.exec(line)!;
    return [path!, id!];
  });
}

it('libsecp256k1 has the files of its release, unchanged, and no others', () => {
  const found = readdirSync(SOURCE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(SOURCE.length + 1)
        .replaceAll('\\', '/'),
    )
    .map((path): [string, string] => [path, blobId(readFileSync(join(SOURCE, path)))]);
  const byPath = ([a]: [string, string], [b]: [string, string]): number => (a < b ? -1 : 1);
  expect(found.sort(byPath)).toEqual(listedFiles().sort(byPath));
});

it('the build recognizes the present version', async () => {
  const { SECP256K1_VERSION } = await import('../../scripts/native/sources.mjs');
  expect(readFileSync(join(FOLDER, 'README.md'), 'utf8')).toContain(`tag \`v${SECP256K1_VERSION}\``);
});
