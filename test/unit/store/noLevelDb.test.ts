/** A machine for which neither the addon nor the package `classic-level` has a binary. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import * as binding from '../../../src/native/binding.js';
import { lockFolder } from '../../../src/store/files/folderLock.js';
import { EnvironmentError } from '../../../src/util/text/environmentError.js';

vi.mock('classic-level', () => {
  throw new Error('No native build was found');
});

const folder = mkdtempSync(join(tmpdir(), 'no-leveldb-'));
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

it('reports what to install, and not that the folder is in use', async () => {
  vi.spyOn(binding, 'loadNative').mockReturnValue(null);
  const error = await lockFolder(folder).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EnvironmentError);
  const { message } = error as EnvironmentError;
  expect(message).toContain(`classic-level has no binary for ${process.platform} on ${process.arch}`);
  // A checkout builds its addon.
  expect(message).toContain('npm run build');
});
