import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WalletFile } from '../../../../src/wallet/store/walletFile.js';
import { WalletClosedError, WalletFileError } from '../../../../src/wallet/store/walletFileErrors.js';
import { HEAD_BYTES } from '../../../../src/wallet/store/walletFileHead.js';
import { EnvironmentError } from '../../../../src/util/text/environmentError.js';
import { randomOf } from '../../../support/claimLife.js';
import { IS_LONG, longIt } from '../../../support/long.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-wallet-'));
  path = join(folder, 'wallet.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const text = (file: WalletFile, key: string): string | undefined => file.get(key)?.toString();
const all = (file: WalletFile): Record<string, string> =>
  Object.fromEntries([...file.rows('')].map(([key, value]) => [key, value.toString()]));
const put = (key: string, value: string): [string, Buffer] => [key, Buffer.from(value)];

describe('WalletFile', () => {
  it('keeps committed data after a close and an open', async () => {
    const file = await WalletFile.create(path);
    await file.commit([put('a1', 'one'), put('b\xff', 'two')]);
    await file.commit([put('a1', 'three'), ['b\xff', null], put('a2', '')]);
    expect(all(file)).toEqual({ a1: 'three', a2: '' });
    await file.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const again = await WalletFile.open(path);
    expect(all(again)).toEqual({ a1: 'three', a2: '' });
    expect(again.keys('a')).toEqual(['a1', 'a2']);
    expect(again.has('b\xff')).toBe(false);
    await again.close();
    expect(readdirSync(folder)).toEqual(['wallet.db']);
  });

  it('does not replace an existing file', async () => {
    writeFileSync(path, 'something');
    await expect(WalletFile.create(path)).rejects.toThrow(EnvironmentError);
    expect(readFileSync(path, 'utf8')).toBe('something');
    expect(readdirSync(folder)).toEqual(['wallet.db']);
  });

  it('refuses a file that is not a wallet, with the reason', async () => {
    await expect(WalletFile.open(path)).rejects.toThrow('it is missing');
    writeFileSync(path, '');
    await expect(WalletFile.open(path)).rejects.toThrow(`${path} is not a wallet of this program.`);
    expect(WalletFile.isOne(path)).toBe(false);
    writeFileSync(path, 'x'.repeat(200));
    await expect(WalletFile.open(path)).rejects.toThrow('is not a wallet');
  });

  it('reads changes of one iteration in order, and writes them with one sync', async () => {
    const file = await WalletFile.create(path);
    const done = [file.commit([put('a', '1')]), file.commit([put('a', '2')]), file.commit([put('b', '3')])];
    expect(file.has('a')).toBe(false);
    await Promise.all(done);
    expect(all(file)).toEqual({ a: '2', b: '3' });
    await file.close();
  });

  it('opens at a committed state, at least the synced one, wherever the file is truncated', async () => {
    const file = await WalletFile.create(path);
    const states = [all(file)];
    for (let i = 0; i < 4; i++) {
      await file.commit([put(`k${i}`, `v${i}`), put('last', `${i}`)], { sync: i === 1 });
      states.push(all(file));
    }
    const bytes = readFileSync(path);
    await file.close();
    const cut = join(folder, 'cut');
    let opened = 0;
    for (let length = 0; length <= bytes.length; length += IS_LONG ? 1 : 3) {
      writeFileSync(cut, bytes.subarray(0, length));
      let again: WalletFile;
      try {
        again = await WalletFile.open(cut);
      } catch (error) {
        expect(error).toBeInstanceOf(WalletFileError);
        continue;
      }
      expect(again.cutBytes).toBe(length - again.sizeBytes);
      const state = all(again);
      const at = states.findIndex((one) => JSON.stringify(one) === JSON.stringify(state));
      // Two commits were synced.
      expect(at).toBeGreaterThanOrEqual(2);
      await again.commit([put('more', 'x')]);
      await again.close();
      const third = await WalletFile.open(cut);
      expect(all(third)).toEqual({ ...states[at], more: 'x' });
      await third.close();
      opened++;
    }
    expect(opened).toBeGreaterThan(IS_LONG ? 50 : 16);
  });

  it('never returns data with a flipped bit', async () => {
    const file = await WalletFile.create(path);
    for (let i = 0; i < 5; i++) await file.commit([put(`key${i}`, `value ${i}`)]);
    const whole = all(file);
    await file.close();
    const bytes = readFileSync(path);
    const flipped = join(folder, 'flipped');
    let refused = 0;
    const step = IS_LONG ? 1 : 3;
    for (let at = 0; at < bytes.length; at += step) {
      const copy = Buffer.from(bytes);
      copy[at]! ^= 1 << (at % 8);
      writeFileSync(flipped, copy);
      try {
        const again = await WalletFile.open(flipped);
        expect(all(again)).toEqual(whole);
        await again.close();
        // Only a bit in the header can be ignored: it has two copies of the marks, and unused bytes after them.
        expect(at).toBeLessThan(HEAD_BYTES);
      } catch (error) {
        expect(error).toBeInstanceOf(WalletFileError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThanOrEqual(Math.floor((bytes.length - HEAD_BYTES) / step));
  });

  it('detects that a value has changed on disk', async () => {
    const file = await WalletFile.create(path);
    await file.commit([put('key', 'a value to be found')]);
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('to be found')]! ^= 1;
    writeFileSync(path, bytes);
    expect(() => file.get('key')).toThrow(/is corrupt at byte \d+\. Restore it from a backup/);
    await file.close();
  });

  it('is rewritten without obsolete rows, with commits during the rewrite', async () => {
    const file = await WalletFile.create(path);
    const secret = 'a secret that must go';
    await file.commit([put('secret', secret), put('kept', 'x')]);
    await file.commit([['secret', null]]);
    expect(readFileSync(path).includes(secret)).toBe(true);
    const rewritten = file.rewrite();
    const later = file.commit([put('later', 'y')]);
    await Promise.all([rewritten, later]);
    expect(readFileSync(path).includes(secret)).toBe(false);
    expect(all(file)).toEqual({ kept: 'x', later: 'y' });
    await file.close();
    const again = await WalletFile.open(path);
    expect(all(again)).toEqual({ kept: 'x', later: 'y' });
    await again.close();
  });

  longIt('opens again after one very large commit', async () => {
    const file = await WalletFile.create(path);
    const value = Buffer.alloc(16 << 20, 1);
    await file.commit(Array.from({ length: 9 }, (_, n) => [`k${n}`, value] as const));
    await file.close();
    const again = await WalletFile.open(path);
    expect(again.keys('k').length).toBe(9);
    await again.close();
  });

  it('refuses calls after its close, without reporting a bug', async () => {
    const file = await WalletFile.create(path);
    await file.commit([put('a', '1')]);
    await file.close();
    expect(() => file.get('a')).toThrow(WalletClosedError);
    expect(() => [...file.values('')]).toThrow(WalletClosedError);
    expect(() => file.commit([put('a', '2')])).toThrow(WalletClosedError);
    await expect(file.backup(`${path}.copy`)).rejects.toThrow(WalletClosedError);
  });

  it('reports that most of the file is obsolete', async () => {
    const file = await WalletFile.create(path);
    const large = 'x'.repeat(300_000);
    for (let i = 0; i < 3; i++) await file.commit([put('a', large)], { sync: false });
    expect(file.isWasteful).toBe(false);
    for (let i = 0; i < 3; i++) await file.commit([put('a', large)], { sync: false });
    expect(file.isWasteful).toBe(true);
    await file.rewrite();
    expect(file.isWasteful).toBe(false);
    expect(text(file, 'a')).toBe(large);
    await file.close();
  });

  it('creates a valid backup during writes', async () => {
    const file = await WalletFile.create(path);
    await file.commit([put('a', '1')]);
    const backup = join(folder, 'backup.db');
    const done = file.backup(backup);
    const later = file.commit([put('a', '2')]);
    await Promise.all([done, later]);
    expect(text(file, 'a')).toBe('2');
    const copy = await WalletFile.open(backup);
    // The backup may run before or after the write.
    expect(['1', '2']).toContain(text(copy, 'a'));
    await copy.close();
    await expect(file.backup(join(folder, 'none', 'b'))).rejects.toThrow(EnvironmentError);
    await file.commit([put('a', '3')]);
    expect(text(file, 'a')).toBe('3');
    await file.close();
    expect(existsSync(backup)).toBe(true);
  });

  it('equals a map after a random history, with copies of the file at any time', async () => {
    const random = randomOf(5);
    let file = await WalletFile.create(path);
    const model = new Map<string, string>();
    for (let turn = 0; turn < 300; turn++) {
      const changes = Array.from({ length: 1 + random(4) }, (): [string, Buffer | null] => {
        const key = `k${random(30)}`;
        return random(4) === 0 ? [key, null] : [key, Buffer.from('v'.repeat(random(300)) + turn)];
      });
      for (const [key, value] of changes) {
        if (value === null) model.delete(key);
        else model.set(key, value.toString());
      }
      await file.commit(changes, { sync: random(3) === 0 });
      if (random(10) === 0) {
        // The state that a killed process leaves.
        const copy = join(folder, 'copy');
        copyFileSync(path, copy);
        const again = await WalletFile.open(copy);
        expect(all(again)).toEqual(Object.fromEntries(model));
        await again.close();
      }
      if (random(40) === 0) await file.rewrite();
      if (random(40) === 0) {
        await file.close();
        file = await WalletFile.open(path);
      }
    }
    expect(all(file)).toEqual(Object.fromEntries(model));
    await file.close();
  });
});
