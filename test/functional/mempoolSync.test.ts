/** The mempools of two nodes over P2P: transactions sent to either node, replacements, blocks and reorganisations. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatTransaction, txid, type Transaction } from '../../src/primitives/transaction.js';
import { buildClaimPrefix, buildUpdatePrefix, claimIdOf } from '../../src/script/claimScript.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { concatBytes, hashFromHex, hashToHex, toHex } from '../../src/util/bytes.js';
import { ADDRESS, type RegtestNode } from './support/node.js';
import {
  connect,
  disconnect,
  OPEN,
  OPEN_ADDRESS,
  startPeer,
  until,
  untilSameMempool,
  untilSameTip,
} from './support/network.js';

const SCRIPT = scriptForDestination(OPEN);
const NAME = Buffer.from('name');

interface Coin {
  hash: Uint8Array;
  index: number;
  value: bigint;
}

function spend(
  coins: readonly Coin[],
  feeSat: bigint,
  { outputs = 1, prefix = new Uint8Array(0) }: { outputs?: number; prefix?: Uint8Array } = {},
): { tx: Transaction; id: string; coins: Coin[] } {
  const total = coins.reduce((sum, { value }) => sum + value, -feeSat);
  const tx: Transaction = {
    version: 2,
    inputs: coins.map((prevout) => ({
      prevout,
      scriptSig: Buffer.of(1, 0x51),
      sequence: 0xfffffffd,
      witness: [],
    })),
    outputs: Array.from({ length: outputs }, () => ({
      value: total / BigInt(outputs),
      script: concatBytes(prefix, SCRIPT),
    })),
    lockTime: 0,
  };
  const hash = txid(tx);
  return { tx, id: hashToHex(hash), coins: tx.outputs.map(({ value }, index) => ({ hash, index, value })) };
}

describe('the mempools of two nodes', () => {
  let a: RegtestNode;
  let b: RegtestNode;
  const coins: Coin[] = [];
  const meet = async (): Promise<void> => {
    await connect(b, a);
    await connect(a, b);
  };
  const part = async (): Promise<void> => {
    await disconnect(b, a);
    await disconnect(a, b);
  };
  beforeAll(async () => {
    // Transactions are announced to whitelisted peers at once. Only inbound peers are whitelisted, so each connects to the
    // other.
    [a, b] = [
      await startPeer({ args: ['-whitelist=127.0.0.1'] }),
      await startPeer({ args: ['-whitelist=127.0.0.1'] }),
    ];
    await meet();
    const hashes = await a.rpc<string[]>('generatetoaddress', [160, OPEN_ADDRESS]);
    await untilSameTip([a, b]);
    for (const hash of hashes.slice(0, 60)) {
      const { tx } = await a.rpc<{ tx: string[] }>('getblock', [hash]);
      const { value } = await a.rpc<{ value: number }>('gettxout', [tx[0], 0]);
      coins.push({ hash: hashFromHex(tx[0]!), index: 0, value: BigInt(Math.round(value * 1e8)) });
    }
  });
  afterAll(async () => {
    await Promise.all([a, b].map((node) => node?.stop()));
  });

  const send = (node: RegtestNode, { tx }: { tx: Transaction }): Promise<string> =>
    node.rpc('sendrawtransaction', [toHex(formatTransaction(tx))]);
  const ids = async (node: RegtestNode): Promise<string[]> =>
    (await node.rpc<string[]>('getrawmempool')).sort();
  const untilBoth = async (expected: readonly string[]): Promise<void> => {
    await untilSameMempool([a, b]);
    expect(await ids(a)).toEqual([...expected].sort());
  };
  const entries = async (node: RegtestNode): Promise<unknown> => {
    const all = await node.rpc<Record<string, { time: number }>>('getrawmempool', [true]);
    return Object.fromEntries(Object.entries(all).map(([id, { time: _time, ...entry }]) => [id, entry]));
  };

  it('become equal, however transactions arrived', async () => {
    const expected: string[] = [];
    let from = 0;
    for (const node of [a, b]) {
      for (let n = 0; n < 10; n++) {
        const parent = spend([coins[from++]!], 2000n, { outputs: 3 });
        const children = parent.coins.map((coin, i) => spend([coin], 1000n + BigInt(n * 10 + i)));
        const last = spend(
          children.flatMap((child) => child.coins),
          5000n,
        );
        for (const one of [parent, ...children, last]) expected.push(await send(node, one));
      }
    }
    await untilBoth(expected);
    expect(await entries(b)).toEqual(await entries(a));
    // The other node has requested each transaction, so none has to be announced again.
    await until('all was asked for', async () => {
      const counts = await Promise.all(
        [a, b].map((node) => node.rpc<{ unbroadcastcount: number }>('getmempoolinfo')),
      );
      return counts.every(({ unbroadcastcount }) => unbroadcastcount === 0);
    });
  });

  it('follow replacements, claims and blocks', async () => {
    const before = await ids(a);
    const claim = spend([coins[30]!], 1000n, { prefix: buildClaimPrefix(NAME, Buffer.of(1)) });
    const update = spend(claim.coins, 1000n, {
      prefix: buildUpdatePrefix(NAME, claimIdOf(claim.coins[0]!.hash, 0), Buffer.of(2)),
    });
    const replaced = spend([coins[31]!], 1000n);
    await send(a, claim);
    await send(a, replaced);
    await untilBoth([...before, claim.id, replaced.id]);
    const replacement = spend([coins[31]!], 9000n);
    await send(b, update);
    await send(b, replacement);
    await untilBoth([...before, claim.id, update.id, replacement.id]);
    await b.rpc('generatetoaddress', [1, ADDRESS]);
    await untilSameTip([a, b]);
    await untilBoth([]);
  });

  it('are equal again after a reorganisation to a branch with other transactions', async () => {
    await part();
    const coin = coins[40]!;
    const onA = spend([coin], 1000n);
    const heir = spend(onA.coins, 1000n);
    const freed = spend([coins[41]!], 1000n);
    for (const one of [onA, heir, freed]) await send(a, one);
    await a.rpc('generatetoaddress', [1, ADDRESS]);
    const onB = spend([coin], 2000n);
    await send(b, onB);
    await b.rpc('generatetoaddress', [2, OPEN_ADDRESS]);
    await meet();
    await untilSameTip([a, b]);
    // Transactions of the losing branch return to its node's mempool, except those that conflict with the new branch.
    await until('the reorganisation', async () => (await ids(a)).join() === freed.id);
    expect(await ids(b)).toEqual([]);
    // The other node gets the transaction when its owner sends it again.
    await send(a, freed);
    await untilBoth([freed.id]);
  });

  it('rebroadcast transactions sent without peers until a peer requests them', async () => {
    await part();
    const lone = spend([coins[45]!], 1000n);
    await send(b, lone);
    expect(await b.rpc('getmempoolinfo')).toMatchObject({ unbroadcastcount: 1 });
    await b.rpc('savemempool');
    await meet();
    await send(b, lone);
    await until('it got over', async () => (await ids(a)).includes(lone.id));
    await until('it was asked for', async () => {
      const { unbroadcastcount } = await b.rpc<{ unbroadcastcount: number }>('getmempoolinfo');
      return unbroadcastcount === 0;
    });
  });
});
