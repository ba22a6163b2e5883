/**
 * Addresses of peers: the accepted ones, their compact form, and distances between ids.
 * Source: lbry-sdk lbry/dht/serialization/datagram.py, lbry/dht/peer.py, lbry/utils.py `is_valid_public_ipv4`.
 */
import { isIPv4 } from 'node:net';
import { DecodeError } from './bencode.js';
import { ID_BYTES } from './datagrams.js';

/** Length of a compact address in bytes: 4 of the IPv4 address, 2 of the port, 48 of the node id. */
export const COMPACT_BYTES = 6 + ID_BYTES;
const [MIN_PORT, MAX_PORT] = [1024, 65_535];

/** Networks whose addresses a peer cannot have. Source: IANA's registry of special addresses, as Python reads it. */
const CLOSED: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
/** Addresses within the reserved network 192.0.0.0/24 that are public nevertheless. */
const OPEN: ReadonlySet<string> = new Set(['192.0.0.9', '192.0.0.10']);

const numberOf = (address: string): number =>
  address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
/**
 * First address, as a number, and number of addresses of each closed network. A search of this table is nearly three times
 * as fast as `net.BlockList`.
 */
const closed = CLOSED.map(([network, prefix]) => [numberOf(network), 2 ** (32 - prefix)] as const);
const LOOPBACK_PREFIX = '127.';

/** Whether a peer may have this IPv4 address (as text). `allowLocalhost` is for tests. */
export function isPublicAddress(address: string, allowLocalhost = false): boolean {
  if (!isIPv4(address)) return false;
  if (allowLocalhost && address.startsWith(LOOPBACK_PREFIX)) return true;
  const number = numberOf(address);
  const isClosed = closed.some(([first, count]) => number >= first && number < first + count);
  return !isClosed || OPEN.has(address);
}

/** Whether peers may have the port, for UDP and for TCP. */
export const isPeerPort = (port: number): boolean =>
  Number.isInteger(port) && port >= MIN_PORT && port <= MAX_PORT;

export interface CompactAddress {
  /** 48 bytes. */
  readonly nodeId: Buffer;
  readonly address: string;
  readonly port: number;
}

/** Encodes a peer's address and node id. Throws `RangeError` for an address, port or id that has no compact form. */
export function encodeCompactAddress({ nodeId, address, port }: CompactAddress): Buffer {
  if (!isIPv4(address)) throw new RangeError(`invalid IPv4 address: ${address}`);
  if (!(port > 0 && port <= MAX_PORT)) throw new RangeError(`Invalid port: ${port}`);
  if (nodeId.length !== ID_BYTES) throw new RangeError('invalid node node_id length');
  return Buffer.from([...address.split('.').map(Number), port >> 8, port & 0xff, ...nodeId]);
}

/**
 * Decodes a compact address. Throws `DecodeError`. The caller must check with `isPublicAddress` and `isPeerPort` whether a
 * peer can have the address.
 */
export function decodeCompactAddress(bytes: Buffer): CompactAddress {
  if (bytes.length !== COMPACT_BYTES) throw new DecodeError('invalid length of a compact address');
  const port = bytes.readUInt16BE(4);
  if (port === 0) throw new DecodeError(`Invalid port: ${port}`);
  return { nodeId: bytes.subarray(6), address: bytes.subarray(0, 4).join('.'), port };
}

/** The distance of two ids: their exclusive or, big endian, 48 bytes. */
export function distance(a: Buffer, b: Buffer): Buffer {
  const result = Buffer.alloc(ID_BYTES);
  for (let index = 0; index < ID_BYTES; index++) result[index] = a[index]! ^ b[index]!;
  return result;
}

/** Returns a negative number if `a` is closer to the key than `b`. */
export function compareDistance(key: Buffer, a: Buffer, b: Buffer): number {
  for (let index = 0; index < ID_BYTES; index++) {
    const difference = (key[index]! ^ a[index]!) - (key[index]! ^ b[index]!);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Number of leading bits that two ids have in common. */
export function commonBits(a: Buffer, b: Buffer): number {
  for (let index = 0; index < ID_BYTES; index++) {
    const difference = a[index]! ^ b[index]!;
    if (difference !== 0) return index * 8 + Math.clz32(difference) - 24;
  }
  return ID_BYTES * 8;
}
