/**
 * What is said between two threads: batches of items, each a tuple with its kind first. Either side may call the other. Each
 * call ends with one of `value`, `end`, `error` and `gone`. Both sides may have items of their own beside these.
 */
import type { Transferable } from 'node:worker_threads';
import type { CrossedError } from './crossingErrors.js';

/** Pieces of an answer that are under way at a time, once they are taken. Before that there is one. */
export const PIECES_AHEAD = 2;

/** From the caller. `context` is what the callee knows of the caller besides. */
export type CallItem<Context extends readonly unknown[] = readonly []> =
  | readonly ['call', id: number, method: string, args: readonly unknown[], ...context: Context]
  /** Allows this many further chunks of a result. */
  | readonly ['more', id: number, count: number]
  | readonly ['cancel', id: number];

/** To the caller. `note` is what the callee reports of the work besides, such as its duration. */
export type AnswerItem<Note = undefined> =
  | readonly ['value', id: number, note: Note, value: unknown]
  | readonly ['piece', id: number, piece: unknown]
  | readonly ['end', id: number, note: Note]
  | readonly ['error', id: number, note: Note, error: CrossedError]
  /** The call was cancelled. */
  | readonly ['gone', id: number];

/** A text for the operator from a thread that was opened. */
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

/** A result that is made and sent piece by piece, as fast as the pieces are taken. */
export class Pieces<Piece = unknown> {
  readonly pieces: AsyncIterable<Piece>;

  constructor(pieces: AsyncIterable<Piece>) {
    this.pieces = pieces;
  }
}

/** What a caller gets of a result. */
export type Answered<Result> = Awaited<Result> extends Transferred<infer Value> ? Value : Awaited<Result>;

/** Methods as another thread calls them. */
export type Remote<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Answered<Result>>
    : never;
};

/** The calls of these names as methods of one object. */
export function remoteOf<Methods>(
  names: readonly (keyof Methods & string)[],
  call: (method: string, args: readonly unknown[]) => Promise<unknown>,
): Remote<Methods> {
  const calls = names.map((name) => [name, (...args: unknown[]) => call(name, args)]);
  return Object.fromEntries(calls) as Remote<Methods>;
}
