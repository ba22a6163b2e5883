/** Other objects in place of the daemon's own files and folders are reported with advice. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HeaderFile } from '../../../../src/daemon/ledger/headers/headerFile.js';
import { KnownHubs } from '../../../../src/daemon/ledger/hub/knownHubs.js';
import { ensureFolder, installationId } from '../../../../src/daemon/main/folders.js';
import { writeSettingsFile } from '../../../../src/daemon/main/settings/settingsFile.js';
import { EnvironmentError } from '../../../../src/util/text/environmentError.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-folders-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);
/** Makes a named pipe. Opening it would wait for a writer without end. */
const pipe = (name: string): void => {
  expect(spawnSync('mkfifo', [at(name)]).status).toBe(0);
};

it('the installation has a permanent id', () => {
  const id = installationId(folder);
  expect(id).toMatch(/^[1-9A-HJ-NP-Za-km-z]{60,70}$/);
  expect(installationId(folder)).toBe(id);
  expect(readFileSync(at('install_id'), 'utf8')).toBe(id);
});

it('a folder or a pipe in place of a file is reported', () => {
  mkdirSync(at('install_id'));
  expect(() => installationId(folder)).toThrow(EnvironmentError);
  expect(() => installationId(folder)).toThrow(/install_id: it is a folder where a file should be/);
  rmSync(at('install_id'), { recursive: true });
  pipe('install_id');
  expect(() => installationId(folder)).toThrow(/install_id: it is a named pipe/);
  pipe('conf.yml.new');
  expect(() => writeSettingsFile(at('conf.yml'), new Map())).toThrow(
    /conf\.yml cannot be written: it is a named pipe/,
  );
  const warnings: string[] = [];
  const log = { warn: (text: string) => void warnings.push(text), info: () => undefined };
  pipe('known_hubs.yml');
  expect(new KnownHubs(at('known_hubs.yml'), log).servers).toEqual([]);
  pipe('other.yml.new');
  new KnownHubs(at('other.yml'), log).add(['hub.example.com:50001']);
  expect(warnings).toEqual([
    expect.stringMatching(/known_hubs\.yml cannot be read: it is a named pipe/),
    expect.stringMatching(/could not be saved: it is a named pipe/),
  ]);
});

it('a file in place of a folder is reported', () => {
  writeFileSync(at('file'), '');
  expect(() => ensureFolder(at('file'), 'data_dir')).toThrow(
    /is not writable: another file exists there \(EEXIST\)\. Correct this, or use another folder with .*--data-dir/,
  );
  expect(() => ensureFolder(at('file/more'), 'wallet_dir')).toThrow(
    /a part of its path is not a folder \(ENOTDIR\)\. Correct this, or use another folder with .*--wallet-dir/,
  );
  expect(() => ensureFolder(at('a\0b'), 'wallet_dir')).toThrow(/null bytes.* Correct this/);
  const open = (): HeaderFile => new HeaderFile(at('file/headers.dat'), Buffer.alloc(112));
  expect(open).toThrow(EnvironmentError);
  expect(open).toThrow(/file: another file exists there \(EEXIST\)/);
});

it('a new folder is reported, once', () => {
  expect(ensureFolder(at('new/data'), 'data_dir')).toBe(`Created a new data folder at ${at('new/data')}`);
  expect(ensureFolder(at('new/data'), 'data_dir')).toBeNull();
  expect(ensureFolder(at('new/wallet'), 'wallet_dir')).toBe(
    `Created a new wallet folder at ${at('new/wallet')}`,
  );
  // The download folder is created without a message, because its files are not needed.
  expect(ensureFolder(at('new/files'), 'download_dir')).toBeNull();
});
