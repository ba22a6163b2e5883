/** Times of blocks, estimated from their heights. Source: lbry-sdk lbry/wallet/header.py `estimated_timestamp`. */

const FIRST_BLOCK_SEC = 1_466_646_588;
const SPACING_SEC = 160.6855883050695;
const DAY_SEC = 86_400;
/** Julian day number of the Unix epoch. */
const EPOCH_JULIAN_DAY = 2_440_587.5;

/** Unix time of the block at `height`; null for the height of an unconfirmed output. */
export function estimatedTimeSec(height: number): number | null {
  return height <= 0 ? null : Math.trunc(FIRST_BLOCK_SEC + height * SPACING_SEC);
}

/** Julian date of the day (UTC) that contains the time. */
export function julianDay(timeSec: number): number {
  return Math.floor(timeSec / DAY_SEC) + EPOCH_JULIAN_DAY;
}
