/**
 * The accepted differences from lbry-sdk's recorded answers: the rows of the table in `docs/lbcnet-recordings.md`. A test names
 * the row when it accepts a difference. The test fails if the table lacks the row, or if the number of accepted differences is
 * not the number in the row.
 */
import { readFileSync } from 'node:fs';
import { projectFile } from '../../src/util/project.js';

/** One class of accepted differences. */
export interface AcceptedRow {
  /** Name of the test file without `.test.ts`. */
  readonly test: string;
  readonly name: string;
  /** Description of the recorded answer. */
  readonly recorded: string;
  /** Description of lbcnet's answer. */
  readonly ours: string;
  /** Number of accepted differences in all recorded lines. */
  readonly count: number;
}

/** The rows of the table. Throws if a row is malformed or a name occurs twice. */
export function acceptedRows(): AcceptedRow[] {
  const lines = readFileSync(projectFile('docs', 'lbcnet-recordings.md'), 'utf8').split('\n');
  const rows = lines
    .filter((line) => line.startsWith('| `'))
    .map((line): AcceptedRow => {
      const cells = line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim());
      const [test = '', name = '', recorded = '', ours = '', count = ''] = cells;
      if (cells.length !== 5 || cells.includes('') || !/^[1-9]\d*$/.test(count))
        throw new Error(`docs/lbcnet-recordings.md: a malformed row: ${line}`);
      return { test: test.replaceAll('`', ''), name, recorded, ours, count: Number(count) };
    });
  const keys = rows.map(({ test, name }) => `${test}: ${name}`);
  const twice = keys.find((key, n) => keys.indexOf(key) !== n);
  if (twice !== undefined) throw new Error(`docs/lbcnet-recordings.md: a row stands twice: ${twice}`);
  return rows;
}

/** Counts the accepted differences of one test file. */
export class AcceptedDifferences {
  private readonly test: string;
  private readonly counts = new Map<string, number>();

  constructor(test: string) {
    this.test = test;
  }

  /** Counts a difference under the row with this name. Returns null, which stands for "no difference". */
  accept(name: string): null {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    return null;
  }

  /** Returns the difference. Null if the answers are equal, or if the row covers the difference. */
  unless(isCovered: boolean, name: string, difference: string | null): string | null {
    return difference !== null && isCovered ? this.accept(name) : difference;
  }

  /** Messages about rows whose number differs from the number of accepted differences; empty if all are equal. */
  problems(): string[] {
    const rows = acceptedRows().filter(({ test }) => test === this.test);
    const names = new Set([...rows.map(({ name }) => name), ...this.counts.keys()]);
    return [...names].flatMap((name) => {
      const said = rows.find((row) => row.name === name)?.count ?? 0;
      const counted = this.counts.get(name) ?? 0;
      if (said === counted) return [];
      if (counted === 0) return [`the row “${name}” of ${this.test} is no longer needed`];
      return [
        said === 0
          ? `the table has no row “${name}” of ${this.test} (${counted} times)`
          : `the row “${name}” of ${this.test} covers ${counted} differences, not ${said}`,
      ];
    });
  }
}
