/** What is said between the node's thread and the threads that write and read the search index. */
import type { CensorLists } from '../hits/censor.js';
import type { FollowerSetup } from '../follow/followerMessages.js';
import type { SqliteIndexOptions } from './sqliteIndexWriter.js';
import { SearchError, type SearchErrorKind } from '../query/searchError.js';

export type WorkerRole =
  | {
      readonly role: 'writer';
      readonly index: SqliteIndexOptions;
      /** Null if the node's thread follows the claim index, and calls. */
      readonly follower: FollowerSetup | null;
    }
  | { readonly role: 'reader'; readonly path: string; readonly lists: CensorLists };

export interface WorkerCall {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type WorkerAnswer =
  | { readonly id: number; readonly result: unknown }
  | {
      readonly id: number;
      readonly error: { readonly kind: SearchErrorKind | null; readonly message: string };
    };

/** An error as it crosses to another thread. */
export function answerOf(id: number, error: unknown): WorkerAnswer {
  const kind = error instanceof SearchError ? error.kind : null;
  return { id, error: { kind, message: error instanceof Error ? error.message : String(error) } };
}

export function errorOf({ kind, message }: { kind: SearchErrorKind | null; message: string }): Error {
  return kind === null ? new Error(message) : new SearchError(kind, message);
}
