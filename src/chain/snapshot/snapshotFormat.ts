/**
 * The file format of snapshots: pieces with a checksum, each with packed rows. The same chain state gives the same bytes on
 * every machine, so the SHA-256 of the file identifies its contents. Independent of files and databases.
 *
 * File: 8 bytes of magic, then pieces `u32 length ‖ first 8 bytes of the SHA-256 of the payload ‖ payload`, little endian. The
 * first byte of a payload is its kind:
 * - 0: JSON, `SnapshotHead`. The first piece.
 * - 1: headers from height 1 on: version, merkle root, claim root, time, bits, nonce as in the header, then the number of
 *   transactions of the block (base-128 number). The hash of the previous header is left out.
 * - 2 and more: rows of the section with that number less 2, in ascending order of their keys: how many bytes the key shares
 *   with the one before it in the piece, length of the rest, rest, then the value. A coin's value is packed (`packCoin`);
 *   other values have their length before them.
 * - 255: JSON, `SnapshotEnd`. The last piece; nothing follows it.
 */
import { sha256 } from '../../crypto/hash.js';
import type { Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import { RowDecoder, RowEncoder } from '../../store/claims/rows/rowCodec.js';
import { COIN_ROW_HEADER_BYTES } from '../../store/cache/coinRow.js';

export const SNAPSHOT_MAGIC = Buffer.from('LBCSNAP\n', 'latin1');
/** Version of the file format. Increase it when the layout or the meaning of a row changes. */
export const SNAPSHOT_FORMAT = 1;
/** Size of the checksum of a piece. */
export const CHECKSUM_BYTES = 8;
/** Size of the length and the checksum before a payload. */
export const PIECE_HEAD_BYTES = 4 + CHECKSUM_BYTES;
/** Size in bytes at which a piece ends. */
export const PIECE_BYTES = 1 << 20;
/**
 * Maximum length of a piece; a larger length is corruption. A piece exceeds `PIECE_BYTES` by at most one row, and no row is
 * larger than a block.
 */
export const MAX_PIECE_BYTES = 16 << 20;

export const KIND = { head: 0, headers: 1, firstSection: 2, end: 255 } as const;

/** The block of a snapshot, and the rules under which it was computed. */
export interface SnapshotHead {
  readonly format: number;
  readonly network: string;
  /** Fork heights, expiration terms and the delay of supports, as one text. */
  readonly rules: string;
  readonly height: number;
  /** Block id in its printed form (reversed bytes, hex). */
  readonly block: string;
  /** The sections of the file in their order, with the version of their row formats. */
  readonly sections: readonly { readonly name: string; readonly version: number }[];
}

/** Summary of one section of the file. */
export interface SectionSummary {
  readonly name: string;
  readonly rows: number;
  /** SHA-256 over the payloads of the section's pieces, in hex. */
  readonly hash: string;
}

/** Contents of the last piece of the file: summaries of the headers, and then of the sections in their order. */
export interface SnapshotEnd {
  readonly parts: readonly SectionSummary[];
}

export function pieceHead(payload: Bytes): Buffer {
  const head = Buffer.allocUnsafe(PIECE_HEAD_BYTES);
  head.writeUInt32LE(payload.length, 0);
  sha256(payload).copy(head, 4, 0, CHECKSUM_BYTES);
  return head;
}

export function jsonPiece(kind: number, value: SnapshotHead | SnapshotEnd): Buffer {
  return Buffer.concat([Buffer.from([kind]), Buffer.from(JSON.stringify(value))]);
}

/** Packs rows of one kind into payloads of pieces. */
export class PiecePacker {
  private readonly kind: number;
  private readonly isCoins: boolean;
  private out = new RowEncoder();
  private last = '';

  constructor(kind: number, isCoins: boolean) {
    this.kind = kind;
    this.isCoins = isCoins;
  }

  /** Adds a row. Returns the payload of a piece when the piece is full, else null. */
  row(key: string, value: Bytes): Buffer | null {
    const { out, last } = this;
    if (out.size === 0) out.byte(this.kind);
    const most = Math.min(key.length, last.length);
    let shared = 0;
    while (shared < most && key.charCodeAt(shared) === last.charCodeAt(shared)) shared++;
    out.number(shared).string(key.slice(shared));
    if (this.isCoins) packCoin(out, value);
    else out.number(value.length).bytes(value);
    this.last = key;
    return out.size >= PIECE_BYTES ? this.take() : null;
  }

  /** Adds a header of 112 bytes. Returns the payload of a piece when the piece is full, else null. */
  header(header: Bytes, txCount: number): Buffer | null {
    const { out } = this;
    if (out.size === 0) out.byte(this.kind);
    out.bytes(header.subarray(0, 4)).bytes(header.subarray(36)).number(txCount);
    return out.size >= PIECE_BYTES ? this.take() : null;
  }

  /** Returns the payload of the rows that are not packed yet; null if there are none. */
  take(): Buffer | null {
    if (this.out.size === 0) return null;
    this.last = '';
    return this.out.finish();
  }
}

/** Calls `take` for each row of a payload. Throws `ReadError` for malformed bytes. Values may be views. */
export function unpackRows(
  payload: Buffer,
  isCoins: boolean,
  take: (key: string, value: Buffer) => void,
): void {
  const input = new RowDecoder(payload);
  input.byte();
  let last = '';
  while (!input.done) {
    const shared = input.number();
    if (shared > last.length) throw new ReadError('a key of the snapshot is too short');
    const key = last.slice(0, shared) + input.string();
    take(key, isCoins ? unpackCoin(input) : input.bytes(input.number()));
    last = key;
  }
}

/** A header without the hash of its parent: `start` is the part before that hash and `rest` the part after it. */
export interface UnpackedHeader {
  readonly start: Buffer;
  readonly rest: Buffer;
  readonly txCount: number;
}

/** Reads the headers of a payload. They are views of it. */
export function* unpackHeaders(payload: Buffer): Generator<UnpackedHeader> {
  const input = new RowDecoder(payload);
  input.byte();
  while (!input.done) yield { start: input.bytes(4), rest: input.bytes(76), txCount: input.number() };
}

/**
 * Forms of scripts that are stored as a form number and a hash. A form consists of the bytes before the hash, the length of
 * the hash, and the bytes after it.
 */
const SCRIPT_FORMS: readonly { readonly head: Buffer; readonly hash: number; readonly tail: Buffer }[] = [
  { head: Buffer.from('76a914', 'hex'), hash: 20, tail: Buffer.from('88ac', 'hex') },
  { head: Buffer.from('a914', 'hex'), hash: 20, tail: Buffer.from('87', 'hex') },
  { head: Buffer.from('0014', 'hex'), hash: 20, tail: Buffer.alloc(0) },
  { head: Buffer.from('0020', 'hex'), hash: 32, tail: Buffer.alloc(0) },
];

/**
 * Writes a coin: height code, amount (`packAmount`), then the number of the script's form and its hash. If the script has no
 * known form, writes the number of forms plus the length of the script, and then the script.
 */
function packCoin(out: RowEncoder, row: Bytes): void {
  const bytes = Buffer.from(row.buffer, row.byteOffset, row.length);
  out.number(bytes.readUInt32LE(0)).amount(packAmount(bytes.readBigInt64LE(4)));
  const script = bytes.subarray(COIN_ROW_HEADER_BYTES);
  const form = SCRIPT_FORMS.findIndex(
    ({ head, hash, tail }) =>
      script.length === head.length + hash + tail.length &&
      script.subarray(0, head.length).equals(head) &&
      script.subarray(script.length - tail.length).equals(tail),
  );
  if (form < 0) out.number(SCRIPT_FORMS.length + script.length).bytes(script);
  else {
    const { head, hash } = SCRIPT_FORMS[form]!;
    out.number(form).bytes(script.subarray(head.length, head.length + hash));
  }
}

function unpackCoin(input: RowDecoder): Buffer {
  const heightCode = input.number();
  const amount = unpackAmount(input.amount());
  const form = input.number();
  const known = SCRIPT_FORMS[form];
  const script = known
    ? Buffer.concat([known.head, input.bytes(known.hash), known.tail])
    : input.bytes(form - SCRIPT_FORMS.length);
  if (heightCode > 0xffffffff || amount > 0x7fffffffffffffffn)
    throw new ReadError('a coin of the snapshot is out of range');
  const row = Buffer.allocUnsafe(COIN_ROW_HEADER_BYTES + script.length);
  row.writeUInt32LE(heightCode, 0);
  row.writeBigInt64LE(amount, 4);
  row.set(script, COIN_ROW_HEADER_BYTES);
  return row;
}

/** Compact encoding for amounts with trailing zeros. Source: Core compressor.cpp `CompressAmount`. */
export function packAmount(amount: bigint): bigint {
  if (amount === 0n) return 0n;
  let rest = amount;
  let zeros = 0n;
  while (zeros < 9n && rest % 10n === 0n) {
    rest /= 10n;
    zeros++;
  }
  if (zeros === 9n) return 1n + (rest - 1n) * 10n + 9n;
  const digit = rest % 10n;
  return 1n + ((rest / 10n) * 9n + digit - 1n) * 10n + zeros;
}

/** Reverses `packAmount`. Source: Core compressor.cpp `DecompressAmount`. */
export function unpackAmount(packed: bigint): bigint {
  if (packed === 0n) return 0n;
  let rest = packed - 1n;
  const zeros = rest % 10n;
  rest /= 10n;
  const amount = zeros === 9n ? rest + 1n : (rest / 9n) * 10n + (rest % 9n) + 1n;
  return amount * 10n ** zeros;
}
