/**
 * Formats of two row types. A mark row stores the state of a name at the start of a fork block that changes the name. Mark
 * rows exist only while a fork block is processed, because its changes are too large for memory. An owner row is an entry in
 * the history of controlling claims.
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

/** State of control of a name from a block on. `hasClaims`: whether the name has a controlling claim. */
export interface Ownership {
  hasClaims: boolean;
  /** Takeover height; 0 if the name has none. */
  takeover: number;
}

/** Usually the takeover height equals the height of the row. Then the row has only one byte. */
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
