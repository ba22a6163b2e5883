import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  formatFeeHistory,
  parseFeeHistory,
  readFeeHistory,
  writeFeeHistory,
} from '../../../src/mempool/fees/feeEstimatesFile.js';
import { FeeEstimator } from '../../../src/mempool/fees/feeEstimator.js';
import { SILENT_LOGGER, type Logger } from '../../../src/util/logging.js';

/** The file that the reference wrote after some hundred blocks, and its answers before the stop and after reading the file. */
const vectors = new URL('../../vectors/fees/', import.meta.url);
const written = gunzipSync(readFileSync(new URL('fee_estimates.dat.gz', vectors)));
interface Recorded {
  smart: [target: number, conservative: boolean, ratePerKb: number, blocks: number][];
}
const recorded = JSON.parse(readFileSync(new URL('answers.json', vectors), 'utf8')) as Recorded;

describe('fee_estimates.dat', () => {
  let folder: string;
  let path: string;
  let warnings: string[];
  const log: Logger = { ...SILENT_LOGGER, warn: (message) => void warnings.push(String(message)) };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lbcnode-fees-'));
    path = join(folder, 'fee_estimates.dat');
  });
  beforeEach(() => void (warnings = []));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('of the reference is read and written back byte for byte', () => {
    const history = parseFeeHistory(written);
    expect(history.lastHeight).toBeGreaterThan(history.firstHeight);
    expect(formatFeeHistory(new FeeEstimator(history).finish([])).equals(written)).toBe(true);
  });

  it('of the reference yields the estimates of the reference', () => {
    const fees = new FeeEstimator(parseFeeHistory(written));
    expect(recorded.smart.length).toBeGreaterThan(50);
    for (const [target, conservative, ratePerKb, blocks] of recorded.smart) {
      expect(fees.estimateSmartFee(target, conservative), `${target}`).toEqual({
        ratePerKb: BigInt(ratePerKb),
        blocks,
      });
    }
  });

  it('is written whole and found again', async () => {
    expect(readFeeHistory(path, log)).toBeUndefined();
    const fees = new FeeEstimator(parseFeeHistory(written));
    await writeFeeHistory(path, fees.finish([]), log);
    expect(readdirSync(folder)).toEqual(['fee_estimates.dat']);
    expect(new FeeEstimator(readFeeHistory(path, log)).estimateSmartFee(6, true)).toEqual(
      fees.estimateSmartFee(6, true),
    );
    expect(warnings).toEqual([]);
  });

  it('that is invalid is reported and quarantined', () => {
    const changed = (change: (bytes: Buffer) => Buffer | void): string => {
      const bytes = Buffer.from(written);
      writeFileSync(path, change(bytes) ?? bytes);
      warnings = [];
      expect(readFeeHistory(path, log)).toBeUndefined();
      expect(warnings).toHaveLength(1);
      return warnings[0]!;
    };
    expect(changed((bytes) => void bytes.writeInt32LE(180_000, 0))).toContain('up-version (180000)');
    expect(changed((bytes) => void bytes.writeInt32LE(100_000, 0))).toContain('incompatible old');
    expect(changed((bytes) => void bytes.writeUInt32LE(0xffffff, 12))).toContain('Historical block range');
    expect(changed((bytes) => void bytes.writeUInt8(1, 20))).toContain('between 2 and 1000 feerate buckets');
    const buckets = written.readUInt8(20);
    const first = 21 + 8 * buckets;
    expect(changed((bytes) => void bytes.writeDoubleLE(5000, 21))).toContain('not in order');
    expect(changed((bytes) => void bytes.writeDoubleLE(1, first))).toContain('Decay');
    expect(changed((bytes) => void bytes.writeUInt32LE(0, first + 8))).toContain('Scale');
    expect(changed((bytes) => void bytes.writeUInt32LE(43, first + 8))).toContain('between 1 and 1008');
    expect(changed((bytes) => void bytes.writeUInt8(buckets - 1, first + 12))).toContain('Mismatch');
    expect(changed((bytes) => void bytes.writeDoubleLE(NaN, first + 13))).toContain('invalid sum');
    expect(changed((bytes) => bytes.subarray(0, bytes.length - 1))).toContain('end of data');
    expect(changed((bytes) => Buffer.alloc(bytes.length))).toContain('incompatible old');
    expect(changed(() => Buffer.alloc(0))).toContain('end of data');
  });

  it('that cannot be written causes no failure', async () => {
    await writeFeeHistory(join(folder, 'absent/fee_estimates.dat'), new FeeEstimator().finish([]), log);
    expect(warnings[0]).toContain('unable to write policy estimator data');
  });
});
