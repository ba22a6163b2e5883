/**
 * Trending score of a claim (`fast_ar`). Each change of the claim's effective amount adds to the score. Scores do not
 * decay; instead, the weight of a change grows with its height, by the factor e in 576 blocks. Scores and weights would
 * overflow, so they are stored, added and multiplied in the form sign(x) * ln(1 + |x|). Source: lbryio/hub,
 * hub/elastic_sync/fast_ar_trending.py.
 */

/** Number of blocks in which the weight of a change grows by the factor e; about one day. */
const TIMESCALE_BLOCKS = 576;
const SATOSHIS = 1e8;

/** Returns ln(e^x + e^y) without overflow. */
function logSumExp(x: number, y: number): number {
  const top = Math.max(x, y);
  return top + Math.log(Math.exp(x - top) + Math.exp(y - top));
}

/** Returns ln(e^big − e^small) without overflow. */
function logDiffExp(big: number, small: number): number {
  return big + Math.log(1 - Math.exp(small - big));
}

function squash(x: number): number {
  return x < 0 ? -Math.log(1 - x) : Math.log(x + 1);
}

function addSquashed(x: number, y: number): number {
  if (x < 0 && y < 0) return -logSumExp(-x, logDiffExp(-y, 0));
  if (x >= 0 && y >= 0) return logSumExp(x, logDiffExp(y, 0));
  if (x < 0) return addSquashed(y, x);
  return x >= -y ? logSumExp(0, logDiffExp(x, -y)) : -logSumExp(0, logDiffExp(-y, x));
}

function multiplySquashed(x: number, y: number): number {
  const size = logSumExp(logDiffExp(Math.abs(x), 0) + logDiffExp(Math.abs(y), 0), 0);
  return x * y >= 0 ? size : -size;
}

/**
 * Returns the value of a change of the amount, before its weight by height: a mean of the change of the cube roots and the
 * cube root of the change, depending on the new amount.
 */
function spikeMass(formerLbc: number, latterLbc: number): number {
  const softened = Math.pow(Math.abs(latterLbc - formerLbc), 1 / 3);
  const change = Math.abs(Math.pow(latterLbc, 1 / 3) - Math.pow(formerLbc, 1 / 3));
  const power = latterLbc < 50 ? 0.5 : latterLbc < 85 ? latterLbc / 100 : 0.85;
  const mass = Math.pow(change, power) * Math.pow(softened, 1 - power);
  return formerLbc > latterLbc ? -mass : mass;
}

/**
 * Returns the score after a change of the effective amount from `formerSat` to `latterSat` in block `height`. A `score` of
 * null counts as 0.
 */
export function trendingAfter(
  score: number | null,
  height: number,
  formerSat: bigint,
  latterSat: bigint,
): number {
  if (formerSat === latterSat) return score ?? 0;
  const units = logSumExp(height / TIMESCALE_BLOCKS, 0);
  const mass = spikeMass(Number(formerSat) / SATOSHIS, Number(latterSat) / SATOSHIS);
  return addSquashed(score ?? 0, multiplySquashed(units, squash(mass)));
}
