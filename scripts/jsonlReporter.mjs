/**
 * A vitest reporter that writes the outcome of every file to the path in `LBCNODE_TEST_OUTCOME`, for scripts/test.mjs. Each
 * file has one line with its tests, their states and error messages, its seconds by the clock and of processor time, and whether
 * it was skipped for lack of time (scripts/testRunner.mjs). Errors outside tests are listed as problems: errors in loading, in hooks, outside any
 * file, and of a process that ended early. If a file has several lines, the last one counts.
 */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

const MAX_LINES = 12;
/** The runner's own message when a test, or the machine, blocked its process for more than a minute. */
const LATE_REPORT = '[vitest-worker]: Timeout calling';

const ENDED = new Set(['passed', 'failed', 'skipped']);

/** @param {{ message?: string, stack?: string, diff?: string }} error */
function linesOf({ message = '', stack = '', diff = '' }) {
  const places = stack.split('\n').filter((line) => /^ +at /.test(line) && !/node_modules|node:/.test(line));
  const lines = [message, diff, ...places]
    .join('\n')
    .replaceAll(/\x1b\[[0-9;]*m/g, '')
    .split('\n');
  return lines.filter((line) => line.trim() !== '').slice(0, MAX_LINES);
}

const fileOf = (path) => relative(process.cwd(), path);

function outcomeOf(module) {
  const name = fileOf(module.moduleId);
  const problems = module.errors().map((error) => ({ where: name, lines: linesOf(error) }));
  for (const suite of module.children.allSuites())
    for (const error of suite.errors())
      problems.push({ where: `${name} > ${suite.fullName}`, lines: linesOf(error) });
  const tests = [...module.children.allTests()].map((test) => {
    const { state, errors = [] } = test.result();
    return { where: `${name} > ${test.fullName}`, state, lines: errors.flatMap(linesOf) };
  });
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  const seconds = (collectDuration + setupDuration + duration) / 1000;
  const { processorSeconds, notRun = false } = module.meta();
  return { problems, tests, seconds, processorSeconds, notRun };
}

export default class JsonlReporter {
  /** Outcome of each file so far. Every outcome is also written at once, because a process or the runner may end at any time. */
  outcomes = {};

  onTestRunStart(specifications) {
    for (const name of specifications.map(({ moduleId }) => fileOf(moduleId)))
      this.write(name, { problems: [{ where: name, lines: ['was not run to its end'] }], tests: [] });
  }

  onTestModuleEnd(module) {
    this.write(fileOf(module.moduleId), outcomeOf(module));
  }

  onTestRunEnd(modules, unhandledErrors) {
    // Files that could not be loaded cause no end event, so they are reported here.
    for (const module of modules) if (ENDED.has(module.state())) this.onTestModuleEnd(module);
    for (const error of unhandledErrors) {
      if (error.message?.startsWith(LATE_REPORT)) continue;
      const name = error.VITEST_TEST_PATH ? fileOf(error.VITEST_TEST_PATH) : '';
      const { problems, ...others } = this.outcomes[name] ?? { problems: [], tests: [] };
      const problem = { where: `${name || 'The run'}, outside of a test`, lines: linesOf(error) };
      this.write(name, { ...others, problems: [...problems, problem] });
    }
  }

  write(file, outcome) {
    this.outcomes[file] = outcome;
    appendFileSync(process.env['LBCNODE_TEST_OUTCOME'], `${JSON.stringify({ file, ...outcome })}\n`);
  }
}
