/** Messages between the node's thread and the follower thread, and the encoding of values. */
import type { ClaimRules } from '../../claimtrie/types.js';
import type { ValuePlace } from '../../index/claims/claimValues.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import type { SharedRowsId } from '../../store/cache/sharedRows.js';
import type { Bytes } from '../../util/bytes.js';
import type { MessagePort } from 'node:worker_threads';
import type { BlockFacts, ChainNews, WantedFacts } from './chainMirror.js';
import type { FollowerStatus } from './followerStatus.js';

/** Start data of the follower thread. */
export interface FollowerSetup {
  readonly rows: SharedRowsId;
  readonly rules: ClaimRules;
  readonly port: MessagePort;
  /** Port for synchronous queries: the answer is available when `SIGNAL` is 1. */
  readonly facts: MessagePort;
  readonly signals: Int32Array;
}

/** Indexes in the shared memory: see `FollowerSetup`, and the number of received orders. */
export const SIGNAL = 0;
export const HEARD = 1;
export const SIGNALS = 2;

/** Orders of the node's thread to the follower. */
export type FollowerDeed = 'poke' | 'pokeSoon' | 'pokeIfIdle' | 'remake' | 'scrub' | 'close';

export interface PackedPlaces {
  readonly points: string;
  /** Height, index and offset of each transaction. */
  readonly numbers: Float64Array;
}

export interface PackedValues {
  /** Length of each, -1 for none. */
  readonly lengths: Int32Array;
  readonly bytes: Uint8Array;
}

export type FollowerQuestion =
  | { readonly what: 'news' }
  | { readonly what: 'values'; readonly places: PackedPlaces }
  | ({ readonly what: 'facts' } & WantedFacts)
  /** Closes the index files of all searching threads, because one is about to be deleted. */
  | { readonly what: 'release' }
  /** Blocks chain changes until `unhold`. */
  | { readonly what: 'hold' };

export type ToNode =
  | ({ readonly kind: 'ask'; readonly id: number } & FollowerQuestion)
  | { readonly kind: 'unhold' }
  | { readonly kind: 'status'; readonly status: FollowerStatus }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn' | 'error' | 'debug'; readonly text: string }
  | { readonly kind: 'closed' };

export interface CrossedError {
  readonly message: string;
  readonly isBlockFile: boolean;
}

/** Each message has the changes of the chain, which are applied before the rest of the message. */
export type ToFollower = { readonly news: ChainNews | null } & (
  | { readonly kind: 'do'; readonly deed: FollowerDeed }
  | { readonly kind: 'answer'; readonly id: number; readonly result: FollowerAnswer }
  | { readonly kind: 'failed'; readonly id: number; readonly error: CrossedError }
);

export type FollowerAnswer = PackedValues | readonly BlockFacts[] | null;

/** A synchronous query for facts, and its answer. */
export interface AskedNow extends WantedFacts {
  readonly id: number;
}

export interface AnswerNow {
  readonly id: number;
  readonly facts: readonly BlockFacts[];
}

const POINT_LENGTH = 36;
const PLACE_NUMBERS = 3;

export function packPlaces(places: readonly ValuePlace[]): PackedPlaces {
  const numbers = new Float64Array(places.length * PLACE_NUMBERS);
  places.forEach(({ height, position, txOffset }, i) =>
    numbers.set([height, position, txOffset], i * PLACE_NUMBERS),
  );
  return { points: places.map(({ point }) => point).join(''), numbers };
}

export function unpackPlaces({ points, numbers }: PackedPlaces): ValuePlace[] {
  return Array.from({ length: numbers.length / PLACE_NUMBERS }, (_, i) => ({
    point: points.slice(i * POINT_LENGTH, (i + 1) * POINT_LENGTH),
    height: numbers[i * PLACE_NUMBERS]!,
    position: numbers[i * PLACE_NUMBERS + 1]!,
    txOffset: numbers[i * PLACE_NUMBERS + 2]!,
  }));
}

export function packValues(values: readonly (Bytes | null)[]): PackedValues {
  const lengths = Int32Array.from(values, (value) => (value === null ? -1 : value.length));
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + Math.max(0, length), 0));
  let at = 0;
  for (const value of values) {
    if (value === null) continue;
    bytes.set(value, at);
    at += value.length;
  }
  return { lengths, bytes };
}

export function unpackValues({ lengths, bytes }: PackedValues): (Bytes | null)[] {
  let at = 0;
  return Array.from(lengths, (length) => {
    if (length < 0) return null;
    at += length;
    return Buffer.from(bytes.buffer, bytes.byteOffset + at - length, length);
  });
}

export function crossedError(error: unknown): CrossedError {
  const message = error instanceof Error ? error.message : String(error);
  return { message, isBlockFile: error instanceof BlockFileError };
}

export function errorThatCrossed({ message, isBlockFile }: CrossedError): Error {
  return isBlockFile ? new BlockFileError(message) : new Error(message);
}
