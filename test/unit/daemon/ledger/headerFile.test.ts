import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HeaderFile } from '../../../../src/daemon/ledger/headers/headerFile.js';
import { EnvironmentError } from '../../../../src/util/text/environmentError.js';

it('a folder in place of the headers is reported with advice', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headers-'));
  const open = (): HeaderFile => new HeaderFile(folder, Buffer.alloc(112));
  expect(open).toThrow(EnvironmentError);
  expect(open).toThrow(/: it is a folder where a file should be \(EISDIR\)\. Move it away/);
  rmSync(folder, { recursive: true });
});
