/**
 * Addresses of nodes: 16 bytes and a port. Determines the network of an address and whether it is routable, and parses and
 * formats addresses. Does not resolve names. Source: Core netaddress.cpp, netbase.cpp.
 */
import { sha256 } from '../crypto/hash.js';
import { splitHostPort } from '../util/network/hostPort.js';
import type { Reader } from '../util/reader.js';
import { parseIp, type Subnet } from '../util/network/subnet.js';
import type { Writer } from '../util/writer.js';

export interface NetAddress {
  /** IP address of 16 bytes. IPv4 is stored as ::ffff:a.b.c.d; an onion name of version 2 follows the OnionCat prefix. */
  readonly ip: Buffer;
  /** TCP port, 0 to 65,535. */
  readonly port: number;
}

/** An address whose port does not matter. */
export type HostAddress = Pick<NetAddress, 'ip'> & Partial<NetAddress>;

export type NetworkKind = 'unroutable' | 'ipv4' | 'ipv6' | 'onion' | 'internal';

const IP_SIZE = 16;

export const NO_ADDRESS: NetAddress = { ip: Buffer.alloc(IP_SIZE), port: 0 };

const IPV4_PREFIX = Buffer.from('00000000000000000000ffff', 'hex');
const ONION_PREFIX = Buffer.from('fd87d87eeb43', 'hex');
/** Prefix of internal addresses, which represent host names: `fd` and the first bytes of the SHA-256 of `bitcoin`. */
const INTERNAL_PREFIX = Buffer.from('fd6b88c08724', 'hex');
const LOOPBACK = Buffer.from('00000000000000000000000000000001', 'hex');
const RFC6052_PREFIX = Buffer.from('0064ff9b0000000000000000', 'hex');
const RFC4862_PREFIX = Buffer.from('fe80000000000000', 'hex');
const RFC6145_PREFIX = Buffer.from('0000000000000000ffff0000', 'hex');
/**
 * QUIRK: the IPv4 prefix shifted by three bytes. Very old versions produced such addresses when they parsed address lists;
 * these addresses are invalid. Test: test/unit/net/netAddress.test.ts.
 */
const SHIFTED_PREFIX = IPV4_PREFIX.subarray(3);

function startsWith(ip: Buffer, prefix: Buffer): boolean {
  return ip.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

export function isIpv4({ ip }: HostAddress): boolean {
  return startsWith(ip, IPV4_PREFIX);
}
/** Whether the address is an onion name of version 2. */
export function isOnion({ ip }: HostAddress): boolean {
  return startsWith(ip, ONION_PREFIX);
}
/** Whether the address represents a host name. Such an address is the source of addresses that a DNS seed returned. */
export function isInternal({ ip }: HostAddress): boolean {
  return startsWith(ip, INTERNAL_PREFIX);
}
export function isIpv6(address: HostAddress): boolean {
  return !isIpv4(address) && !isOnion(address) && !isInternal(address);
}

/** Private networks. */
export function isRfc1918(address: HostAddress): boolean {
  const [a, b] = ipv4Head(address);
  return a === 10 || (a === 192 && b === 168) || (a === 172 && b >= 16 && b <= 31);
}
/** Whether the address belongs to a network for benchmark tests (RFC 2544). */
export function isRfc2544(address: HostAddress): boolean {
  const [a, b] = ipv4Head(address);
  return a === 198 && (b === 18 || b === 19);
}
/** Whether the address is a link-local IPv4 address (RFC 3927). */
export function isRfc3927(address: HostAddress): boolean {
  const [a, b] = ipv4Head(address);
  return a === 169 && b === 254;
}
/** Whether the address belongs to the space shared by customers of a provider (RFC 6598). */
export function isRfc6598(address: HostAddress): boolean {
  const [a, b] = ipv4Head(address);
  return a === 100 && b >= 64 && b <= 127;
}
/** Documentation. */
export function isRfc5737(address: HostAddress): boolean {
  const [a, b, c] = ipv4Head(address);
  return (
    (a === 192 && b === 0 && c === 2) ||
    (a === 198 && b === 51 && c === 100) ||
    (a === 203 && b === 0 && c === 113)
  );
}
/** Documentation, IPv6. */
export function isRfc3849({ ip }: HostAddress): boolean {
  return ip.readUInt32BE(0) === 0x20010db8;
}
/** 6to4. */
export function isRfc3964({ ip }: HostAddress): boolean {
  return ip.readUInt16BE(0) === 0x2002;
}
/** Whether the address has the well-known prefix of translated IPv4 addresses (RFC 6052). */
export function isRfc6052({ ip }: HostAddress): boolean {
  return startsWith(ip, RFC6052_PREFIX);
}
/** Teredo. */
export function isRfc4380({ ip }: HostAddress): boolean {
  return ip.readUInt32BE(0) === 0x20010000;
}
/** Whether the address is a link-local IPv6 address (RFC 4862). */
export function isRfc4862({ ip }: HostAddress): boolean {
  return startsWith(ip, RFC4862_PREFIX);
}
/** Whether the address is a unique local address (RFC 4193). Onion and internal addresses are in this range too. */
export function isRfc4193({ ip }: HostAddress): boolean {
  return (ip[0]! & 0xfe) === 0xfc;
}
/** Translated IPv4. */
export function isRfc6145({ ip }: HostAddress): boolean {
  return startsWith(ip, RFC6145_PREFIX);
}
/** ORCHID. */
export function isRfc4843({ ip }: HostAddress): boolean {
  return ip.readUInt32BE(0) >>> 4 === 0x2001001;
}
function isHurricaneElectric({ ip }: HostAddress): boolean {
  return ip.readUInt32BE(0) === 0x20010470;
}

/** Returns the first three bytes of an IPv4 address, or −1 three times for other addresses. */
function ipv4Head(address: HostAddress): [number, number, number] {
  if (!isIpv4(address)) return [-1, -1, -1];
  const { ip } = address;
  return [ip[12]!, ip[13]!, ip[14]!];
}

/** This machine. */
export function isLocal(address: HostAddress): boolean {
  const [first] = ipv4Head(address);
  return first === 127 || first === 0 || address.ip.equals(LOOPBACK);
}

/** Whether the address is valid. Source: `CNetAddr::IsValid`. */
export function isValid(address: HostAddress): boolean {
  const { ip } = address;
  if (startsWith(ip, SHIFTED_PREFIX) || ip.equals(NO_ADDRESS.ip)) return false;
  if (isRfc3849(address) || isInternal(address)) return false;
  const tail = ip.readUInt32BE(12);
  return !isIpv4(address) || (tail !== 0 && tail !== 0xffffffff);
}

/** Whether other nodes can reach the address over the internet or Tor. Source: `CNetAddr::IsRoutable`. */
export function isRoutable(address: HostAddress): boolean {
  if (!isValid(address) || isLocal(address) || isInternal(address)) return false;
  if (isRfc1918(address) || isRfc2544(address) || isRfc3927(address) || isRfc6598(address)) return false;
  if (isRfc5737(address) || isRfc4862(address) || isRfc4843(address)) return false;
  return !isRfc4193(address) || isOnion(address);
}

export function networkOf(address: HostAddress): NetworkKind {
  if (isInternal(address)) return 'internal';
  if (!isRoutable(address)) return 'unroutable';
  if (isIpv4(address)) return 'ipv4';
  return isOnion(address) ? 'onion' : 'ipv6';
}

/** Number of each network type, used as the first byte of a network group. Source: `enum Network`. */
const GROUP_CLASS = { unroutable: 0, ipv4: 1, ipv6: 2, onion: 3, internal: 4 } as const;

/**
 * Returns the bytes of a network group: the network number, then the first `bits` bits of `ip` from byte `start` on. Unused
 * bits of the last byte are 1.
 */
function groupBytes(kind: NetworkKind, ip: Buffer, start: number, bits: number): Buffer {
  const size = Math.ceil(bits / 8);
  const group = Buffer.alloc(1 + size);
  group[0] = GROUP_CLASS[kind];
  ip.copy(group, 1, start, start + size);
  if (bits % 8 > 0) group[size]! |= (1 << (8 - (bits % 8))) - 1;
  return group;
}

/**
 * Returns the network group of an address. Addresses of one group probably have the same owner, so the node opens at most
 * one outbound connection per group. Source: `CNetAddr::GetGroup`.
 */
export function groupOf(address: HostAddress): Buffer {
  const { ip } = address;
  if (isInternal(address)) return groupBytes('internal', ip, INTERNAL_PREFIX.length, 80);
  if (!isRoutable(address)) return groupBytes('unroutable', ip, 0, 0);
  if (isIpv4(address) || isRfc6145(address) || isRfc6052(address)) return groupBytes('ipv4', ip, 12, 16);
  if (isRfc3964(address)) return groupBytes('ipv4', ip, 2, 16);
  // Teredo stores the IPv4 address with all bits inverted.
  if (isRfc4380(address)) return Buffer.of(GROUP_CLASS.ipv4, ip[12]! ^ 0xff, ip[13]! ^ 0xff);
  if (isOnion(address)) return groupBytes('onion', ip, ONION_PREFIX.length, 4);
  return groupBytes('ipv6', ip, 0, isHurricaneElectric(address) ? 36 : 32);
}

const REACH = {
  unreachable: 0,
  default: 1,
  teredo: 2,
  ipv6Weak: 3,
  ipv4: 4,
  ipv6Strong: 5,
  private: 6,
} as const;

/**
 * Returns how well a peer (null: any peer) can reach one of this node's addresses. A higher score is better; 0 means
 * unreachable. Source: `CNetAddr::GetReachabilityFrom`.
 */
export function reachabilityScore(local: HostAddress, peer: HostAddress | null): number {
  if (!isRoutable(local)) return REACH.unreachable;
  const ours = isRfc4380(local) ? 'teredo' : networkOf(local);
  const theirs = peer === null ? 'unknown' : isRfc4380(peer) ? 'teredo' : networkOf(peer);
  if (ours === 'ipv4') return REACH.ipv4;
  if (theirs === 'ipv4') return REACH.default;
  if (ours === 'onion') return theirs === 'ipv6' || theirs === 'teredo' ? REACH.default : REACH.private;
  if (theirs === 'onion') return REACH.default;
  if (ours === 'teredo') return REACH.teredo;
  if (theirs !== 'ipv6') return REACH.ipv6Weak;
  const tunnelled = isRfc3964(local) || isRfc6052(local) || isRfc6145(local);
  return tunnelled ? REACH.ipv6Weak : REACH.ipv6Strong;
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Encodes 10 bytes as 16 base32 characters (an onion name of version 2). */
function formatBase32(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return bits.replace(/.{5}/g, (five) => BASE32[parseInt(five, 2)]!);
}

function parseBase32(text: string): Buffer {
  const bits = [...text.toLowerCase()]
    .map((char) => BASE32.indexOf(char).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from(bits.match(/.{8}/g)!.map((byte) => parseInt(byte, 2)));
}

/** Parses a numeric address or an onion name of version 2, with or without brackets. Returns 16 bytes, or null for other text. */
export function parseHost(text: string): Buffer | null {
  const host = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const onion = /^([a-z2-7]{16})\.onion$/i.exec(host)?.[1];
  if (onion !== undefined) return Buffer.concat([ONION_PREFIX, parseBase32(onion)]);
  const ip = parseIp(host);
  if (ip === null) return null;
  const bytes = Buffer.from(ip);
  return isInternal({ ip: bytes }) ? null : bytes;
}

/** Parses `1.2.3.4:5`, `[::1]:5` or `name.onion:5`; the port is optional. Returns null for other text, including host names. */
export function parseNetAddress(text: string, defaultPort: number): NetAddress | null {
  const { host, port } = splitHostPort(text, defaultPort);
  const ip = parseHost(host);
  return ip === null ? null : { ip, port };
}

/** Returns the internal address that represents a host name. Source: `CNetAddr::SetInternal`. */
export function internalAddress(name: string): NetAddress {
  const hash = sha256(Buffer.from(name, 'utf8'));
  return {
    ip: Buffer.concat([INTERNAL_PREFIX, hash.subarray(0, IP_SIZE - INTERNAL_PREFIX.length)]),
    port: 0,
  };
}

function hexWords(ip: Buffer): string[] {
  return Array.from({ length: 8 }, (_, i) => ip.readUInt16BE(i * 2).toString(16));
}

/** Formats an IPv6 address. The longest run of at least two zero words is written as `::`; of equally long runs, the first. */
function formatIpv6(ip: Buffer): string {
  const words = hexWords(ip);
  let [from, length] = [0, 1];
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (words[end] === '0') end++;
    if (end - i > length) [from, length] = [i, end - i];
  }
  if (length < 2) return words.join(':');
  // QUIRK of the C library: an IPv6 address with six leading zero words is formatted as an IPv4-compatible address, such
  // as `::1.2.3.4`.
  if (from === 0 && length === 6) return `::${[...ip.subarray(12)].join('.')}`;
  return `${words.slice(0, from).join(':')}::${words.slice(from + length).join(':')}`;
}

/** Formats the address without port and brackets. Source: `CNetAddr::ToStringIP`. */
export function formatHost(address: HostAddress): string {
  const { ip } = address;
  if (isIpv4(address)) return ip.subarray(12).join('.');
  if (isOnion(address)) return `${formatBase32(ip.subarray(ONION_PREFIX.length))}.onion`;
  if (isInternal(address)) return `${formatBase32(ip.subarray(INTERNAL_PREFIX.length))}.internal`;
  return formatIpv6(ip);
}

/** Source: `CService::ToStringIPPort`. */
export function formatNetAddress(address: NetAddress): string {
  const host = formatHost(address);
  return isIpv6(address) ? `[${host}]:${address.port}` : `${host}:${address.port}`;
}

/** Formats a subnet as `1.2.3.0/24`, or with a full netmask if the netmask is not a prefix. Source: `CSubNet::ToString`. */
export function formatSubnet(subnet: Subnet): string {
  const { network, mask, isIpv4: four, prefixBits } = subnet;
  const bits = prefixBits ?? (four ? mask.subarray(12).join('.') : hexWords(Buffer.from(mask)).join(':'));
  return `${formatHost({ ip: Buffer.from(network) })}/${bits}`;
}

/** Returns address and port as a map key of 18 latin1 characters. Source: `CService::GetKey`. */
export function addressKey({ ip, port }: NetAddress): string {
  return ip.toString('latin1') + String.fromCharCode(port >> 8, port & 0xff);
}

/** Reads 16 address bytes and a big-endian port. The address is copied, so the caller may store it. */
export function readNetAddress(reader: Reader): NetAddress {
  const ip = Buffer.from(reader.view(IP_SIZE));
  return { ip, port: (reader.u8() << 8) | reader.u8() };
}

export function writeNetAddress(writer: Writer, { ip, port }: NetAddress): void {
  writer
    .raw(ip)
    .u8(port >> 8)
    .u8(port & 0xff);
}
