/** Reads recordings of the Python lbry-sdk, which are JSON lines. The files are not part of the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { AcceptedDifferences } from '../support/acceptedDifferences.js';

const FOLDER = new URL('../../../shared/conformance/sdk/', import.meta.url);
/** Maximum number of differences that a failing test prints. Arbitrary. */
const SHOWN = 5;

/** One line. The fields depend on the kind. */
export interface SdkLine {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The difference between our answer and the recorded one, as text; null if both are the same text as JSON. */
export function differs(ours: unknown, theirs: unknown): string | null {
  const [left, right] = [JSON.stringify(ours), JSON.stringify(theirs)];
  return left === right ? null : `we say ${left}, not ${right}`;
}

/** The first difference. */
export function firstOf(...differences: (string | null)[]): string | null {
  return differences.find((difference) => difference !== null) ?? null;
}

/** The lines of the file, or null if the recordings are absent. */
export function readLines(name: string): string[] | null {
  const url = new URL(`${name}.jsonl.gz`, FOLDER);
  if (!existsSync(url)) {
    console.log(`${name}: skipped, the recordings are not present`);
    return null;
  }
  const text = gunzipSync(readFileSync(url)).toString('utf8');
  return text.trimEnd().split('\n');
}

/** A test that the table of accepted differences equals the accepted ones. It must come after all other tests of the file. */
export function checkAccepted(accepted: AcceptedDifferences): void {
  it.skipIf(!existsSync(FOLDER))(
    'accepts the differences of docs/lbcnet-recordings.md, each as often',
    () => {
      expect(accepted.problems()).toEqual([]);
    },
  );
}

/**
 * Returns null if our result equals the line, otherwise a description of the difference. `text` is the line itself, in which no
 * number is rounded.
 */
export type SdkCheck = (line: SdkLine, text: string) => string | null | Promise<string | null>;

/**
 * A test for each kind of line in the file. A kind without a check fails, so that no recorded line is skipped. `elsewhere` lists
 * the kinds that another file checks.
 */
export function checkSdkVectors(
  name: string,
  checks: Readonly<Record<string, SdkCheck>>,
  elsewhere: readonly string[] = [],
): void {
  const texts = readLines(name);
  describe.skipIf(texts === null)(`recorded ${name}`, () => {
    const lines = (texts ?? []).map((text) => ({ line: JSON.parse(text) as SdkLine, text }));
    it('has no kind of line without a check', () => {
      expect([...Object.keys(checks), ...elsewhere].sort()).toEqual(
        [...new Set(lines.map(({ line }) => line.kind))].sort(),
      );
    });
    for (const [kind, check] of Object.entries(checks))
      it(`${kind}: all lines`, async () => {
        const differences: string[] = [];
        for (const { line, text } of lines) {
          const difference = line.kind === kind ? await check(line, text) : null;
          if (difference !== null) differences.push(`${difference}\n  ${text.slice(0, 1500)}`);
        }
        expect(`${differences.length} differ: ${differences.slice(0, SHOWN).join('\n')}`).toBe('0 differ: ');
      });
  });
}
