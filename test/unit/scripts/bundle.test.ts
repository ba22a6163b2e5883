/** Functions from which `npm run bundle` builds an archive. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';
import { afterEach, describe, expect, it } from 'vitest';
import { makeZip, type Entry } from '../../../scripts/bundle/archive.mjs';
import { makePayload, type PayloadFile } from '../../../scripts/bundle/payload.mjs';
import { MAX_ARCHIVE_BYTES, PLATFORMS, SMALL_PROGRAMS } from '../../../scripts/bundle/platforms.mjs';
import { PREBUILT_TARGETS } from '../../../scripts/native/targets.mjs';
import { archiveEntries, carriedFiles } from '../../support/bundleFiles.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ENTRIES: readonly Entry[] = [
  { name: 'lbrynet', data: Buffer.alloc(100_000, 'program'), executable: true },
  { name: 'README.txt', data: Buffer.from('read me'), executable: false },
  { name: 'lbcnode', data: Buffer.from('small'), executable: true },
];

describe('an archive', () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  it('has sorted entries of one time, with their modes', () => {
    const entries = archiveEntries(makeZip(ENTRIES));
    expect(entries.map(({ name, mode }) => [name, mode.toString(8)])).toEqual([
      ['README.txt', '100644'],
      ['lbcnode', '100755'],
      ['lbrynet', '100755'],
    ]);
    // The first of January 1980, 00:00.
    expect(new Set(entries.map(({ dosDate, dosTime }) => `${dosDate} ${dosTime}`))).toEqual(
      new Set(['33 0']),
    );
  });

  it('is the same for entries in any order and in any time zone', () => {
    const expected = Buffer.from(makeZip(ENTRIES));
    expect(expected.equals(Buffer.from(makeZip([...ENTRIES].reverse())))).toBe(true);
    for (const name of ['Pacific/Kiritimati', 'America/Los_Angeles']) {
      process.env['TZ'] = name;
      expect(expected.equals(Buffer.from(makeZip(ENTRIES)))).toBe(true);
    }
  });

  it('contains the contents, compressed', () => {
    const archive = makeZip(ENTRIES);
    expect(archive.length).toBeLessThan(2_000);
    const files = unzipSync(archive);
    for (const { name, data } of ENTRIES)
      expect(Buffer.from(files[name]!).equals(Buffer.from(data))).toBe(true);
  });

  it('refuses two entries of one name', () => {
    expect(() => makeZip([...ENTRIES, ENTRIES[0]!])).toThrow('two entries are named lbrynet');
  });
});

describe('the payload', () => {
  const files: readonly PayloadFile[] = [
    { path: 'bin/node', data: Buffer.from('runtime'), executable: true },
    { path: 'app/dist/bin/lbcnet.js', data: Buffer.alloc(0) },
    { path: 'app/LICENSE', data: Buffer.from('licence') },
  ];

  it('contains the files, sorted, and the name of their folder', () => {
    const { folder, bytes } = makePayload(files, '1.2.3');
    expect(folder).toMatch(/^runtime-1\.2\.3-[0-9a-f]{16}$/);
    const carried = carriedFiles(bytes);
    expect(carried.folder).toBe(folder);
    expect(carried.files.map(({ path, executable, data }) => [path, executable, data.toString()])).toEqual([
      ['app/LICENSE', false, 'licence'],
      ['app/dist/bin/lbcnet.js', false, ''],
      ['bin/node', true, 'runtime'],
    ]);
    expect(makePayload([...files].reverse(), '1.2.3').bytes.equals(bytes)).toBe(true);
  });

  it('has another folder if any part of it differs', () => {
    const variants = [
      files,
      files.slice(1),
      files.map((file) => ({ ...file, executable: false })),
      files.map((file) => (file.path === 'bin/node' ? { ...file, data: Buffer.from('runtimE') } : file)),
      files.map((file) => (file.path === 'bin/node' ? { ...file, path: 'bin/nodf' } : file)),
    ];
    expect(new Set(variants.map((variant) => makePayload(variant, '1.2.3').folder)).size).toBe(
      variants.length,
    );
  });

  it('refuses a name that is too long for the launcher', () => {
    const long = { path: `app/${'x'.repeat(252)}`, data: Buffer.alloc(0) };
    expect(() => makePayload([long], '1.2.3')).toThrow('the name is too long for the launcher');
  });
});

describe('the platforms', () => {
  it('have an addon each, and the archives for download', () => {
    for (const { target } of PLATFORMS) expect(PREBUILT_TARGETS.map(({ name }) => name)).toContain(target);
    expect(new Set(PLATFORMS.map(({ archive }) => archive))).toEqual(
      new Set(['lbrynet-linux.zip', 'lbrynet-mac.zip', 'lbrynet-windows.zip']),
    );
    expect(MAX_ARCHIVE_BYTES).toBe(60_000_000);
  });

  it('have one version of the runtime, with a checksum each', () => {
    const lock = JSON.parse(readFileSync(`${ROOT}/scripts/toolchain/runtime/package-lock.json`, 'utf8')) as {
      packages: Record<string, { version?: string; integrity?: string; resolved?: string }>;
    };
    const pinned = PLATFORMS.map(({ runtime }) => lock.packages[`node_modules/${runtime}`]!);
    expect(new Set(pinned.map(({ version }) => version)).size).toBe(1);
    for (const { integrity, resolved } of pinned) {
      expect(integrity).toMatch(/^sha512-/);
      expect(resolved).toBeUndefined();
    }
  });

  it('have no program with a name similar to lbrynet', () => {
    // The companion uses the first entry whose name has this ending. Source: its src-tauri/src/lib.rs.
    for (const name of SMALL_PROGRAMS) expect(`${name}.exe`.endsWith('lbrynet.exe')).toBe(false);
  });
});
