/**
 * Reading of the rows of a Go hub's database (lbryio/herald.go, `testdata`): lines of hex, and a log of RocksDB. The files
 * are not part of the repository: HERALD_DATA names their folder, or they lie in `herald.go/testdata` beside the project.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder, or null if it is absent. */
export function heraldFolder(): string | null {
  const folder =
    process.env['HERALD_DATA'] ?? fileURLToPath(new URL('../../../herald.go/testdata', import.meta.url));
  if (existsSync(join(folder, 'FULL_resolve.csv'))) return folder;
  console.log('skipped: HERALD_DATA does not name the test data of herald.go');
  return null;
}

/** One field of a row; numbers are big endian. A `text` has its length in two bytes before it, a `short` in one. */
type FieldType =
  'u8' | 'u16' | 'u32' | 'u64' | 'id' | 'hash' | 'hashX' | 'header' | 'text' | 'short' | 'rest';

const SIZES: Partial<Record<FieldType, number>> = {
  u8: 1,
  u16: 2,
  u32: 4,
  u64: 8,
  id: 20,
  hash: 32,
  hashX: 11,
  header: 112,
};

const OUTPUT: Record<string, FieldType> = { txNumber: 'u32', nout: 'u16' };

/** Fields of the rows of each kind. Source: lbryio/hub hub/db/prefixes.py. */
const LAYOUTS: Record<string, [key: Record<string, FieldType>, value: Record<string, FieldType>]> = {
  B: [{ txid: 'hash' }, { raw: 'rest' }],
  C: [{ height: 'u32' }, { blockHash: 'hash' }],
  D: [{ name: 'text', invertedAmount: 'u64', ...OUTPUT }, { claim: 'id' }],
  E: [
    { claim: 'id' },
    { ...OUTPUT, rootTx: 'u32', rootNout: 'u16', amount: 'u64', isSigned: 'u8', name: 'text' },
  ],
  F: [{ name: 'text', digits: 'short', rootTx: 'u32', rootNout: 'u16' }, OUTPUT],
  G: [OUTPUT, { claim: 'id', name: 'text' }],
  H: [{ height: 'u32' }, { header: 'header' }],
  I: [{ claim: 'id', ...OUTPUT }, { channel: 'id' }],
  J: [{ channel: 'id', name: 'text', ...OUTPUT }, { claim: 'id' }],
  K: [{ claim: 'id', ...OUTPUT }, { amount: 'u64' }],
  L: [OUTPUT, { claim: 'id' }],
  N: [{ txid: 'hash' }, { txNumber: 'u32' }],
  O: [
    { height: 'u32', ...OUTPUT },
    { claim: 'id', name: 'text' },
  ],
  P: [{ name: 'text' }, { claim: 'id', height: 'u32' }],
  Q: [
    { height: 'u32', type: 'u8', ...OUTPUT },
    { claim: 'id', name: 'text' },
  ],
  R: [
    { type: 'u8', ...OUTPUT },
    { height: 'u32', claim: 'id', name: 'text' },
  ],
  S: [{ claim: 'id', type: 'u8', height: 'u32', ...OUTPUT }, { amount: 'u64' }],
  T: [{ height: 'u32' }, { count: 'u32' }],
  V: [{ repost: 'id' }, { target: 'id' }],
  W: [{ target: 'id', ...OUTPUT }, { repost: 'id' }],
  X: [{ txNumber: 'u32' }, { txid: 'hash' }],
  Y: [{ height: 'u32' }, { touched: 'u32', deleted: 'u32', claims: 'rest' }],
  Z: [{ channel: 'id' }, { count: 'u32' }],
  a: [{ claim: 'id' }, { amount: 'u64' }],
  b: [{ height: 'u32' }, { txids: 'rest' }],
  h: [{ shortTxid: 'u32', ...OUTPUT }, { script: 'hashX' }],
  // Some rows are of a version that did not store the amount of supports.
  i: [{ claim: 'id' }, { amount: 'u64', ofSupports: 'rest' }],
  j: [{ claim: 'id' }, { count: 'u32' }],
  s: [
    {},
    {
      genesis: 'hash',
      height: 'u32',
      txCount: 'u32',
      tip: 'hash',
      flushCount: 'u32',
      wallTimeSec: 'u32',
      firstSync: 'u8',
      version: 'u8',
      rest: 'rest',
    },
  ],
  u: [{ script: 'hashX', ...OUTPUT }, { amount: 'u64' }],
  x: [{ script: 'hashX', height: 'u32' }, { txNumbers: 'rest' }],
};

/** Files of random bytes, by which herald.go tests its own packing. */
const MADE_UP = ['c', 'd', 'e', 'f', 'g', 'i', 'j'].map((kind) => `${kind}.csv`);

export interface HeraldRow {
  readonly file: string;
  readonly kind: string;
  readonly numbers: Readonly<Record<string, bigint>>;
  readonly bytes: Readonly<Record<string, Buffer>>;
}

function readFields(
  bytes: Buffer,
  at: number,
  fields: Record<string, FieldType>,
  row: { numbers: Record<string, bigint>; bytes: Record<string, Buffer> },
): void {
  for (const [name, type] of Object.entries(fields)) {
    let size = SIZES[type] ?? bytes.length - at;
    if (type === 'text' || type === 'short') {
      const ahead = type === 'text' ? 2 : 1;
      size = bytes.readUIntBE(at, ahead);
      at += ahead;
    }
    const field = bytes.subarray(at, at + size);
    if (field.length !== size) throw new Error(`${name} ends after ${field.length} of ${size} bytes`);
    if (/^u\d/.test(type)) row.numbers[name] = BigInt(`0x${field.toString('hex')}`);
    else row.bytes[name] = field;
    at += size;
  }
  if (at !== bytes.length) throw new Error(`${bytes.length - at} bytes too many`);
}

export function parseHeraldRow(file: string, key: Buffer, value: Buffer): HeraldRow {
  const kind = key.toString('latin1', 0, 1);
  const layout = LAYOUTS[kind];
  if (!layout) throw new Error(`${file} has a row of the unknown kind ${kind}`);
  const row = { file, kind, numbers: {}, bytes: {} };
  readFields(key, 1, layout[0], row);
  readFields(value, 0, layout[1], row);
  return row;
}

/** All rows of the folder's lists. The first line of a list has as many fields as the others. */
export function readHeraldRows(folder: string): HeraldRow[] {
  const rows: HeraldRow[] = [];
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.csv') || MADE_UP.includes(file)) continue;
    const [, ...lines] = readFileSync(join(folder, file), 'latin1').trim().split('\n');
    for (const line of lines) {
      const [key, value] = line.split(',').slice(-2) as [string, string];
      rows.push(parseHeraldRow(file, Buffer.from(key, 'hex'), Buffer.from(value, 'hex')));
    }
  }
  return rows;
}

const LOG_BLOCK_BYTES = 32_768;
const LOG_HEADER_BYTES = 7;
/** Kinds of parts of a record in the log. Source: RocksDB's log format. */
const PIECE = { full: 1, first: 2, middle: 3, last: 4 } as const;
/** Size of the header of a write batch: a sequence number and a count. */
const BATCH_HEADER_BYTES = 12;
/** Changes of a row in a column family. */
const CHANGE = { delete: 4, put: 5 } as const;

function* logRecords(log: Buffer): Generator<Buffer> {
  let pieces: Buffer[] = [];
  for (let at = 0; at < log.length;) {
    const left = LOG_BLOCK_BYTES - (at % LOG_BLOCK_BYTES);
    const size = left < LOG_HEADER_BYTES ? 0 : log.readUInt16LE(at + 4);
    const type = left < LOG_HEADER_BYTES ? 0 : log[at + 6];
    if (type === 0) {
      at += left;
      continue;
    }
    pieces.push(log.subarray(at + LOG_HEADER_BYTES, at + LOG_HEADER_BYTES + size));
    at += LOG_HEADER_BYTES + size;
    if (type !== PIECE.full && type !== PIECE.last) continue;
    yield Buffer.concat(pieces);
    pieces = [];
  }
}

/** The rows after all changes of a RocksDB log, by key in hex. */
export function readRocksLog(log: Buffer): Map<string, Buffer> {
  const rows = new Map<string, Buffer>();
  for (const record of logRecords(log)) {
    let at = BATCH_HEADER_BYTES;
    const varint = (): number => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = record[at++]!;
        value |= (byte & 127) << shift;
        if (byte < 128) return value;
      }
    };
    const slice = (): Buffer => {
      const size = varint();
      return record.subarray(at, (at += size));
    };
    while (at < record.length) {
      const change = record[at++];
      varint(); // the column family, which the key begins with too
      const key = slice().toString('hex');
      if (change === CHANGE.put) rows.set(key, slice());
      else if (change === CHANGE.delete) rows.delete(key);
      else throw new Error(`unknown change ${change} of a row`);
    }
  }
  return rows;
}
