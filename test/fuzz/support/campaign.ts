/**
 * Runs a fuzz target: generates many inputs from a seed and checks the target's invariants for each. This file handles seeds,
 * counts and the report; targets define inputs and invariants. Every input has its own seed, so a failure message contains all
 * that is needed to repeat it: `LBCNODE_FUZZ_SEED` (default 1) and `LBCNODE_FUZZ_RUNS` (default: set by the test).
 */
import { setImmediate as turn } from 'node:timers/promises';
import { Random } from '../../differential/support.js';

export interface Target<T> {
  readonly name: string;
  make(random: Random): T;
  /** Throws if an invariant is violated. Returns the kind of outcome, which is counted. */
  check(input: T): string | Promise<string>;
  /** The input as text from which it can be reproduced. */
  show(input: T): string;
}

export interface Report {
  readonly inputs: number;
  /** Number of occurrences of each outcome. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly slowestMs: number;
}

/** Time after which a campaign yields, so that the test runner receives its messages. */
const SLICE_MS = 100;

/** Longest text of an input in a failure's message; arbitrary. */
const SHOWN_CHARS = 20_000;

function environmentNumber(name: string, otherwise: number): number {
  const text = process.env[name];
  return text === undefined || text === '' ? otherwise : Number(text);
}

/** Spreads consecutive numbers over all of 32 bits (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function nameNumber(name: string): number {
  let h = 0;
  for (const char of name) h = Math.imul(h, 31) + char.charCodeAt(0);
  return h;
}

function inputSeed(target: string, index: number): number {
  return mix(mix(environmentNumber('LBCNODE_FUZZ_SEED', 1) ^ nameNumber(target)) + index);
}

function broken(target: string, index: number, shown: string, cause: unknown): Error {
  const text = shown.length > SHOWN_CHARS ? `${shown.slice(0, SHOWN_CHARS)}… (${shown.length})` : shown;
  const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return new Error(
    `${target}, input ${index} of seed ${environmentNumber('LBCNODE_FUZZ_SEED', 1)}: ${why}\n${text}`,
    {
      cause,
    },
  );
}

/** Makes and checks `runs` inputs. Throws at the first broken law, with the input in the message. */
export async function fuzz<T>(target: Target<T>, runs: number): Promise<Report> {
  const count = environmentNumber('LBCNODE_FUZZ_RUNS', runs);
  const outcomes = new Map<string, number>();
  let slowestMs = 0;
  let slowest = 0;
  let turnAt = performance.now() + SLICE_MS;
  for (let index = 0; index < count; index++) {
    const input = target.make(new Random(inputSeed(target.name, index)));
    const start = performance.now();
    let outcome: string;
    try {
      const answer = target.check(input);
      outcome = typeof answer === 'string' ? answer : await answer;
    } catch (error) {
      throw broken(target.name, index, target.show(input), error);
    }
    const tookMs = performance.now() - start;
    if (tookMs > slowestMs) [slowestMs, slowest] = [tookMs, index];
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (start + tookMs > turnAt) {
      await turn();
      turnAt = performance.now() + SLICE_MS;
    }
  }
  const seed = environmentNumber('LBCNODE_FUZZ_SEED', 1);
  const tally = [...outcomes].map(([outcome, times]) => `${times} ${outcome}`).join(', ');
  console.log(
    `fuzz ${target.name}: ${count} inputs of seed ${seed} (${tally}), slowest ${slowestMs.toFixed(1)} ms (input ${slowest})`,
  );
  return { inputs: count, outcomes, slowestMs };
}

/** Checks an invariant of a target. Faster than an assertion library, because it runs a hundred thousand times. */
export function law(holds: boolean, text: string | (() => string)): asserts holds {
  if (!holds) throw new Error(`broken law: ${typeof text === 'string' ? text : text()}`);
}

/** The result of `run`, or its error if that has the expected class. Any other error is a finding. */
export function outcomeOf<T, E extends Error>(
  run: () => T,
  expected: new (...args: never[]) => E,
): { value: T; error: null } | { value: null; error: E } {
  try {
    return { value: run(), error: null };
  } catch (error) {
    if (error instanceof expected) return { value: null, error };
    throw error;
  }
}
