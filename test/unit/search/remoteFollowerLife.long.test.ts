import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/native/binding.js';
import { BlockFileError } from '../../../src/store/files/blockFiles.js';
import { ClaimIndexRun } from '../../support/claimIndexRun.js';
import { LONG_MS, PAUSES_MS, RemoteSearch } from '../../support/remoteSearch.js';

/** Flips bits in all blocks of all tables of a database. Returns a function that repairs them. */
function corruptTables(path: string): () => void {
  const tables = readdirSync(path).filter((name) => name.endsWith('.ldb'));
  expect(tables.length).toBeGreaterThan(0);
  const whole = tables.map((name) => [join(path, name), readFileSync(join(path, name))] as const);
  for (const [file, content] of whole) {
    const corrupt = Buffer.from(content);
    for (let at = 500; at < corrupt.length - 5000; at += 1000) corrupt[at]! ^= 1;
    writeFileSync(file, corrupt);
  }
  return () => whole.forEach(([file, content]) => writeFileSync(file, content));
}

describe.skipIf(!loadNative())('the follower in the thread that writes the index', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-remote-'));
  let files = 0;
  let run: ClaimIndexRun;
  const made: (() => Promise<void>)[] = [];

  /** All tests use the same chain. Each continues where the previous one ended. */
  beforeAll(async () => {
    run = new ClaimIndexRun(5);
    await run.open();
    for (let n = 0; n < 10; n++) await run.mine(6);
  });
  afterEach(async () => {
    for (const close of made.splice(0)) await close();
  });
  afterAll(async () => {
    await run.close();
    rmSync(folder, { recursive: true });
  });

  const newPath = (): string => join(folder, `search${files++}.sqlite`);

  async function open(options: { sentBlocks?: number; path?: string } = {}): Promise<RemoteSearch> {
    const remote = await RemoteSearch.open(options.path ?? newPath(), run.chain, options);
    const forget = run.chain.opened.chain.events.on('tipChanged', () => remote.follower.pokeSoon());
    made.push(async () => {
      forget();
      await remote.close();
    });
    return remote;
  }

  it("equals the node's own follower, over reorganisations and flushes", async () => {
    const remote = await open();
    remote.follower.poke();
    const depths = [20, 4, 1];
    for (let round = 0; round < 9; round++) {
      for (let n = 0; n < 4; n++) await run.mine(5);
      if (round % 3 === 0) await run.chain.opened.flusher.flush();
      if (round % 3 === 2) await run.reorganise(depths.pop()!, 4, false);
      if (round % 2 === 0) await remote.expectAtTip();
    }
    await remote.expectAtTip();
    await remote.expectAsFresh(newPath());
    expect(remote.follower.status.documents).toBeGreaterThan(5);
  });

  it.each([400, 3])(
    'equals it if the chain changes its branch during reads, with %i blocks reported',
    async (reported) => {
      const remote = await open({ sentBlocks: reported });
      for (let n = 0; n < 10; n++) await run.mine(6);
      const { chain } = run.chain.opened;
      // The node disconnects and reconnects blocks while the thread waits for values.
      let changes = 0;
      remote.onValues = async () => {
        if (++changes > 8) return;
        const id = chain.index.active.at(chain.height - ((changes * 3) % 11));
        await chain.invalidateBlock(id);
        await chain.reconsiderBlock(id);
      };
      remote.follower.poke();
      await remote.expectAtTip();
      expect(changes).toBeGreaterThan(8);
      for (let n = 0; n < 5; n++) await run.mine(6);
      await remote.expectAtTip();
      await remote.expectAsFresh(newPath());
    },
  );

  it('continues with the file of another run, requests blocks far below, and rebuilds a corrupt file', async () => {
    const remote = await open();
    for (let n = 0; n < 10; n++) await run.mine(5);
    remote.follower.poke();
    await remote.expectAtTip();
    await remote.close();
    for (let n = 0; n < 20; n++) await run.mine(5);
    const again = await open({ path: remote.path, sentBlocks: 4 });
    again.follower.poke();
    await again.expectAtTip();
    await remote.expectAsFresh(newPath());
    await again.remake();
    await again.expectAtTip();
    await remote.expectAsFresh(newPath());
  });

  it('reports why the file cannot be opened', async () => {
    const remote = await open({ path: join(folder, 'nowhere', 'search.sqlite') });
    remote.follower.poke();
    await expect
      .poll(() => remote.follower.status.failure, { timeout: LONG_MS })
      .toContain('nowhere: it is missing');
    expect(remote.follower.status.tip).toBeNull();
  });

  it('reports a block that cannot be read, and ends while the chain is held', async () => {
    const remote = await open();
    for (let n = 0; n < 10; n++) await run.mine(5);
    remote.onValues = async () => {
      throw new BlockFileError('blk00001.dat is damaged');
    };
    remote.follower.poke();
    await expect.poll(() => remote.follower.status.failure, { timeout: LONG_MS }).toContain('blk00001');
    expect(remote.follower.status.isStuck).toBe(true);
    let isLetGo = (): void => undefined;
    const held = run.chain.opened.chain.exclusively(
      () => new Promise<void>((resolve) => (isLetGo = resolve)),
    );
    await remote.close();
    isLetGo();
    await held;
    await remote.follower.waitForTip(LONG_MS);
  });

  it('continues in another thread if the writing one ends at any time', async () => {
    const remote = await open();
    const { threads } = remote;
    let values = 0;
    // Twice while it waits for values, and once between blocks.
    remote.onValues = async () => {
      if (++values === 1) await threads[0]!.terminate();
      else if (values === 3) await threads[1]!.terminate();
    };
    // Each block has new claims, whose values the thread requests.
    const mineOne = async (): Promise<number> => {
      await run.mine(6);
      return threads.length;
    };
    await expect.poll(mineOne, { timeout: LONG_MS }).toBe(3);
    await remote.expectAtTip();
    await remote.expectAsFresh(newPath());
    await threads[2]!.terminate();
    await expect.poll(() => threads.length, { timeout: LONG_MS }).toBe(4);
    await run.mine(6);
    await run.reorganise(3, 4, false);
    await remote.expectAtTip();
    await remote.expectAsFresh(newPath());
  });

  it('releases the chain and refuses searches if the writing thread ends repeatedly', async () => {
    const remote = await open();
    for (let n = 0; n < 5; n++) await run.mine(5);
    const { follower, threads } = remote;
    follower.poke();
    await remote.expectAtTip();
    const search = remote.search();
    expect((await search.search({})).height).toBe(run.height);
    for (let ends = 0; ends <= PAUSES_MS.length; ends++) {
      await expect.poll(() => threads.length, { timeout: LONG_MS }).toBe(2 + ends);
      await threads[ends === 0 ? 0 : 1 + ends]!.terminate();
    }
    await expect.poll(() => follower.status.failure, { timeout: LONG_MS }).toContain('restart the node');
    await run.mine(5);
    await expect(search.search({})).rejects.toThrow(/cannot follow the chain: .*restart the node/);
    expect(threads).toHaveLength(2 + PAUSES_MS.length);
  });

  it('searches by another thread if a reading one ends', async () => {
    const remote = await open();
    remote.follower.poke();
    await remote.expectAtTip();
    const search = remote.search();
    await search.search({});
    await remote.threads[1]!.terminate();
    await expect.poll(() => remote.threads.length, { timeout: LONG_MS }).toBe(3);
    expect((await search.search({ limit: 3 })).height).toBe(run.height);
  });

  it('reports the name of the corrupt database file, and searches are refused', async () => {
    const remote = await open();
    for (let n = 0; n < 3; n++) await run.mine(6);
    remote.follower.poke();
    await remote.expectAtTip();
    const { flusher, store, chain } = run.chain.opened;
    await flusher.flush();
    await store.compact();
    const undo = corruptTables(store.share()!.path);
    // Reopens the store, because the data in memory are intact.
    await chain.exclusively(() => store.reopen());
    remote.follower.remake();
    await expect.poll(() => remote.follower.status.isStuck, { timeout: LONG_MS }).toBe(true);
    expect(remote.follower.status.failure).toMatch(/^The database in .* is corrupt: .*\d+\.ldb.*-reindex/);
    await expect(remote.search().search({})).rejects.toThrow(
      /cannot be built: The database in .* is corrupt/,
    );
    undo();
    await chain.exclusively(() => store.reopen());
    await remote.expectAtTip();
  });
});
