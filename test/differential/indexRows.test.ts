import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadBlock, type LoadedBlock } from '../../src/chain/blocks/loadedBlock.js';
import { addressIndex } from '../../src/index/addressIndex.js';
import { scriptKeyFallback } from '../../src/index/addressScripts.js';
import { parseTotals } from '../../src/index/addressRows.js';
import { BlockWalk, spentBy, spentInUndo } from '../../src/index/addressWalk.js';
import { putTxRows, txIndex } from '../../src/index/txIndex.js';
import type { NativeRows, ResolvedInputs } from '../../src/native/binding.js';
import { INPUT_STRIDE } from '../../src/primitives/blockLayout.js';
import { formatTransaction } from '../../src/primitives/transaction.js';
import { buildUndo } from '../../src/store/cache/coinRow.js';
import { PREFIX } from '../../src/store/rows/keys.js';
import { changesOf } from '../../src/store/rows/rowRecords.js';
import { RowStore } from '../../src/store/rows/rowStore.js';
import { concatBytes } from '../../src/util/bytes.js';
import { MemoryRows } from '../support/memoryRows.js';
import {
  addon,
  coinbaseTx,
  formatRawBlock,
  native,
  Random,
  randomOutPoint,
  randomScript,
  randomTx,
} from './support.js';

/** Scripts that occur several times, so that sums are also added within a block. */
function commonScripts(random: Random): Buffer[] {
  return Array.from({ length: 12 }, () => randomScript(random));
}

function randomBlock(random: Random, txCount: number, scripts: readonly Buffer[]): Buffer {
  const txs = Array.from({ length: txCount }, (_, n) => {
    const tx =
      n === 0
        ? coinbaseTx(random)
        : randomTx(random, {
            inputs: Array.from({ length: 1 + random.below(4) }, () => randomOutPoint(random)),
            outputs: random.below(5),
            witness: random.chance(2),
          });
    for (const output of tx.outputs) if (random.chance(2)) output.script = random.pick(scripts);
    return formatTransaction(tx);
  });
  return formatRawBlock(random, txs);
}

/** Coins for this number of inputs, independent of the inputs. */
function randomCoins(random: Random, count: number, scripts: readonly Buffer[]): ResolvedInputs {
  const spent = Array.from({ length: count }, () =>
    random.chance(2) ? random.pick(scripts) : randomScript(random),
  );
  let offset = 0;
  return {
    heightCodes: Uint32Array.from(spent, () => random.below(2_000_000)),
    amounts: BigInt64Array.from(spent, () => random.amount()),
    scriptOffsets: Uint32Array.from(spent, (script) => (offset += script.length) - script.length),
    scriptLengths: Uint32Array.from(spent, ({ length }) => length),
    scripts: concatBytes(...spent),
    status: new Uint8Array(count),
    claimKinds: new Uint8Array(count),
    duplicates: new Uint32Array(0),
  };
}

describe.skipIf(!native)('rows of indexes by the addon', () => {
  it('stores scripts under the same keys as the fallback', () => {
    const random = new Random(3);
    for (let n = 0; n < 3000; n++) {
      const script = randomScript(random);
      expect(addon().scriptKey(script), script.toString('hex')).toBe(scriptKeyFallback(script));
    }
    const key = random.bytes(64);
    for (const head of [2, 3, 4, 5, 6, 7])
      for (const size of [33, 65])
        for (const last of [0xac, 0xad]) {
          const script = Buffer.concat([Buffer.of(size, head), key.subarray(0, size - 1), Buffer.of(last)]);
          expect(addon().scriptKey(script)).toBe(scriptKeyFallback(script));
        }
  });

  it('equal those of the fallback, block after block, for small and large blocks', async () => {
    const random = new Random(5);
    const scripts = commonScripts(random);
    const [rows, fallbackRows] = [new MemoryRows(), new MemoryRows()];
    for (const [n, txCount] of [1, 2, 30, 5, 1200, 60, 3].entries()) {
      const block = loadBlock(randomBlock(random, txCount, scripts));
      const coins = randomCoins(random, block.parsed.inputs.length / INPUT_STRIDE, scripts);
      const height = 70_000 * n;
      const [own, fallback] = [rows.begin(), fallbackRows.begin()];
      await addressIndex.connect(own, block, height, coins);
      await new BlockWalk(fallback, block, height, spentBy(coins), true).run();
      await txIndex.connect(own, block, height, coins);
      putTxRows(fallback, block, height);
      own.commit();
      fallback.commit();
      const expected = fallbackRows.dump();
      expect(rows.dump().size).toBe(expected.size);
      for (const [key, value] of rows.dump()) expect(value).toBe(expected.get(key));
    }
  });

  it('equal those of the fallback if computed together with the scripts, with sums in memory and on disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'index-rows-'));
    const store = await RowStore.open({ path: join(folder, 'db'), cacheBytes: 1 << 20 });
    try {
      const random = new Random(11);
      const scripts = [...commonScripts(random), ...Array.from({ length: 400 }, () => randomScript(random))];
      const fallbackRows = new MemoryRows();
      for (let height = 1; height <= 9; height++) {
        const block = loadBlock(randomBlock(random, 300 + 150 * random.below(3), scripts));
        const coins = randomCoins(random, block.parsed.inputs.length / INPUT_STRIDE, scripts);
        const fallback = fallbackRows.begin();
        await new BlockWalk(fallback, block, height, spentBy(coins), true).run();
        fallback.commit();
        // A refused block leaves no rows.
        for (const isKept of [false, true]) {
          const own = store.begin();
          const begun = addressIndex.begin!(own, block, height, coins)!;
          if (isKept) {
            await begun.finish();
            store.commit(own);
          } else {
            await begun.settled;
            await store.discard(own);
          }
        }
        if (height % 3 === 0) await store.flush();
        const expected = fallbackRows.dump();
        let count = 0;
        for await (const [key, value] of store.range({ gte: '\0', lt: '\xff' })) {
          expect(Buffer.from(value).toString('latin1')).toBe(expected.get(key));
          count++;
        }
        expect(count).toBe(expected.size);
      }
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('equal those of the fallback after disconnected blocks and flushes, with sums in memory and on disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'index-rows-'));
    const store = await RowStore.open({
      path: join(folder, 'db'),
      cacheBytes: 1 << 20,
      newKinds: PREFIX.addressUnspent,
    });
    try {
      const random = new Random(17);
      const scripts = [...commonScripts(random), ...Array.from({ length: 100 }, () => randomScript(random))];
      const fallbackRows = new MemoryRows();
      const connected: { block: LoadedBlock; coins: ResolvedInputs; undo: Buffer }[] = [];
      for (let step = 0; step < 120; step++) {
        const [own, fallback] = [store.begin(), fallbackRows.begin()];
        if (connected.length > 0 && random.chance(3)) {
          const { block, undo } = connected.pop()!;
          const height = connected.length;
          await addressIndex.disconnect(own, block, height, undo);
          await new BlockWalk(fallback, block, height, spentInUndo(undo, block), false).run();
        } else {
          const block = loadBlock(randomBlock(random, 1 + random.below(20), scripts));
          const coins = randomCoins(random, block.parsed.inputs.length / INPUT_STRIDE, scripts);
          // Rows of other indexes in the same transaction must not prevent the addon from reading the sums.
          own.put('Itxindex', block.hash);
          await addressIndex.connect(own, block, connected.length, coins);
          own.del('Itxindex');
          await new BlockWalk(fallback, block, connected.length, spentBy(coins), true).run();
          connected.push({ block, coins, undo: buildUndo(block.parsed, coins) });
        }
        store.commit(own);
        fallback.commit();
        if (random.chance(4)) await store.flush();
        if (step % 10 !== 9) continue;
        const found = new Map<string, string>();
        for await (const [key, value] of store.range({ gte: '\0', lt: '\xff' }))
          if (!key.startsWith(PREFIX.meta)) found.set(key, Buffer.from(value).toString('latin1'));
        expect(found).toEqual(fallbackRows.dump());
      }
      expect(connected.length).toBeGreaterThan(20);
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('adds stored sums until the time is used up, and returns the position where it stopped', () => {
    const random = new Random(19);
    const block = loadBlock(randomBlock(random, 40, commonScripts(random)));
    const coins = randomCoins(random, block.parsed.inputs.length / INPUT_STRIDE, commonScripts(random));
    const overlay = new (addon().Memtable)();
    const places = new Uint32Array(2);
    const rowsWith = (table: NativeRows | null): Buffer =>
      addon().addressRows(block.raw, block.parsed, coins, 5, table, null, 1000, 1000, places);
    const alone = rowsWith(null);
    const [totalsAt, stoppedAt] = places;
    expect(stoppedAt).toBe(totalsAt);
    overlay.addRecords(alone);
    const doubled = rowsWith(overlay);
    expect([...places]).toEqual([totalsAt, doubled.length]);
    const [once, twice] = [alone, doubled].map((records) =>
      Array.from(changesOf(records.subarray(totalsAt)), ([, value]) => parseTotals(value!)),
    );
    expect(twice!.map(({ txCount }) => txCount)).toEqual(once!.map(({ txCount }) => 2 * txCount));
    expect(twice!.map(({ receivedSat }) => receivedSat)).toEqual(once!.map((sums) => 2n * sums.receivedSat));
  });

  it('refuses coins of another block', () => {
    const random = new Random(7);
    const block = loadBlock(randomBlock(random, 4, commonScripts(random)));
    const count = block.parsed.inputs.length / INPUT_STRIDE;
    const coins = randomCoins(random, count, [Buffer.of(0x51)]);
    const rowsOf = (resolved: ResolvedInputs) => () =>
      addon().addressRows(block.raw, block.parsed, resolved, 1, null, null, 0, 0, new Uint32Array(2));
    expect(rowsOf(coins)).not.toThrow();
    expect(rowsOf({ ...coins, amounts: coins.amounts.subarray(1) })).toThrow('do not belong');
    expect(rowsOf({ ...coins, scripts: coins.scripts.subarray(1) })).toThrow('do not belong');
    expect(rowsOf({ ...coins, scriptOffsets: coins.scriptOffsets.map(() => 0xffffffff) })).toThrow(
      'do not belong',
    );
  });
});
