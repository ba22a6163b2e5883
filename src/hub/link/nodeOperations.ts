/** What the hub's thread asks of the node's: the whole of it. */
import type { PackedPlaces, PackedValues } from '../../search/follow/followerMessages.js';
import type { FoundOutputs } from '../claims/foundOutputs.js';

/** What comes before the bytes of headers: how many there are, and the proof where one was asked for. */
export interface HeadersStart {
  readonly count: number;
  readonly proof: { readonly branch: readonly string[]; readonly root: string } | null;
}

/** Answered with one value. */
export interface ValueOperations {
  /** Nothing: what comes with the answer reports the tip. */
  tip(): null;
  /** The statuses of scripts by their packed keys, in their order. */
  statuses(keys: Uint8Array): readonly (string | null)[];
  /** Rows for URLs. */
  resolve(urls: readonly string[]): FoundOutputs;
  /** Rows of a page; null if `channel` leads nowhere. */
  search(constraints: Readonly<Record<string, unknown>>): FoundOutputs | null;
  /** `claimId` as printed. */
  claim(claimId: string): FoundOutputs;
  /** Values of claims, by where their outputs are. */
  values(places: PackedPlaces): PackedValues;
  /** Times of blocks by their heights. */
  times(heights: readonly number[]): readonly number[];
}

/** Answered piece by piece. */
export interface ChunkOperations {
  /** `HeadersStart`, then pages of headers. */
  headers(start: number, count: number, checkpoint: number): HeadersStart | Uint8Array;
}

/** Answered with JSON, as one text or as pieces of it. */
export interface JsonOperations {
  /** A method that the node's thread runs, with its arguments in the order of its parameters (`crossingValues.ts`). */
  run(method: string, args: readonly unknown[]): string;
}

export type NodeOperation = keyof ValueOperations | keyof ChunkOperations | keyof JsonOperations;
