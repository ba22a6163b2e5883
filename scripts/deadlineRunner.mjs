/**
 * A runner of vitest that begins no file after the moment in `LBCNODE_TESTS_UNTIL` (seconds since 1970): such a file is left
 * with `notRun` in its meta data, of which scripts/outcomeReporter.mjs tells.
 */
import { VitestTestRunner } from 'vitest/runners';

export default class DeadlineRunner extends VitestTestRunner {
  async onBeforeRunSuite(suite) {
    const isFile = suite.file === suite;
    if (isFile && Date.now() / 1000 > Number(process.env['LBCNODE_TESTS_UNTIL'])) {
      suite.mode = 'skip';
      suite.meta.notRun = true;
    }
    await super.onBeforeRunSuite(suite);
  }
}
