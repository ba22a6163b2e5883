/** Random mempool traffic with blocks and reorganisations. Everything is checked after each step. */
import { expect } from 'vitest';
import { formatOutPoint, type Transaction } from '../../../src/primitives/transaction.js';
import { startsWithClaimOpcode } from '../../../src/script/claimScript.js';
import { hashToHex } from '../../../src/util/bytes.js';
import type { MempoolOptions } from '../../../src/mempool/mempoolOptions.js';
import type { PoolWorld } from './support.js';
import { Traffic } from './traffic.js';

/** Low limits of every kind. */
export const CROWDED: Partial<MempoolOptions> = {
  maxUsageBytes: 15_000,
  expirySec: 3600,
  limits: { ancestorCount: 6, ancestorSizeBytes: 10_000, descendantCount: 6, descendantSizeBytes: 10_000 },
};
/** Weight of a block that is too small for all transactions of a mempool with `CROWDED` limits. */
export const SMALL_BLOCK_WEIGHT = 6000;

function spentBy(tx: Transaction | null): Buffer {
  return tx ? formatOutPoint(tx.inputs[0]!.prevout) : Buffer.alloc(0);
}

export type Tally = Record<string, number>;

/** Drives the mempool at random and checks all of it after every step. */
export async function drive(world: PoolWorld, seed: number, steps: number): Promise<Tally> {
  const traffic = new Traffic(world, seed);
  const { dice } = traffic;
  const tally: Tally = {};
  const here = new Set<string>();
  const note = (what: string): void => void (tally[what] = (tally[what] ?? 0) + 1);
  world.mempool.listen({
    added: ({ txid: id }) => here.add(hashToHex(id)),
    removed: ({ txid: id }, reason) => {
      here.delete(hashToHex(id));
      note(`removed: ${reason}`);
    },
  });
  for (let step = 0; step < steps; step++) {
    await traffic.learn();
    world.chain.timeSec += dice.below(120);
    const kind = dice.below(100);
    if (kind < 70) {
      const tx = (kind < 10 && traffic.conflict()) || (await traffic.transaction());
      const before = world.ids();
      const tested = await world.refusal(tx, { testOnly: true });
      expect(world.ids()).toEqual(before);
      const verdict = await world.refusal(tx);
      // Only a full mempool may refuse a transaction that passed the test before.
      if (verdict !== '66: mempool full') expect(verdict).toBe(tested);
      if (verdict === 'accepted') {
        traffic.accepted(tx);
        if (tx.outputs.some(({ script }) => startsWithClaimOpcode(script))) note('claims');
      }
      note(verdict);
    } else if (kind < 78) {
      await world.mineMempool(1);
      note('mined');
    } else if (kind < 84) {
      const conflict = dice.chance(50) ? traffic.conflict() : null;
      const block = traffic.package();
      const isConfirmed =
        conflict && (await world.chain.opened.reader.coin(formatOutPoint(conflict.inputs[0]!.prevout)));
      const isSpent = block.some((tx) =>
        tx.inputs.some(({ prevout }) => formatOutPoint(prevout).equals(spentBy(conflict))),
      );
      const test = { testOnly: true, bypassLimits: true };
      const fits = isConfirmed && !isSpent && (await world.accept(conflict, test)).accepted;
      await world.mineBlock(fits ? [...block, conflict] : block);
      note('mined a choice');
    } else if (kind < 92) {
      const depth = 1 + dice.below(3);
      const id = await world.disconnectFrom(world.height - depth + 1);
      note('disconnected');
      // A new time, because otherwise the block would equal the disconnected one.
      world.chain.timeSec++;
      await world.mempool.check();
      if (dice.chance(50)) await world.mineMempool(depth + 1);
      if (dice.chance(70)) await world.reconsider(id);
    } else if (kind < 96) {
      const ids = [...world.mempool.txids()];
      if (ids.length > 0) world.mempool.prioritise(dice.pick(ids), BigInt(dice.below(20_000) - 10_000));
      note('prioritised');
    } else {
      world.chain.timeSec += dice.below(world.options.expirySec);
      note('time passed');
    }
    await world.mempool.check();
    expect([...here].sort()).toEqual(world.ids());
    const { usageBytes, maxUsageBytes } = world.mempool;
    expect(usageBytes).toBeLessThanOrEqual(maxUsageBytes);
  }
  return tally;
}
