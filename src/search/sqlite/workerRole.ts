/** What a thread that writes or reads the search index is given at its start. */
import type { CensorLists } from '../hits/censor.js';
import type { FollowerSetup } from '../follow/followerMessages.js';
import type { SqliteIndexOptions } from './sqliteIndexWriter.js';

export type WorkerRole =
  | {
      readonly role: 'writer';
      readonly index: SqliteIndexOptions;
      /** Null if the node's thread follows the claim index and calls the writer. */
      readonly follower: FollowerSetup | null;
    }
  | { readonly role: 'reader'; readonly path: string; readonly lists: CensorLists };
