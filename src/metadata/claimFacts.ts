/**
 * Reads from the value of a claim, by hand, just what an index over claims needs: what kind it is, who signed it, what it
 * reposts, a channel's key. Owns no message; it never throws, whatever the bytes are.
 */
import type { Bytes } from '../util/bytes.js';

export type ClaimKind = 'stream' | 'channel' | 'collection' | 'repost';

export interface ClaimFacts {
  /** Null: undecodable, or no type is set. */
  readonly kind: ClaimKind | null;
  /** 20 bytes in wire order, as the value says, valid or not. */
  readonly channelId: Bytes | null;
  /** r and s, 64 bytes; another length is kept as it is and verifies nothing. */
  readonly signature: Bytes | null;
  /** 20 bytes in wire order. */
  readonly repostedId: Bytes | null;
  /** Of a channel: 33 bytes compressed, or a DER SubjectPublicKeyInfo. */
  readonly publicKey: Bytes | null;
}
