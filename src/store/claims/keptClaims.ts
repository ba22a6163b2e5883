/**
 * The claims of names with very many, with their hashes, as proofs need them, kept from one proof to the next. Each is found
 * by the bytes of the name's row, which say all about its claims, so nothing must be forgotten when a block comes. Bounded.
 */
import { claimLeaves } from '../../claimtrie/claimsHash.js';
import type { PathNode } from '../../claimtrie/proof.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import { parseProvenClaims } from './nameRow.js';

/** Shorter rows are parsed again. Arbitrary: some fifty claims. */
const LEAST_BYTES = 4096;
/** Of rows that are kept, all together. What is made of a row takes some four times as much. */
const MOST_BYTES = 4 << 20;

/** The claims, best first, the takeover height, and the hashes of the claims. */
export type ProvenClaims = Required<Pick<PathNode, 'claims' | 'takeover' | 'leaves'>>;

export class KeptClaims {
  /** In the order of their last use. */
  private readonly names = new Map<string, { row: Bytes; proven: ProvenClaims }>();
  private bytes = 0;

  /** Bytes of the rows that are kept. */
  get size(): number {
    return this.bytes;
  }

  /** What the row of the name says; undefined for a row that is short, or longer than all that may be kept. */
  find(name: string, row: Bytes): ProvenClaims | undefined {
    if (row.length < LEAST_BYTES || row.length > MOST_BYTES) return undefined;
    const known = this.names.get(name);
    this.drop(name);
    const entry = known && equalBytes(known.row, row) ? known : { row, proven: proven(row) };
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

function proven(row: Bytes): ProvenClaims {
  const { claims, takeover } = parseProvenClaims(row);
  return { claims, takeover, leaves: claimLeaves(claims, takeover) };
}
