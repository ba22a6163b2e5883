import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockFolder } from '../../../../src/daemon/main/folderLock.js';
import { EnvironmentError } from '../../../../src/util/text/environmentError.js';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-lock-'));
  path = join(folder, 'lbcnet.lock');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('can be held by one process only', async () => {
  const free = await lockFolder(folder);
  await expect(lockFolder(folder)).rejects.toThrow('Another lbcnet is running in');
  free();
  (await lockFolder(folder))();
});

it.each<[string, () => void, string]>([
  [
    'a folder lies in its place',
    () => void mkdirSync(path),
    ': it is a folder where a file should be (EISDIR). Move it away',
  ],
  [
    'the file is another program’s',
    () => writeFileSync(path, 'this is not a lock, but it is as long as one. '.repeat(20)),
    ': it is corrupt, or a file of another program. It contains no data: delete it',
  ],
])('gives advice if %s', async (_what, corruption, text) => {
  corruption();
  const error: unknown = await lockFolder(folder).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(EnvironmentError);
  expect((error as Error).message).toContain(path + text);
  rmSync(path, { recursive: true });
  (await lockFolder(folder))();
});
