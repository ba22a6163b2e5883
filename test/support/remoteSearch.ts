/**
 * The search index of a test chain, written by a thread that follows the claim index, as in a node. It is compared with an
 * index that the test's thread builds from the same chain.
 */
import type { Worker } from 'node:worker_threads';
import { expect } from 'vitest';
import { followedChain } from '../../src/node/services/claimSearch.js';
import { regtestParams } from '../../src/params/regtest.js';
import { addressPrefixesOf } from '../../src/script/address.js';
import type { MirroredChain } from '../../src/search/follow/chainMirror.js';
import { BackedClaimSearch } from '../../src/search/claimSearch.js';
import { SearchFollower } from '../../src/search/follow/follower.js';
import { RemoteFollower } from '../../src/search/sqlite/remoteFollower.js';
import { SqliteBackend } from '../../src/search/sqlite/searchWorkers.js';
import { SqliteIndexWriter } from '../../src/search/sqlite/sqliteIndexWriter.js';
import { loadSqlite } from '../../src/sqlite/sqliteProvider.js';
import { SILENT_LOGGER } from '../../src/util/logging.js';
import { sqliteContents } from './searchBackends.js';
import type { TestChain } from './testChain.js';

const prefixes = addressPrefixesOf(regtestParams);
/** Only ends a test that hangs. */
export const LONG_MS = 120_000;
/** Pauses in milliseconds before the restarts of a search thread. After the last one it is not restarted again. */
export const PAUSES_MS = [1, 2, 3];

const mirroredChain = ({ opened }: TestChain): MirroredChain => followedChain(opened.reader);

/** The follower in the thread that writes an index to a file. */
export class RemoteSearch {
  readonly path: string;
  readonly chain: TestChain;
  readonly backend: SqliteBackend;
  readonly follower: RemoteFollower;
  /** Is awaited before values are read. */
  onValues: () => Promise<void> = async () => {};

  private gate: Promise<void> = Promise.resolve();
  /** Threads in the order of their starts: the writer, a reader when one is needed, and the replacements of either. */
  readonly threads: readonly Worker[];
  private readonly forget: () => void;

  private constructor(
    path: string,
    chain: TestChain,
    backend: SqliteBackend,
    follower: RemoteFollower,
    threads: readonly Worker[],
    forget: () => void,
  ) {
    this.path = path;
    this.chain = chain;
    this.backend = backend;
    this.follower = follower;
    this.threads = threads;
    this.forget = forget;
  }

  static async open(
    path: string,
    chain: TestChain,
    options: { sentBlocks?: number; pausesMs?: readonly number[] } = {},
  ): Promise<RemoteSearch> {
    const threads: Worker[] = [];
    const onThread = (thread: Worker): void => void threads.push(thread);
    process.on('worker', onThread);
    const { store, claims } = chain.opened;
    const index = chain.services.claimIndex!;
    const follower = new RemoteFollower({
      rows: store.share()!,
      rules: claims.rules,
      chain: mirroredChain(chain),
      index,
      values: async (places) => {
        await remote.gate;
        await remote.onValues();
        return index.valuesAt(places);
      },
      release: () => remote.backend.release(),
      logger: SILENT_LOGGER,
      ...(options.sentBlocks !== undefined && { sentBlocks: options.sentBlocks }),
    });
    const remote: RemoteSearch = new RemoteSearch(
      path,
      chain,
      await SqliteBackend.open({
        path,
        chain: 'chain',
        prefixes,
        lists: { blocking: [], filtering: [] },
        readers: 1,
        followed: follower,
        pausesMs: options.pausesMs ?? PAUSES_MS,
      }),
      follower,
      threads,
      () => process.off('worker', onThread),
    );
    return remote;
  }

  async close(): Promise<void> {
    this.forget();
    await this.follower.close();
    await this.backend.close();
  }

  /** Has the index rebuilt, which must not be empty. Resolves while it is being rebuilt. */
  async remake(): Promise<void> {
    let open = (): void => undefined;
    this.gate = new Promise((resolve) => (open = resolve));
    this.follower.remake();
    await expect.poll(() => this.follower.status.tip, { timeout: LONG_MS }).toBeNull();
    open();
  }

  /** Searches as the node does. */
  search(): BackedClaimSearch {
    return new BackedClaimSearch(this.chain.services.claimIndex!, this.backend, this.follower, SILENT_LOGGER);
  }

  /** Waits until the index is at the tip of the chain. */
  async expectAtTip(): Promise<void> {
    const { follower } = this;
    const { height, hashAt } = mirroredChain(this.chain);
    await expect.poll(() => follower.status.tip?.hash, { timeout: LONG_MS }).toBe(hashAt(height));
    await follower.waitForTip(LONG_MS);
    expect(follower.status).toMatchObject({ tip: { height, hash: hashAt(height) }, failure: null });
  }

  /** Compares the index with one that this thread builds from the same chain, in a file at `path`. */
  async expectAsFresh(path: string): Promise<void> {
    const writer = new SqliteIndexWriter(await loadSqlite(), { path, chain: 'chain', prefixes });
    const index = this.chain.services.claimIndex!;
    await new SearchFollower(index, mirroredChain(this.chain), writer, SILENT_LOGGER).sync();
    await writer.close();
    expect(await sqliteContents(this.path)).toEqual(await sqliteContents(path));
  }
}
