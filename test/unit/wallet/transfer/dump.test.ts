import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { regtestParams } from '../../../../src/params/regtest.js';
import { addressPrefixesOf } from '../../../../src/script/address.js';
import { encodeSecret } from '../../../../src/script/wif.js';
import { fromLatin1 } from '../../../../src/util/bytes.js';
import { atOnce } from '../../../../src/util/slices.js';
import { dumpToFile } from '../../../../src/wallet/transfer/dumpFile.js';
import {
  decodeDumpText,
  encodeDumpText,
  formatDumpTime,
  parseDumpLine,
  parseDumpTime,
} from '../../../../src/wallet/transfer/dumpText.js';
import { DumpLockedError, dumpLines } from '../../../../src/wallet/transfer/dumpWallet.js';
import { importDump } from '../../../../src/wallet/transfer/importDump.js';
import { ScanWorld } from '../scan/scanWorld.js';

const PREFIXES = addressPrefixesOf(regtestParams);

describe('lines of a dump', () => {
  it('encode texts as one word, and decode them', () => {
    for (const text of ['', 'plain', 'two words', '100% größer\n', 'a\u0000b\u007f', '%41', '木']) {
      const word = encodeDumpText(text);
      expect(word).toMatch(/^[\x21-\x7f]*$/);
      expect(decodeDumpText(word)).toBe(text);
    }
    expect(encodeDumpText('a b%ü')).toBe('a%20b%25%c3%bc');
    // A percent sign too close to the end is a literal one.
    expect(decodeDumpText('a%2')).toBe('a%2');
  });

  it('contain times, and nothing if there is none', () => {
    expect(formatDumpTime(1_600_000_000)).toBe('2020-09-13T12:26:40Z');
    for (const timeSec of [0, 1, 1_231_006_505, 4_000_000_000])
      expect(parseDumpTime(formatDumpTime(timeSec))).toBe(timeSec);
    for (const text of ['', '0', 'now', '2020-13-41T00:00:00Z', '2020-01-01 00:00:00'])
      expect(parseDumpTime(text)).toBe(0);
  });

  it('contain keys, scripts, or nothing', () => {
    const wif = encodeSecret(Buffer.alloc(32, 1), true, PREFIXES);
    const time = '2020-09-13T12:26:40Z';
    const labelOf = (rest: string): unknown => {
      const line = parseDumpLine(`${wif} ${time}${rest}`, PREFIXES);
      return line?.kind === 'key' ? line.label : line;
    };
    expect(labelOf(' label=a%20b # addr=x label=no')).toBe('a b');
    expect(labelOf('')).toBe('');
    expect(labelOf(' hdseed=1 # addr=x')).toBe('');
    expect(labelOf(' change=1 # addr=x')).toBe(null);
    expect(labelOf(' reserve=1')).toBe(null);
    expect(labelOf(' reserve=1 label=x')).toBe('x');
    expect(parseDumpLine(`0151 ${time} script=1`, PREFIXES)).toEqual({
      kind: 'script',
      script: Buffer.from('0151', 'hex'),
      timeSec: 1_600_000_000,
    });
    for (const line of ['', '# x', wif, 'zz 0', ' 0', '015 0', `${wif}x ${time}`])
      expect(parseDumpLine(line, PREFIXES)).toBe(null);
  });
});

describe('a dump', () => {
  let world: ScanWorld;
  let folder: string;
  beforeEach(() => {
    world = new ScanWorld();
    folder = mkdtempSync(join(tmpdir(), 'dump-'));
  });
  afterEach(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('restores all keys in another wallet, with their times and labels', async () => {
    const wallet = await world.make('a');
    await wallet.keys.topUp(300);
    const path = join(folder, 'dump');
    await dumpToFile(wallet, path, 'test');
    await expect(dumpToFile(wallet, path, 'test')).rejects.toMatchObject({ code: 'EEXIST' });
    const other = await world.make('b');
    const file = await open(path);
    expect(await importDump(other, file)).toEqual({ oldestSec: world.nowSec, isComplete: true });
    await file.close();
    for (const id of wallet.keyring.keyIds()) {
      expect(other.keyring.hasKey(fromLatin1(id))).toBe(true);
      expect(other.keyring.metadata(fromLatin1(id))?.createdSec).toBe(world.nowSec);
    }
    await world.shut(other);
    const again = await world.load('b');
    for (const id of wallet.keyring.keyIds()) expect(again.keyring.signingKey(fromLatin1(id))).not.toBe(null);
  });

  it('leaves no partial file if the wallet is locked meanwhile, and imports nothing then', async () => {
    const wallet = await world.make('a');
    const masterKey = randomBytes(32);
    await wallet.change((batch) => wallet.keyring.encrypt(batch, masterKey));
    const lines = dumpLines(wallet, 'test');
    for (let n = 0; n < 9; n++) lines.next();
    wallet.keyring.lock();
    expect(() => [...lines]).toThrow(DumpLockedError);
    await expect(dumpToFile(wallet, join(folder, 'dump'), 'test')).rejects.toThrow(DumpLockedError);
    expect(readdirSync(folder)).toEqual([]);
    const path = join(folder, 'keys');
    writeFileSync(path, `${encodeSecret(Buffer.alloc(32, 7), true, PREFIXES)} 0\n`);
    const file = await open(path);
    const { keyCount } = wallet.keyring;
    expect(await importDump(wallet, file)).toMatchObject({ isComplete: false });
    await file.close();
    expect(wallet.keyring.keyCount).toBe(keyCount);
    expect(atOnce(wallet.keyring.unlock(masterKey))).toBe(true);
  });
});
