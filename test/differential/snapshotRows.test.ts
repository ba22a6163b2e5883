import { describe, expect, it } from 'vitest';
import { KIND, PiecePacker, pieceHead } from '../../src/chain/snapshot/snapshotFormat.js';
import {
  keysAround,
  unpackRecords,
  unpackRecordsFallback,
  type SnapshotRows,
} from '../../src/chain/snapshot/snapshotRows.js';
import { formatCoinRow } from '../../src/store/cache/coinRow.js';
import { changesOf } from '../../src/store/rows/rowRecords.js';
import { Random, native } from './support.js';

const PREFIXES = ['a', 'cc', 'n'];

const checksumOf = (payload: Buffer): Buffer => pieceHead(payload).subarray(4);

function randomScript(random: Random): Buffer {
  const hash = random.bytes(20);
  const forms = [
    Buffer.concat([Buffer.from('76a914', 'hex'), hash, Buffer.from('88ac', 'hex')]),
    Buffer.concat([Buffer.from('a914', 'hex'), hash, Buffer.from('87', 'hex')]),
    Buffer.concat([Buffer.from('0014', 'hex'), hash]),
    Buffer.concat([Buffer.from('0020', 'hex'), random.bytes(32)]),
  ];
  return forms[random.below(6)] ?? random.bytes(random.below(300));
}

function randomValue(random: Random, isCoins: boolean): Buffer {
  if (!isCoins) return random.bytes(random.below(400));
  const whole = BigInt(random.u32()) * BigInt(random.u32() >>> 1);
  const amount = random.chance(3) ? whole : BigInt(random.below(1000)) * 10n ** BigInt(random.below(16));
  return formatCoinRow({ heightCode: random.u32(), amount, script: randomScript(random) });
}

/** Rows in ascending order, and the payload of their piece. */
function randomPiece(random: Random, isCoins: boolean): { rows: [string, Buffer][]; payload: Buffer } {
  const keys = new Set<string>();
  for (let n = random.below(60); n >= 0; n--)
    keys.add(PREFIXES[random.below(3)]! + random.bytes(random.below(8)).toString('latin1'));
  const packer = new PiecePacker(KIND.firstSection, isCoins);
  const rows = [...keys].sort().map((key): [string, Buffer] => [key, randomValue(random, isCoins)]);
  for (const [key, value] of rows) expect(packer.row(key, value)).toBeNull();
  return { rows, payload: packer.take()! };
}

/** The result as text, which is compared faster than objects. */
const textOf = ({ records, rows, lastAt }: SnapshotRows): string =>
  `${rows} ${lastAt} ${records.toString('hex')}`;

function outcomeOf(unpack: () => SnapshotRows): string {
  try {
    return textOf(unpack());
  } catch (error) {
    expect((error as Error).name).toBe('ReadError');
    return 'refused';
  }
}

const unpacked = (payload: Buffer, isCoins: boolean): Promise<string> =>
  unpackRecords(payload, checksumOf(payload), isCoins, PREFIXES).then(textOf, (error: unknown) =>
    outcomeOf(() => {
      throw error;
    }),
  );

const fallback = (payload: Buffer, isCoins: boolean): string =>
  outcomeOf(() => unpackRecordsFallback(payload, checksumOf(payload), isCoins, PREFIXES));

describe.skipIf(!native)('native unpacking of snapshot rows against the fallback', () => {
  it.each([true, false])('gives the rows that were packed (coins: %s)', async (isCoins) => {
    const random = new Random(11);
    for (let n = 0; n < 40; n++) {
      const { rows, payload } = randomPiece(random, isCoins);
      const result = await unpackRecords(payload, checksumOf(payload), isCoins, PREFIXES);
      expect(fallback(payload, isCoins)).toBe(textOf(result));
      const hex = (key: string, value: Buffer | null): string => `${key} ${value?.toString('hex')}`;
      expect(
        [...changesOf(result.records)].map(([key, value]) => hex(key.toString('latin1'), value)),
      ).toEqual(rows.map(([key, value]) => hex(key, value)));
      expect(keysAround(result)).toEqual({ first: rows[0]![0], last: rows.at(-1)![0] });
    }
  });

  it.each([true, false])('refuses the same of changed payloads (coins: %s)', async (isCoins) => {
    const random = new Random(12);
    let refused = 0;
    for (let n = 0; n < 300; n++) {
      let { payload } = randomPiece(random, isCoins);
      if (random.chance(3)) payload = payload.subarray(0, 1 + random.below(payload.length));
      else payload[1 + random.below(payload.length - 1)]! ^= 1 << random.below(8);
      const result = await unpacked(payload, isCoins);
      expect(fallback(payload, isCoins)).toBe(result);
      if (result === 'refused') refused++;
    }
    expect(refused).toBeGreaterThan(50);
  });

  it('refuses a wrong checksum, foreign keys, equal keys and amounts out of range', async () => {
    const random = new Random(13);
    const { payload } = randomPiece(random, false);
    const wrong = checksumOf(payload);
    wrong[7]! ^= 1;
    await expect(unpackRecords(payload, wrong, false, PREFIXES)).rejects.toThrow('a checksum does not match');
    const packed = (rows: readonly [string, Buffer][], isCoins = false): Buffer => {
      const packer = new PiecePacker(KIND.firstSection, isCoins);
      for (const [key, value] of rows) packer.row(key, value);
      return packer.take()!;
    };
    const empty = Buffer.alloc(0);
    const amount = (value: bigint): Buffer => {
      const row = formatCoinRow({ heightCode: 1, amount: 0n, script: empty });
      row.writeBigUInt64LE(value, 4);
      return row;
    };
    const most = packed([['a', amount(2n ** 63n - 1n)]], true);
    expect(await unpacked(most, true)).toBe(fallback(most, true));
    expect(fallback(most, true)).not.toBe('refused');
    for (const bad of [
      packed([['b', empty]]),
      packed([
        ['ab', empty],
        ['ab', empty],
      ]),
      packed([['c', empty]]),
    ])
      for (const result of [await unpacked(bad, false), fallback(bad, false)]) expect(result).toBe('refused');
  });
});
