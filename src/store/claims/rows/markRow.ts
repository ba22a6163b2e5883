/**
 * Mark rows: the state of a touched name at the start of a fork block. They exist only while such a block is processed,
 * because it is too large for memory. The row of the ownership history is here too, since both have the owner of a name.
 */
import type { NameBase, NameWork } from '../../../claimtrie/claimWork.js';
import type { Bytes } from '../../../util/bytes.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

const FLAG_HAD_CLAIMS = 1;
const FLAG_CHECK = 2;

const encoder = new RowEncoder();

export interface NameMark {
  base: NameBase;
  check: boolean;
  nextOrdinal: number;
}

export function formatMarkRow({ base, check, nextOrdinal }: NameWork): Buffer {
  encoder.byte((base.hadClaims ? FLAG_HAD_CLAIMS : 0) | (check ? FLAG_CHECK : 0));
  return encoder.number(base.takeover).number(nextOrdinal).raw(base.ownerId).finish();
}

export function parseMarkRow(row: Bytes): NameMark {
  const input = new RowDecoder(row);
  const flags = input.byte();
  const hadClaims = (flags & FLAG_HAD_CLAIMS) !== 0;
  const takeover = input.number();
  const nextOrdinal = input.number();
  const ownerId = hadClaims ? input.raw(20) : '';
  return { base: { hadClaims, ownerId, takeover }, check: (flags & FLAG_CHECK) !== 0, nextOrdinal };
}

/** Ownership of a name from a block on. */
export interface Ownership {
  hasClaims: boolean;
  /** Takeover height; 0 without one. */
  takeover: number;
}

/** If the takeover height is the height of the row, which is the usual case, the row has one byte. */
export function formatOwnerRow({ hasClaims, takeover }: Ownership, height: number): Buffer {
  encoder.byte(hasClaims ? 1 : 0);
  if (takeover !== height) encoder.number(takeover);
  return encoder.finish();
}

export function parseOwnerRow(row: Bytes, height: number): Ownership {
  const input = new RowDecoder(row);
  const hasClaims = input.byte() === 1;
  return { hasClaims, takeover: input.done ? height : input.number() };
}
