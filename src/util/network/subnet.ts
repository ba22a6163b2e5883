/**
 * Parsing and matching of IP addresses and subnets, as in `-rpcallowip`, `-whitelist` and bans. Only numeric addresses are
 * supported. The formatting of subnets is not part of this module. Source: Core netaddress.cpp `CSubNet`, netbase.cpp
 * `LookupSubNet`.
 */
import { isIPv4, isIPv6 } from 'node:net';

/** Parses an address into 16 bytes. IPv4 is mapped into IPv6 (`::ffff:a.b.c.d`), so that both notations are equal. */
export function parseIp(text: string): Uint8Array | null {
  if (isIPv4(text))
    return Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...text.split('.').map(Number)]);
  const bare = text.split('%', 1)[0] ?? '';
  if (!isIPv6(bare)) return null;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(bare);
  const groups = dotted === null ? bare : `${dotted[1]}${ipv4Groups(dotted[2] ?? '')}`;
  const [head = '', tail] = groups.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle = Array<string>(8 - left.length - right.length).fill('0');
  const words = [...left, ...middle, ...right].map((group) => parseInt(group, 16));
  return Uint8Array.from(words.flatMap((word) => [word >> 8, word & 0xff]));
}

function ipv4Groups(text: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

function isMappedIpv4(ip: Uint8Array): boolean {
  return ip[10] === 0xff && ip[11] === 0xff && ip.subarray(0, 10).every((byte) => byte === 0);
}

export class Subnet {
  /** Lowest address of the subnet (`network`), and the bits that are equal in all its addresses (`mask`); 16 bytes each. */
  readonly network: Uint8Array;
  readonly mask: Uint8Array;

  private constructor(network: Uint8Array, mask: Uint8Array) {
    this.network = network.map((byte, index) => byte & (mask[index] ?? 0));
    this.mask = mask;
  }

  /**
   * Parses `1.2.3.4`, `1.2.3.0/24`, `1.2.3.0/255.255.255.0`, or the corresponding IPv6 notations with or without brackets.
   * Null for other texts. `parseHost` may accept further notations of an address.
   */
  static parse(text: string, parseHost: (host: string) => Uint8Array | null = parseIp): Subnet | null {
    const slash = text.lastIndexOf('/');
    const host = slash < 0 ? text : text.slice(0, slash);
    const network = parseHost(/^\[.*\]$/.test(host) ? host.slice(1, -1) : host);
    if (network === null) return null;
    if (slash < 0) return Subnet.single(network);
    const mask = parseMask(text.slice(slash + 1), isMappedIpv4(network));
    return mask === null ? null : new Subnet(network, mask);
  }

  /** Creates the subnet that contains only this address (16 bytes). */
  static single(ip: Uint8Array): Subnet {
    return new Subnet(ip, new Uint8Array(16).fill(0xff));
  }

  /** Creates the subnet with this network and mask (16 bytes each). */
  static of(network: Uint8Array, mask: Uint8Array): Subnet {
    return new Subnet(network, mask);
  }

  contains(ip: Uint8Array): boolean {
    return this.network.every((byte, index) => ((ip[index] ?? 0) & (this.mask[index] ?? 0)) === byte);
  }

  get isIpv4(): boolean {
    return isMappedIpv4(this.network);
  }

  /** Length in bits of the network prefix, at most 32 (IPv4) or 128 (IPv6). Null if the mask is not a prefix. */
  get prefixBits(): number | null {
    const bits = [...this.mask.subarray(this.isIpv4 ? 12 : 0)]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('');
    const end = bits.indexOf('0');
    if (end < 0) return bits.length;
    return bits.includes('1', end) ? null : end;
  }
}

/** Parses a number of bits or a netmask to a mask of 16 bytes. An IPv4 mask applies to the last four bytes. */
function parseMask(text: string, ipv4: boolean): Uint8Array | null {
  const offset = ipv4 ? 96 : 0;
  if (/^[0-9]+$/.test(text)) {
    const bits = Number(text) + offset;
    if (bits > 128) return null;
    return Uint8Array.from(
      { length: 16 },
      (_, index) => 0xff00 >> Math.min(8, Math.max(0, bits - index * 8)),
    );
  }
  const netmask = parseIp(text);
  return netmask?.map((byte, index) => (index * 8 < offset ? 0xff : byte)) ?? null;
}
