/**
 * A vitest runner that measures the processor seconds of each file, and skips files that would end after the time in
 * `LBCNODE_TESTS_UNTIL` (seconds since 1970), estimated from their recorded time and the machine's slowness
 * (`LBCNODE_TESTS_SLOWNESS`). The meta data of a file have `processorSeconds`, and `notRun` if it was skipped.
 * scripts/jsonlReporter.mjs reports both.
 */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { VitestTestRunner } from 'vitest/runners';
import { endsInTime, recordedTimes } from './testPlan.mjs';

const untilSec = Number(process.env['LBCNODE_TESTS_UNTIL'] || Infinity);
const slowness = Number(process.env['LBCNODE_TESTS_SLOWNESS'] ?? 1);
const times = recordedTimes();

const STAT = '/proc/self/stat';
/** Positions of `cutime` and `cstime` after the name of the program (proc(5)), and the number of their ticks in a second. */
const [CHILD_USER, CHILD_SYSTEM, TICKS_A_SECOND] = [13, 14, 100];

/** Processor seconds of this process and, on Linux, of its child processes that have ended. */
function processorSeconds() {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1_000_000;
  if (!existsSync(STAT)) return own;
  const stat = readFileSync(STAT, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return own + (Number(fields[CHILD_USER]) + Number(fields[CHILD_SYSTEM])) / TICKS_A_SECOND;
}

export default class TestRunner extends VitestTestRunner {
  onBeforeCollect() {
    this.secondsBefore = processorSeconds();
  }

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

  async onAfterRunFiles(files) {
    await super.onAfterRunFiles?.(files);
    // The process runs one file at a time.
    const [file] = files;
    file.meta.processorSeconds = processorSeconds() - this.secondsBefore;
    await this.onTaskUpdate([[file.id, file.result, file.meta]], []);
  }
}
