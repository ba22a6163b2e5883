import { describe, expect, it } from 'vitest';
import {
  formatPayload,
  MAX_PAYLOAD_BYTES,
  parsePayload,
  type MessageCodec,
} from '../../../../src/net/messages/codec.js';
import { MAX_FILTER_ITEM_SIZE } from '../../../../src/net/messages/filters/filteradd.js';
import { MAX_HEADERS } from '../../../../src/net/messages/headers.js';
import { isCommand, MESSAGES, type Command } from '../../../../src/net/messages/table.js';
import { ReadError } from '../../../../src/util/reader.js';
import { four, hash, header, SAMPLES, TX } from './samples.js';

const codecOf = (command: Command): MessageCodec<unknown> => MESSAGES[command] as MessageCodec<unknown>;

describe('the table of messages', () => {
  it('has all of protocol 70015 and those of BIP157, each under its command', () => {
    expect(Object.keys(MESSAGES).sort()).toEqual(
      (
        'addr block blocktxn cfcheckpt cfheaders cfilter cmpctblock feefilter filteradd filterclear filterload getaddr getblocks getblocktxn ' +
        'getcfcheckpt getcfheaders getcfilters getdata getheaders headers inv mempool merkleblock notfound ping pong reject sendcmpct sendheaders tx ' +
        'verack version'
      ).split(' '),
    );
    for (const [command, codec] of Object.entries(MESSAGES)) {
      expect(codec.command).toBe(command);
      expect(codec.maxSizeBytes).toBe(MAX_PAYLOAD_BYTES);
    }
  });

  it('contains no other commands, and none of objects', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'Ping', ''])
      expect(isCommand(name) || name in MESSAGES, name).toBe(false);
    expect(isCommand('ping')).toBe(true);
  });

  it('is tested completely below', () => {
    expect(new Set(SAMPLES.map(([command]) => command))).toEqual(new Set(Object.keys(MESSAGES)));
  });
});

describe.each(SAMPLES)('%s', (command, value, hex) => {
  const codec = codecOf(command);
  const payload = Buffer.from(hex, 'hex');

  it('is written', () => {
    expect(formatPayload(codec, value).toString('hex')).toBe(hex);
  });

  it('is read', () => {
    expect(parsePayload(codec, payload)).toEqual(value);
  });

  it('is read with trailing bytes', () => {
    const longer = Buffer.concat([payload, Buffer.from('0102030405060708', 'hex')]);
    if (command === 'block' || command === 'tx') expect(parsePayload(codec, longer)).toEqual({ raw: longer });
    else if (hex !== '' || command !== 'ping') expect(parsePayload(codec, longer)).toEqual(value);
  });

  it('is refused if it is truncated', () => {
    if (['block', 'tx', 'pong'].includes(command)) return;
    // The fields after the nonce of a version message are optional.
    const optional = command === 'version' ? [46, 80, 86, 90] : [0];
    for (let length = 0; length < payload.length; length++) {
      if (command === 'version' || command === 'ping') if (optional.includes(length)) continue;
      expect(() => parsePayload(codec, payload.subarray(0, length)), `${length} bytes`).toThrow(ReadError);
    }
  });
});

describe('version', () => {
  const whole = Buffer.from(SAMPLES[0]![2], 'hex');
  const read = (length: number) => parsePayload(MESSAGES.version, whole.subarray(0, length));

  it('may end after the address of the receiver, the nonce, the user agent or the height', () => {
    const absent = { nonce: 1n, userAgent: '', startHeight: -1, relay: true };
    expect(read(46)).toMatchObject({ ...absent, receiver: four, senderServices: 0n });
    expect(read(80)).toMatchObject({ ...absent, nonce: 0x0807060504030201n });
    expect(read(86)).toMatchObject({ userAgent: '/a:1/', startHeight: -1, relay: true });
    expect(read(90)).toMatchObject({ startHeight: 7, relay: true });
    expect(read(91)).toMatchObject({ startHeight: 7, relay: false });
  });

  it('reads 10300 as 300', () => {
    const old = Buffer.from(whole);
    old.writeInt32LE(10_300);
    expect(parsePayload(MESSAGES.version, old).version).toBe(300);
  });

  it('has a user agent of 256 bytes at most, each a character', () => {
    const withAgent = (length: string, bytes: number): Buffer =>
      Buffer.concat([whole.subarray(0, 80), Buffer.from(length, 'hex'), Buffer.alloc(bytes, 0xe9)]);
    expect(parsePayload(MESSAGES.version, withAgent('fd0001', 256)).userAgent).toBe('é'.repeat(256));
    expect(() => parsePayload(MESSAGES.version, withAgent('fd0101', 257))).toThrow(ReadError);
  });

  it('keeps the time as received', () => {
    const late = Buffer.from(whole);
    late.fill(0xff, 12, 20);
    late[19] = 0x7f;
    const message = parsePayload(MESSAGES.version, late);
    expect(message.timeSec).toBe(0x7fffffffffffffffn);
    expect(formatPayload(MESSAGES.version, message)).toEqual(late);
  });
});

describe('ping and pong', () => {
  it('ignore a pong that is too short for a nonce, and refuse such a ping', () => {
    for (let length = 1; length < 8; length++) {
      expect(parsePayload(MESSAGES.pong, Buffer.alloc(length))).toEqual({ nonce: null });
      expect(() => parsePayload(MESSAGES.ping, Buffer.alloc(length))).toThrow(ReadError);
    }
    expect(formatPayload(MESSAGES.pong, { nonce: null }).length).toBe(0);
  });
});

describe('what exceeds a limit', () => {
  it.each([0, 1, 1000])(
    'is read with one element above it, for the code that punishes it, if there are %i more',
    (more) => {
      const items = Array.from({ length: 50_001 + more }, (_, i) => ({ type: i, hash: hash(i) }));
      const inv = formatPayload(MESSAGES.inv, { items });
      const { items: read } = parsePayload(MESSAGES.inv, inv);
      expect([read.length, read[50_000]]).toEqual([50_001, items[50_000]]);
      expect(() => parsePayload(MESSAGES.inv, inv.subarray(0, -1))).toThrow(ReadError);
      const addresses = Array.from({ length: 1001 + more }, () => ({
        timeSec: 1,
        services: 1n,
        address: four,
      }));
      const addr = formatPayload(MESSAGES.addr, { addresses });
      expect(parsePayload(MESSAGES.addr, addr).addresses).toEqual(addresses.slice(0, 1001));
      const locator = Array.from({ length: 102 + more }, (_, i) => hash(i));
      const blocks = formatPayload(MESSAGES.getblocks, { version: 1, locator, stopHash: hash(255) });
      expect(parsePayload(MESSAGES.getblocks, blocks)).toEqual({
        version: 1,
        locator: locator.slice(0, 102),
        stopHash: hash(255),
      });
    },
  );

  it('of an item is checked by other code', () => {
    const data = Buffer.alloc(MAX_FILTER_ITEM_SIZE + 1);
    const payload = formatPayload(MESSAGES.filteradd, { data });
    expect(parsePayload(MESSAGES.filteradd, payload).data.length).toBe(20_001);
  });

  it('of headers is not read, only counted', () => {
    expect(parsePayload(MESSAGES.headers, Buffer.from('fdd107', 'hex'))).toEqual({
      headers: [],
      tooMany: 2001,
    });
    expect(() => parsePayload(MESSAGES.headers, Buffer.from('fdd007', 'hex'))).toThrow(ReadError);
    const most = Array.from({ length: MAX_HEADERS }, () => header(1));
    expect(
      parsePayload(MESSAGES.headers, formatPayload(MESSAGES.headers, { headers: most })).headers.length,
    ).toBe(2000);
  });

  it.each(['inv', 'addr', 'headers', 'getdata', 'notfound', 'filteradd', 'filterload'] as const)(
    'of lengths is refused: %s',
    (command) => {
      expect(() => parsePayload(codecOf(command), Buffer.from('fe01000002', 'hex'))).toThrow(ReadError);
      expect(() => parsePayload(codecOf(command), Buffer.from('fdfc00', 'hex'))).toThrow(ReadError);
    },
  );
});

describe('headers', () => {
  it('may have any number of transactions', () => {
    const bytes = Buffer.concat([Buffer.of(1), header(9), Buffer.from('fd0001', 'hex')]);
    expect(parsePayload(MESSAGES.headers, bytes).headers).toEqual([header(9)]);
  });
});

describe('reject', () => {
  it('truncates a reason to 111 bytes, and refuses a longer one', () => {
    const message = { message: 'tx', code: 1, reason: 'x'.repeat(200), hash: hash(1) };
    const bytes = formatPayload(MESSAGES.reject, message);
    expect(parsePayload(MESSAGES.reject, bytes).reason).toBe('x'.repeat(111));
    const longer = Buffer.concat([Buffer.of(2, 0x74, 0x78, 1, 112), Buffer.alloc(112 + 32)]);
    expect(() => parsePayload(MESSAGES.reject, longer)).toThrow(ReadError);
  });

  it('refuses a command of thirteen bytes', () => {
    expect(() => parsePayload(MESSAGES.reject, Buffer.concat([Buffer.of(13), Buffer.alloc(20)]))).toThrow(
      ReadError,
    );
  });
});

describe('positions of transactions', () => {
  const request = (...offsets: string[]): Buffer =>
    Buffer.concat([hash(1), Buffer.of(offsets.length), Buffer.from(offsets.join(''), 'hex')]);
  const read = (bytes: Buffer): readonly number[] => parsePayload(MESSAGES.getblocktxn, bytes).indexes;

  // blockencodings_tests.cpp, TransactionsRequestDeserialization…Test.
  it('are at most 65,535', () => {
    expect(read(request('fdffff'))).toEqual([0xffff]);
    expect(read(request('fd0070', 'fdfe8f'))).toEqual([0x7000, 0xffff]);
    expect(() => read(request('fd0070', 'fdfe8f', '00'))).toThrow(ReadError);
    expect(() => read(request('fe00000100'))).toThrow(ReadError);
  });

  it('of prefilled transactions may be higher, and are checked by other code', () => {
    const prefix = Buffer.concat([header(1), Buffer.alloc(8), Buffer.of(0)]);
    const two = Buffer.concat([prefix, Buffer.of(2), Buffer.from('fdffff', 'hex'), TX, Buffer.of(0), TX]);
    expect(parsePayload(MESSAGES.cmpctblock, two).prefilled.map(({ index }) => index)).toEqual([
      65535, 65536,
    ]);
    const wide = Buffer.concat([prefix, Buffer.of(1), Buffer.from('fe00000100', 'hex'), TX]);
    expect(() => parsePayload(MESSAGES.cmpctblock, wide)).toThrow(ReadError);
  });

  it('are 65,535 in a compact block at most', () => {
    const withIds = (count: number, prefilled: Buffer): Buffer => {
      const size = Buffer.of(0xfd, count & 0xff, count >> 8);
      return Buffer.concat([header(1), Buffer.alloc(8), size, Buffer.alloc(6 * count), prefilled]);
    };
    const one = Buffer.concat([Buffer.of(1, 0), TX]);
    expect(parsePayload(MESSAGES.cmpctblock, withIds(65534, one)).shortIds.length).toBe(6 * 65534);
    expect(() => parsePayload(MESSAGES.cmpctblock, withIds(65535, one))).toThrow(/overflowed 16 bits/);
  });
});
