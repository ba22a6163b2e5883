/**
 * Payloads of the protocol's messages as plain bytes, written independently for the tests. Nothing here comes from the sources,
 * so that tests find errors in the sources. Source: Core protocol.h, net_processing.cpp; BIP31, 37, 61, 130, 133, 144, 152.
 */
import { createHash } from 'node:crypto';

export const INV_TX = 1;
export const INV_BLOCK = 2;
export const INV_FILTERED_BLOCK = 3;
export const INV_COMPACT_BLOCK = 4;
export const INV_WITNESS_TX = 0x40000001;
export const INV_WITNESS_BLOCK = 0x40000002;

export const HEADER_SIZE = 112;
export const NO_HASH = Buffer.alloc(32);

export const sha256d = (data: Buffer): Buffer => sha256(sha256(data));
const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();

/** The printed form of a hash. */
export const shown = (hash: Buffer): string => Buffer.from(hash).reverse().toString('hex');
/** The bytes of a printed hash. */
export const hashOf = (text: string): Buffer => Buffer.from(text, 'hex').reverse();

export function u16be(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}
export function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return bytes;
}

/** A count in its shortest form. */
export function count(value: number): Buffer {
  if (value < 0xfd) return Buffer.of(value);
  if (value <= 0xffff) return Buffer.of(0xfd, value & 0xff, value >> 8);
  return Buffer.concat([Buffer.of(0xfe), u32(value)]);
}

export const withLength = (bytes: Buffer): Buffer => Buffer.concat([count(bytes.length), bytes]);
export const text = (value: string): Buffer => withLength(Buffer.from(value, 'latin1'));
export const list = (items: readonly Buffer[]): Buffer => Buffer.concat([count(items.length), ...items]);

/** Services, 16 bytes of address, port. IPv4 by its four numbers. */
export function address(ip: readonly number[], port: number, services = 0n): Buffer {
  const mapped = Buffer.concat([Buffer.alloc(10), Buffer.of(0xff, 0xff, ...ip)]);
  return Buffer.concat([u64(services), mapped, u16be(port)]);
}

export interface VersionFields {
  version?: number;
  services?: bigint;
  timeSec?: number;
  nonce?: bigint;
  userAgent?: string;
  height?: number;
  relay?: boolean;
}

/** NETWORK, BLOOM and WITNESS. */
export const SERVICES = 13n;

export function version(fields: VersionFields = {}): Buffer {
  const { services = SERVICES, timeSec = Math.floor(Date.now() / 1000) } = fields;
  return Buffer.concat([
    u32(fields.version ?? 70015),
    u64(services),
    u64(BigInt(timeSec)),
    address([127, 0, 0, 1], 1, 9n),
    address([127, 0, 0, 1], 2, services),
    u64(fields.nonce ?? 0x1122334455667788n),
    text(fields.userAgent ?? '/scripted:1/'),
    u32(fields.height ?? 0),
    Buffer.of(fields.relay === false ? 0 : 1),
  ]);
}

export interface Item {
  type: number;
  hash: Buffer;
}

export const inventory = (items: readonly Item[]): Buffer =>
  list(items.map(({ type, hash }) => Buffer.concat([u32(type), hash])));
export const one = (type: number, hash: Buffer): Buffer => inventory([{ type, hash }]);

export const locator = (hashes: readonly Buffer[], stop: Buffer = NO_HASH): Buffer =>
  Buffer.concat([u32(70015), list(hashes), stop]);

export const headers = (items: readonly Buffer[]): Buffer =>
  list(items.map((header) => Buffer.concat([header, Buffer.of(0)])));

export interface Address {
  timeSec: number;
  services: bigint;
  ip: readonly number[];
  port: number;
}

export const addresses = (items: readonly Address[]): Buffer =>
  list(
    items.map(({ timeSec, services, ip, port }) =>
      Buffer.concat([u32(timeSec), address(ip, port, services)]),
    ),
  );

export const sendcmpct = (announce: boolean, number: number): Buffer =>
  Buffer.concat([Buffer.of(announce ? 1 : 0), u64(BigInt(number))]);

/** `data` is the filter's bits. */
export const filterload = (data: Buffer, functions: number, flags = 0): Buffer =>
  Buffer.concat([withLength(data), u32(functions), u32(0), Buffer.of(flags)]);

/** Positions in the block, ascending. They are sent as differences. */
export function getblocktxn(hash: Buffer, indexes: readonly number[]): Buffer {
  const steps = indexes.map((index, i) => count(index - (i === 0 ? 0 : indexes[i - 1]! + 1)));
  return Buffer.concat([hash, list(steps)]);
}

export const blocktxn = (hash: Buffer, txs: readonly Buffer[]): Buffer => Buffer.concat([hash, list(txs)]);

/** `prefilled`: the difference of the position to the previous one, less one, and the transaction. */
export function cmpctblock(
  header: Buffer,
  nonce: bigint,
  shortIds: readonly Buffer[],
  prefilled: readonly { step: number; tx: Buffer }[],
): Buffer {
  const filled = prefilled.map(({ step, tx }) => Buffer.concat([count(step), tx]));
  return Buffer.concat([header, u64(nonce), list(shortIds), list(filled)]);
}

/** The short id of a transaction (BIP152): six bytes of SipHash-2-4 with a key from header and nonce. */
export function shortId(header: Buffer, nonce: bigint, id: Buffer): Buffer {
  const key = sha256(Buffer.concat([header, u64(nonce)]));
  return u64(sipHash(key.readBigUInt64LE(0), key.readBigUInt64LE(8), id)).subarray(0, 6);
}

const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);
const turn = (value: bigint, by: bigint): bigint => wrap(value << by) | (value >> (64n - by));

/** SipHash-2-4 of complete 8-byte words. */
function sipHash(k0: bigint, k1: bigint, data: Buffer): bigint {
  let [a, b] = [k0 ^ 0x736f6d6570736575n, k1 ^ 0x646f72616e646f6dn];
  let [c, d] = [k0 ^ 0x6c7967656e657261n, k1 ^ 0x7465646279746573n];
  const round = (): void => {
    [a, c] = [wrap(a + b), wrap(c + d)];
    [b, d] = [turn(b, 13n) ^ a, turn(d, 16n) ^ c];
    a = turn(a, 32n);
    [c, a] = [wrap(c + b), wrap(a + d)];
    [b, d] = [turn(b, 17n) ^ c, turn(d, 21n) ^ a];
    c = turn(c, 32n);
  };
  const take = (word: bigint): void => {
    d ^= word;
    round();
    round();
    a ^= word;
  };
  for (let at = 0; at < data.length; at += 8) take(data.readBigUInt64LE(at));
  take(BigInt(data.length & 0xff) << 56n);
  c ^= 0xffn;
  for (let i = 0; i < 4; i++) round();
  return a ^ b ^ c ^ d;
}

/** Reads bytes in order. Throws a RangeError after the end. */
export class Cursor {
  at = 0;
  private readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
  get left(): number {
    return this.bytes.length - this.at;
  }
  take(length: number): Buffer {
    if (length > this.left) throw new RangeError(`${length} bytes wanted, ${this.left} left`);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
  u8 = (): number => this.take(1)[0]!;
  u16be = (): number => this.take(2).readUInt16BE();
  u32 = (): number => this.take(4).readUInt32LE();
  u64 = (): bigint => this.take(8).readBigUInt64LE();
  hash = (): Buffer => this.take(32);
  count(): number {
    const first = this.u8();
    if (first < 0xfd) return first;
    return first === 0xfd ? this.take(2).readUInt16LE() : this.u32();
  }
  text = (): string => this.take(this.count()).toString('latin1');
  list<T>(read: (cursor: Cursor) => T): T[] {
    return Array.from({ length: this.count() }, () => read(this));
  }
}

export const readInventory = (payload: Buffer): Item[] =>
  new Cursor(payload).list((cursor) => ({ type: cursor.u32(), hash: cursor.hash() }));

/** The items of a getdata or an inv, in readable form. */
export const itemsOf = (payload: Buffer): string[] =>
  readInventory(payload).map(({ type, hash }) => `${type.toString(16)} ${shown(hash)}`);
export const item = (type: number, hash: Buffer): string => `${type.toString(16)} ${shown(hash)}`;

export const readHeaders = (payload: Buffer): Buffer[] =>
  new Cursor(payload).list((cursor) => cursor.take(HEADER_SIZE + 1).subarray(0, HEADER_SIZE));

export function readLocator(payload: Buffer): { hashes: Buffer[]; stop: Buffer } {
  const cursor = new Cursor(payload);
  cursor.u32();
  return { hashes: cursor.list((each) => each.hash()), stop: cursor.hash() };
}

export const readAddresses = (payload: Buffer): Address[] =>
  new Cursor(payload).list((cursor) => {
    const timeSec = cursor.u32();
    const services = cursor.u64();
    return { timeSec, services, ip: [...cursor.take(16).subarray(12)], port: cursor.u16be() };
  });

export interface Compact {
  header: Buffer;
  nonce: bigint;
  shortIds: Buffer[];
  /** Number of bytes of the prefilled transactions. */
  prefilled: Buffer;
}

export function readCompact(payload: Buffer): Compact {
  const cursor = new Cursor(payload);
  const [header, nonce] = [cursor.take(HEADER_SIZE), cursor.u64()];
  return {
    header,
    nonce,
    shortIds: cursor.list((each) => each.take(6)),
    prefilled: cursor.take(cursor.left),
  };
}

/** The hashes of a proof, and the number of transactions of the block. */
export function readMerkleBlock(payload: Buffer): { header: Buffer; total: number; hashes: string[] } {
  const cursor = new Cursor(payload);
  const [header, total] = [cursor.take(HEADER_SIZE), cursor.u32()];
  return { header, total, hashes: cursor.list((each) => shown(each.hash())) };
}

export interface Reject {
  message: string;
  code: number;
  reason: string;
  /** In readable form. */
  hash: string | null;
}

export function readReject(payload: Buffer): Reject {
  const cursor = new Cursor(payload);
  const [message, code, reason] = [cursor.text(), cursor.u8(), cursor.text()];
  return { message, code, reason, hash: cursor.left >= 32 ? shown(cursor.hash()) : null };
}

export function readVersion(payload: Buffer): Required<VersionFields> {
  const cursor = new Cursor(payload);
  const head = { version: cursor.u32(), services: cursor.u64(), timeSec: Number(cursor.u64()) };
  cursor.take(52);
  const [nonce, userAgent, height] = [cursor.u64(), cursor.text(), cursor.u32()];
  return { ...head, nonce, userAgent, height, relay: cursor.u8() === 1 };
}
