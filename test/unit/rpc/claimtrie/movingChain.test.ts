/** Answers of claim methods while blocks are connected and disconnected, compared with the answers of an unchanged chain. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { txidAt } from '../../../../src/primitives/blockView.js';
import { txid, type Transaction } from '../../../../src/primitives/transaction.js';
import { claimReader } from '../../../../src/rpc/lookup/claimReader.js';
import { invokeMethod } from '../../../../src/rpc/call/callMethod.js';
import { getClaimsForName } from '../../../../src/rpc/methods/claimtrie/getClaimsForName.js';
import { getNameProof } from '../../../../src/rpc/methods/claimtrie/proofs/getNameProof.js';
import { getNamesInTrie } from '../../../../src/rpc/methods/claimtrie/getNamesInTrie.js';
import { getValueForName } from '../../../../src/rpc/methods/claimtrie/getValueForName.js';
import { buildClaimPrefix, buildUpdatePrefix, claimIdOf } from '../../../../src/script/claimScript.js';
import type { RowReader } from '../../../../src/store/rows/rows.js';
import type { JsonArrayStream } from '../../../../src/util/json/jsonWrite.js';
import { concatBytes, hashToHex, type Bytes } from '../../../../src/util/bytes.js';
import { ADDRESS_SCRIPT, OPEN_SCRIPT, spend, TestChain, type Answer } from '../../../support/testChain.js';

const NAMES = ['a', 'ab', 'abc', 'b'];
const BRANCH_BLOCKS = 5;

/** Rows between whose reads the chain has a chance to move. */
function slowRows(rows: RowReader): RowReader {
  return {
    get: (key) => nextTurn().then(() => rows.get(key)),
    getMany: (keys, options) => nextTurn().then(() => rows.getMany(keys, options)),
    getRange: (range) => nextTurn().then(() => rows.getRange(range)),
    range: (range) => rows.range(range),
  };
}

describe('answers about claims while blocks are connected and disconnected', () => {
  let chain: TestChain;
  /** Ids of the two branches' lowest blocks. */
  let branches: number[];

  beforeAll(async () => {
    chain = await TestChain.open();
    await chain.mine(110);
    const coins: Bytes[] = [];
    for (let height = 1; height <= NAMES.length; height++)
      coins.push(Buffer.from(txidAt((await chain.blockAt(height)).parsed, 0)));
    const claims = NAMES.map((name, i) =>
      spend(
        [{ txid: coins[i]!, n: 0 }],
        [
          {
            value: 1000n,
            script: concatBytes(buildClaimPrefix(Buffer.from(name), Buffer.of(i)), OPEN_SCRIPT),
          },
        ],
      ),
    );
    chain.pending.push(...claims);
    await chain.mine(1);
    const { index } = chain.opened.chain;
    const fork = chain.opened.chain.height;
    branches = [await branch(claims, 10, OPEN_SCRIPT), 0];
    await chain.opened.chain.invalidateBlock(branches[0]!);
    expect(index.active.height).toBe(fork);
    branches[1] = await branch(claims, 90, ADDRESS_SCRIPT);
    const { store, claims: rules } = chain.opened;
    Object.assign(chain.services, { claims: claimReader(slowRows(store), rules, index.active) });
  });
  afterAll(() => chain.close());

  /** Mines blocks that update every claim. Returns the lowest one. */
  async function branch(claims: readonly Transaction[], first: number, payTo: Bytes): Promise<number> {
    const { active } = chain.opened.chain.index;
    const height = active.height + 1;
    let latest = [...claims];
    const ids = claims.map((tx) => claimIdOf(txid(tx), 0));
    for (let n = 0; n < BRANCH_BLOCKS; n++) {
      latest = latest.map((tx, i) => {
        const value = Buffer.of(first + n, i);
        const prefix = buildUpdatePrefix(Buffer.from(NAMES[i]!), ids[i]!, value);
        const output = { value: BigInt(900 - first - n), script: concatBytes(prefix, OPEN_SCRIPT) };
        return spend([{ txid: txid(tx), n: 0 }], [output]);
      });
      chain.pending.push(...latest);
      await chain.mine(1, payTo);
    }
    return active.at(height);
  }

  let moved = 0;
  /**
   * Moves from the branch with the lowest block `from` to the branch with the lowest block `to`. The blocks of the old branch
   * are disconnected one by one. After each step answers get some turns of the event loop, a different number each time.
   */
  async function goTo(from: number, to: number): Promise<void> {
    const { active } = chain.opened.chain.index;
    let tip;
    do {
      tip = active.at(active.height);
      await chain.opened.chain.invalidateBlock(tip);
      await someTurns();
    } while (tip !== from);
    await chain.opened.chain.reconsiderBlock(to);
    await someTurns();
  }

  async function someTurns(): Promise<void> {
    for (let turn = moved++ % 64; turn > 0; turn--) await nextTurn();
  }

  const asked = async (name: string): Promise<[string, Answer]> => [
    name,
    await chain.call(getClaimsForName, [name]),
  ];

  it('match the block that they name', async () => {
    const received: [string, Answer][] = [];
    let moves = true;
    const asking = NAMES.map(async (name) => {
      // A cached answer takes no turn of the event loop.
      for (; moves; await nextTurn()) received.push(await asked(name));
    });
    let [here, there] = [branches[1]!, branches[0]!];
    // Repeats until answers came at each block between the branches, which is rare.
    const blocks = new Set<unknown>();
    for (let turn = 0; turn < 6 || (blocks.size <= BRANCH_BLOCKS && turn < 1000); turn++) {
      await goTo(here, there);
      [here, there] = [there, here];
      for (const [, { result }] of received) blocks.add((result as { blockhash: string }).blockhash);
    }
    moves = false;
    await Promise.all(asking);

    const byBlock = new Map<string, [string, Answer][]>();
    for (const [name, answer] of received) {
      const { blockhash } = answer.result as { blockhash: string };
      byBlock.set(blockhash, [...(byBlock.get(blockhash) ?? []), [name, answer]]);
    }
    expect(byBlock.size).toBeGreaterThan(BRANCH_BLOCKS);
    const { active, headers } = chain.opened.chain.index;
    let compared = 0;
    for (let turn = 0; turn < 2; turn++) {
      for (let height = 111; height <= active.height; height++) {
        const block = hashToHex(headers.hash(active.at(height)));
        for (const [name, answer] of byBlock.get(block) ?? []) {
          expect(answer).toEqual(await chain.call(getClaimsForName, [name, block]));
          compared++;
        }
        byBlock.delete(block);
      }
      await goTo(here, there);
      [here, there] = [there, here];
    }
    expect([...byBlock.keys()]).toEqual([]);
    expect(compared).toBe(received.length);
  });

  it('match one of the tips during the call, including values and proofs', async () => {
    const { active, headers } = chain.opened.chain.index;
    const calls = NAMES.flatMap((name) => [
      { method: getValueForName, name },
      { method: getNameProof, name },
    ]);
    const received = new Map(calls.map((call) => [call, new Set<string>()]));
    let moves = true;
    const asking = calls.map(async (call) => {
      for (; moves; await nextTurn())
        received.get(call)!.add(JSON.stringify(await chain.call(call.method, [call.name])));
    });
    let [here, there] = active.contains(branches[0]!) ? branches : [branches[1]!, branches[0]!];
    const receivedOne = (): boolean => [...received.values()].some(({ size }) => size < 2);
    for (let turn = 0; turn < 4 || (receivedOne() && turn < 1000); turn++) {
      await goTo(here!, there!);
      [here, there] = [there, here];
    }
    moves = false;
    await Promise.all(asking);
    const allowed = new Map(calls.map((call) => [call, new Set<string>()]));
    for (let turn = 0; turn < 2; turn++) {
      for (let height = 111; height <= active.height; height++) {
        const block = hashToHex(headers.hash(active.at(height)));
        for (const call of calls)
          allowed.get(call)!.add(JSON.stringify(await chain.call(call.method, [call.name, block])));
      }
      await goTo(here!, there!);
      [here, there] = [there, here];
    }
    for (const call of calls) {
      expect(received.get(call)!.size).toBeGreaterThan(1);
      for (const answer of received.get(call)!) expect([...allowed.get(call)!]).toContain(answer);
    }
  });

  it('end early if a block is disconnected while they are sent in parts', async () => {
    const { active } = chain.opened.chain.index;
    const answer = (await chain.call(getNamesInTrie, [])).result;
    expect(answer).toEqual(NAMES);
    const { items } = (await invokeMethod(getNamesInTrie, chain.context(), [])) as JsonArrayStream;
    const names = (items as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    expect((await names.next()).value).toBe(NAMES[0]);
    await chain.opened.chain.invalidateBlock(active.tip);
    await expect(names.next()).rejects.toThrow('Blocks were disconnected during the call');
  });
});
