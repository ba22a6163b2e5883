/**
 * What is said between the node's thread and the hub's, which has the clients. Both call each other by the protocol of
 * `threads/protocol.ts`, and have items of their own beside it.
 */
import type { ClaimRules } from '../../claimtrie/types.js';
import { SCRIPT_KEY_BYTES } from '../../index/addressScripts.js';
import type { WaitingTransaction } from '../../index/waiting/waitingOutputs.js';
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

/** Whom a call is for, and the weight of its turn. */
export type CallContext = readonly [client: number, weight: number];

/** Errors of a client cross as they are. Of others the node was notified. */
const HUB_ERROR_KIND: ErrorKind<HubError> = {
  kind: 'HubError',
  type: HubError,
  fields: ({ code, isHonest }) => ({ code, isHonest }),
  restore: (message, { code, isHonest }: Pick<HubError, 'code' | 'isHonest'>) =>
    new HubError(code, message, isHonest),
};

/** A call failed in the node's thread, which has logged the failure. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
}

export const NODE_ERRORS = new CrossingErrors([HUB_ERROR_KIND], () => new NodeFailure());

/** What the node's thread asks of the hub's. */
export interface HubOrders {
  /** Listens. Rejects with `HubStartError`. */
  open(): Promise<void>;
  peer(name: string, isThere: boolean): void;
  /** The searching threads must close the index file. */
  release(): Promise<void>;
  /** Touched scripts, as packed keys: clients must be notified. */
  tell(touched: Uint8Array): Promise<void>;
  /** Ends all sessions. */
  close(): Promise<void>;
}

export const ORDER_ERRORS = new CrossingErrors([], (message) => new HubStartError(message));

export type SearchNote = readonly [tookMs: number, timedOut: boolean];

/** From the hub's thread to the node's. */
export type ToNode =
  /** Calls of `NodeOperation`. */
  | CallItem<CallContext>
  /** Answers to `HubOrders`. */
  | AnswerItem
  | readonly ['left', client: number]
  /** Ends what the operation `hold` began. */
  | readonly ['unhold']
  /** Scripts that clients are now subscribed to, and scripts without subscribers. */
  | readonly ['wanted', Uint8Array]
  | readonly ['unwanted', Uint8Array]
  /** Log level, text, and log category if it is not `hub`. */
  | readonly ['log', level: 'info' | 'warn' | 'debug', text: string, category?: LogCategory]
  | readonly ['answered', readonly AnsweredNote[]]
  | readonly ['told', method: string, count: number]
  /** Searches in threads of the hub: duration, and whether each was aborted. */
  | readonly ['searched', readonly SearchNote[]]
  | readonly ['follower', deed: 'poke' | 'remake']
  | readonly ['available', isAvailable: boolean]
  | readonly ['failed', method: string, message: string, stack: string | undefined];

/** From the node's thread to the hub's. */
export type ToHub =
  | readonly ['tip', height: number, header: Uint8Array]
  /** Answers to calls; the note is how long the node worked for it. */
  | AnswerItem<number>
  /** Calls of `HubOrders`. */
  | CallItem
  /** Status of the follower of the claim index. */
  | readonly ['followed', FollowerStatus]
  /** A transaction with claims entered the mempool, or left it (by its id, latin1). */
  | readonly ['waiting', WaitingTransaction]
  | readonly ['waitingGone', txid: string];

/** Data with which the hub's thread answers queries about claims. */
export interface HubClaimsStart {
  /** Null if only the node's thread can read rows. */
  readonly rows: SharedRowsId | null;
  readonly rules: ClaimRules;
  /** Memory of a `TipSnapshot`. */
  readonly snapshot: SharedArrayBuffer;
  readonly blockingChannels: readonly Uint8Array[];
  /** Null if searches run in the node's thread only. */
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
  /** Methods that the node's thread runs. */
  readonly nodeMethods: readonly MethodShape[];
  readonly counters: SharedArrayBuffer;
  /** Null without a claim index. */
  readonly claims: HubClaimsStart | null;
}

/** Concatenated script keys in a buffer of their own. */
export function packKeys(keys: readonly string[]): Uint8Array<ArrayBuffer> {
  const packed = Buffer.from(new ArrayBuffer(keys.length * SCRIPT_KEY_BYTES));
  for (let n = 0; n < keys.length; n++) packed.write(keys[n]!, n * SCRIPT_KEY_BYTES, 'latin1');
  return packed;
}

/** Separate strings, so that one does not keep the others in memory. */
export function* unpackKeys(packed: Uint8Array): Generator<string> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  for (let at = 0; at < bytes.length; at += SCRIPT_KEY_BYTES)
    yield bytes.toString('latin1', at, at + SCRIPT_KEY_BYTES);
}
