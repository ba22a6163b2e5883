/**
 * Tokens: a node sends a token to each address that queries it, and accepts announcements from that address only with the
 * token. Tokens are computed from a secret that changes every five minutes; tokens of the previous secret stay valid.
 * Source: lbry-sdk lbry/dht/protocol/protocol.py `KademliaRPC`.
 */
import { createHash } from 'node:crypto';
import type { DaemonRandom } from '../base/clock.js';
import { ID_BYTES } from './datagrams.js';

export class Tokens {
  readonly #random: DaemonRandom;
  #secret: Buffer;
  #olderSecret: Buffer | null;

  constructor(random: DaemonRandom, secret = random.bytes(ID_BYTES), olderSecret: Buffer | null = null) {
    this.#random = random;
    this.#secret = secret;
    this.#olderSecret = olderSecret;
  }

  rotate(): void {
    this.#olderSecret = this.#secret;
    this.#secret = this.#random.bytes(ID_BYTES);
  }

  /** Returns the token (48 bytes) for an IPv4 address. */
  tokenFor(address: string): Buffer {
    return tokenOf(this.#secret, address);
  }

  isValid(token: Buffer, address: string): boolean {
    if (token.equals(this.tokenFor(address))) return true;
    return this.#olderSecret !== null && token.equals(tokenOf(this.#olderSecret, address));
  }
}

const tokenOf = (secret: Buffer, address: string): Buffer =>
  createHash('sha384')
    .update(secret)
    .update(Buffer.from(address.split('.').map(Number)))
    .digest();
