/** All operations that the hub's thread calls in the node's thread. */
import type { PackedPlaces, FollowerPackedValues } from '../../search/follow/followerMessages.js';
import type { RowRange } from '../../store/rows/rows.js';
import type { FoundClaims, SearchConstraints } from '../claims/claimAnswers.js';

/** First chunk of a headers result: the number of headers, and the proof if one was requested. */
export interface HeadersStart {
  readonly count: number;
  readonly proof: { readonly branch: readonly string[]; readonly root: string } | null;
}

/** Rows, and the commit at which all of them were read. */
export interface RowsAnswer {
  readonly commits: number;
  readonly values: FollowerPackedValues;
}

/** Operations of the node's thread that return one value. */
export interface ValueOperations {
  /** Does nothing. It is called only because the messages sent with the response contain the tip. */
  tip(): null;
  /** Statuses of scripts, in the order of their packed keys. */
  statuses(keys: Uint8Array): readonly (string | null)[];
  /** Returns rows of the store by their keys. A missing row has no value. */
  rows(keys: readonly string[]): RowsAnswer;
  rowRange(range: RowRange): RowsAnswer & { readonly keys: readonly string[] };
  /** Blocks chain changes until the item `unhold` is sent. */
  hold(): null;
  /** Returns a page of a search that the hub's thread cannot run itself. */
  search(constraints: SearchConstraints): FoundClaims;
  /** Returns the values of claims, by the positions of their outputs. */
  values(places: PackedPlaces): FollowerPackedValues;
  /** Returns the times of the blocks at these heights. */
  times(heights: readonly number[]): readonly number[];
}

/** Operations of the node's thread that return chunks. */
export interface ChunkOperations {
  /** Yields a `HeadersStart`, then pages of headers. */
  headers(start: number, count: number, checkpoint: number): HeadersStart | Uint8Array;
}

/** Operations of the node's thread that return JSON, as one string or in chunks. */
export interface JsonOperations {
  /** Runs a method in the node's thread. The arguments are in the order of its parameters and encoded by `crossingValues.ts`. */
  run(method: string, args: readonly unknown[]): string;
}

export type NodeOperation = keyof ValueOperations | keyof ChunkOperations | keyof JsonOperations;
