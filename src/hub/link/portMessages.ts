/**
 * What is said between the node's thread and the hub's, which has the clients: batches of items, each a tuple with its kind
 * first. The hub's thread asks, and each of its calls ends with one of `value`, `end`, `error` and `gone`.
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
import type { NodeOperation } from './nodeOperations.js';

/** Pieces of an answer that are under way at a time, once its client takes it. Before that there is one. */
export const CHUNKS_AHEAD = 2;

/** An answer with an error, as it crosses. */
export interface CrossingError {
  readonly code: number;
  readonly message: string;
  readonly isHonest: boolean;
}

export type SearchNote = readonly [tookMs: number, timedOut: boolean];

/** From the hub's thread to the node's. */
export type ToNode =
  /** `client` asks; `weight` is that of its turn. */
  | readonly ['call', id: number, client: number, weight: number, operation: NodeOperation, args: unknown[]]
  /** The number of further pieces of an answer that may be sent. */
  | readonly ['more', id: number, count: number]
  | readonly ['cancel', id: number]
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
  | readonly ['failed', method: string, message: string, stack: string | undefined]
  /** An order was carried out, or could not be. */
  | readonly ['done', id: number, failure: string | null];

/** From the node's thread to the hub's. `usedMs` is how long the node worked for a call. */
export type ToHub =
  | readonly ['tip', height: number, header: Uint8Array]
  | readonly ['value', id: number, usedMs: number, value: unknown]
  | readonly ['chunk', id: number, chunk: unknown]
  | readonly ['end', id: number, usedMs: number]
  /** Null if it is not an answer to the client: then the node was notified of it. */
  | readonly ['error', id: number, usedMs: number, error: CrossingError | null]
  | readonly ['gone', id: number]
  | readonly ['peer', id: number, name: string, isThere: boolean]
  | readonly ['open', id: number]
  /** How the follower of the claim index stands. */
  | readonly ['followed', FollowerStatus]
  /** A transaction with claims entered the mempool, or left it (by its id, latin1). */
  | readonly ['waiting', WaitingTransaction]
  | readonly ['waitingGone', txid: string]
  /** The readers close the file of the index. */
  | readonly ['release', id: number]
  /** Touched scripts, with the tip: clients must be notified. */
  | readonly ['tell', id: number, touched: Uint8Array]
  | readonly ['close', id: number];

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
