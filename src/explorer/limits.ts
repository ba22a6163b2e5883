/** Rate limit per visitor: a token bucket for each IPv4 address and each /64 network of IPv6. */
import { isIPv6 } from 'node:net';

/** Maximum number of visitor addresses whose request counts are kept in memory. */
const MAX_ADDRESSES = 10_000;

export interface LimitOptions {
  /** Average number of requests per second that a visitor may send. */
  readonly rate: number;
  /** Number of requests that a visitor may send in one burst. */
  readonly burst: number;
}

interface Bucket {
  left: number;
  atMs: number;
}

/** Key of the rate limit for an address: the IPv4 address, or the /64 network of an IPv6 address. */
export function visitorOf(address: string): string {
  const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('%')[0]!.split('::');
  const start = head === '' ? [] : head.split(':');
  const end = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined
      ? start
      : [...start, ...Array<string>(Math.max(0, 8 - start.length - end.length)).fill('0'), ...end];
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

export class RateLimit {
  private readonly options: LimitOptions;
  private readonly nowMs: () => number;
  private readonly buckets = new Map<string, Bucket>();

  constructor(options: LimitOptions, nowMs: () => number) {
    this.options = options;
    this.nowMs = nowMs;
  }

  /** Counts a request of a visitor. Returns null if it is allowed, otherwise the seconds to wait. */
  take(visitor: string): number | null {
    const { rate, burst } = this.options;
    const now = this.nowMs();
    const known = this.buckets.get(visitor);
    const left = known ? Math.min(burst, known.left + ((now - known.atMs) / 1000) * rate) : burst;
    this.buckets.delete(visitor);
    this.buckets.set(visitor, { left: left >= 1 ? left - 1 : left, atMs: now });
    if (this.buckets.size > MAX_ADDRESSES) this.buckets.delete(this.buckets.keys().next().value!);
    return left >= 1 ? null : Math.ceil((1 - left) / rate);
  }
}
