/**
 * Indexes that are filled behind the tip. Their rows are compared with those of indexes that were written from the genesis
 * block on, with new blocks, reorganisations below and above the filled height, kills, and times in which they are disabled.
 */
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IDENTITY_KEY } from '../../../src/chain/open/folderIdentity.js';
import { indexPositionKey } from '../../../src/chain/connect/contributor.js';
import { AddressQueries } from '../../../src/index/addressQueries.js';
import { addressIndex } from '../../../src/index/addressIndex.js';
import { scriptKeyOf } from '../../../src/index/addressScripts.js';
import { BackgroundFill } from '../../../src/index/backgroundFill.js';
import { TrackedIndex, type ChainIndex } from '../../../src/index/chainIndex.js';
import { txIndex } from '../../../src/index/txIndex.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { txidAt } from '../../../src/primitives/blockView.js';
import { getAddressBalance } from '../../../src/rpc/methods/addressindex/getAddressBalance.js';
import { getRawTransaction } from '../../../src/rpc/methods/rawtransactions/getRawTransaction.js';
import { getIndexInfo } from '../../../src/rpc/methods/util/getIndexInfo.js';
import { STATUS } from '../../../src/store/files/headerTable.js';
import { prefixEnd } from '../../../src/store/rows/rows.js';
import type { Progress } from '../../../src/chain/progress.js';
import { hashToHex, toHex } from '../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { ADDRESS_SCRIPT, OPEN_SCRIPT, spend, TestChain } from '../../support/testChain.js';
import { longIt } from '../../support/long.js';

const ON = { txIndex: true, addressIndex: true };
const OFF = { txIndex: false, addressIndex: false };
const SCRIPTS = [OPEN_SCRIPT, ...[1, 2, 3].map((n) => Buffer.of(1, n, 0x75, 0x51))];

/** The same numbers at every run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Every row of both indexes for blocks of the active chain. Rows about disconnected blocks depend on the history of the index. */
async function rowsOf({ opened: { store } }: TestChain): Promise<string[]> {
  const rows: string[] = [];
  for (const prefix of [...txIndex.prefixes, ...addressIndex.prefixes]) {
    for await (const [key, value] of store.range({ gte: prefix, lt: prefixEnd(prefix) })) {
      if (prefix === 'X' && value.length > 8) continue;
      rows.push(`${toHex(Buffer.from(key, 'latin1'))} ${toHex(value)}`);
    }
  }
  return rows;
}

async function fillToEnd({ fill }: TestChain): Promise<void> {
  while (await fill.round());
}

describe('an index filled in the background', () => {
  /** A chain with complete indexes, which mines the blocks. */
  let source: TestChain;
  let chain: TestChain;
  let random: (below: number) => number;
  let branches = 0;
  beforeEach(async () => {
    random = randomNumbers(5);
    source = await TestChain.open(ON);
    chain = await TestChain.open(OFF);
  });
  afterEach(async () => {
    await source.close();
    await chain.close();
  });

  /** Mines on the source and submits the blocks to the other chain. */
  async function mine(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      await source.mine(1, SCRIPTS[random(SCRIPTS.length)]!);
      await chain.opened.chain.processBlock(await source.blockAt(source.opened.chain.height), true);
    }
    expect(tipOf(chain)).toBe(tipOf(source));
  }
  const tipOf = ({ opened: { chain: core } }: TestChain): string =>
    hashToHex(core.index.headers.hash(core.tip));

  /** Random payments. Some are spent in their own block. */
  async function pay(): Promise<void> {
    const { height } = source.opened.chain;
    const queries = new AddressQueries(source.opened.store);
    const keys = SCRIPTS.map((script) => scriptKeyOf(script)!);
    const { entries } = await queries.unspent(keys, { limit: 1000, endHeight: Math.max(0, height - 100) });
    for (let n = 0; n < 4 && entries.length > 0; n++) {
      const inputs = entries.splice(random(entries.length), 1 + random(2));
      const sum = inputs.reduce((total, { amountSat }) => total + amountSat, 0n);
      const tx: Transaction = spend(
        inputs.map(({ outPoint }) => ({ txid: outPoint.subarray(0, 32), n: outPoint.readUInt32LE(32) })),
        [0, 1, 2].map(() => ({ value: sum / 3n, script: SCRIPTS[random(SCRIPTS.length)]! })),
      );
      source.pending.push(tx);
      if (random(2) === 0)
        source.pending.push(spend([{ txid: txid(tx), n: 0 }], [{ value: sum / 3n, script: ADDRESS_SCRIPT }]));
    }
  }

  async function reorganise(depth: number): Promise<void> {
    const { chain: core } = source.opened;
    await core.invalidateBlock(core.index.active.at(core.height - depth + 1));
    const { height } = core;
    // A different script, because otherwise the block would equal the disconnected one.
    await source.mine(1, Buffer.of(2, branches & 255, branches++ >> 8, 0x75, 0x51));
    for (let n = 0; n < depth; n++) {
      await pay();
      await source.mine(1, SCRIPTS[random(SCRIPTS.length)]!);
    }
    for (let at = height + 1; at <= core.height; at++)
      await chain.opened.chain.processBlock(await source.blockAt(at), true);
    expect(tipOf(chain)).toBe(tipOf(source));
  }

  const restart = async (options: typeof ON): Promise<void> => {
    chain = await chain.reopen(options);
  };

  /** Opens a copy of the folder in its present state, as after a kill. */
  async function kill(options: typeof ON): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'lbcnode-killed-'));
    cpSync(chain.folder, folder, { recursive: true });
    await chain.close();
    chain = await TestChain.open({ ...options, folder });
    chain.timeSec = source.timeSec;
  }

  longIt('equals an index built from the start, after any change meanwhile', async () => {
    await mine(110);
    for (let n = 0; n < 20; n++) {
      await pay();
      await mine(1);
    }
    await restart(ON);
    let isOn = true;
    const seen = { finished: 0, reorganised: 0, killed: 0, off: 0 };
    for (let step = 0; step < 120; step++) {
      const what = random(100);
      if (what < 50) {
        let rounds = isOn ? 1 + random(12) : 0;
        while (rounds > 0 && (await chain.fill.round())) rounds--;
        if (rounds > 0) {
          seen.finished++;
          expect(chain.fill.statuses().every(({ synced }) => synced)).toBe(true);
          expect(await rowsOf(chain)).toEqual(await rowsOf(source));
        }
      } else if (what < 75) {
        await pay();
        await mine(1 + random(3));
      } else if (what < 85) {
        seen.reorganised++;
        await reorganise(1 + random(6));
      } else if (what < 92) {
        seen.killed++;
        await kill(isOn ? ON : OFF);
      } else {
        if (isOn) seen.off++;
        isOn = !isOn;
        await restart(isOn ? ON : OFF);
      }
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(2);
    await restart(ON);
    await fillToEnd(chain);
    expect(await rowsOf(chain)).toEqual(await rowsOf(source));
  });

  it('undoes a deep reorganisation that happened while it was off', async () => {
    await mine(130);
    await restart(ON);
    await fillToEnd(chain);
    await restart(OFF);
    await reorganise(25);
    await restart(ON);
    expect(chain.fill.statuses().map(({ synced }) => synced)).toEqual([false, false]);
    await fillToEnd(chain);
    expect(await rowsOf(chain)).toEqual(await rowsOf(source));
  });

  it('builds each index from its height', async () => {
    await mine(40);
    await restart({ txIndex: true, addressIndex: false });
    await fillToEnd(chain);
    await restart(OFF);
    await mine(10);
    await restart(ON);
    expect(chain.fill.statuses()).toEqual([
      { name: 'txindex', synced: false, height: 40, failure: null },
      { name: 'addressindex', synced: false, height: 0, failure: null },
    ]);
    await fillToEnd(chain);
    expect(await rowsOf(chain)).toEqual(await rowsOf(source));
  });

  it('reports its progress, and answers from the indexed part', async () => {
    await mine(20);
    await restart(ON);
    const first = hashToHex(txidAt((await source.blockAt(1)).parsed, 0));
    const notYet = {
      error: {
        code: -5,
        message:
          'No such mempool transaction. Blockchain transactions are still in the process of being indexed. Use gettransaction for wallet transactions.',
      },
    };
    expect(await chain.call(getRawTransaction, [first])).toEqual(notYet);
    let reported: Progress | null | undefined;
    chain.opened.chain.events.on('backgroundProgress', (progress) => (reported = progress));
    while (chain.fill.statuses()[0]!.height < 5) await chain.fill.round();
    const { height } = chain.fill.statuses()[0]!;
    expect(height).toBeLessThan(20);
    const { headers, active } = chain.opened.chain.index;
    const counts = [height, 20].map((at) => headers.chainTxCount(active.at(at)));
    expect(reported).toEqual({
      activity: 'Building 2 indexes',
      done: counts[0],
      total: counts[1],
      height,
      timeSec: headers.timeSec(active.at(height)),
      txCount: counts[0],
    });
    const info = { synced: false, best_block_height: height };
    expect(await chain.call(getIndexInfo)).toEqual({ result: { txindex: info, addressindex: info } });
    expect(await chain.call(getRawTransaction, [first])).toHaveProperty('result');
    const last = hashToHex(txidAt((await source.blockAt(20)).parsed, 0));
    expect(await chain.call(getRawTransaction, [last])).toEqual(notYet);
    expect(await chain.call(getAddressBalance, [toHex(OPEN_SCRIPT)])).toEqual({
      error: {
        code: -1,
        message: `The address index is not complete: block ${height} of 20. Retry later; getindexinfo shows the progress`,
      },
    });
    chain.fill.start((error) => expect.unreachable(String(error)));
    await vi.waitFor(() => expect(reported).toBeNull(), { timeout: 60_000 });
    expect(await chain.call(getRawTransaction, [last])).toHaveProperty('result');
    expect(await chain.call(getAddressBalance, [toHex(OPEN_SCRIPT)])).toHaveProperty('result');
    const done = { synced: true, best_block_height: 20 };
    expect(await chain.call(getIndexInfo)).toEqual({ result: { txindex: done, addressindex: done } });
    const unknown = await chain.call(getRawTransaction, ['11'.repeat(32)]);
    expect(unknown.error?.message).toContain('No such mempool or blockchain transaction.');
  });

  it('stops at a corrupt block, and reports it', async () => {
    await mine(20);
    await restart(ON);
    const { headers, active } = chain.opened.chain.index;
    const { file, offset } = headers.dataPosition(active.at(9));
    const path = chain.opened.chain.deps.files.path('blk', file);
    writeFileSync(path, Buffer.alloc(50, 7), { flag: 'r+', flush: true });
    const corrupt = await chain.blockAt(0).catch((error: Error) => error.message);
    expect(corrupt).toContain('blk00000.dat');
    expect(offset).toBeGreaterThan(50);
    await fillToEnd(chain);
    for (const status of chain.fill.statuses()) {
      expect(status).toMatchObject({ synced: false, height: 0 });
      expect(status.failure).toContain('blk00000.dat');
    }
    const { error } = await chain.call(getAddressBalance, [toHex(OPEN_SCRIPT)]);
    expect(error?.message).toMatch(
      /^The address index stopped at block 0 of 20 because of an error: .*-reindex/,
    );
    await mine(1);
  });

  it('needs blocks that are not pruned, prevents their pruning, and reports them', async () => {
    await mine(20);
    const { chain: core, flusher } = chain.opened;
    const fillOf = (index: ChainIndex): BackgroundFill =>
      new BackgroundFill({ chain: core, flusher, log: SILENT_LOGGER, warn: () => undefined }, [
        new TrackedIndex(index),
      ]);
    const fill = fillOf(txIndex);
    await fill.prepare();
    expect(fill.neededFrom()).toBe(0);
    while (await fill.round());
    expect(fill.neededFrom()).toBe(Infinity);
    flusher.pruned = true;
    core.index.forgetData(core.index.active.at(7));
    await expect(fillOf(addressIndex).prepare()).rejects.toThrow(
      'Block 7, which -addressindex needs, was pruned. Rebuild the database with -reindex',
    );
  });

  it('is rebuilt if its rows have another version, or if it is on an unknown branch', async () => {
    await mine(30);
    await restart(ON);
    await fillToEnd(chain);
    const { store, chain: core, flusher } = chain.opened;
    const counted: string[] = [];
    const newer: ChainIndex = {
      ...addressIndex,
      version: addressIndex.version + 1,
      connect: (rows, block, height, resolved) => {
        counted.push(String(height));
        return addressIndex.connect(rows, block, height, resolved);
      },
    };
    const tracked = new TrackedIndex(newer);
    await flusher.flush();
    await tracked.open(store);
    expect(tracked.lastBlock).toBeNull();
    const fill = new BackgroundFill({ chain: core, flusher, log: SILENT_LOGGER, warn: () => undefined }, [
      tracked,
    ]);
    await fill.prepare();
    while (await fill.round());
    expect(counted).toHaveLength(31);
    expect(await rowsOf(chain)).toEqual(await rowsOf(source));
    store.put(indexPositionKey('addressindex'), (await store.get(indexPositionKey('txindex')))!);

    await restart(OFF);
    const stale = chain.opened.chain.tip;
    await reorganise(3);
    chain.opened.chain.index.headers.clearStatus(stale, STATUS.haveUndo);
    await restart(ON);
    expect(chain.fill.statuses().map(({ height }) => height)).toEqual([0, 0]);
    await fillToEnd(chain);
    expect(await rowsOf(chain)).toEqual(await rowsOf(source));
  });

  it('uses complete indexes of an older folder, except for those of another version', async () => {
    await mine(10);
    await restart(ON);
    await fillToEnd(chain);
    const { store } = chain.opened;
    const identity = JSON.parse(Buffer.from((await store.get(IDENTITY_KEY))!).toString());
    store.put(IDENTITY_KEY, Buffer.from(JSON.stringify({ ...identity, txIndex: true, addressIndex: true })));
    for (const name of ['txindex', 'addressindex']) store.del(indexPositionKey(name));
    await restart(ON);
    expect(chain.fill.statuses().map(({ synced }) => synced)).toEqual([true, false]);
    await fillToEnd(chain);
    expect(await rowsOf(chain)).toEqual(await rowsOf(source));
  });
});
