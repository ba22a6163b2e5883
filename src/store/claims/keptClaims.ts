/**
 * Cache of the claims, with their hashes, of names with very many claims. Proofs use it. An entry is valid as long as the
 * bytes of the name's row are the same, because the row determines the claims. So a new block does not invalidate entries.
 * The size is limited.
 */
import { valueHashInto } from '../../claimtrie/claimsHash.js';
import type { PathNode } from '../../claimtrie/proof.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import { NamePlaces } from './namePlaces.js';

/** Minimum size of a cached row. Shorter rows are parsed again on each use. Arbitrary: some fifty claims. */
const LEAST_BYTES = 4096;
/** Maximum total size of the cached rows in bytes. The decoded data takes some four times as much. Arbitrary. */
const MOST_BYTES = 4 << 20;

/** The claims of a name (the best first), the takeover height, and the hashes of the claims. */
export interface ProvenClaims extends Required<Pick<PathNode, 'takeover' | 'leaves'>> {
  readonly claims: NamePlaces;
}

export class KeptClaims {
  /** Cached names, the least recently used first. */
  private readonly names = new Map<string, { row: Bytes; proven: ProvenClaims }>();
  private bytes = 0;

  /** Total size of the cached rows in bytes. */
  get size(): number {
    return this.bytes;
  }

  /** Maximum of `size`. */
  readonly most = MOST_BYTES;

  has(name: string): boolean {
    return this.names.has(name);
  }

  /** Returns the decoded row of a name. Undefined for a row that is too short or too long to be cached. */
  find(name: string, row: Bytes): ProvenClaims | undefined {
    if (row.length < LEAST_BYTES || row.length > MOST_BYTES) return undefined;
    const known = this.names.get(name);
    this.drop(name);
    const entry = known && equalBytes(known.row, row) ? known : { row, proven: proven(row, known?.proven) };
    for (const [oldest] of this.names) {
      if (this.bytes + row.length <= MOST_BYTES) break;
      this.drop(oldest);
    }
    this.names.set(name, entry);
    this.bytes += row.length;
    return entry.proven;
  }

  private drop(name: string): void {
    this.bytes -= this.names.get(name)?.row.length ?? 0;
    this.names.delete(name);
  }
}

const HASH_BYTES = 32;
/**
 * Maximum distance between a claim's positions in two successive rows of a name, up to which the claim is recognized as
 * unchanged. Arbitrary: a block changes few claims.
 */
const LOOK_AHEAD = 8;

/** Decodes a row. `before` is the result for an earlier row of the same name; unchanged claims take their hashes from it. */
function proven(row: Bytes, before: ProvenClaims | undefined): ProvenClaims {
  const claims = new NamePlaces(row);
  const { takeover } = claims;
  const known = before?.takeover === takeover ? before : null;
  const leaves = Buffer.allocUnsafe(claims.count * HASH_BYTES);
  let next = 0;
  for (let bid = 0; bid < claims.count; bid++) {
    const same = known === null ? -1 : sameClaim(claims, bid, known.claims, next);
    const at = bid * HASH_BYTES;
    if (same < 0) valueHashInto(leaves, at, claims.row, claims.txids[bid]!, claims.outputs[bid]!, takeover);
    else {
      known!.leaves.copy(leaves, at, same * HASH_BYTES, (same + 1) * HASH_BYTES);
      next = same + 1;
    }
  }
  return { claims, takeover, leaves };
}

/** Position of the same claim (outpoint) in the other row, searched from position `next` on; negative if it is not found. */
function sameClaim(claims: NamePlaces, bid: number, others: NamePlaces, next: number): number {
  const start = claims.txids[bid]!;
  const n = claims.outputs[bid]!;
  const end = Math.min(others.count, next + LOOK_AHEAD);
  for (let other = next; other < end; other++) {
    const at = others.txids[other]!;
    if (claims.row[start] !== others.row[at] || others.outputs[other] !== n) continue;
    if (others.row.compare(claims.row, start, start + HASH_BYTES, at, at + HASH_BYTES) === 0) return other;
  }
  return -1;
}
