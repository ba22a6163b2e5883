/**
 * A reporter of vitest that tells every failure once more at the end, in lines that begin with `FAILED`: a run of an hour
 * then says what is wrong where it stops.
 */
import { relative } from 'node:path';

const MAX_LINES = 12;
/** What the runner itself says when a test held its process for longer than a minute. */
const LATE_REPORT = '[vitest-worker]: Timeout calling';
/** The longer suite only, see vitest.config.ts. */
const LATE_REPORTS_MAY_BE = process.env['LBCNODE_LONG_TESTS'] === '1';

/** @param {string} where @param {{ message?: string, stack?: string, diff?: string }} error */
function tell(where, { message = '', stack = '', diff = '' }) {
  const places = stack.split('\n').filter((line) => /^ +at /.test(line) && !/node_modules|node:/.test(line));
  const lines = [message, diff, ...places]
    .join('\n')
    .replaceAll(/\x1b\[[0-9;]*m/g, '')
    .split('\n');
  const told = lines.filter((line) => line.trim() !== '').slice(0, MAX_LINES);
  console.log([where, ...told].map((line) => `FAILED ${line}`).join('\n'));
}

export default class FailureReporter {
  onTestRunEnd(files, unhandledErrors) {
    for (const file of files) {
      const name = relative(process.cwd(), file.moduleId);
      for (const error of file.errors()) tell(name, error);
      for (const suite of file.children.allSuites())
        for (const error of suite.errors()) tell(`${name} > ${suite.fullName}`, error);
      for (const test of file.children.allTests('failed'))
        for (const error of test.result().errors) tell(`${name} > ${test.fullName}`, error);
    }
    for (const error of unhandledErrors) {
      if (LATE_REPORTS_MAY_BE && error.message?.startsWith(LATE_REPORT)) continue;
      tell('outside of a test', error);
      // Where the runner overlooks such errors for the sake of late reports, they count all the same.
      process.exitCode = 1;
    }
  }
}
