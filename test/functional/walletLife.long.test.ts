/**
 * Random operations of three wallets on two nodes: payments, claims, bumped and abandoned transactions, conflicts,
 * reorganisations, restarts and kills. After each step, the answers of every wallet equal a recount from blocks and mempool,
 * and it has every key that it ever returned. Runs 200 steps, always the same; with `npm run test:full` 3,000, different ones
 * each time. LBCNODE_WALLET_SEED repeats a run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomOf } from '../support/claimLife.js';
import { startPeer } from './support/network.js';
import { HANG_MS, type RegtestNode } from './support/node.js';
import { ChainCount, WalletCount, type Recount, type WalletCall } from './support/walletRecount.js';

const full = process.env['LBCNODE_FULL'] === '1';
const STEPS = full ? 3000 : 200;
/** Time limit. A step takes about a third of a second on an idle machine with two cores, so only a hang exceeds it. */
const TIMEOUT_MS = STEPS * 10_000;
/** In full size scripts/test.mjs selects a random seed. */
const SEED = Number(process.env['LBCNODE_WALLET_SEED'] ?? 1);
/** Error codes that a wallet may return for a call that it cannot execute. */
const REFUSALS = [-1, -3, -4, -5, -6, -8, -25, -26];

const random = randomOf(SEED);
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
const chance = (percent: number): boolean => random(100) < percent;

interface Side {
  readonly dataDir: string;
  node: RegtestNode;
  chain: ChainCount;
}

interface Owner {
  readonly name: string;
  readonly side: Side;
  readonly count: WalletCount;
  readonly shown: string[];
  readonly call: WalletCall;
}

class RpcFailure extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const ARGS = ['-keypool=20', '-txindex', '-fallbackfee=0.0002'];
const sides: Side[] = [];
const owners: Owner[] = [];
const happened = new Map<string, number>();
let folder: string;

async function startSide(dataDir: string, extra: readonly string[] = []): Promise<RegtestNode> {
  const wallets = owners.filter(({ side }) => side.dataDir === dataDir).map(({ name }) => `-wallet=${name}`);
  return startPeer({ dataDir, args: [...ARGS, ...wallets, ...extra] });
}

function addOwner(name: string, side: Side): void {
  const call: WalletCall = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const { text } = await side.node.post(JSON.stringify({ id: 1, method, params }), `/wallet/${name}`);
    const { result, error } = JSON.parse(text) as {
      result: T;
      error: { code: number; message: string } | null;
    };
    if (error !== null) throw new RpcFailure(error.code, `${method}: ${error.message}`);
    return result;
  };
  owners.push({ name, side, call, count: new WalletCount(call), shown: [] });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wallet-life-'));
  for (const name of ['left', 'right']) {
    const dataDir = join(folder, name);
    const node = await startSide(dataDir);
    sides.push({ dataDir, node, chain: new ChainCount(node) });
  }
  const [left, right] = sides as [Side, Side];
  addOwner('one', left);
  addOwner('two', left);
  addOwner('three', right);
  for (const { name, side } of owners) await side.node.rpc('createwallet', [name]);
  await connect();
  for (const owner of owners) await owner.side.node.rpc('generatetoaddress', [40, await show(owner)]);
  await agree();
  await left.node.rpc('generatetoaddress', [100, await show(owners[0]!)]);
  await agree();
});

afterAll(async () => {
  for (const { node } of sides) await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(): Promise<void> {
  const [left, right] = sides as [Side, Side];
  await right.node.rpc('addnode', [`127.0.0.1:${left.node.p2pPort}`, 'onetry']);
}

/** Waits until both nodes have the same tip and, mostly, the same mempool. */
async function agree(): Promise<void> {
  const [left, right] = sides as [Side, Side];
  const end = Date.now() + HANG_MS;
  for (let tries = 0; Date.now() < end; tries++) {
    const tips = await Promise.all([left, right].map(({ node }) => node.rpc<string>('getbestblockhash')));
    if (tips[0] === tips[1]) return;
    if (tries % 100 === 99) await connect();
    await sleep(20);
  }
  throw new Error('the nodes do not agree');
}

async function show(owner: Owner): Promise<string> {
  const type = pick(['legacy', 'p2sh-segwit', 'bech32']);
  const address = await owner.call<string>('getnewaddress', ['', type]);
  expect(owner.shown).not.toContain(address);
  owner.shown.push(address);
  return address;
}

const coins = (sat: number): number => Number((sat / 1e8).toFixed(8));

/** A random part of the balance, in coins. */
async function amountOf(owner: Owner): Promise<number> {
  const balance = await owner.call<number>('getbalance');
  return coins(Math.max(20_000, Math.floor(balance * 1e8 * (0.01 + random(30) / 100))));
}

interface Stake {
  readonly txid: string;
  readonly name: string;
  readonly claimId: string;
}

async function stakesOf(owner: Owner): Promise<Stake[]> {
  return owner.call<Stake[]>('listnameclaims', [true, true]);
}

const value = (): string => Buffer.from(`value ${random(1e6)}`).toString('hex');

const STEPS_OF: Record<string, (owner: Owner) => Promise<void>> = {
  async send(owner) {
    const to = await show(pick(owners));
    await owner.call('sendtoaddress', [to, await amountOf(owner), '', '', chance(20), chance(60)]);
  },
  async sendMany(owner) {
    const amounts: Record<string, number> = {};
    for (let n = 0; n < 1 + random(8); n++)
      amounts[await show(pick(owners))] = coins(20_000 + random(5_000_000));
    await owner.call('sendmany', ['', amounts]);
  },
  async claim(owner) {
    await owner.call('claimname', [`name${random(12)}`, value(), await amountOf(owner)]);
  },
  async support(owner) {
    const all = (await Promise.all(owners.map(stakesOf))).flat();
    if (all.length === 0) return;
    const { name, claimId } = pick(all);
    await owner.call('supportclaim', [name, claimId, await amountOf(owner)]);
  },
  async update(owner) {
    const stakes = await stakesOf(owner);
    if (stakes.length === 0) return;
    await owner.call('updateclaim', [pick(stakes).txid, value(), await amountOf(owner)]);
  },
  async abandonStake(owner) {
    const stakes = await stakesOf(owner);
    if (stakes.length === 0) return;
    const method = chance(60) ? 'abandonclaim' : 'abandonsupport';
    await owner.call(method, [pick(stakes).txid, await show(owner)]);
  },
  async bump(owner) {
    const waiting = await owner.call<{ txid: string; confirmations: number; category: string }[]>(
      'listtransactions',
      ['*', 30],
    );
    const own = waiting.filter((one) => one.confirmations === 0 && one.category === 'send');
    if (own.length > 0) await owner.call('bumpfee', [pick(own).txid]);
  },
  async lock(owner) {
    const unspent = await owner.call<{ txid: string; vout: number }[]>('listunspent');
    if (unspent.length === 0) return;
    const { txid, vout } = pick(unspent);
    await owner.call('lockunspent', [false, [{ txid, vout }]]);
    try {
      await STEPS_OF['send']!(owner);
      const { vin } = await lastSent(owner);
      expect(vin.some((input) => input.txid === txid && input.vout === vout)).toBe(false);
    } finally {
      await owner.call('lockunspent', [true]);
    }
  },
  async mine(owner) {
    const { node } = owner.side;
    if (chance(30)) await owner.call('generate', [1]);
    else await node.rpc('generatetoaddress', [1 + random(3), await show(pick(owners))]);
    await agree();
  },
  /** A branch that is longer by one takes the place of some blocks. */
  async reorganise(owner) {
    const { node } = owner.side;
    const height = await node.rpc<number>('getblockcount');
    const depth = 1 + random(4);
    const first = await node.rpc<string>('getblockhash', [height - depth + 1]);
    await node.rpc('invalidateblock', [first]);
    await node.rpc('generatetoaddress', [depth + 1, await show(pick(owners))]);
    await node.rpc('reconsiderblock', [first]);
    await agree();
  },
  /** A block contains another spend of an output that a mempool transaction spends. */
  async conflict(owner) {
    const [left, right] = sides as [Side, Side];
    const other = owner.side === left ? right : left;
    const unspent = await owner.call<{ txid: string; vout: number; amount: number; confirmations: number }[]>(
      'listunspent',
      [1],
    );
    const coin = unspent.find(({ amount }) => amount > 0.01);
    if (coin === undefined) return;
    const spend = async (to: string, amount: number): Promise<string> => {
      const outputs = { [to]: Number(amount.toFixed(8)) };
      const inputs = [{ txid: coin.txid, vout: coin.vout }];
      const raw = await owner.call<string>('createrawtransaction', [inputs, outputs]);
      return (await owner.call<{ hex: string }>('signrawtransactionwithwallet', [raw])).hex;
    };
    const one = await spend(await show(pick(owners)), coin.amount - 0.001);
    const two = await spend(await show(pick(owners)), coin.amount - 0.002);
    await other.node.rpc('setnetworkactive', [false]);
    await owner.side.node.rpc('sendrawtransaction', [one]);
    await other.node.rpc('sendrawtransaction', [two]);
    await other.node.rpc('generatetoaddress', [1, await show(pick(owners))]);
    await other.node.rpc('setnetworkactive', [true]);
    await connect();
    await agree();
  },
  /** A transaction that was not broadcast is abandoned, or broadcast at the next start. */
  async keepBack(owner) {
    const { side } = owner;
    await restart(side, true, ['-walletbroadcast=0']);
    const to = await show(pick(owners));
    const txid = await owner
      .call<string>('sendtoaddress', [to, await amountOf(owner)])
      .catch((error: unknown) => expectRefusal(error));
    if (typeof txid === 'string' && chance(50)) await owner.call('abandontransaction', [txid]);
    await check('kept back');
    await restart(side, true);
  },
  async restart({ side }) {
    await restart(side, true);
  },
  async kill({ side }) {
    await restart(side, false);
  },
};

const WEIGHTS: Record<string, number> = {
  send: 24,
  sendMany: 8,
  claim: 8,
  support: 6,
  update: 5,
  abandonStake: 5,
  bump: 8,
  lock: 3,
  mine: 16,
  reorganise: 6,
  conflict: 3,
  keepBack: 1,
  restart: 2,
  kill: 3,
};
const HAT = Object.entries(WEIGHTS).flatMap(([name, weight]) => Array.from({ length: weight }, () => name));

async function lastSent(owner: Owner): Promise<{ vin: { txid: string; vout: number }[] }> {
  const listed = await owner.call<{ txid: string; category: string }[]>('listtransactions', ['*', 20]);
  const { txid } = listed.findLast(({ category }) => category === 'send')!;
  const { hex } = await owner.call<{ hex: string }>('gettransaction', [txid]);
  return owner.call('decoderawtransaction', [hex]);
}

async function restart(side: Side, cleanly: boolean, extra: readonly string[] = []): Promise<void> {
  if (cleanly) await side.node.stop();
  else await side.node.kill();
  side.node = await startSide(side.dataDir, extra);
  side.chain = side.chain.of(side.node);
  await connect();
  await agree();
  for (const owner of owners) {
    if (owner.side !== side) continue;
    // The wallet still has every key that it returned.
    for (const address of owner.shown)
      expect((await owner.call<{ ismine: boolean }>('getaddressinfo', [address])).ismine).toBe(true);
  }
}

function expectRefusal(error: unknown): string {
  if (!(error instanceof RpcFailure) || !REFUSALS.includes(error.code)) throw error;
  return error.message;
}

/** Tip and mempool of a node. Transactions of the other node may arrive at any time. */
async function stateOf({ node }: Side): Promise<string> {
  const tip = await node.rpc<string>('getbestblockhash');
  return [tip, ...(await node.rpc<string[]>('getrawmempool'))].join();
}

interface Standing extends Recount {
  readonly state: string;
}

async function countedBy({ side, count }: Owner): Promise<Standing> {
  const state = await stateOf(side);
  await side.chain.follow();
  const tip = state.slice(0, 64);
  return { state, ...(await count.recount(side.chain, await count.stuck(side.chain, tip))) };
}

async function saidBy({ side, call }: Owner): Promise<Standing> {
  const info = await call<Record<string, number>>('getwalletinfo');
  const unspent = await call<{ txid: string; vout: number }[]>('listunspent', [0, 9_999_999]);
  const sum = (name: string): bigint => BigInt(Math.round(info[name]! * 1e8));
  return {
    balanceSat: sum('balance'),
    unconfirmedSat: sum('unconfirmed_balance'),
    immatureSat: sum('immature_balance'),
    spendable: unspent.map(({ txid, vout }) => `${txid}:${vout}`).sort(),
    state: await stateOf(side),
  };
}

async function check(what: string): Promise<void> {
  for (const owner of owners) {
    let counted: Standing;
    let said: Standing;
    do {
      counted = await countedBy(owner);
      said = await saidBy(owner);
    } while (counted.state !== said.state);
    expect(said, `${what}, wallet ${owner.name}, seed ${SEED}`).toEqual(counted);
    expect(new Set(said.spendable).size).toBe(said.spendable.length);
  }
}

it(
  `balances equal a recount after each of ${STEPS} steps`,
  async () => {
    console.log(`seed ${SEED}`);
    await check('at first');
    for (let step = 1; step <= STEPS; step++) {
      const owner = pick(owners);
      const name = pick(HAT);
      let outcome = 'done';
      try {
        await STEPS_OF[name]!(owner);
      } catch (error) {
        outcome = `refused ${expectRefusal(error).slice(0, 60)}`;
      }
      const key = `${name}: ${outcome}`;
      happened.set(key, (happened.get(key) ?? 0) + 1);
      if (step % 250 === 0) console.log(`${step} steps`);
      await check(`step ${step} (${name} by ${owner.name}: ${outcome})`);
    }
    console.log(
      [...happened]
        .map(([key, times]) => `${times} ${key}`)
        .sort()
        .join('\n'),
    );
  },
  TIMEOUT_MS,
);
