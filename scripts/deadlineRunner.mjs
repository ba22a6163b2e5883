/**
 * A vitest runner that skips files that would end after the time in `LBCNODE_TESTS_UNTIL` (seconds since 1970), judged by
 * their recorded time and the machine's slowness (`LBCNODE_TESTS_SLOWNESS`). A skipped file has `notRun` in its meta data,
 * which scripts/jsonlReporter.mjs reports.
 */
import { relative } from 'node:path';
import { VitestTestRunner } from 'vitest/runners';
import { endsInTime, recordedTimes } from './testPlan.mjs';

const untilSec = Number(process.env['LBCNODE_TESTS_UNTIL']);
const slowness = Number(process.env['LBCNODE_TESTS_SLOWNESS'] ?? 1);
const times = recordedTimes();

export default class DeadlineRunner extends VitestTestRunner {
  async onBeforeRunSuite(suite) {
    if (suite.file === suite) {
      const file = relative(process.cwd(), suite.filepath).replaceAll('\\', '/');
      if (!endsInTime(file, times, { nowSec: Date.now() / 1000, untilSec, slowness })) {
        suite.mode = 'skip';
        suite.meta.notRun = true;
      }
    }
    await super.onBeforeRunSuite(suite);
  }
}
