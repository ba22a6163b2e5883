/**
 * Three owners on one regtest hub, each with a daemon: two run lbcnet, one lbry-sdk. Also the claims and payments that they
 * make for each other.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDaemon } from './daemon.js';
import { PeerGroup, until } from './network.js';
import { freePort, type RegtestNode } from './node.js';
import { SdkDaemon } from './sdkDaemon.js';

/** Above the last fork of the claim trie on regtest names are normalized and supports can have data: src/params/regtest.ts. */
const FORKED_HEIGHT = 360;
/** Enough coins, so that no step waits for the change of another. */
const PAYMENTS = 14;
const PAYMENT_LBC = 3;
/** Exchange rate in LBC for a dollar. */
const RATE = 25;
export const MISSING = 'ab'.repeat(20);

interface AnyDaemon {
  readonly folder: string;
  call<Result = unknown>(method: string, params?: object): Promise<Result>;
  stop(): Promise<unknown>;
}
interface Output {
  readonly claim_id?: string;
  readonly txid: string;
  readonly nout: number;
}
export interface Made {
  readonly txid: string;
  readonly outputs: readonly Output[];
}
interface Account {
  readonly id: string;
}

export class Owner {
  readonly name: string;
  readonly daemon: AnyDaemon;
  /** Parameters of a stream; lbry-sdk requires a file. */
  readonly source: (name: string) => object;
  /** Ids of claims by label. */
  readonly ids: Record<string, string> = {};
  /** Id of the second account. */
  second = '';
  readonly made: string[] = [];
  /** Called after each transaction. */
  madeOne: () => Promise<void> = () => Promise.resolve();

  constructor(name: string, daemon: AnyDaemon, source: (name: string) => object) {
    this.name = name;
    this.daemon = daemon;
    this.source = source;
  }

  call<Result = unknown>(method: string, params: object = {}): Promise<Result> {
    return this.daemon.call<Result>(method, params);
  }

  async make(method: string, params: object, label?: string): Promise<Made> {
    const made = await this.call<Made>(method, params);
    this.made.push(made.txid);
    if (label !== undefined) this.ids[label] = made.outputs[0]!.claim_id!;
    await this.madeOne();
    return made;
  }

  /** The id of this owner's wallet in another owner's daemon. */
  walletAt(owner: Owner): string {
    return owner === this ? 'default_wallet' : `wallet-of-${this.name}`;
  }
}

const oursIsMadeOf = (name: string): object => ({
  sd_hash: Buffer.from(name).toString('hex').padEnd(96, '0'),
  file_name: `${name}.txt`,
  file_size: 10,
});

export class Trio {
  readonly owners: Owner[] = [];
  /** Names of the owners that controlled the shared name, in order. */
  readonly winners: string[] = [];
  private readonly group = new PeerGroup();
  private node!: RegtestNode;
  private address!: string;

  static async start(lbrynet: string): Promise<Trio> {
    const trio = new Trio();
    const hubPort = await freePort();
    const hub = ['-hub', `-hubport=${hubPort}`, `-hubudpport=${hubPort}`];
    const chain = ['-fallbackfee=0.0002', '-supportdelay=proportional', '-maxtipage=100000000'];
    trio.node = await trio.group.start({ args: [...hub, ...chain] });
    trio.address = await trio.node.rpc<string>('getnewaddress');
    await trio.node.rpc('generatetoaddress', [FORKED_HEIGHT, trio.address]);
    for (const name of ['ada', 'bea']) {
      const daemon = await startDaemon({ hubPorts: [hubPort], args: [`--exchange-rates=USD=${RATE}`] });
      trio.owners.push(new Owner(name, daemon, oursIsMadeOf));
    }
    const theirs = await SdkDaemon.start(lbrynet, [hubPort], ['exchange_rate_manager']);
    const fromFile = (name: string): object => ({ file_path: theirs.file(`${name}.txt`, `of ${name}`) });
    const cyd = new Owner('cyd', theirs, fromFile);
    // If lbrynet makes several transactions in one block, it may lose their position in the block, by which lists are sorted.
    cyd.madeOne = () => trio.mine();
    trio.owners.push(cyd);
    return trio;
  }

  async stop(): Promise<void> {
    for (const { daemon } of this.owners) await daemon.stop();
    await this.group.close();
  }

  /** Mines a block, and waits until each daemon has the blocks and its transactions in them. */
  async mine(blocks = 1): Promise<void> {
    await this.node.rpc('generatetoaddress', [blocks, this.address]);
    const tip = await this.node.rpc<number>('getblockcount');
    for (const owner of this.owners) {
      await until(`${owner.name} is at ${tip}`, async () => {
        const { wallet } = await owner.call<{ wallet: { blocks: number } }>('status');
        return wallet.blocks === tip;
      });
      for (const txid of owner.made.splice(0))
        await until(`${owner.name} has ${txid} in a block`, async () => {
          const { items } = await owner.call<{ items: { height: number }[] }>('txo_list', {
            txid,
            is_my_input_or_output: true,
          });
          return items.length > 0 && items.every(({ height }) => height > 0);
        });
    }
  }

  /** Calls the function for every owner and the next one. Transactions of lbcnet are in a block before lbry-sdk makes one. */
  private async each(operation: (owner: Owner, next: Owner) => Promise<unknown>): Promise<void> {
    const [ada, bea, cyd] = this.owners as [Owner, Owner, Owner];
    await operation(ada, bea);
    await operation(bea, cyd);
    await this.mine();
    await operation(cyd, ada);
  }

  /** Ids of the transactions of a block in their order. */
  async blockOf(heightInChain: number): Promise<readonly string[]> {
    const hash = await this.node.rpc<string>('getblockhash', [heightInChain]);
    return (await this.node.rpc<{ tx: string[] }>('getblock', [hash])).tx;
  }

  /** An unconfirmed payment that only concerns the node's wallet. */
  payUnowned(): Promise<string> {
    return this.node.rpc<string>('sendtoaddress', [this.address, 1]);
  }

  async makeEverything(): Promise<void> {
    await this.each(async (owner) => {
      const own = await owner.call<string>('address_unused');
      for (let payment = 0; payment < PAYMENTS; payment++)
        await this.node.rpc('sendtoaddress', [own, PAYMENT_LBC]);
      owner.second = (await owner.call<Account>('account_create', { account_name: 'second' })).id;
    });
    await this.mine();
    await this.each((owner) =>
      until(`${owner.name} is paid`, async () => {
        const { available } = await owner.call<{ available: string }>('wallet_balance');
        return Number(available) === PAYMENTS * PAYMENT_LBC;
      }),
    );
    await this.each((owner) => this.makeChannels(owner));
    await this.noteWinner();
    await this.each((owner) => this.makeStreams(owner));
    await this.mine(2);
    await this.each((owner, next) => this.makeWithOthers(owner, next));
    await this.noteWinner();
    await this.each((owner, next) => this.change(owner, next));
    // More blocks than the delay of a takeover at this height.
    await this.mine(4);
    await this.noteWinner();
    await this.each((owner, next) => this.drop(owner, next));
    await this.mine(2);
  }

  /** The claim to which the shared name resolves, by each of the three daemons. */
  private async noteWinner(): Promise<void> {
    const reported = new Set<string | undefined>();
    for (const owner of this.owners) {
      const { shared } = await owner.call<{ shared: { claim_id: string } }>('resolve', { urls: 'shared' });
      reported.add(this.owners.find(({ ids }) => ids['shared'] === shared.claim_id)?.name);
    }
    this.winners.push([...reported].join());
  }

  private async makeChannels(owner: Owner): Promise<void> {
    const { name } = owner;
    await owner.make(
      'channel_create',
      {
        name: `@${name}`,
        bid: '1.0',
        title: `The room of ${name}`,
        tags: ['History', name],
        languages: ['en', 'de-CH'],
        locations: ['US:NH'],
        email: `${name}@example.com`,
      },
      'room',
    );
    await owner.make('channel_create', { name: '@SAME', bid: '0.2', account_id: owner.second }, 'same');
    const bids: Readonly<Record<string, string>> = { ada: '0.5', bea: '0.6', cyd: '0.4' };
    await owner.make(
      'stream_create',
      { name: 'shared', bid: bids[name], ...owner.source('shared') },
      'shared',
    );
  }

  private async makeStreams(owner: Owner): Promise<void> {
    const { name } = owner;
    await owner.make(
      'stream_create',
      {
        name: `${name}-film`,
        bid: '0.3',
        title: `Film of ${name}`,
        description: 'Conspiracies',
        tags: ['history'],
        fee_currency: 'LBC',
        fee_amount: '0.25',
        release_time: 1_500_000_000,
        channel_name: `@${name}`,
        ...owner.source('film'),
      },
      'film',
    );
    await owner.make(
      'stream_create',
      { name: `${name}-SONG`, bid: '0.1', channel_id: owner.ids['room'], ...owner.source('song') },
      'song',
    );
    await owner.make(
      'stream_create',
      { name: `${name}-gone`, bid: '0.1', account_id: owner.second, ...owner.source('gone') },
      'gone',
    );
  }

  private async makeWithOthers(owner: Owner, next: Owner): Promise<void> {
    const { name, ids } = owner;
    const signed = { channel_id: ids['room'] };
    const film = next.ids['film'];
    await owner.make(
      'stream_repost',
      { name: `${name}-again`, bid: '0.1', claim_id: film, ...signed },
      'again',
    );
    const claims = [next.ids['song'], MISSING, film, ids['song'], next.ids['room']];
    await owner.make('collection_create', { name: `${name}-list`, bid: '0.1', claims, ...signed }, 'list');
    await owner.make('support_create', { claim_id: film, amount: '0.3', ...signed, comment: 'good' });
    await owner.make('support_create', { claim_id: ids['film'], amount: '0.2' });
    await owner.make('support_create', { claim_id: next.ids['room'], amount: '0.15', tip: true });
    await owner.make('support_create', { claim_id: next.ids['shared'], amount: '0.05', tip: true });
    await owner.make('purchase_create', { claim_id: film, override_max_key_fee: true });
    if (name === 'cyd') await owner.make('stream_update', { claim_id: ids['shared'], bid: '0.9' });
    const own = await owner.call<string>('address_unused', { account_id: owner.second });
    await owner.make('account_send', { amount: '0.4', addresses: [own] });
  }

  private async change(owner: Owner, next: Owner): Promise<void> {
    const { name, ids } = owner;
    if (name === 'ada') await owner.make('support_create', { claim_id: ids['shared'], amount: '1.5' });
    await owner.make('channel_update', { claim_id: ids['room'], title: 'Another', tags: ['new'] });
    await owner.make('stream_update', { claim_id: ids['film'], title: 'Cut', languages: 'fr', bid: '0.35' });
    await owner.make('collection_update', {
      claim_id: ids['list'],
      clear_claims: true,
      claims: [next.ids['film'], ids['film'], next.ids['list']],
    });
    await owner.make('account_fund', {
      to_account: owner.second,
      amount: '0.3',
      outputs: 3,
      broadcast: true,
    });
  }

  private async drop(owner: Owner, next: Owner): Promise<void> {
    const { name, ids } = owner;
    await owner.make('stream_abandon', { claim_id: ids['gone'] });
    const { items } = await owner.call<{ items: Output[] }>('support_list', {
      claim_id: ids['film'],
      staked: true,
    });
    await owner.make('support_abandon', { txid: items[0]!.txid, nout: items[0]!.nout });
    // Spends a received tip, so that its amount becomes a plain coin.
    if (name !== 'bea') {
      const tips = { type: 'support', claim_id: ids['shared'], is_not_my_input: true };
      const [made] = await owner.call<readonly { txid: string }[]>('txo_spend', tips);
      owner.made.push(made!.txid);
      await owner.madeOne();
    }
    const addresses = [await next.call<string>('address_unused')];
    await owner.make('wallet_send', { amount: '0.11', addresses });
  }

  /** Copies the wallets of the other owners to every daemon, and waits until it knows everything that their owners know. */
  async shareWallets(): Promise<void> {
    const texts = new Map<Owner, unknown>();
    for (const owner of this.owners)
      texts.set(owner, JSON.parse(await owner.call<string>('wallet_export')) as unknown);
    for (const host of this.owners)
      for (const [owner, text] of texts) {
        if (owner === host) continue;
        const wallet_id = owner.walletAt(host);
        writeFileSync(join(host.daemon.folder, 'wallet', 'wallets', wallet_id), JSON.stringify(text));
        await host.call('wallet_add', { wallet_id });
      }
    for (const host of this.owners)
      for (const owner of this.owners) {
        const known = async (one: Owner) => {
          const wallet = { wallet_id: owner.walletAt(one) };
          const { total_items } = await one.call<{ total_items: number }>('txo_list', wallet);
          const { total_items: addresses } = await one.call<{ total_items: number }>('address_list', wallet);
          return JSON.stringify([total_items, addresses, await one.call('wallet_balance', wallet)]);
        };
        await until(`the daemon of ${host.name} knows the wallet of ${owner.name}`, async () => {
          return (await known(host)) === (await known(owner));
        });
      }
  }
}
