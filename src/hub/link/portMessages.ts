/**
 * Messages between the node's thread and the hub's thread, to which the clients are connected. Each thread calls the other
 * by the protocol of `threads/protocol.ts`, and also sends messages that are not calls.
 */
import type { ClaimRules } from '../../claimtrie/types.js';
import { SCRIPT_KEY_BYTES } from '../../index/addressScripts.js';
import type { IndexedTransaction } from '../../index/waiting/waitingOutputs.js';
import type { AddressPrefixes } from '../../script/address.js';
import type { FollowerStatus } from '../../search/follow/followerStatus.js';
import type { SearchersSetup } from '../../search/sqlite/sqliteSearchers.js';
import type { SharedRowsId } from '../../store/cache/sharedRows.js';
import type { LogCategory } from '../../util/logging.js';
import type { AnsweredNote } from './answerNotes.js';
import type { HubFacts } from '../protocol/hubFacts.js';
import type { MethodShape } from '../protocol/hubClient.js';
import { HubError } from '../protocol/hubError.js';
import { HubStartError } from '../thread/hubStartError.js';
import { CrossingErrors, type ErrorKind } from '../../threads/crossingErrors.js';
import type { AnswerItem, CallItem } from '../../threads/protocol.js';

/** The client for which a call is made, and the weight of the call in the fair queue. */
export type HubCallContext = readonly [client: number, weight: number];

/**
 * `HubError`s are sent to the other thread with their fields. Other errors become a `NodeFailure`, because the node's thread
 * has already logged them.
 */
const HUB_ERROR_KIND: ErrorKind<HubError> = {
  kind: 'HubError',
  type: HubError,
  fields: ({ code, isHonest }) => ({ code, isHonest }),
  restore: (message, { code, isHonest }: Pick<HubError, 'code' | 'isHonest'>) =>
    new HubError(code, message, isHonest),
};

/** Error: a call failed in the node's thread, which has logged the error. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
}

export const NODE_ERRORS = new CrossingErrors([HUB_ERROR_KIND], () => new NodeFailure());

/** Operations that the node's thread calls in the hub's thread. */
export interface HubOrders {
  /** Starts to listen for clients. Rejects with `HubStartError`. */
  open(): Promise<void>;
  peer(name: string, isThere: boolean): void;
  /** Closes the index file in all search threads. */
  release(): Promise<void>;
  /** Notifies clients that scripts changed. `touched` has the packed script keys. */
  tell(touched: Uint8Array): Promise<void>;
  /** Ends all sessions and stops listening. */
  close(): Promise<void>;
}

export const ORDER_ERRORS = new CrossingErrors([], (message) => new HubStartError(message));

export type SearchNote = readonly [tookMs: number, timedOut: boolean];

/** Messages that the hub's thread sends to the node's thread. */
export type ToNode =
  /** Calls of operations in `NodeOperation`. */
  | CallItem<HubCallContext>
  /** Responses to calls of `HubOrders`. */
  | AnswerItem
  | readonly ['left', client: number]
  /** Ends the block of chain changes that the operation `hold` began. */
  | readonly ['unhold']
  /** Scripts that have got subscribers, or have lost the last one. */
  | readonly ['wanted', Uint8Array]
  | readonly ['unwanted', Uint8Array]
  /** A log line: level, text, and the log category unless it is `hub`. */
  | readonly ['log', level: 'info' | 'warn' | 'debug', text: string, category?: LogCategory]
  | readonly ['answered', readonly AnsweredNote[]]
  | readonly ['notified', method: string, count: number]
  /** Searches in threads of the hub: the duration of each, and whether the time limit aborted it. */
  | readonly ['searched', readonly SearchNote[]]
  | readonly ['follower', command: 'poke' | 'remake']
  | readonly ['available', isAvailable: boolean]
  | readonly ['failed', method: string, message: string, stack: string | undefined];

/** Messages that the node's thread sends to the hub's thread. */
export type ToHub =
  | readonly ['tip', height: number, header: Uint8Array]
  /** Responses to calls. The note is the number of milliseconds that the node's thread worked on the call. */
  | AnswerItem<number>
  /** Calls of operations in `HubOrders`. */
  | CallItem
  /** Status of the thread that keeps the search index at the tip. */
  | readonly ['followed', FollowerStatus]
  /**
   * A transaction with claims entered the mempool (`waiting`), or the transaction with this txid (latin1) left it
   * (`waitingGone`).
   */
  | readonly ['waiting', IndexedTransaction]
  | readonly ['waitingGone', txid: string];

/** Data with which the hub's thread answers queries about claims. */
export interface HubClaimsStart {
  /** Rows in shared memory; null if only the node's thread can read rows. */
  readonly rows: SharedRowsId | null;
  readonly rules: ClaimRules;
  /** Shared memory that contains a `TipSnapshot`. */
  readonly snapshot: SharedArrayBuffer;
  readonly blockingChannels: readonly Uint8Array[];
  /** Data for search threads of the hub; null if searches run only in the node's thread. */
  readonly search: SearchersSetup | null;
  readonly addressPrefixes: AddressPrefixes;
}

/** Start data of the hub's thread. */
export interface HubThreadStart {
  readonly host: string;
  readonly port: number;
  readonly maxSessions: number;
  readonly timeoutMs: number;
  readonly stallMs: number | undefined;
  readonly facts: HubFacts;
  readonly peers: readonly string[];
  /** Methods that the hub's thread forwards to the node's thread. */
  readonly nodeMethods: readonly MethodShape[];
  readonly counters: SharedArrayBuffer;
  /** Start data for claims; null without a claim index. */
  readonly claims: HubClaimsStart | null;
}

/** Concatenates script keys in a new buffer. */
export function packKeys(keys: readonly string[]): Uint8Array<ArrayBuffer> {
  const packed = Buffer.from(new ArrayBuffer(keys.length * SCRIPT_KEY_BYTES));
  for (let n = 0; n < keys.length; n++) packed.write(keys[n]!, n * SCRIPT_KEY_BYTES, 'latin1');
  return packed;
}

/** Yields each script key as a string of its own. A substring would keep all keys in memory. */
export function* unpackKeys(packed: Uint8Array): Generator<string> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  for (let at = 0; at < bytes.length; at += SCRIPT_KEY_BYTES)
    yield bytes.toString('latin1', at, at + SCRIPT_KEY_BYTES);
}
