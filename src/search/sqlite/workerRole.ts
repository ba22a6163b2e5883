/** Start data of a thread that writes or reads the search index. */
import type { CensorLists } from '../hits/censor.js';
import type { FollowerSetup } from '../follow/followerMessages.js';
import type { SqliteIndexOptions } from './sqliteIndexWriter.js';

export type WorkerRole =
  | {
      readonly role: 'writer';
      readonly index: SqliteIndexOptions;
      /** Start data of the follower in this thread; null if the node's thread follows the claim index and calls the writer. */
      readonly follower: FollowerSetup | null;
    }
  | { readonly role: 'reader'; readonly path: string; readonly lists: CensorLists };
