/**
 * Random operations of two daemons on one node: payments, channels, streams, supports, tips, collections, purchases, abandons,
 * reorganisations, restarts and kills. Most kills happen during another operation. After each step, the unspent outputs that
 * each daemon lists, by kind and amount, and its balance must equal those that the node has for the daemon's addresses. All
 * lists, subtotals and the history must equal those computed from the node's transactions (`support/daemonRecount.ts`; in full
 * size in every tenth step and after restarts, kills and reorganisations). No acknowledged address, account, preference or
 * channel key may be lost, and no output may be spent twice. The long tests always run the same tenth of the steps. `npm run
 * test:full` runs 1,000 steps, different ones each time. LBCNODE_DAEMON_SEED repeats a run, LBCNODE_DAEMON_STEPS sets the
 * number of steps.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { formatLbc } from '../../src/metadata/amounts.js';
import { decodeBase58 } from '../../src/script/base58.js';
import { randomOf } from '../support/claimLife.js';
import { DaemonAnswerError, startDaemon, type TestDaemon } from './support/daemon.js';
import { ALL, DaemonRecount } from './support/daemonRecount.js';
import { until } from './support/network.js';
import { freePort, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';

const FULL = process.env['LBCNODE_FULL'] === '1';
const STEPS = Number(process.env['LBCNODE_DAEMON_STEPS'] ?? (FULL ? 1000 : 100));
const SEED = Number(process.env['LBCNODE_DAEMON_SEED'] ?? (FULL ? Math.floor(Math.random() * 2 ** 31) : 77));
const random = randomOf(SEED);
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
const chance = (percent: number): boolean => random(100) < percent;

/**
 * Errors of operations that are impossible in the present state: the balance is too low, the wallet lacks the item, the channel
 * of a stream was abandoned, or the chain of unconfirmed transactions is too long.
 */
const REFUSALS =
  /Not enough funds|No claim found|No supports found|already have|Can't find|Couldn't find|purchase price|too-long-mempool-chain|mempool min fee|Could not find|dust|missing inputs|Missing inputs|bad-txns-inputs-missingorspent|txn-mempool-conflict|spent or reserved|no longer exists/i;

interface Output {
  readonly txid: string;
  readonly nout: number;
  readonly amount: string;
  readonly type: string;
  readonly claim_id: string;
  readonly address: string;
  readonly name: string;
}
interface Page<Item> {
  readonly items: readonly Item[];
}
interface Utxo {
  readonly txid: string;
  readonly outputIndex: number;
  readonly script: string;
  readonly satoshis: number;
}

/** First byte of a script with a claim, an update, a support. */
const KINDS: Readonly<Record<string, string>> = { b5: 'claim', b7: 'claim', b6: 'support' };
/** Errors that follow if two transactions spend the same coin. */
const CONFLICTS = /conflict|missing inputs|missingorspent/i;
/** Interval of the steps in which all lists are recounted, in addition to those after `VIOLENT` steps. */
const RECOUNT_EVERY = STEPS > 100 ? 10 : 1;
const VIOLENT = ['reorganised', 'killed', 'restarted'];
/** A daemon is killed within this number of milliseconds after the start of an operation. Most operations take less. Arbitrary. */
const LONGEST_LIFE_MS = 150;
const MOST_ACCOUNTS = 3;
/** Number of first coins of 1 LBC each, so that the first steps can pay. */
const FIRST_COINS = 4;

class Owner {
  readonly folder = mkdtempSync(join(tmpdir(), 'lbcnet-life-'));
  /** Acknowledged addresses, accounts and channel keys. */
  readonly shown = new Set<string>();
  readonly accounts = new Set<string>();
  readonly channelKeys = new Set<string>();
  /** The possible values by key: several if it is unknown whether the last one was stored. */
  readonly preferences = new Map<string, unknown[]>();
  readonly hubPort: number;
  daemon!: TestDaemon;

  constructor(hubPort: number) {
    this.hubPort = hubPort;
  }

  async open(): Promise<void> {
    this.daemon = await startDaemon({ hubPorts: [this.hubPort], folder: this.folder });
  }

  call<Result = unknown>(method: string, params: object = {}): Promise<Result> {
    return this.daemon.call<Result>(method, params);
  }

  /** An address that was not paid yet. */
  async address(): Promise<string> {
    const address = await this.call<string>('address_unused');
    this.shown.add(address);
    const { items } = await this.call<Page<{ used_times: number }>>('address_list', { address });
    if (items.length !== 1 || items[0]!.used_times !== 0) throw new Error(`${address} is used`);
    return address;
  }

  async prefer(key: string, value: unknown): Promise<void> {
    const before = this.preferences.get(key) ?? [undefined];
    this.preferences.set(key, [...before, value]);
    await this.call('preference_set', { key, value });
    this.preferences.set(key, [value]);
  }

  async newAccount(): Promise<void> {
    this.accounts.add((await this.call<{ id: string }>('account_create', { account_name: 'more' })).id);
  }

  /** Takes the key of another's channel. */
  async borrow(channelId: string, other: Owner): Promise<void> {
    const data = await other.call<string>('channel_export', { channel_id: channelId });
    await this.call('channel_import', { channel_data: data });
    const { signing_private_key: pem } = JSON.parse(decodeBase58(data)!.toString()) as Record<string, string>;
    this.channelKeys.add(pem!);
  }

  /** Describes an acknowledged item, or the key of an own channel, that is lost; empty if there is none. */
  async lost(): Promise<string> {
    const exported = JSON.parse(await this.call<string>('wallet_export')) as {
      accounts: { certificates: Record<string, string> }[];
    };
    const keys = exported.accounts.flatMap(({ certificates }) => Object.values(certificates));
    for (const key of this.channelKeys) if (!keys.includes(key)) return 'the key of a channel is lost';
    const { items: accounts } = await this.call<Page<{ id: string }>>('account_list', ALL);
    for (const id of this.accounts)
      if (!accounts.some((account) => account.id === id)) return `the account ${id} is lost`;
    const reported = (await this.call<Record<string, unknown> | null>('preference_get')) ?? {};
    for (const [key, values] of this.preferences) {
      if (!values.some((value) => JSON.stringify(value) === JSON.stringify(reported[key])))
        return `the preference ${key} is ${JSON.stringify(reported[key])}`;
      this.preferences.set(key, [reported[key]]);
    }
    const { items: channels } = await this.call<Page<Output & { has_signing_key: boolean }>>(
      'channel_list',
      ALL,
    );
    for (const { name, claim_id, has_signing_key } of channels)
      if (!has_signing_key) return `the key of ${name} ${claim_id} is lost`;
    return '';
  }

  async mine(type: string): Promise<readonly Output[]> {
    const { items } = await this.call<Page<Output>>('claim_list', { claim_type: type, ...ALL });
    return this.spendable(items);
  }

  /**
   * The outputs without those that pay to an account that came with a channel. The wallet only has the public key of such an
   * account.
   */
  async spendable(outputs: readonly Output[]): Promise<readonly Output[]> {
    const { items } = await this.call<Page<{ id: string; name: string }>>('account_list', ALL);
    const watched = new Set<string>();
    for (const { id, name } of items) {
      if (!name.startsWith('Holding Account')) continue;
      const page = await this.call<Page<{ address: string }>>('address_list', { account_id: id, ...ALL });
      for (const { address } of page.items) watched.add(address);
    }
    return outputs.filter(({ address }) => !watched.has(address));
  }
}

async function agrees(node: RegtestNode, owner: Owner): Promise<string> {
  const { items } = await owner.call<Page<{ address: string }>>('address_list', ALL);
  const addresses = items.map(({ address }) => address);
  for (const address of owner.shown)
    if (!addresses.includes(address)) return `the address ${address} is forgotten`;
  const { items: listed } = await owner.call<Page<Output>>('txo_list', { is_not_spent: true, ...ALL });
  const ours = listed.map(({ txid, nout, amount, type }) => {
    const kind = type === 'claim' || type === 'support' ? type : 'coin';
    return `${txid}:${nout} ${amount} ${kind}`;
  });
  const utxos = await node.rpc<Utxo[]>('getaddressutxos', [{ addresses, mempool: true }]);
  const theirs = utxos.map(
    ({ txid, outputIndex, script, satoshis }) =>
      `${txid}:${outputIndex} ${formatLbc(BigInt(satoshis))} ${KINDS[script.slice(0, 2)] ?? 'coin'}`,
  );
  if (ours.sort().join('\n') !== theirs.sort().join('\n')) {
    const missing = theirs.filter((line) => !ours.includes(line));
    const extra = ours.filter((line) => !theirs.includes(line));
    return `missing: ${missing.join(', ')}; too much: ${extra.join(', ')}`;
  }
  const total = formatLbc(utxos.reduce((sum, { satoshis }) => sum + BigInt(satoshis), 0n));
  const balance = await owner.call<{ total: string }>('wallet_balance');
  return balance.total === total ? '' : `the balance is ${balance.total} instead of ${total}`;
}

describe('a long session of two daemons', () => {
  const owners: Owner[] = [];
  const happened = new Map<string, number>();
  let node: RegtestNode;

  afterAll(async () => {
    for (const { daemon } of owners) await daemon.stop();
    await node.stop();
    for (const { folder } of owners) rmSync(folder, { recursive: true, force: true });
    console.log(`seed ${SEED}: ${JSON.stringify(Object.fromEntries([...happened].sort()))}`);
  });

  const amount = (): string => formatLbc(BigInt(1 + random(30)) * 1_000_000n);

  const OPERATIONS: Readonly<Record<string, (owner: Owner, other: Owner) => Promise<unknown>>> = {
    async paid(owner) {
      await node.rpc('sendtoaddress', [await owner.address(), 1 + random(3)]);
    },
    async send(owner, other) {
      await owner.call('wallet_send', { amount: amount(), addresses: [await other.address()] });
    },
    channel: (owner) => owner.call('channel_create', { name: `@c${random(6)}`, bid: amount() }),
    async stream(owner) {
      const channel = chance(50) ? pick(await owner.mine('channel')) : undefined;
      const fee = chance(50) ? { fee_currency: 'LBC', fee_amount: '0.1' } : {};
      await owner.call('stream_create', {
        name: `s${random(8)}`,
        bid: amount(),
        sd_hash: 'ab'.repeat(48),
        ...fee,
        ...(channel ? { channel_id: channel.claim_id } : {}),
      });
    },
    async update(owner) {
      const stream = pick(await owner.mine('stream'));
      if (stream)
        await owner.call('stream_update', {
          claim_id: stream.claim_id,
          bid: amount(),
          title: `t${random(99)}`,
        });
    },
    async support(owner, other) {
      const claim = pick(await (chance(50) ? owner : other).mine('stream'));
      if (claim)
        await owner.call('support_create', { claim_id: claim.claim_id, amount: amount(), tip: chance(50) });
    },
    async collection(owner, other) {
      const claims = [...(await owner.mine('stream')), ...(await other.mine('stream'))];
      if (claims.length > 0)
        await owner.call('collection_create', {
          name: `l${random(4)}`,
          bid: amount(),
          claims: [pick(claims).claim_id],
        });
    },
    async repost(owner, other) {
      const claim = pick(await other.mine('stream'));
      if (claim)
        await owner.call('stream_repost', { name: `r${random(8)}`, bid: amount(), claim_id: claim.claim_id });
    },
    async purchase(owner, other) {
      const claim = pick(await other.mine('stream'));
      if (claim)
        await owner.call('purchase_create', { claim_id: claim.claim_id, override_max_key_fee: true });
    },
    async abandon(owner) {
      const kind = pick(['stream', 'channel', 'collection'] as const);
      const claim = pick(await owner.mine(kind));
      if (claim) await owner.call(`${kind}_abandon`, { claim_id: claim.claim_id, blocking: false });
    },
    async unsupport(owner) {
      const { items } = await owner.call<Page<Output>>('support_list', ALL);
      const support = pick(await owner.spendable(items));
      if (support) await owner.call('support_abandon', { txid: support.txid, nout: support.nout });
    },
    /** Sends several payments at the same time. Each uses other coins, or is refused because there are no coins left. */
    async several(owner, other) {
      const addresses = await Promise.all([1, 2, 3].map(() => other.address()));
      const sent = await Promise.allSettled(
        [...new Set(addresses)].map((address) =>
          owner.call('wallet_send', { amount: amount(), addresses: [address] }),
        ),
      );
      for (const one of sent)
        if (one.status === 'rejected') {
          if (CONFLICTS.test(String(one.reason))) throw new Error(`spent twice: ${String(one.reason)}`);
          throw one.reason;
        }
    },
    preference: (owner) => owner.prefer(`p${random(5)}`, pick([random(99), `v${random(99)}`, { a: [1] }])),
    async account(owner) {
      if (owner.accounts.size < MOST_ACCOUNTS) await owner.newAccount();
    },
    async move(owner) {
      const [from, to] = [pick([...owner.accounts]), pick([...owner.accounts])];
      if (from && to && from !== to)
        await owner.call('account_fund', {
          from_account: from,
          to_account: to,
          amount: amount(),
          broadcast: true,
        });
    },
    async borrow(owner, other) {
      const channel = pick(await other.mine('channel'));
      if (channel) await owner.borrow(channel.claim_id, other);
    },
    preview: (owner) => owner.call('channel_create', { name: '@preview', bid: amount(), preview: true }),
    async mined() {
      await node.rpc('generate', [1 + random(3)]);
    },
    async reorganised() {
      const height = await node.rpc<number>('getblockcount');
      const depth = 1 + random(6);
      await node.rpc('invalidateblock', [await node.rpc('getblockhash', [height - depth + 1])]);
      await node.rpc('generate', [depth + 1]);
    },
    async killed(owner, other) {
      const operation = chance(80) ? OPERATIONS[pick(PEACEFUL)]!(owner, other) : null;
      const silent = operation?.catch(() => undefined);
      if (operation) await sleep(random(LONGEST_LIFE_MS));
      await owner.daemon.kill();
      await silent;
      await owner.open();
    },
    async restarted(owner) {
      expect(await owner.daemon.stop()).toBe(0);
      await owner.open();
    },
  };
  const PEACEFUL = Object.keys(OPERATIONS).filter(
    (name) => !VIOLENT.includes(name) && name !== 'mined' && name !== 'paid',
  );
  const NAMES = [
    ...Object.keys(OPERATIONS),
    'paid',
    'paid',
    'mined',
    'mined',
    'send',
    'stream',
    'support',
    'update',
    'several',
    'killed',
    'killed',
  ];

  it(`equals a recount after each of ${STEPS} steps`, { timeout: HANG_MS + STEPS * 20_000 }, async () => {
    const hubPort = await freePort();
    node = await startRegtest({
      args: ['-hub', `-hubport=${hubPort}`, '-hubudpport=0', '-fallbackfee=0.0002'],
    });
    await node.rpc('generate', [150]);
    for (let n = 0; n < 2; n++) {
      const owner = new Owner(hubPort);
      await owner.open();
      owners.push(owner);
      owner.accounts.add((await owner.call<Page<{ id: string }>>('account_list')).items[0]!.id);
      const { items } = await owner.call<Page<{ address: string }>>('address_list');
      for (const { address } of items.slice(0, FIRST_COINS)) await node.rpc('sendtoaddress', [address, 1]);
    }
    await node.rpc('generate', [1]);
    for (const one of owners)
      await until('the first coins are there', async () => (await agrees(node, one)) === '');
    const recount = new DaemonRecount(node);
    for (let step = 0; step < STEPS; step++) {
      const name = pick(NAMES);
      const [owner, other] = chance(50) ? owners : owners.toReversed();
      try {
        await OPERATIONS[name]!(owner!, other!);
        happened.set(name, (happened.get(name) ?? 0) + 1);
      } catch (error) {
        if (!(error instanceof DaemonAnswerError) || !REFUSALS.test(error.message)) {
          if (!/Insufficient funds|fee of at least/.test(String(error)))
            throw new Error(`seed ${SEED}, step ${step}, ${name}: ${String(error)}`, { cause: error });
        }
        happened.set('refused', (happened.get('refused') ?? 0) + 1);
      }
      const isCounted = step % RECOUNT_EVERY === 0 || VIOLENT.includes(name);
      for (const one of owners) {
        let differs = '';
        const check = async (): Promise<boolean> => {
          differs = await agrees(node, one);
          if (differs === '' && isCounted)
            differs = await recount.differs((method, params) => one.call(method, params));
          if (differs === '') differs = await one.lost();
          return differs === '';
        };
        await until(`step ${step}`, check).catch((error: unknown) => {
          throw new Error(`seed ${SEED}, step ${step}, ${name}: ${differs}`, { cause: error });
        });
      }
    }
  });
});
