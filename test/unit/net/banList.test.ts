import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256d } from '../../../src/crypto/hash.js';
import { BanList, MAX_MISBEHAVIOUR_BANS, parseBanTarget } from '../../../src/net/banList.js';
import { formatSubnet, parseNetAddress } from '../../../src/net/netAddress.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import type { Subnet } from '../../../src/util/network/subnet.js';

const DAY = 86_400;

/** A file that lbrycrdd wrote: two bans by `setban`, and those that it had read from another file. */
const REFERENCE_FILE = [
  'fae4aad107',
  '00000000000000000000ffff01020304ffffffffffffffffffffffffffffffff0101000000f09d016b0000000070ef026b0000000002',
  '00000000000000000000ffff05060000ffffffffffffffffffffffffffff00000101000000f09d016b0000000070ef026b0000000002',
  '00000000000000000000ffff07070707ffffffffffffffffffffffffffffffff0101000000f69d016b00000000f6679ca60000000002',
  '00000000000000000000ffff08080000ffffffffffffffffffffffffffff00000101000000f69d016b00000000009435770000000002',
  '00000000000000000000ffff09000900ffffffffffffffffffffffffff00ff000101000000f09d016b0000000070ef026b0000000002',
  '2a010000000000000000000000000000ffffffff0000000000000000000000000101000000f09d016b0000000070ef026b0000000002',
  'fd87d87eeb4325df8a673cb421881d2dffffffffffffffffffffffffffffffff0101000000f09d016b0000000070ef026b0000000002',
  '03696eb0e40399a1dd713e2ff02c0786ad6c304135bdf01ddb73ed09548c4f31',
].join('');
const REFERENCE_SEC = 1_795_268_080;

let folder: string;
let path: string;
let nowSec: number;
let warnings: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-bans-'));
  path = join(folder, 'banlist.dat');
  nowSec = 1_000_000;
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

function makeList(): BanList {
  const log = { ...SILENT_LOGGER, warn: (message: string) => void warnings.push(message) };
  const options = { path, magic: regtestParams.magic, banTimeSec: DAY };
  return new BanList(options, { nowSec: () => nowSec, log });
}

function target(text: string): Subnet {
  const subnet = parseBanTarget(text);
  if (subnet === null) throw new Error(`${text} cannot be banned`);
  return subnet;
}

const isBanned = (list: BanList, text: string): boolean => list.isBanned(parseNetAddress(text, 1)!);
const texts = (list: BanList): string[] => list.list().map(({ subnet }) => formatSubnet(subnet));

describe('arguments of a ban', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4/32'],
    ['1.2.3.4/24', '1.2.3.0/24'],
    ['1.2.3.4/255.255.0.0', '1.2.0.0/16'],
    ['9.9.9.0/255.0.255.0', '9.0.9.0/255.0.255.0'],
    ['2a01::1', '2a01::1/128'],
    ['2a01::1/32', '2a01::/32'],
    ['expyuzz4wqqyqhjn.onion', 'expyuzz4wqqyqhjn.onion/128'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ])('%s is %s', (text, printed) => {
    expect(formatSubnet(target(text))).toBe(printed);
  });

  it.each([
    '',
    'x',
    'localhost',
    '1.2.3',
    '1.2.3.4/33',
    '1.2.3.4/x',
    '1.2.3.4:80',
    '0.0.0.0',
    '::',
    '2001:db8::1',
  ])('%j is refused', (text) => expect(parseBanTarget(text)).toBeNull());
});

describe('bans', () => {
  it('apply to an address or a subnet until their end', () => {
    const list = makeList();
    expect(list.ban(target('1.2.3.4'), 'node misbehaving', 100)).toBe(true);
    expect(list.ban(target('5.6.0.0/16'), 'manually added', nowSec + 200, true)).toBe(true);
    expect(list.ban(target('2a01::/32'), 'manually added')).toBe(true);
    const banned = (): boolean[] =>
      ['1.2.3.4', '1.2.3.5', '5.6.7.8', '5.7.7.8', '2a01::9', '2a02::9'].map((text) => isBanned(list, text));
    expect(banned()).toEqual([true, false, true, false, true, false]);
    nowSec += 99;
    expect(banned()[0]).toBe(true);
    nowSec += 1;
    expect(banned()).toEqual([false, false, true, false, true, false]);
    nowSec += 100;
    expect(banned()).toEqual([false, false, false, false, true, false]);
    nowSec += DAY;
    expect(banned()).toEqual([false, false, false, false, false, false]);
  });

  it('are listed by network with times and reason, without expired ones', () => {
    const list = makeList();
    list.ban(target('9.9.9.9'), 'node misbehaving');
    list.ban(target('1.2.3.0/24'), 'manually added', 50);
    list.ban(target('1.2.0.0/16'), 'unknown', 5_000_000, true);
    expect(texts(list)).toEqual(['1.2.0.0/16', '1.2.3.0/24', '9.9.9.9/32']);
    expect(list.list()).toMatchObject([
      { createdSec: 1_000_000, untilSec: 5_000_000, reason: 'unknown' },
      { createdSec: 1_000_000, untilSec: 1_000_050, reason: 'manually added' },
      { createdSec: 1_000_000, untilSec: 1_000_000 + DAY, reason: 'node misbehaving' },
    ]);
    nowSec += 51;
    expect(texts(list)).toEqual(['1.2.0.0/16', '9.9.9.9/32']);
  });

  it('are extended, not shortened', () => {
    const list = makeList();
    expect(list.ban(target('1.2.3.4'), 'manually added', 100)).toBe(true);
    expect(list.ban(target('1.2.3.4'), 'node misbehaving', 100)).toBe(false);
    expect(list.ban(target('1.2.3.4'), 'node misbehaving', 99)).toBe(false);
    expect(list.list()[0]).toMatchObject({ untilSec: nowSec + 100, reason: 'manually added' });
    expect(list.ban(target('1.2.3.4'), 'node misbehaving', 101)).toBe(true);
    expect(list.list()).toHaveLength(1);
    expect(list.list()[0]).toMatchObject({ untilSec: nowSec + 101, reason: 'node misbehaving' });
  });

  it('without an end, or with one in the past, last the default time', () => {
    const list = makeList();
    list.ban(target('1.2.3.4'), 'manually added', 0, true);
    list.ban(target('1.2.3.5'), 'manually added', -5);
    expect(list.list().map(({ untilSec }) => untilSec)).toEqual([nowSec + DAY, nowSec + DAY]);
  });

  it('are removed one by one, or all', () => {
    const list = makeList();
    list.ban(target('1.2.3.0/24'), 'manually added');
    list.ban(target('1.2.3.4'), 'manually added');
    expect(list.isSubnetBanned(target('1.2.3.0/24'))).toBe(true);
    expect(list.isSubnetBanned(target('1.2.3.5'))).toBe(false);
    expect(list.unban(target('1.2.3.5'))).toBe(false);
    expect(list.unban(target('1.2.3.0/24'))).toBe(true);
    expect(list.isSubnetBanned(target('1.2.3.0/24'))).toBe(false);
    expect(isBanned(list, '1.2.3.5')).toBe(false);
    expect(isBanned(list, '1.2.3.4')).toBe(true);
    list.clear();
    expect(isBanned(list, '1.2.3.4')).toBe(false);
    expect(list.list()).toEqual([]);
  });

  it('end at the maximum time at the latest', async () => {
    const list = makeList();
    list.ban(target('1.2.3.4'), 'manually added', Number.MAX_SAFE_INTEGER);
    list.ban(target('1.2.3.5'), 'manually added', 1e30, true);
    expect(list.list().map(({ untilSec }) => untilSec)).toEqual(Array(2).fill(Number.MAX_SAFE_INTEGER));
    await list.save();
    const again = makeList();
    await again.load();
    expect(again.list()).toHaveLength(2);
  });

  it('do not apply to names', () => {
    const list = makeList();
    list.ban(target('::/0'), 'manually added');
    expect(list.isBanned({ ip: Buffer.alloc(16) })).toBe(false);
    expect(isBanned(list, '1.2.3.4')).toBe(true);
  });

  it('for misbehaviour are limited in number; those of the operator stay', () => {
    const list = makeList();
    list.ban(target('1.1.1.1'), 'manually added', 3600);
    const ip = Buffer.from(parseNetAddress('10.0.0.0', 1)!.ip);
    for (let i = 0; i <= MAX_MISBEHAVIOUR_BANS; i++) {
      ip.writeUInt32BE(0x0b000000 + i, 12);
      list.banAddress({ ip: Buffer.from(ip) }, 'node misbehaving');
      if (i === 0) nowSec++;
    }
    expect(warnings).toHaveLength(1);
    expect(list.list().length).toBeLessThan(MAX_MISBEHAVIOUR_BANS);
    expect(list.list().length).toBeGreaterThan(MAX_MISBEHAVIOUR_BANS * 0.8);
    expect(isBanned(list, '11.0.0.0')).toBe(false);
    expect(list.isBanned({ ip })).toBe(true);
    expect(isBanned(list, '1.1.1.1')).toBe(true);
  });
});

describe('banlist.dat', () => {
  it('is read and written as the reference does', async () => {
    writeFileSync(path, Buffer.from(REFERENCE_FILE, 'hex'));
    nowSec = REFERENCE_SEC;
    const list = makeList();
    await list.load();
    expect(texts(list)).toEqual([
      '1.2.3.4/32',
      '5.6.0.0/16',
      '7.7.7.7/32',
      '8.8.0.0/16',
      '9.0.9.0/255.0.255.0',
      '2a01::/32',
      'expyuzz4wqqyqhjn.onion/128',
    ]);
    expect(list.list()[3]).toMatchObject({ untilSec: 2_000_000_000, reason: 'manually added' });
    expect(isBanned(list, '9.200.9.200')).toBe(true);
    expect(isBanned(list, '9.200.8.200')).toBe(false);
    expect(warnings).toEqual([]);
    // The file is only written after changes. Here a change was undone, which counts as a change.
    rmSync(path);
    await list.save();
    expect(() => readFileSync(path)).toThrow('ENOENT');
    list.ban(target('3.3.3.3'), 'node misbehaving');
    list.unban(target('3.3.3.3'));
    await list.save();
    expect(readFileSync(path, 'hex')).toBe(REFERENCE_FILE);
  });

  it('is loaded without expired bans', async () => {
    writeFileSync(path, Buffer.from(REFERENCE_FILE, 'hex'));
    nowSec = REFERENCE_SEC + 2 * DAY;
    const list = makeList();
    await list.load();
    expect(texts(list)).toEqual(['7.7.7.7/32', '8.8.0.0/16']);
    await list.save();
    expect(readFileSync(path)[4]).toBe(2);
  });

  it('is created if it does not exist', async () => {
    const list = makeList();
    await list.load();
    expect(warnings).toEqual([]);
    await list.save();
    const again = makeList();
    await again.load();
    expect(again.list()).toEqual([]);
    expect(readFileSync(path).length).toBe(4 + 1 + 32);
  });

  it.each([
    ['a bit turned', (bytes: Buffer) => void (bytes[60]! ^= 1)],
    ['its end cut off', (bytes: Buffer) => bytes.subarray(0, -40)],
    ['nothing in it', () => Buffer.alloc(0)],
    ['another magic', (bytes: Buffer) => void (bytes[0]! ^= 1)],
    [
      'the file of something else',
      (bytes: Buffer) => {
        const content = Buffer.concat([bytes.subarray(0, -32), Buffer.from('more')]);
        return Buffer.concat([content, sha256d(content)]);
      },
    ],
  ])('is rewritten with a warning if corrupt: %s', async (_, corruption) => {
    const bytes = Buffer.from(REFERENCE_FILE, 'hex');
    writeFileSync(path, corruption(bytes) ?? bytes);
    const list = makeList();
    await list.load();
    expect(list.list()).toEqual([]);
    expect(warnings).toHaveLength(1);
    await list.save();
    await makeList().load();
    expect(warnings).toHaveLength(1);
  });

  it('is written later with changes that could not be written', async () => {
    const list = makeList();
    list.ban(target('1.2.3.4'), 'manually added');
    rmSync(folder, { recursive: true });
    await expect(list.save()).rejects.toThrow('ENOENT');
    mkdirSync(folder);
    await list.save();
    const again = makeList();
    await again.load();
    expect(texts(again)).toEqual(['1.2.3.4/32']);
  });
});
