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

/** The node's thread failed at a call, and has logged the failure. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
}

export const NODE_ERRORS = new CrossingErrors([HUB_ERROR_KIND], () => new NodeFailure());

/** What the node's thread asks of the hub's. */
export interface HubOrders {
  /** Listens. Rejects with `HubStartError`. */
  open(): Promise<void>;
  peer(name: string, isThere: boolean): void;
  /** The readers close the file of the index. */
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
  /** Scripts that some client subscribes to from here on, and those that none does any more. */
  | readonly ['wanted', Uint8Array]
  | readonly ['unwanted', Uint8Array]
  /** Log level of the category `hub`, unless another is named. */
  | readonly ['log', level: 'info' | 'warn' | 'debug', text: string, category?: LogCategory]
  | readonly ['answered', readonly AnsweredNote[]]
  | readonly ['told', method: string, count: number]
  /** Searches that were carried out by threads of the hub's: how long each took, and whether it was abandoned. */
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
  /** How the follower of the claim index stands. */
  | readonly ['followed', FollowerStatus]
  /** A transaction with claims entered the mempool, or left it (by its id, latin1). */
  | readonly ['waiting', WaitingTransaction]
  | readonly ['waitingGone', txid: string];

/** What the hub's thread is given where it reads rows itself. */
export interface SharedClaimsStart {
  readonly rows: SharedRowsId;
  readonly rules: ClaimRules;
  /** Memory of a `TipSnapshot`. */
  readonly snapshot: SharedArrayBuffer;
  readonly blockingChannels: readonly Uint8Array[];
  /** Null if only the node's thread searches. */
  readonly search: SearchersSetup | null;
  readonly addressPrefixes: AddressPrefixes;
}

/** What the hub's thread is given at its start. */
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
  /** Null if the node's thread has all answers about claims. */
  readonly claims: SharedClaimsStart | null;
}

/** Keys of scripts back to back, in memory of their own. */
export function packKeys(keys: readonly string[]): Uint8Array<ArrayBuffer> {
  const packed = Buffer.from(new ArrayBuffer(keys.length * SCRIPT_KEY_BYTES));
  for (let n = 0; n < keys.length; n++) packed.write(keys[n]!, n * SCRIPT_KEY_BYTES, 'latin1');
  return packed;
}

/** Separate texts, so that none keeps the others in memory. */
export function* unpackKeys(packed: Uint8Array): Generator<string> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  for (let at = 0; at < bytes.length; at += SCRIPT_KEY_BYTES)
    yield bytes.toString('latin1', at, at + SCRIPT_KEY_BYTES);
}
