/**
 * Random sequences of wallet calls on our node and on lbrycrd (`LBRYCRDD`), with one seed and one chain. Transactions with random
 * parts (order of inputs, position of the change) are made by our wallet and sent to both. `WALLET_SEEDS` chooses the sequences.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { randomOf } from '../support/claimLife.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { keyOf } from './support/walletKeys.js';
import { referenceBinary, startReference, type Envelope, type ReferenceNode } from './support/reference.js';

const binary = referenceBinary();
const SEEDS = (process.env['WALLET_SEEDS'] ?? '1').split(',').map(Number);
const STEPS = 150;
const NOW_SEC = 1_600_000_000;
const OPTIONS = [
  '-keypool=10',
  '-fallbackfee=0.0002',
  '-txindex',
  '-deprecatedrpc=accounts',
  '-walletrejectlongchains=1',
];
const TYPES = ['legacy', 'p2sh-segwit', 'bech32'] as const;
const LABELS = ['', 'a', 'b', 'é'];
const NAMES = ['one', 'two', 'Three', 'four'];

interface Unspent {
  readonly txid: string;
  readonly vout: number;
}

/** The same wallet on our node and on lbrycrd. */
class WalletPair {
  readonly addresses: string[] = [ADDRESS];
  readonly ids: string[] = ['ab'.repeat(32)];
  private readonly ours: RegtestNode;
  private readonly theirs: ReferenceNode;
  private readonly random: (below: number) => number;
  private nowSec = NOW_SEC;
  private imported = 0;

  constructor(ours: RegtestNode, theirs: ReferenceNode, seed: number) {
    this.ours = ours;
    this.theirs = theirs;
    this.random = randomOf(seed);
  }

  private async ourCall(method: string, params: readonly unknown[]): Promise<Envelope> {
    return JSON.parse((await this.ours.post(JSON.stringify({ id: 1, method, params }))).text) as Envelope;
  }

  /** Calls both nodes. The answers must be equal. */
  async both<T = unknown>(method: string, ...params: unknown[]): Promise<T | null> {
    const [our, their] = [await this.ourCall(method, params), await this.theirs.call(method, params)];
    expect({ method, params, ...shown(method, our) }).toEqual({ method, params, ...shown(method, their) });
    return our.result as T | null;
  }

  async begin(): Promise<void> {
    await this.both('setmocktime', this.nowSec);
    await this.mine(1);
    await this.both('sethdseed', true, keyOf('lives').wif);
    for (const type of TYPES) {
      const address = (await this.both<string>('getnewaddress', 'a', type))!;
      this.addresses.push(address);
      for (let n = 0; n < 6; n++) await this.mine(1, address);
    }
    await this.mine(101);
  }

  /** Mines on our node and submits the blocks to lbrycrd. */
  private async mine(count: number, address = ADDRESS): Promise<void> {
    for (const hash of await this.ours.rpc<string[]>('generatetoaddress', [count, address]))
      expect(await this.theirs.rpc('submitblock', [await this.ours.rpc('getblock', [hash, 0])])).toBeNull();
    await this.settled();
  }

  private async settled(): Promise<void> {
    for (const node of [this.ours, this.theirs]) await node.rpc('syncwithvalidationinterfacequeue');
  }

  private pick<T>(from: readonly T[]): T {
    return from[this.random(from.length)]!;
  }

  private amount(): number {
    return (1 + this.random(50_000)) / 100_000;
  }

  /** Calls our wallet, which makes a transaction, and sends it to both. */
  private async make(method: string, ...params: unknown[]): Promise<void> {
    const { result } = await this.ourCall(method, params);
    if (result === null) return;
    const id = typeof result === 'string' ? result : (result as { txId: string }).txId;
    const found = (await this.ourCall('getrawtransaction', [id])).result;
    expect(found, method).not.toBeNull();
    expect((await this.theirs.call('sendrawtransaction', [found, true])).error, method).toBeNull();
    this.ids.push(id);
    await this.settled();
  }

  /** An unspent output of the wallet. */
  private async coin(): Promise<Unspent> {
    const coins = (await this.ours.rpc<Unspent[]>('listunspent', [0])) ?? [];
    return coins.length === 0 ? { txid: this.pick(this.ids), vout: 0 } : this.pick(coins);
  }

  private async staked(isSupport: boolean): Promise<{ txid: string; claimId: string; name: string }> {
    const all = await this.ours.rpc<
      { txid: string; claimId: string; name: string; claimtype: string; isSpent?: boolean }[]
    >('listnameclaims', [true, true]);
    const found = all.filter(({ claimtype }) => (claimtype === 'SUPPORT') === isSupport);
    return found.length === 0
      ? { txid: this.pick(this.ids), claimId: 'ab'.repeat(20), name: 'none' }
      : this.pick(found);
  }

  /** Payments and claims. */
  private async pay(): Promise<void> {
    const to = (): string => this.pick(this.addresses);
    switch (this.random(9)) {
      case 0:
        return this.make('claimname', this.pick(NAMES), '6f6d67', this.amount());
      case 1: {
        const { name, claimId } = await this.staked(false);
        return this.make('supportclaim', name, claimId, this.amount());
      }
      case 2:
        return this.make('updateclaim', (await this.staked(false)).txid, '6f6d', this.amount());
      case 3:
        return this.make('abandonclaim', (await this.staked(false)).txid, to());
      case 4:
        return this.make('abandonsupport', (await this.staked(true)).txid, to());
      case 5:
        return this.make('sendmany', '', { [to()]: this.amount(), [to()]: this.amount() });
      case 6: {
        const coin = await this.coin();
        const raw = await this.both<string>(
          'createrawtransaction',
          [{ txid: coin.txid, vout: coin.vout, sequence: this.pick([0xfffffffd, 0xffffffff]) }],
          { [to()]: this.amount() },
        );
        if (raw === null) return;
        const signed = await this.both<{ hex: string }>('signrawtransactionwithwallet', raw);
        if (signed === null) return;
        const id = await this.both<string>('sendrawtransaction', signed.hex, true);
        if (id !== null) this.ids.push(id);
        return this.settled();
      }
      default:
        return this.make('sendtoaddress', to(), this.amount());
    }
  }

  /** Calls that change the wallet in the same way on both nodes. */
  private async change(): Promise<void> {
    switch (this.random(9)) {
      case 0: {
        const address = await this.both<string>('getnewaddress', this.pick(LABELS), this.pick(TYPES));
        if (address !== null) this.addresses.push(address);
        return;
      }
      case 1:
        return void (await this.both('setlabel', this.pick(this.addresses), this.pick(LABELS)));
      case 2: {
        const { txid, vout } = await this.coin();
        return void (await this.both('lockunspent', this.random(2) === 0, [{ txid, vout }]));
      }
      case 3: {
        // Our rescan also reads the mempool.
        await this.mine(1);
        const key = keyOf(`lives ${this.imported++ % 12}`);
        const method = this.random(2) === 0 ? 'importprivkey' : 'importpubkey';
        const text = method === 'importprivkey' ? key.wif : key.pubkey;
        await this.both(method, text, this.pick(LABELS), this.random(2) === 0);
        const known = await this.both<{ address: string }[]>('listunspent', 0);
        if (known !== null) for (const { address } of known.slice(0, 3)) this.addresses.push(address);
        return;
      }
      case 4:
        return void (await this.both('abandontransaction', this.pick(this.ids)));
      case 5:
        return void (await this.both('move', this.pick(LABELS), this.pick(LABELS), this.amount()));
      case 6: {
        const keys = [this.pick(this.addresses), keyOf('cosigner').pubkey];
        const made = await this.both<{ address: string }>(
          'addmultisigaddress',
          1 + this.random(2),
          keys,
          this.pick(LABELS),
          this.pick(TYPES),
        );
        if (made !== null) this.addresses.push(made.address);
        return;
      }
      case 7: {
        await this.mine(1);
        const address = this.pick(this.addresses);
        const watch = { scriptPubKey: { address }, timestamp: this.pick(['now', 0]), watchonly: true };
        return void (await this.both('importmulti', [watch], { rescan: this.random(2) === 0 }));
      }
      default:
        this.nowSec += this.random(3000);
        return void (await this.both('setmocktime', this.nowSec));
    }
  }

  private async chain(): Promise<void> {
    if (this.random(4) > 0) return this.mine(1 + this.random(2), this.pick(this.addresses));
    const tip = await this.ours.rpc<number>('getblockcount');
    const depth = 1 + this.random(3);
    const hash = await this.ours.rpc<string>('getblockhash', [tip - depth + 1]);
    await this.both('invalidateblock', hash);
    await this.settled();
    if (this.random(2) === 0) await this.read();
    if (this.random(3) === 0) await this.both('reconsiderblock', hash);
    else {
      this.nowSec += 1;
      await this.both('setmocktime', this.nowSec);
      await this.mine(depth + 1, this.pick(this.addresses));
    }
    await this.settled();
  }

  /** A random call that reads. */
  private async read(): Promise<void> {
    const flag = (): boolean => this.random(2) === 0;
    const confirmations = (): number => this.pick([0, 1, 2, 6, 100]);
    const address = this.pick(this.addresses);
    const tip = await this.ours.rpc<number>('getblockcount');
    const block = await this.ours.rpc<string>('getblockhash', [tip - this.random(20)]);
    const calls: readonly (readonly [string, ...unknown[]])[] = [
      ['listtransactions', this.pick(['*', ...LABELS]), 1 + this.random(200), this.random(10), flag()],
      ['listsinceblock', block, 1 + this.random(6), flag(), flag()],
      ['listunspent', confirmations(), 9_999_999, [], flag()],
      ['listunspent', 0, 9_999_999, [address], true, { minimumAmount: this.amount() }],
      ['getbalance', '*', confirmations(), flag()],
      ['getreceivedbyaddress', address, confirmations()],
      ['getreceivedbylabel', this.pick(LABELS), confirmations()],
      ['listreceivedbyaddress', confirmations(), flag(), flag()],
      ['listreceivedbyaddress', confirmations(), flag(), flag(), address],
      ['listreceivedbylabel', confirmations(), flag(), flag()],
      ['listaddressgroupings'],
      ['listlabels'],
      ['getaddressesbylabel', this.pick(LABELS)],
      ['getaddressinfo', address],
      ['gettransaction', this.pick(this.ids), flag()],
      ['listlockunspent'],
      ['listaccounts', confirmations(), flag()],
      ['listnameclaims', flag(), flag()],
      ['getunconfirmedbalance'],
      ['getwalletinfo'],
      ['getaccount', address],
    ];
    await this.both(...(this.pick(calls) as [string, ...unknown[]]));
  }

  async step(): Promise<void> {
    const turn = this.random(12);
    if (turn < 4) await this.pay();
    else if (turn < 7) await this.change();
    else if (turn < 9) await this.chain();
    for (let n = 0; n < 3; n++) await this.read();
  }
}

/** An answer without the parts that differ between the nodes: keys that were generated ahead, and help texts. */
function shown(method: string, { result, error }: Envelope): object {
  if (error !== null) return error.message.startsWith(method) ? { code: error.code } : { error };
  if (method !== 'getwalletinfo') return { result };
  const {
    scanning: _,
    keypoolsize: __,
    keypoolsize_hd_internal: ___,
    keypoololdest: ____,
    ...info
  } = result as Record<string, unknown>;
  return { info };
}

describe.skipIf(binary === undefined)('a wallet compared with lbrycrd by random calls', () => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  it.each(SEEDS)('gives the same answers (seed %i)', async (seed) => {
    const theirs = await startReference(binary!, ['-disablewallet=0', ...OPTIONS]);
    ends.push(() => theirs.stop());
    const ours = await startRegtest({ args: ['-compat=lbrycrd', ...OPTIONS] });
    ends.push(() => ours.stop());
    const pair = new WalletPair(ours, theirs, seed);
    await pair.begin();
    for (let step = 0; step < STEPS; step++) await pair.step();
  });
});
