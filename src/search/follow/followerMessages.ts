/**
 * Messages between the node's thread and the search index follower thread: calls by `threads/protocol.ts`, other items, and
 * the encoding of values.
 */
import type { ClaimRules } from '../../claimtrie/types.js';
import type { ValuePlace } from '../../index/claims/claimValues.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import type { SharedRowsId } from '../../store/cache/sharedRows.js';
import { CrossingErrors, type ErrorKind } from '../../threads/crossingErrors.js';
import type { SyncCallsSetup } from '../../threads/syncCalls.js';
import type { Bytes } from '../../util/bytes.js';
import type { MessagePort } from 'node:worker_threads';
import type { BlockFacts, ChainNews, WantedFacts } from './chainMirror.js';
import type { FollowerStatus } from './followerStatus.js';

/** Start data of the follower thread. */
export interface FollowerSetup {
  readonly rows: SharedRowsId;
  readonly rules: ClaimRules;
  readonly port: MessagePort;
  /** Port and shared memory for the synchronous calls of `SyncNodeCalls`. */
  readonly facts: SyncCallsSetup;
  /** Shared memory of one number: how many commands the follower has received. */
  readonly received: Int32Array;
}

/** Commands of the node's thread to the follower. */
export type FollowerCommand = 'poke' | 'pokeSoon' | 'pokeIfIdle' | 'remake' | 'scrub';

export interface PackedPlaces {
  readonly points: string;
  /** Height, index and offset of each transaction whose values are requested. */
  readonly numbers: Float64Array;
}

export interface FollowerPackedValues {
  /** Length of each value in bytes; −1 for a missing value. */
  readonly lengths: Int32Array;
  readonly bytes: Uint8Array;
}

/** Functions of the node's thread that the follower calls. */
export interface FollowerNodeCalls {
  /** Requests the changes of the chain. Like before each message, they are sent before the answer. */
  news(): void;
  values(places: PackedPlaces): Promise<FollowerPackedValues>;
  facts(wanted: WantedFacts): readonly BlockFacts[];
  /** Closes the index files in all search threads, because a file is about to be deleted. */
  release(): Promise<void>;
  /** Blocks chain changes until the item `unhold` is sent. */
  hold(): Promise<void>;
}

/** Functions of the node's thread that the follower calls synchronously: the follower thread blocks until the answer arrives. */
export type SyncNodeCalls = Pick<FollowerNodeCalls, 'facts'>;

/** Functions of the follower that the node's thread calls. */
export interface FollowerCalls {
  /** Stops following after the step that is running. */
  close(): Promise<void>;
}

/** Messages of the follower that are not calls. */
export type FollowerItem =
  | readonly ['unhold']
  | readonly ['status', FollowerStatus]
  | readonly ['log', level: 'info' | 'warn' | 'error' | 'debug', text: string];

/** Messages of the node's thread that are not answers. Changes of the chain are sent before the rest of a message. */
export type NodeItem = readonly ['news', ChainNews] | readonly ['command', FollowerCommand];

const BLOCK_FILE_ERROR: ErrorKind<BlockFileError> = {
  kind: 'BlockFileError',
  type: BlockFileError,
  restore: (message) => new BlockFileError(message),
};

export const FOLLOWER_ERRORS = new CrossingErrors([BLOCK_FILE_ERROR]);

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

export function packValues(values: readonly (Bytes | null)[]): FollowerPackedValues {
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

export function unpackValues({ lengths, bytes }: FollowerPackedValues): (Bytes | null)[] {
  let at = 0;
  return Array.from(lengths, (length) => {
    if (length < 0) return null;
    at += length;
    return Buffer.from(bytes.buffer, bytes.byteOffset + at - length, length);
  });
}
