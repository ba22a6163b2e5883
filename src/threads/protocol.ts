/**
 * Messages between two threads. A message is a batch of items; each item is a tuple whose first element is its type. Either
 * side may call the other. Each call ends with one of `value`, `end`, `error` and `gone`. Both sides may define further item
 * types.
 */
import type { Transferable } from 'node:worker_threads';
import type { CrossedError } from './crossingErrors.js';

/** Maximum number of chunks in transit after the caller has read the first one. Until then only one chunk is in transit. */
export const PIECES_AHEAD = 2;

/** An item from the caller. `context` is additional data about the caller. */
export type CallItem<Context extends readonly unknown[] = readonly []> =
  | readonly ['call', id: number, method: string, args: readonly unknown[], ...context: Context]
  /** Allows the other thread to send `count` further chunks of a result. */
  | readonly ['more', id: number, count: number]
  | readonly ['cancel', id: number];

/** An item to the caller. `note` contains further data about the work, such as its duration. */
export type AnswerItem<Note = undefined> =
  | readonly ['value', id: number, note: Note, value: unknown]
  | readonly ['piece', id: number, piece: unknown]
  | readonly ['end', id: number, note: Note]
  | readonly ['error', id: number, note: Note, error: CrossedError]
  /** Confirms that the call was cancelled. */
  | readonly ['gone', id: number];

/** A message for the operator from a thread whose object was opened. */
export type NoticeItem = readonly ['notice', text: string];

/** A result whose buffers are transferred instead of copied. */
export class Transferred<Value = unknown> {
  readonly value: Value;
  readonly transfer: readonly Transferable[];

  constructor(value: Value, transfer: readonly Transferable[]) {
    this.value = value;
    this.transfer = transfer;
  }
}

/** A result that is created and sent in chunks, as fast as the reader reads them. */
export class Pieces<Piece = unknown> {
  readonly pieces: AsyncIterable<Piece>;

  constructor(pieces: AsyncIterable<Piece>) {
    this.pieces = pieces;
  }
}

/** Type of the value that a caller receives for a result. */
export type Answered<Result> = Awaited<Result> extends Transferred<infer Value> ? Value : Awaited<Result>;

/** Type of an object's methods when they are called from another thread. */
export type Remote<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Answered<Result>>
    : never;
};

/** Creates an object whose methods call the methods with these names through `call`. */
export function remoteOf<Methods>(
  names: readonly (keyof Methods & string)[],
  call: (method: string, args: readonly unknown[]) => Promise<unknown>,
): Remote<Methods> {
  const calls = names.map((name) => [name, (...args: unknown[]) => call(name, args)]);
  return Object.fromEntries(calls) as Remote<Methods>;
}
