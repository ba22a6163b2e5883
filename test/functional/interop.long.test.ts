/** Tests with a real reference node on the loopback interface: sync, relay and reorganisations, in both directions. */
import { createGunzip } from 'node:zlib';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ADDRESS, shared, type RegtestNode } from './support/node.js';
import { ClaimSource } from './support/claimSource.js';
import { chainState, OPEN_ADDRESS, peersOf, spendCoinbase, startPeer, until } from './support/network.js';
import { referenceBinary, startLbcd, startReference, type ReferenceNode } from './support/reference.js';

const binary = referenceBinary();
const lbcd = referenceBinary('LBCD');
const bench = shared('bench/bench-40x1000.dat.gz');
const ELSEWHERE = 'n2eMqTT929pb1RDNuqEnxdaLau1rxy3efi';
const RULES = '-supportdelay=proportional';

/**
 * Heights at which the two nodes are separated with claims in the mempool: at the all-claims fork, and around both expirations.
 */
const PARTINGS = [346, 498, 598, 797, Infinity];
const LAST_HEIGHT = 860;
const EMPTY_TRIE = '1'.padStart(64, '0');

interface Rpc {
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
}

const sameTip = (a: Rpc, b: Rpc, timeoutMs?: number): Promise<void> =>
  until(
    'the same tip',
    async () => (await a.rpc('getbestblockhash')) === (await b.rpc('getbestblockhash')),
    timeoutMs,
  );
const sameMempool = (a: Rpc, b: Rpc, size: number): Promise<void> =>
  until('the same mempool', async () => {
    const [ofA, ofB] = [await a.rpc<string[]>('getrawmempool'), await b.rpc<string[]>('getrawmempool')];
    return ofA.length === size && ofA.sort().join() === ofB.sort().join();
  });

/** Sends three transactions to each node. The other node's next block contains them. They spend the coinbases of heights 1 to 6. */
async function relayBothWays(us: RegtestNode, them: Rpc): Promise<void> {
  for (let height = 1; height <= 6; height++) {
    const sender = height <= 3 ? us : them;
    await sender.rpc('sendrawtransaction', [await spendCoinbase(us, height)]);
    if (height === 3) await sameMempool(us, them, 3);
  }
  await sameMempool(us, them, 6);
  await them.rpc('generatetoaddress', [1, ADDRESS]);
  await sameTip(us, them);
  await sameMempool(us, them, 0);
}

/** Blocks that a node mines while it is disconnected. */
interface Branch {
  readonly node: Rpc;
  readonly blocks: number;
  readonly address: string;
}

/**
 * Disconnects our nodes from the reference, lets both sides mine, and connects them again. All nodes must switch to the longer
 * branch.
 */
async function part(ours: readonly Rpc[], them: Rpc, shorter: Branch, longer: Branch): Promise<void> {
  for (const node of ours) await node.rpc('setnetworkactive', [false]);
  await until('parting', async () => (await them.rpc<number>('getconnectioncount')) === 0);
  await shorter.node.rpc('generatetoaddress', [shorter.blocks, shorter.address]);
  const branch = await longer.node.rpc<string[]>('generatetoaddress', [longer.blocks, longer.address]);
  for (const node of ours) await node.rpc('setnetworkactive', [true]);
  await sameTip(ours[0]!, them);
  expect(await shorter.node.rpc('getbestblockhash')).toBe(branch.at(-1));
}

/** First the reference has the longer branch, then our first node. */
async function reorganiseBothWays(
  ours: readonly Rpc[],
  them: Rpc,
  check: () => Promise<void>,
): Promise<void> {
  for (const [longer, shorter] of [
    [them, ours[0]!],
    [ours[0]!, them],
  ] as const) {
    const lesser = { node: shorter, blocks: 10, address: ADDRESS };
    await part(ours, them, lesser, { node: longer, blocks: 12, address: ELSEWHERE });
    await check();
  }
}

/** The benchmark chain, unpacked in a folder that a closer removes. */
async function benchFile(closers: (() => Promise<void>)[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'interop-'));
  closers.push(async () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'bench.dat');
  await pipeline(createReadStream(bench!), createGunzip(), createWriteStream(file));
  return file;
}

describe.runIf(binary)('beside the reference', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  const ours = async (...args: string[]): Promise<RegtestNode> => {
    const node = await startPeer({ args: [RULES, ...args] });
    closers.push(() => node.stop());
    return node;
  };
  const theirs = async (...args: string[]): Promise<ReferenceNode> => {
    const node = await startReference(binary!, args);
    closers.push(() => node.stop());
    return node;
  };
  const coinSet = async (node: Rpc): Promise<unknown> => {
    const { hash_serialized_2: hash, height } = await node.rpc<Record<string, unknown>>('gettxoutsetinfo');
    return { hash, height };
  };

  it.runIf(bench)('downloads the bench chain from it, and serves the bench chain to it', async () => {
    const file = await benchFile(closers);
    const old = '-maxtipage=2000000000';
    const full = await theirs(`-loadblock=${file}`, old);
    await until('their import', async () => (await full.rpc<number>('getblockcount')) === 469, 120_000);
    const node = await ours(old, `-connect=127.0.0.1:${full.p2pPort}`);
    await sameTip(node, full, 120_000);
    expect(await coinSet(node)).toEqual(await coinSet(full));
    const fresh = await theirs(`-connect=127.0.0.1:${node.p2pPort}`, old);
    await sameTip(node, fresh, 120_000);
    expect(await coinSet(fresh)).toEqual(await coinSet(node));
  });

  it('relays blocks and transactions in both directions, and reorganises in both directions', async () => {
    const them = await theirs();
    const us = await ours(`-connect=127.0.0.1:${them.p2pPort}`);
    await until('the handshake', async () => (await peersOf(us)).some(({ version }) => version === 70015));
    await them.rpc('generatetoaddress', [110, OPEN_ADDRESS]);
    await sameTip(us, them);
    await us.rpc('generatetoaddress', [5, ADDRESS]);
    await sameTip(us, them);

    await relayBothWays(us, them);
    for (let height = 7; height <= 8; height++)
      await us.rpc('sendrawtransaction', [await spendCoinbase(us, height)]);
    await sameMempool(us, them, 2);
    await us.rpc('generatetoaddress', [1, ADDRESS]);
    await sameTip(us, them);

    const [peer] = await peersOf(us);
    expect(peer!.banscore).toBe(0);
    expect(peer!.bytesrecv_per_msg['cmpctblock']).toBeGreaterThan(0);
    const [we] =
      await them.rpc<{ banscore: number; bytesrecv_per_msg: Record<string, number> }[]>('getpeerinfo');
    expect(we!.banscore).toBe(0);
    expect(we!.bytesrecv_per_msg['cmpctblock']).toBeGreaterThan(0);

    await reorganiseBothWays([us], them, async () => expect(await coinSet(us)).toEqual(await coinSet(them)));
  });
});

describe.runIf(lbcd)('beside lbcd', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  const ours = async (...args: string[]): Promise<RegtestNode> => {
    const node = await startPeer({ args: [RULES, ...args] });
    closers.push(() => node.stop());
    return node;
  };

  it('syncs, relays and reorganises in both directions', async () => {
    const them = await startLbcd(lbcd!);
    closers.push(() => them.stop());
    const us = await ours(`-connect=127.0.0.1:${them.p2pPort}`);
    await until('the handshake', async () => (await peersOf(us)).some(({ version }) => version > 0));
    await us.rpc('generatetoaddress', [300, OPEN_ADDRESS]);
    await sameTip(us, them);
    const fresh = await ours(`-connect=127.0.0.1:${them.p2pPort}`);
    await sameTip(fresh, them);
    expect(await chainState(fresh)).toEqual(await chainState(us));
    await them.rpc('generatetoaddress', [5, ADDRESS]);
    await sameTip(us, them);

    await relayBothWays(us, them);

    await reorganiseBothWays([us, fresh], them, async () => {
      await sameTip(fresh, them);
      expect(await chainState(fresh)).toEqual(await chainState(us));
    });
    expect((await peersOf(us))[0]!.banscore).toBe(0);
  });

  it.runIf(bench)('serves the bench chain to it, from which another lbcnode downloads it', async () => {
    const old = '-maxtipage=2000000000';
    const them = await startLbcd(lbcd!);
    closers.push(() => them.stop());
    const full = await ours(
      old,
      `-loadblock=${await benchFile(closers)}`,
      `-connect=127.0.0.1:${them.p2pPort}`,
    );
    await until('our import', async () => (await full.rpc<number>('getblockcount')) === 469, 120_000);
    // lbcd serves headers only if its tip is at most a day old.
    await full.rpc('generatetoaddress', [1, ADDRESS]);
    await sameTip(full, them, 240_000);
    const fresh = await ours(old, `-connect=127.0.0.1:${them.p2pPort}`);
    await sameTip(fresh, them, 120_000);
    expect(await chainState(fresh)).toEqual(await chainState(full));
  });

  it('agrees on the claim trie at every height, past the forks and through reorganisations', async () => {
    const them = await startLbcd(lbcd!, ['--trickleinterval=100ms']);
    closers.push(() => them.stop());
    const us = await ours(`-connect=127.0.0.1:${them.p2pPort}`);
    await until('the handshake', async () => (await peersOf(us)).some(({ version }) => version > 0));
    await us.rpc('generatetoaddress', [130, OPEN_ADDRESS]);
    await sameTip(us, them);
    const source = new ClaimSource(us);
    const branch = (node: Rpc, blocks: number): Branch => ({ node, blocks, address: OPEN_ADDRESS });
    for (let height = 130, round = 0; height < LAST_HEIGHT; round++) {
      const sender = round % 5 === 0 ? us : them;
      for (const hex of await source.take(4)) await sender.rpc('sendrawtransaction', [hex]);
      await sameMempool(us, them, 4);
      // Our node mines every second round, and some blocks in a row.
      const ourTurn = round % 2 === 0 || (height >= 240 && height < 250);
      const [miner, other] = ourTurn ? [us, them] : [them, us];
      const untilParting = PARTINGS.find((at) => at >= height)! - height;
      if (untilParting === 0) await part([us], them, branch(other, 5), branch(miner, 8));
      else await miner.rpc('generatetoaddress', [Math.min(1 + (round % 9), untilParting), OPEN_ADDRESS]);
      await sameTip(us, them);
      await sameMempool(us, them, 0);
      height = await us.rpc<number>('getblockcount');
    }
    // Each node refuses a block whose claim root differs from its own. So equal tips mean equal tries; the trie must not be
    // empty.
    const tip = await us.rpc<{ nameclaimroot: string }>('getblockheader', [await us.rpc('getbestblockhash')]);
    expect(tip.nameclaimroot).not.toBe(EMPTY_TRIE);
    expect((await peersOf(us))[0]!.banscore).toBe(0);
  });
});
