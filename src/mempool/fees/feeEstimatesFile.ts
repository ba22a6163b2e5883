/**
 * `fee_estimates.dat` in the reference's format, followed by a checksum (`checksumTail.ts`): versions, heights, bounds of
 * buckets, and the averages of the medium, the short and the long horizon. The file is written under a new name, which
 * replaces the old file; an invalid file is reported and ignored. Source: lbrycrd policy/fees.cpp
 * `CBlockPolicyEstimator::Write`, `Read`, `TxConfirmStats`.
 *
 * Deviation: the reference accepts buckets in any order, horizons of any length and sums that are not numbers, and
 * misbehaves with them; this node treats a file with any of these as invalid.
 */
import { readFileSync, statSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { failureReason } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import { Reader, ReadError } from '../../util/reader.js';
import { quarantine } from '../../util/quarantine.js';
import { Writer } from '../../util/writer.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { verified, withChecksum } from '../checksumTail.js';
import type { ConfirmAverages } from './confirmStats.js';
import type { FeeHistory } from './feeEstimator.js';

/** Core versions as numbers: the oldest version that can read the format, and the version that introduced it. */
const FORM_VERSION = 149_900;
const CLIENT_VERSION = 170_303;
const MAX_BUCKETS = 1000;
/** A week. */
const MAX_CONFIRMS = 6 * 24 * 7;
/**
 * Maximum size of the file in bytes, above that of any valid file: three horizons with the maximum number of buckets and
 * periods.
 */
const MAX_FILE_BYTES = 3 * 2 * 8 * MAX_BUCKETS * (MAX_CONFIRMS + 2);

function corruption(what: string): ReadError {
  return new ReadError(`Corrupt estimates file. ${what}`);
}

/** Reads `count` doubles, preceded by their number. Throws `ReadError` if the number differs. */
function doubles(reader: Reader, count: number, what: string): Float64Array {
  if (reader.compactSize() !== count) throw corruption(`Mismatch in ${what} count`);
  return figures(reader, count, what);
}

function figures(reader: Reader, count: number, what: string): Float64Array {
  const view = reader.view(8 * count);
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    values[i] = view.readDoubleLE(8 * i);
    if (!(values[i]! >= 0 && values[i]! < Infinity)) throw corruption(`${what} holds an invalid sum`);
  }
  return values;
}

/** Reads `rows` rows of doubles, each preceded by its length. Throws `ReadError` if a length differs. */
function table(reader: Reader, rows: number, buckets: number, what: string): Float64Array {
  const values = new Float64Array(rows * buckets);
  for (let row = 0; row < rows; row++) values.set(doubles(reader, buckets, what), row * buckets);
  return values;
}

function readAverages(reader: Reader, buckets: number): ConfirmAverages {
  const decay = reader.view(8).readDoubleLE();
  if (!(decay > 0 && decay < 1)) throw corruption('Decay must be between 0 and 1 (non-inclusive)');
  const scale = reader.u32();
  if (scale === 0) throw corruption('Scale must be non-zero');
  const rateSums = doubles(reader, buckets, 'feerate average bucket');
  const counts = doubles(reader, buckets, 'tx count bucket');
  const periods = reader.compactSize();
  if (periods === 0 || scale * periods > MAX_CONFIRMS) {
    throw corruption('Must maintain estimates for between 1 and 1008 (one week) confirms');
  }
  const confirmed = table(reader, periods, buckets, 'feerate conf average bucket');
  if (reader.compactSize() !== periods) throw corruption('Mismatch in confirms tracked for failures');
  const failed = table(reader, periods, buckets, 'failure average bucket');
  return { decay, scale, periods, rateSums, counts, confirmed, failed };
}

/** Parses the file. Throws `ReadError` if the file is invalid or its version is too old. */
export function parseFeeHistory(bytes: Buffer): FeeHistory {
  const reader = new Reader(bytes);
  const required = reader.i32();
  reader.i32();
  if (required > CLIENT_VERSION) throw new ReadError(`up-version (${required}) fee estimate file`);
  const bestHeight = reader.u32();
  if (required < FORM_VERSION) throw new ReadError(`incompatible old fee estimation data (${required})`);
  const [firstHeight, lastHeight] = [reader.u32(), reader.u32()];
  if (firstHeight > lastHeight || lastHeight > bestHeight) {
    throw corruption('Historical block range for estimates is invalid');
  }
  const count = reader.compactSize();
  if (count <= 1 || count > MAX_BUCKETS) throw corruption('Must have between 2 and 1000 feerate buckets');
  const buckets = figures(reader, count, 'bucket');
  if (buckets.some((bound, i) => i > 0 && bound <= buckets[i - 1]!))
    throw corruption('Buckets are not in order');
  const medium = readAverages(reader, count);
  const short = readAverages(reader, count);
  const long = readAverages(reader, count);
  const reach = [short, medium, long].map(({ scale, periods }) => scale * periods);
  if (reach[0]! > reach[1]! || reach[1]! > reach[2]!) throw corruption('Horizons are not in order');
  return { bestHeight, firstHeight, lastHeight, buckets, averages: { short, medium, long } };
}

function writeDoubles(writer: Writer, values: Float64Array): void {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, i) => bytes.writeDoubleLE(value, 8 * i));
  writer.compactSize(values.length).raw(bytes);
}

function writeAverages(writer: Writer, averages: ConfirmAverages): void {
  const { decay, scale, periods, rateSums, counts } = averages;
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(decay);
  writer.raw(bytes).u32(scale);
  writeDoubles(writer, rateSums);
  writeDoubles(writer, counts);
  for (const values of [averages.confirmed, averages.failed]) {
    writer.compactSize(periods);
    for (let row = 0; row < periods; row++) {
      writeDoubles(writer, values.subarray(row * counts.length, (row + 1) * counts.length));
    }
  }
}

export function formatFeeHistory({
  bestHeight,
  firstHeight,
  lastHeight,
  buckets,
  averages,
}: FeeHistory): Buffer {
  const writer = new Writer(1 << 18).i32(FORM_VERSION).i32(CLIENT_VERSION);
  writer.u32(bestHeight).u32(firstHeight).u32(lastHeight);
  writeDoubles(writer, buckets);
  for (const one of [averages.medium, averages.short, averages.long]) writeAverages(writer, one);
  return writer.finish();
}

/**
 * Reads the fee data of the last run; undefined if no usable file exists. Synchronous, because the file is small. `warn`
 * reports a corrupt file to the operator and the log.
 */
export function readFeeHistory(
  path: string,
  log: Logger,
  warn: (message: string) => void = (message) => log.warn(message),
): FeeHistory | undefined {
  try {
    refuseSpecialFile(path);
    if (statSync(path).size > MAX_FILE_BYTES) throw corruption('The file is too large');
    return parseFeeHistory(verified(readFileSync(path)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    log.info(`unable to read policy estimator data (non-fatal): ${(error as Error).message}`);
    warn(quarantine(path, error, 'Fee estimates start over.'));
    return undefined;
  }
}

/** Replaces the file and flushes it to disk. A disk error is logged and not thrown. */
export async function writeFeeHistory(path: string, history: FeeHistory, log: Logger): Promise<void> {
  const fresh = `${path}.new`;
  try {
    refuseSpecialFile(fresh);
    const file = await open(fresh, 'w');
    try {
      await file.writeFile(withChecksum(formatFeeHistory(history)));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    log.warn(`unable to write policy estimator data (non-fatal): ${path}: ${failureReason(error)}`);
  }
}
