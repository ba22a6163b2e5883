/**
 * The methods that the explorer's pages use, on a node whose chain grows, crosses a fork and is reorganised. Each answer is
 * compared with one that is computed from getblock, getrawtransaction and getclaimsforname.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { buildClaimPrefix } from '../../src/script/claimScript.js';
import { ClaimSource } from './support/claimSource.js';
import { OPEN_ADDRESS } from './support/network.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import { longIt } from '../support/long.js';

interface Input {
  txid?: string;
  vout?: number;
  coinbase?: string;
}
interface Output {
  n: number;
  value: number;
  scriptPubKey: { hex: string; subtype?: string; type: string; addresses?: string[] };
}
interface Tx {
  txid: string;
  vin: Input[];
  vout: Output[];
}
interface Block {
  hash: string;
  height: number;
  time: number;
  tx: Tx[];
}
interface TxInfo {
  state: string;
  height?: number;
  blockhash?: string;
  position?: number;
  confirmations: number;
  coinbase: boolean;
  fee?: number;
  amountin?: number;
  amountout: number;
  inputs: { n: number; txid?: string; vout?: number; amount?: number; address?: string; height?: number }[];
  outputs: {
    n: number;
    amount: number;
    type: string;
    address?: string;
    spent: boolean;
    spentBy?: { txid: string; n: number; height?: number; blockhash?: string };
    claim?: { op: string; name: string; claimId: string; state: string; isControlling?: boolean };
  }[];
  next?: number;
}
interface EventsPage {
  height: number;
  blockhash: string;
  total: number;
  counts: Record<string, number>;
  events: Record<string, unknown>[];
  next?: number;
}

let node: RegtestNode;
let source: ClaimSource;
/** Claim notifications of a subscriber while the chain grew, by block. */
const reported = new Map<string, Record<string, unknown>[]>();
let socket: WebSocket;

async function mine(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    for (const hex of await source.take(4)) await node.rpc('sendrawtransaction', [hex, true]);
    await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
  }
}

async function chain(): Promise<Block[]> {
  const height = await node.rpc<number>('getblockcount');
  const blocks: Block[] = [];
  for (let at = 0; at <= height; at++)
    blocks.push(await node.rpc<Block>('getblock', [await node.rpc('getblockhash', [at]), 2]));
  return blocks;
}

const sum = (amounts: readonly number[]): number =>
  Number(amounts.reduce((total, amount) => total + BigInt(Math.round(amount * 1e8)), 0n)) / 1e8;

const dataDir = mkdtempSync(join(tmpdir(), 'lbcnode-explorer-'));

async function start(args: readonly string[]): Promise<void> {
  const indexes = ['-txindex', '-spendindex', '-addressindex', '-claimindex'];
  node = await startRegtest({ dataDir, args: ['-ws', ...indexes, ...args] });
}

async function restart(args: readonly string[]): Promise<void> {
  await node.stop();
  await start(args);
}

beforeAll(async () => {
  await start([]);
  await node.rpc('generatetoaddress', [225, OPEN_ADDRESS]);
  source = new ClaimSource({ rpc: (method, params) => node.rpc(method, params) }, 23, {
    claims: 4,
    supports: 3,
    updates: 2,
    followed: 2,
  });
  socket = new WebSocket(`ws://127.0.0.1:${node.rpcPort}/ws`, { auth: 'regtest:regtest' });
  await new Promise((resolve) => socket.once('open', resolve));
  const subscribed = new Promise((resolve) => socket.once('message', resolve));
  socket.send(JSON.stringify({ id: 1, method: 'subscribe', params: { topic: 'claims' } }));
  await subscribed;
  socket.on('message', (text: Buffer) => {
    const { type, data } = JSON.parse(text.toString()) as { type?: string; data?: Record<string, unknown> };
    if (type !== 'claim' || data === undefined || data['disconnected'] === true) return;
    const block = data['blockhash'] as string;
    reported.set(block, [...(reported.get(block) ?? []), data]);
  });
  // Crosses the normalization fork at height 250.
  await mine(40);
});
afterAll(async () => {
  socket?.close();
  await node?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Maps from all blocks: the position of each transaction, and the spender of each output. */
function indexed(blocks: readonly Block[]) {
  const places = new Map<string, { block: Block; position: number; tx: Tx }>();
  const spenders = new Map<string, { txid: string; n: number; height: number; blockhash: string }>();
  for (const block of blocks)
    block.tx.forEach((tx, position) => {
      places.set(tx.txid, { block, position, tx });
      tx.vin.forEach(({ txid, vout }, n) => {
        if (txid !== undefined)
          spenders.set(`${txid}:${vout}`, {
            txid: tx.txid,
            n,
            height: block.height,
            blockhash: block.hash,
          });
      });
    });
  return { places, spenders };
}

async function holdTransactions(blocks: readonly Block[], from: number): Promise<number> {
  const { places, spenders } = indexed(blocks);
  const tip = blocks.at(-1)!;
  let claims = 0;
  for (const { block, position, tx } of places.values()) {
    if (block.height < from) continue;
    const info = await node.rpc<TxInfo>('gettxinfo', [tx.txid]);
    expect(info).toMatchObject({
      state: 'chain',
      height: block.height,
      blockhash: block.hash,
      position,
      confirmations: tip.height - block.height + 1,
      coinbase: position === 0,
      amountout: sum(tx.vout.map(({ value }) => value)),
    });
    const spent = tx.vin.map(({ txid, vout }) =>
      txid === undefined ? undefined : places.get(txid)!.tx.vout[vout!]!,
    );
    expect(info.inputs.map(({ amount }) => amount)).toEqual(spent.map((output) => output?.value));
    if (position > 0) {
      expect(info.amountin).toBe(sum(spent.map((output) => output!.value)));
      expect(info.fee).toBeCloseTo(info.amountin! - info.amountout, 8);
      expect(info.inputs.map(({ height }) => height)).toEqual(
        tx.vin.map(({ txid }) => places.get(txid!)!.block.height),
      );
    }
    for (const output of info.outputs) {
      const plain = tx.vout[output.n]!;
      const { scriptPubKey } = plain;
      expect(output.amount).toBe(plain.value);
      expect(output.type).toBe(scriptPubKey.subtype ?? scriptPubKey.type);
      expect(output.address).toBe(scriptPubKey.addresses?.[0]);
      const spender = spenders.get(`${tx.txid}:${output.n}`);
      expect(output.spent).toBe(spender !== undefined);
      expect(output.spentBy).toEqual(spender);
      if (output.claim !== undefined) claims++;
    }
    await holdStates(tx.txid, info);
  }
  return claims;
}

/** Compares the states of claims with getclaimsfortx, which only returns unspent ones. */
async function holdStates(txid: string, { outputs }: TxInfo): Promise<void> {
  const listed = await node.rpc<Record<string, unknown>[]>('getclaimsfortx', [txid]);
  for (const { n, claim, spent, spentBy } of outputs) {
    if (claim === undefined) continue;
    const known = listed.find(({ nOut }) => nOut === n);
    if (spentBy?.height !== undefined || !spent) expect(known === undefined).toBe(spent);
    if (known === undefined) {
      // Below the fork, the spend of a claim may not find it in the trie. Then the trie keeps the claim, and all answers contain
      // it.
      const isGone = ['spent', 'expired', 'refused'].includes(claim.state);
      if (!isGone) expect(JSON.stringify(await node.rpc('getclaimsforname', [claim.name]))).toContain(txid);
      continue;
    }
    const isActive = (known['in claim trie'] ?? known['in support map']) as boolean;
    const isFiled = isActive || known['in queue'] === true;
    if (isFiled) expect(claim.state).toBe(isActive ? 'active' : 'pending');
    else expect(['expired', 'refused']).toContain(claim.state);
    expect(claim.isControlling).toBe(isFiled && isActive ? known['is controlling'] : undefined);
  }
}

async function eventsOf(block: string | number, count: number): Promise<EventsPage> {
  const first = await node.rpc<EventsPage>('getblockevents', [block, count]);
  for (let page = first; page.next !== undefined;) {
    page = await node.rpc<EventsPage>('getblockevents', [first.blockhash, count, page.next]);
    first.events.push(...page.events);
  }
  return first;
}

describe('gettxinfo', () => {
  it('returns for every transaction its spent outputs, the state of its outputs, and their spenders', async () => {
    expect(await holdTransactions(await chain(), 225)).toBeGreaterThan(60);
  });

  it('returns unconfirmed transactions and their spenders', async () => {
    const [hex] = await source.take(1);
    const { vin } = await node.rpc<Tx>('decoderawtransaction', [hex]);
    const [spentTxid, spentOutput] = [vin[0]!.txid!, vin[0]!.vout!];
    const unspent = await node.rpc<TxInfo>('gettxinfo', [spentTxid]);
    expect(unspent.outputs[spentOutput]).toMatchObject({ spent: false });
    // A cached answer remains right after blocks that do not spend the outputs.
    for (let n = 1; n <= 2; n++) {
      await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
      const later = await node.rpc<TxInfo>('gettxinfo', [spentTxid]);
      expect(later).toEqual({ ...unspent, confirmations: unspent.confirmations + n });
      expect(Object.keys(later)).toEqual(Object.keys(unspent));
    }
    const txid = await node.rpc<string>('sendrawtransaction', [hex, true]);
    const info = await node.rpc<TxInfo>('gettxinfo', [txid]);
    expect(info).toMatchObject({ state: 'mempool', confirmations: 0, coinbase: false });
    expect(info.fee).toBe((await node.rpc<{ fee: number }>('getmempoolentry', [txid])).fee);
    expect(info.amountin).toBeCloseTo(info.fee! + info.amountout, 8);
    const { txid: from, vout } = info.inputs[0] as { txid: string; vout: number };
    const parent = await node.rpc<TxInfo>('gettxinfo', [from]);
    expect(parent.outputs[vout]).toMatchObject({ spent: true, spentBy: { txid, n: 0 } });
    expect(parent.outputs[vout]!.spentBy).not.toHaveProperty('height');
    for (const { claim } of info.outputs) if (claim) expect(claim.state).toBe('waiting');
    await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
    const height = await node.rpc<number>('getblockcount');
    const mined = await node.rpc<TxInfo>('gettxinfo', [from]);
    expect(mined.outputs[vout]).toMatchObject({ spent: true, spentBy: { txid, n: 0, height } });
  });

  it('cuts inputs and outputs into pages', async () => {
    const blocks = await chain();
    const tx = blocks.at(-1)!.tx.at(-1)!;
    const whole = await node.rpc<TxInfo>('gettxinfo', [tx.txid]);
    const outputs: TxInfo['outputs'] = [];
    for (let from: number | undefined = 0; from !== undefined;) {
      const page: TxInfo = await node.rpc('gettxinfo', [tx.txid, from, 1]);
      expect(page.outputs.length).toBeLessThanOrEqual(1);
      outputs.push(...page.outputs);
      from = page.next;
    }
    expect(outputs).toEqual(whole.outputs);
  });

  it('refuses unknown transactions', async () => {
    await expect(node.rpc('gettxinfo', ['00'.repeat(32)])).rejects.toThrow('No such mempool or blockchain');
    await expect(node.rpc('gettxinfo', ['zz'])).rejects.toThrow('hexadecimal');
    await expect(node.rpc('gettxinfo', ['00'.repeat(32), 0, 1001])).rejects.toThrow(
      'count must be between 1 and 1000',
    );
  });
});

describe('getblockevents', () => {
  it('returns for each block the events of the notifications, for any page size', async () => {
    let events = 0;
    for (const { hash, height } of (await chain()).slice(200)) {
      const page = await eventsOf(height, 1000);
      expect(page).toMatchObject({ height, blockhash: hash, total: page.events.length });
      expect(page.events).toEqual(reported.get(hash) ?? []);
      expect((await eventsOf(hash, 2)).events).toEqual(page.events);
      for (const [type, count] of Object.entries(page.counts))
        expect(page.events.filter(({ event }) => event === type)).toHaveLength(count);
      events += page.events.length;
    }
    expect(events).toBeGreaterThan(150);
  });
});

interface Bid {
  bid: number;
  sequence: number;
  claimId: string;
  height: number;
  active: boolean;
  supports: number;
}
interface BidsPage {
  normalized_name: string;
  height: number;
  blockhash: string;
  claims: number;
  active: number;
  pending: number;
  holder?: { claimId: string; effectiveAmount: number };
  newBid: { mustExceed: number; delay: number; height: number; validAtHeight: number };
  coming?: Record<string, unknown>[];
  bids: Bid[];
  next?: string;
}
interface NameAnswer {
  nLastTakeoverHeight: number;
  claims: Record<string, unknown>[];
  'supports without claims': unknown[];
}

async function bidsOf(args: readonly unknown[], count: number, order = 'bid', block: string | null = null) {
  const [name, hex] = args;
  const first: BidsPage = await node.rpc('listclaims', [name, count, null, order, block, hex === true]);
  const bids = [...first.bids];
  for (let page = first; page.next !== undefined;) {
    page = await node.rpc<BidsPage>('listclaims', [name, count, page.next, 'bid', null, hex === true]);
    expect(page.blockhash).toBe(first.blockhash);
    expect(page).not.toHaveProperty('coming');
    bids.push(...page.bids);
  }
  // Two random bytes may be a valid value by chance.
  for (const bid of bids as unknown as Record<string, unknown>[]) delete bid['kind'];
  return { ...first, bids };
}

/** A bid in the form of getclaimsforname. */
function bidOf(claim: Record<string, unknown>): Record<string, unknown> {
  const supports = claim['supports'] as { nAmount: number; nValidAtHeight: number }[];
  const amount = claim['nAmount'] as number;
  const effective = claim['nEffectiveAmount'] as number;
  const active = effective > 0;
  return {
    bid: claim['bid'],
    sequence: claim['sequence'],
    claimId: claim['claimId'],
    name: claim['name'],
    txid: claim['txid'],
    n: claim['n'],
    height: claim['nHeight'],
    active,
    validAtHeight: claim['nValidAtHeight'],
    expirationHeight: claim['expiration height'],
    amount,
    effectiveAmount: effective,
    ...(claim['nPendingAmount'] === undefined ? {} : { pendingAmount: claim['nPendingAmount'] }),
    supports: supports.length,
    supportAmount: Number((effective - (active ? amount : 0)).toFixed(8)),
    address: claim['address'],
  };
}

const NAMES_ASKED = ['a', 'A', 'ab', 'abc', 'b', 'strasse', 'é', '@channel', 'zoë', 'nobody'];

async function holdBids(block: string | null): Promise<number> {
  let seen = 0;
  for (const name of NAMES_ASKED) {
    const slow: NameAnswer = await node.rpc('getclaimsforname', block === null ? [name] : [name, block]);
    const bids = slow.claims.map(bidOf);
    const page = await bidsOf([name], 1000, 'bid', block);
    expect(page.bids).toEqual(bids);
    expect(page).toMatchObject({ claims: bids.length, active: bids.filter(({ active }) => active).length });
    const best = bids[0]?.['active'] === true ? bids[0] : undefined;
    expect(page.holder?.claimId).toBe(best?.['claimId']);
    expect(page.holder?.effectiveAmount).toBe(best?.['effectiveAmount']);
    expect((await bidsOf([name], 2, 'bid', block)).bids).toEqual(bids);
    const oldest = await bidsOf([name], 3, 'oldest', block);
    expect(oldest.bids.map(({ sequence }) => sequence)).toEqual(bids.map((_, i) => i));
    expect((await bidsOf([name], 3, 'newest', block)).bids).toEqual(oldest.bids.toReversed());
    seen += bids.length;
  }
  return seen;
}

describe('listclaims', () => {
  it('has the bids of getclaimsforname, in pages and orders, for the latest and for past blocks', async () => {
    expect(await holdBids(null)).toBeGreaterThan(20);
    const tip = await node.rpc<number>('getblockcount');
    for (const height of [tip - 1, 240]) await holdBids(await node.rpc('getblockhash', [height]));
  });

  it('returns the same forecast for a name as listupcoming', async () => {
    const coming = await node.rpc<{ events: Record<string, unknown>[] }>('listupcoming', [
      4033,
      'all',
      10_000,
    ]);
    for (const name of NAMES_ASKED) {
      const page = await bidsOf([name], 10);
      const wanted = coming.events.filter((event) => event['normalized_name'] === page.normalized_name);
      expect(page.coming).toEqual(wanted);
    }
  });

  it('keeps its pages at the first block, and refuses them after a reorganisation of that block', async () => {
    const first = await node.rpc<BidsPage>('listclaims', ['a', 1]);
    await mine(1);
    const second: BidsPage = await node.rpc('listclaims', ['a', 1, first.next]);
    expect(second.blockhash).toBe(first.blockhash);
    await node.rpc('invalidateblock', [first.blockhash]);
    await expect(node.rpc('listclaims', ['a', 1, first.next])).rejects.toThrow('Begin with the first page');
    await node.rpc('reconsiderblock', [first.blockhash]);
    expect(await node.rpc('listclaims', ['a', 1, first.next])).toEqual(second);
    const tip = await node.rpc<string>('getbestblockhash');
    await expect(node.rpc('listclaims', ['a', 1, first.next, 'bid', tip])).rejects.toThrow(
      'block differs from the block of the previous page',
    );
    for (const after of ['', 'zz', '00'.repeat(37), `${first.next}00`])
      await expect(node.rpc('listclaims', ['a', 1, after])).rejects.toThrow();
    await expect(node.rpc('listclaims', ['a', 1, null, 'best'])).rejects.toThrow('order must be one of');
  });

  it('forecasts the amount that a new bid must exceed, and its activation height', async () => {
    const { newBid } = await bidsOf(['a'], 1);
    expect(newBid.height).toBe((await node.rpc<number>('getblockcount')) + 1);
    const stake = async (amountSat: number): Promise<string> => {
      const prefix = buildClaimPrefix(Buffer.from('a'), Buffer.from('00', 'hex'));
      const { hex } = await source.stake(prefix, BigInt(amountSat));
      return node.rpc<string>('sendrawtransaction', [hex, true]);
    };
    const equal = await stake(Math.round(newBid.mustExceed * 1e8));
    const more = await stake(Math.round(newBid.mustExceed * 1e8) + 1);
    await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
    const made = (await bidsOf(['a'], 1000)).bids as (Bid & { txid: string; validAtHeight: number })[];
    for (const txid of [equal, more])
      expect(made.find((bid) => bid.txid === txid)?.validAtHeight).toBe(newBid.validAtHeight);
    if (newBid.delay > 0) await node.rpc('generatetoaddress', [newBid.delay, OPEN_ADDRESS]);
    const holder = (await bidsOf(['a'], 1)).bids[0] as Bid & { txid: string };
    expect(holder.txid).toBe(more);
  });
});

describe('listsupports', () => {
  it('has the supports of getclaimsforname, in pages', async () => {
    let seen = 0;
    for (const name of NAMES_ASKED) {
      const { claims }: NameAnswer = await node.rpc('getclaimsforname', [name]);
      for (const claim of claims) {
        const slow = claim['supports'] as Record<string, unknown>[];
        const supports: Record<string, unknown>[] = [];
        for (let after: string | null | undefined = null; after !== undefined;) {
          const page: { total: number; supports: Record<string, unknown>[]; next?: string } = await node.rpc(
            'listsupports',
            [claim['claimId'], 1, after],
          );
          expect(page.total).toBe(slow.length);
          supports.push(...page.supports);
          after = page.next;
        }
        expect(
          supports.map(({ txid, n, amount, validAtHeight }) => [txid, n, amount, validAtHeight]),
        ).toEqual(slow.map(({ txid, n, nAmount, nValidAtHeight }) => [txid, n, nAmount, nValidAtHeight]));
        seen += slow.length;
      }
    }
    expect(seen).toBeGreaterThan(10);
    await expect(node.rpc('listsupports', ['00'.repeat(20)])).rejects.toThrow('Could not find claim');
    await expect(node.rpc('listsupports', ['00'])).rejects.toThrow('40 hexadecimal digits');
  });
});

interface Waiting {
  event: string;
  name: string;
  claimId: string;
  txid: string;
  n: number;
  amount: number;
  isSupport: boolean;
  transaction: string;
  time: number;
}
interface WaitingPage {
  total: number;
  claims: Waiting[];
  next?: string;
}

async function waitingOf(name: string | null, claimId: string | null, count: number): Promise<Waiting[]> {
  const found: Waiting[] = [];
  for (let after: string | null | undefined = null; after !== undefined;) {
    const page: WaitingPage = await node.rpc('listmempoolclaims', [name, claimId, false, count, after]);
    found.push(...page.claims);
    after = page.next;
    if (after === undefined) expect(found).toHaveLength(page.total);
  }
  return found;
}

/** Compares the summary of the mempool with the sums over its entries. */
async function holdSummary(): Promise<Record<string, number>> {
  const summary: {
    size: number;
    bytes: number;
    totalFee: number;
    operations: Record<string, number>;
    histogram: { feerate: number; count: number; bytes: number; fees: number }[];
    newest: { txid: string; time: number; vsize: number; fee: number }[];
  } = await node.rpc('getmempoolsummary');
  const entries = await node.rpc<Record<string, { vsize?: number; size: number; fee: number; time: number }>>(
    'getrawmempool',
    [true],
  );
  const all = Object.entries(entries);
  expect(summary.size).toBe(all.length);
  expect(summary.newest.map(({ txid }) => txid).toSorted()).toEqual(all.map(([txid]) => txid).toSorted());
  for (const { txid, fee, vsize } of summary.newest)
    expect(entries[txid]).toMatchObject({ fee, size: vsize });
  summary.histogram.forEach(({ feerate, count, fees }, i) => {
    const next = summary.histogram[i + 1]?.feerate ?? Infinity;
    const inside = all.filter(([, { fee, size }]) => {
      const rate = Math.floor((Math.round(fee * 1e8) * 1000) / size) / 1e8;
      return rate >= feerate && rate < next;
    });
    expect(inside).toHaveLength(count);
    expect(fees).toBeCloseTo(sum(inside.map(([, { fee }]) => fee)), 8);
  });
  expect(summary.histogram.reduce((total, { count }) => total + count, 0)).toBe(all.length);
  return summary.operations;
}

describe('mempool claim operations', () => {
  it('are counted, and listed by name and claim, until their block is connected', async () => {
    expect(await holdSummary()).toEqual({ claim: 0, update: 0, support: 0, abandon: 0 });
    const sent: string[] = [];
    for (const hex of await source.take(14))
      sent.push(await node.rpc<string>('sendrawtransaction', [hex, true]));
    const all = await waitingOf(null, null, 1000);
    expect(await waitingOf(null, null, 3)).toEqual(all);
    const operations = await holdSummary();
    for (const event of ['claim', 'update', 'support', 'abandon'])
      expect(
        all.filter((one) => one.event === event),
        event,
      ).toHaveLength(operations[event]!);
    expect([...new Set(all.map(({ transaction }) => transaction))].toSorted()).toEqual(sent.toSorted());
    for (const { name, claimId, event, txid, n, amount, transaction } of all) {
      expect(await waitingOf(null, claimId, 2)).toEqual(all.filter((one) => one.claimId === claimId));
      const alike = await waitingOf(name, null, 2);
      expect(alike).toEqual(all.filter((one) => alike.some((other) => other.txid === one.txid)));
      expect(alike.map((one) => one.claimId)).toContain(claimId);
      const info = await node.rpc<TxInfo>('gettxinfo', [transaction]);
      const output = info.outputs.find((one) => txid === transaction && one.n === n);
      const input = info.inputs.find((one) => one.txid === txid && one.vout === n);
      expect((event === 'abandon' ? input : output)?.amount).toBe(amount);
    }
    await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
    expect(await waitingOf(null, null, 10)).toEqual([]);
    expect(await holdSummary()).toEqual({ claim: 0, update: 0, support: 0, abandon: 0 });
    const page = await eventsOf(await node.rpc<string>('getbestblockhash'), 1000);
    const made = page.events.filter(({ event }) =>
      ['claim', 'update', 'support', 'abandon'].includes(event as string),
    );
    expect(
      made.map(({ event, txid, n }) => `${event as string}:${txid as string}:${n as number}`).toSorted(),
    ).toEqual(all.map(({ event, txid, n }) => `${event}:${txid}:${n}`).toSorted());
    for (const args of [
      [null, '00'],
      [null, null, false, 10, 'zz'],
      ['x', null, true],
    ])
      await expect(node.rpc('listmempoolclaims', args)).rejects.toThrow();
  });
});

describe('getaddresstxids', () => {
  it('returns the newest transactions first, in pages, unconfirmed ones at the beginning', async () => {
    for (const hex of await source.take(5)) await node.rpc('sendrawtransaction', [hex, true]);
    for (const mempool of [false, true]) {
      const query = { addresses: [OPEN_ADDRESS], mempool, verbose: true };
      const up = await node.rpc<{ txid: string }[]>('getaddresstxids', [query]);
      expect(up.length).toBeGreaterThan(250);
      for (const limit of [1000, 3, 100]) {
        const down: { txid: string }[] = [];
        for (let after: string | undefined, pages = 0; pages === 0 || after !== undefined; pages++) {
          const page: { txids: { txid: string }[]; next?: string } = await node.rpc('getaddresstxids', [
            { ...query, descending: true, limit, ...(after === undefined ? {} : { after }) },
          ]);
          down.push(...page.txids);
          after = page.next;
          if (limit === 3 && pages > 20) break;
        }
        expect(down).toEqual(up.toReversed().slice(0, down.length));
        if (limit > 3) expect(down).toHaveLength(up.length);
      }
    }
    await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
  });
});

interface Status {
  state: string;
  height: number;
  name: string;
  txid: string;
  n: number;
  outputHeight: number;
  endedHeight?: number;
  endedBlockhash?: string;
  spentBy?: string;
}
interface Series {
  points: { height: number; time: number; value: number }[];
}

/** Height of the normalization fork on regtest. */
const FORK = 250;

/** The history of each claim by its id, from the events of all blocks. */
async function livesOf(blocks: readonly Block[]) {
  const lives = new Map<
    string,
    { output: string; madeAt: number; end: { type: string; height: number; spentBy?: string } | null }
  >();
  for (const { height } of blocks.slice(200)) {
    for (const { event, claimId, txid, n, isSupport, spentBy } of (await eventsOf(height, 1000)).events) {
      if (event === 'claim' || event === 'update')
        lives.set(claimId as string, {
          output: `${txid as string}:${n as number}`,
          madeAt: height,
          end: null,
        });
      if ((event === 'abandon' || event === 'expiration') && isSupport === false)
        lives.get(claimId as string)!.end = {
          type: event,
          height,
          ...(event === 'abandon' && { spentBy: spentBy as string }),
        };
    }
  }
  return lives;
}

/** Compares the states of all claims. Returns how many ended, and how many of these by the block of their last output. */
async function holdLives(): Promise<{ ended: number; fleeting: number }> {
  let ended = 0;
  let fleeting = 0;
  for (const [claimId, { output, madeAt, end }] of await livesOf(await chain())) {
    const status = await node.rpc<Status>('getclaimstatus', [claimId]);
    // The block that normalizes names is reported without events.
    if (status.outputHeight === FORK || status.endedHeight === FORK) continue;
    if (end?.height === madeAt) fleeting++;
    expect(`${status.txid}:${status.n}`).toBe(output);
    if (end === null) expect(['active', 'pending']).toContain(status.state);
    else {
      ended++;
      expect(status).toMatchObject({
        state: end.type === 'abandon' ? 'spent' : 'expired',
        endedHeight: end.height,
        endedBlockhash: await node.rpc('getblockhash', [end.height]),
      });
      expect(status.spentBy).toBe(end.spentBy);
    }
  }
  await holdClaimStates();
  return { ended, fleeting };
}

/** Compares the states of all claims, in one call, with the state of each. */
async function holdClaimStates(): Promise<void> {
  const ids = [...(await livesOf(await chain())).keys(), '00'.repeat(20)];
  const statuses = await Promise.all(
    ids.map((id) =>
      node.rpc<Status>('getclaimstatus', [id]).catch(() => ({ claimId: id, state: 'unknown' })),
    ),
  );
  const states = await node.rpc<(Partial<Status> & { claimId: string })[]>('getclaimstates', [ids]);
  expect(states.map(({ claimId }) => claimId)).toEqual(ids);
  for (const [i, state] of states.entries()) expect(statuses[i]).toMatchObject(state);
  expect(states.at(-1)).toEqual({ claimId: ids.at(-1), state: 'unknown' });
}

/** All points of the series. */
async function seriesOf(metric: string): Promise<Series['points']> {
  return (await node.rpc<Series>('getchainseries', [metric, 0, null, 2000])).points;
}

async function holdSeries(): Promise<void> {
  const tip = await node.rpc<number>('getblockcount');
  const [names, claims, amounts] = [
    await seriesOf('names'),
    await seriesOf('claims'),
    await seriesOf('amount'),
  ];
  expect(names.map(({ height }) => height)).toEqual(Array.from({ length: tip + 1 }, (_, i) => i));
  expect(names.at(-1)!.value).toBe(await node.rpc('gettotalclaimednames'));
  expect(claims.at(-1)!.value).toBe(await node.rpc('gettotalclaims'));
  expect(amounts.at(-1)!.value).toBeCloseTo(await node.rpc<number>('gettotalvalueofclaims'), 8);
  for (const height of [230, 245, tip - 3]) {
    const block = await node.rpc<string>('getblockhash', [height]);
    const page = await node.rpc<{ names: { claims: number }[] }>('listnames', ['', 10_000, null, block]);
    expect(names[height]!.value).toBe(page.names.length);
    expect(claims[height]!.value).toBe(page.names.reduce((total, one) => total + one.claims, 0));
  }
}

describe('getclaimstatus', () => {
  it('returns the state of every claim that ever existed, also of claims that one block created and spent', async () => {
    const { ended, fleeting } = await holdLives();
    expect([ended > 5, fleeting > 0]).toEqual([true, true]);
    await expect(node.rpc('getclaimstatus', ['00'.repeat(20)])).rejects.toThrow('Could not find claim');
    await expect(node.rpc('getclaimstatus', ['00'])).rejects.toThrow('40 hexadecimal digits');
  });

  it('refuses lists that are too long or malformed', async () => {
    const states = (ids: unknown) => node.rpc('getclaimstates', [ids]);
    expect(await states([])).toEqual([]);
    for (const id of ['00', 5, null, 'g'.repeat(40)])
      await expect(states([id])).rejects.toThrow('40 hexadecimal digits');
    await expect(states(Array(1001).fill('00'.repeat(20)))).rejects.toThrow('At most 1000');
  });
});

interface NewClaims {
  claims: {
    claimId: string;
    txid: string;
    n: number;
    createdHeight?: number;
    time: number;
    amount: number;
  }[];
  next?: number;
  skip?: number;
}

/** Claims from block `from` downwards, in pages of `count`. */
async function newClaims(from: number, count: number): Promise<NewClaims['claims']> {
  const claims: NewClaims['claims'] = [];
  for (let [block, skip] = [from, 0]; ;) {
    const page = await node.rpc<NewClaims>('listnewclaims', [count, block, skip]);
    expect(page.claims.length).toBeLessThanOrEqual(count);
    claims.push(...page.claims);
    if (page.next === undefined) return claims;
    [block, skip] = [page.next, page.skip ?? 0];
  }
}

/** Claims with those of each block in the order of their ids. */
const byBlock = (claims: NewClaims['claims']): NewClaims['claims'] =>
  // The block that normalizes names is reported without events.
  claims
    .filter(({ createdHeight }) => createdHeight !== FORK)
    .toSorted((a, b) => b.createdHeight! - a.createdHeight! || (a.claimId < b.claimId ? -1 : 1));

/** The claims that exist at the tip, from the events of all blocks. */
async function existingClaims(): Promise<NewClaims['claims']> {
  const claims: NewClaims['claims'] = [];
  for (const { height, time } of (await chain()).slice(200)) {
    for (const { event, claimId } of (await eventsOf(height, 1000)).events) {
      if (event !== 'claim') continue;
      const id = claimId as string;
      const status = await node
        .rpc<Status & { amount: number }>('getclaimstatus', [id])
        .catch(() => ({ state: 'spent' }) as const);
      if (!('txid' in status) || !['active', 'pending'].includes(status.state)) continue;
      const { txid, n, amount } = status;
      claims.push({ claimId: id, txid, n, createdHeight: height, time, amount });
    }
  }
  return byBlock(claims);
}

async function holdNewClaims(): Promise<number> {
  const wanted = await existingClaims();
  const tip = await node.rpc<number>('getblockcount');
  for (const count of [1, 7, 1000]) {
    const found = await newClaims(tip, count);
    const heights = found.map(({ createdHeight }) => createdHeight!);
    expect(heights).toEqual(heights.toSorted((a, b) => b - a));
    expect(byBlock(found)).toMatchObject(wanted);
    expect(found.length - wanted.length).toBe(
      found.filter(({ createdHeight }) => createdHeight === FORK).length,
    );
  }
  const older = wanted.filter(({ createdHeight }) => createdHeight! <= tip - 5);
  expect(byBlock(await newClaims(tip - 5, 100))).toMatchObject(older);
  return wanted.length;
}

describe('listnewclaims', () => {
  it('returns every claim that exists, the newest first', async () => {
    expect(await holdNewClaims()).toBeGreaterThan(10);
  });

  it('begins with the claims of the mempool', async () => {
    const sent: string[] = [];
    for (const hex of await source.take(14)) sent.push(await node.rpc('sendrawtransaction', [hex, true]));
    const { claims: waiting } = await node.rpc<{
      claims: { event: string; claimId: string; txid: string; n: number; time: number }[];
    }>('listmempoolclaims', [null, null, false, 1000]);
    const made = waiting.filter(({ event }) => event === 'claim').toReversed();
    expect(made.length).toBeGreaterThan(1);
    const { claims } = await node.rpc<NewClaims>('listnewclaims', [made.length + 3]);
    expect(claims.slice(0, made.length)).toMatchObject(
      made.map(({ claimId, txid, n, time }) => ({ claimId, txid, n, time })),
    );
    expect(claims.map(({ createdHeight }) => createdHeight !== undefined)).toEqual([
      ...made.map(() => false),
      true,
      true,
      true,
    ]);
    const [first, ...others] = claims;
    const one = await node.rpc<NewClaims>('listnewclaims', [1]);
    expect(one.claims).toEqual([first]);
    expect(others.length).toBeGreaterThan(0);
    await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
    await holdNewClaims();
    for (const args of [[0], [1001], [1, 'zz'], [1, 1_000_000], [1, null, -1]])
      await expect(node.rpc('listnewclaims', args)).rejects.toThrow();
  });
});

describe('getchainseries', () => {
  it('has real values at the genesis block, or no point', async () => {
    const genesis = await node.rpc<string>('getblockhash', [0]);
    const { difficulty } = await node.rpc<{ difficulty: number }>('getblockheader', [genesis]);
    const [first] = await seriesOf('difficulty');
    expect(first).toMatchObject({ height: 0 });
    expect(first!.value / difficulty).toBeCloseTo(1, 4);
    expect((await seriesOf('transactions'))[0]).toMatchObject({ height: 0, value: 1 });
    expect((await seriesOf('interval'))[0]).toMatchObject({ height: 1 });
    for (const { height, value } of await seriesOf('hashrate'))
      expect([height > 0, value > 0]).toEqual([true, true]);
  });

  it('returns names and claims after each block', () => holdSeries());

  it('returns means over ranges of blocks', async () => {
    const blocks = await chain();
    const tip = blocks.length - 1;
    for (const points of [2, 7, 2000]) {
      const { points: series }: Series = await node.rpc('getchainseries', ['transactions', 1, null, points]);
      let counted = 0;
      series.forEach(({ height, value, time }, i) => {
        counted += value * (height - (i === 0 ? 0 : series[i - 1]!.height));
        expect(time).toBe(blocks[height]!.time);
      });
      expect(counted).toBeCloseTo(
        blocks.slice(1).reduce((total, { tx }) => total + tx.length, 0),
        6,
      );
      expect(series.at(-1)!.height).toBe(tip);
    }
    const difficulty = await node.rpc<number>('getdifficulty');
    const last = (await seriesOf('difficulty')).at(-1)!;
    expect(Math.abs(last.value / difficulty - 1)).toBeLessThan(0.5);
    for (const args of [['weight'], ['names', 5, 4], ['names', 0, tip + 1], ['names', 0, tip, 1]])
      await expect(node.rpc('getchainseries', args)).rejects.toThrow();
  });
});

describe('a claim index without past claims', () => {
  longIt('is completed in the background, and returns the same answers', async () => {
    const series = await seriesOf('amount');
    // The index is disabled for some blocks, so it must be filled again. An index of an older version also lacks earlier blocks.
    await restart(['-claimindex=0']);
    await expect(node.rpc('getclaimstatus', ['00'.repeat(20)])).rejects.toThrow('not enabled');
    await node.rpc('generatetoaddress', [3, OPEN_ADDRESS]);
    await restart([]);
    for (;;) {
      const points = await seriesOf('amount').catch((error: Error) => {
        expect(error.message).toMatch(/Retry later/);
        return null;
      });
      if (points === null) continue;
      expect(points.slice(0, series.length)).toEqual(series);
      break;
    }
    const { ended, fleeting } = await holdLives();
    expect([ended > 5, fleeting > 0]).toEqual([true, true]);
    await holdSeries();
  });
});

describe('after a reorganisation', () => {
  it('transactions return to the mempool, and the other branch is reported', async () => {
    const before = await chain();
    const lives = await holdLives();
    const tip = before.at(-1)!;
    const fork = before[tip.height - 5]!;
    const gone = before.slice(fork.height).flatMap(({ tx }) => tx.slice(1));
    await node.rpc('invalidateblock', [fork.hash]);
    for (const { txid } of gone)
      expect((await node.rpc<TxInfo>('gettxinfo', [txid])).state).toMatch(/^(mempool|stale)$/);
    await expect(node.rpc('getblockevents', [fork.hash])).rejects.toThrow('Block not in main chain');
    await node.rpc('generatetoaddress', [7, OPEN_ADDRESS]);
    await holdTransactions(await chain(), fork.height - 3);
    await holdNewClaims();
    await holdLives();
    await node.rpc('reconsiderblock', [fork.hash]);
    expect(await holdLives()).toEqual(lives);
    await holdNewClaims();
    await holdTransactions(await chain(), fork.height - 3);
  });
});
