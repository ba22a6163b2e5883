/**
 * Rows which exist only while a fork block is in work, too large to be held: what a touched name was when the block
 * began. The row of the ownership history is here too: both say who owned a name.
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

/** What held for a name from a block on. */
export interface Ownership {
  hasClaims: boolean;
  /** 0 when there is none to speak of. */
  takeover: number;
}

/** Mostly the takeover is of the row's own height, and the row one byte. */
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
