/**
 * Rows of the node's store, for the hub's thread. They are read from memory that is shared with the node. Without the addon,
 * for rows that are not committed, and when a read fails, the node's thread reads them.
 */
import type { SharedRows } from '../../store/cache/sharedRows.js';
import { walkInSteps, type RowRange, type RowReader } from '../../store/rows/rows.js';
import { unpackValues } from '../../search/follow/followerMessages.js';
import type { Bytes } from '../../util/bytes.js';
import type { RowsAnswer } from './nodeOperations.js';

/** Number of rows of an iteration that are read in one call. */
const WALK_ROWS = 256;

/** Reads rows in the node's thread. */
export interface NodeRows {
  rows(keys: readonly string[]): Promise<RowsAnswer>;
  rowRange(range: RowRange): Promise<RowsAnswer & { readonly keys: readonly string[] }>;
}

export interface LinkedRowsDeps {
  /** Direct access to the store's rows; null without the addon. */
  readonly shared: SharedRows | null;
  /** Whether the store has rows that only the node's thread can read. */
  readonly hasStaged: () => boolean;
  readonly node: NodeRows;
  /** Called with the reason why a read of shared memory failed. */
  readonly failed: (why: string) => void;
}

export class LinkedRows implements RowReader {
  private readonly deps: LinkedRowsDeps;
  /** Number of the last commit at which the node's thread has read rows. */
  private readCommits = -1;

  constructor(deps: LinkedRowsDeps) {
    this.deps = deps;
  }

  /** Whether `commits` is the number of the current commit, as far as this thread can know. */
  isAt(commits: number): boolean {
    const { shared } = this.deps;
    return this.readCommits <= commits && (shared === null || shared.commits === commits);
  }

  async get(key: string): Promise<Bytes | undefined> {
    return (await this.getMany([key]))[0];
  }

  getMany(keys: readonly string[]): Promise<(Bytes | undefined)[]> {
    return this.read(
      (shared) => shared.getMany(keys),
      async (node) => {
        const { commits, values } = await node.rows(keys);
        this.note(commits);
        return unpackValues(values).map((value) => value ?? undefined);
      },
    );
  }

  getRange(range: RowRange): Promise<[string, Bytes][]> {
    return this.read(
      (shared) => shared.getRange(range),
      async (node) => {
        const { commits, keys, values } = await node.rowRange(range);
        this.note(commits);
        return unpackValues(values).map((value, n) => [keys[n]!, value!]);
      },
    );
  }

  range(range: RowRange): AsyncGenerator<[string, Bytes]> {
    return walkInSteps(this, range, WALK_ROWS);
  }

  private async read<T>(
    here: (shared: SharedRows) => Promise<T>,
    there: (node: NodeRows) => Promise<T>,
  ): Promise<T> {
    const { shared, hasStaged, node, failed } = this.deps;
    if (shared !== null && !hasStaged()) {
      try {
        return await here(shared);
      } catch (error) {
        // If the database is corrupt, the node's thread also fails and reports it.
        failed((error as Error).message);
      }
    }
    return there(node);
  }

  private note(commits: number): void {
    this.readCommits = Math.max(this.readCommits, commits);
  }
}
