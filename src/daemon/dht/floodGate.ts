/**
 * Rate limits for received datagrams, for each address and in total. Datagrams beyond a limit are dropped before they are
 * decoded.
 */
import { isIPv4 } from 'node:net';
import type { Clock } from '../base/clock.js';
import { Lru } from '../../util/lru.js';

/** Rate limit for one address. A seeder that announces ten blobs at a time to few nodes sends far fewer datagrams. */
const PER_ADDRESS = { perSec: 200, burst: 400 } as const;
const IN_ALL = { perSec: 5000, burst: 10_000 } as const;
const ADDRESSES = 16_384;

interface Rate {
  readonly perSec: number;
  readonly burst: number;
}

class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #atMs: number;
  /** Number of responses that are expected. */
  #expected = 0;

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#atMs = nowMs;
  }

  take(nowMs: number): boolean {
    const { perSec, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) * perSec) / 1000);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  expect(): void {
    this.#expected = Math.min(this.#rate.burst, this.#expected + 1);
  }

  /** Whether a response is expected. Each call counts as one. */
  takeExpected(): boolean {
    if (this.#expected === 0) return false;
    this.#expected--;
    return true;
  }
}

export class FloodGate {
  readonly #clock: Clock;
  readonly #all: TokenBucket;
  readonly #byPlace = new Lru<string, TokenBucket>(ADDRESSES);
  /** Number of datagrams dropped since the start. */
  dropped = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = new TokenBucket(IN_ALL, clock.nowMs());
  }

  /** Whether a datagram from the address is within the rate limits. */
  admits(address: string, port: number): boolean {
    const nowMs = this.#clock.nowMs();
    const bucket = this.#bucketOf(address, port);
    // A flood from many addresses uses up the limit in total. It must not keep out the responses to our own requests.
    if (bucket.takeExpected()) return true;
    const isAdmitted = bucket.take(nowMs) && this.#all.take(nowMs);
    if (!isAdmitted) this.dropped++;
    return isAdmitted;
  }

  /** Admits one more datagram of an address, whatever the limits are, after a request to it. */
  expect(address: string, port: number): void {
    this.#bucketOf(address, port).expect();
  }

  /** Nodes on the same machine share the loopback address, so each of its ports has a separate limit. */
  #bucketOf(address: string, port: number): TokenBucket {
    const place = isIPv4(address) && address.startsWith('127.') ? `${address}:${port}` : address;
    const known = this.#byPlace.get(place);
    if (known !== undefined) return known;
    const bucket = new TokenBucket(PER_ADDRESS, this.#clock.nowMs());
    this.#byPlace.set(place, bucket);
    return bucket;
  }
}
