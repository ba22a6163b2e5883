/** Notifications about wallets: each transaction once, no amounts of a spend that is being created, and own claims. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { txid, type TxOutput } from '../../../../src/primitives/transaction.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { WalletWatch } from '../../../../src/server/notifications/walletNotice.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { coinControl } from '../../../../src/wallet/spending/coinControl.js';
import { sendTransaction } from '../../../../src/wallet/spending/commitTransaction.js';
import { MINE } from '../../../../src/wallet/keys/isMine.js';
import type { Entry } from '../../../../src/wallet/ledger/entry.js';
import type { WalletsListener } from '../../../../src/wallet/wallets.js';
import { FakeNode } from '../../wallet/support/fakeNode.js';
import { openTestWallet, type TestWallet } from '../../wallet/support/openWallet.js';

const COIN = 100_000_000n;
const OTHER = scriptForDestination({ type: 'pubkeyhash', hash: Buffer.alloc(20, 7) });

interface Reported {
  readonly event: string;
  readonly txid?: string;
  readonly new?: boolean;
  readonly confirmations?: number;
  readonly balance?: number;
  readonly claim?: unknown;
}

let node: FakeNode;
let opened: TestWallet;
let watch: WalletWatch;
let reported: Reported[];

const turns = async (count = 5): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

beforeEach(async () => {
  node = new FakeNode();
  node.mineEmpty(120);
  opened = await openTestWallet(node);
  const { wallet } = opened;
  reported = [];
  const wallets = {
    all: () => [wallet],
    caughtUp: () => node.reorganisation ?? wallet.events.caughtUp(),
    listen: (listener: WalletsListener) =>
      wallet.listen((entry: Entry, isNew: boolean) => listener.transactionChanged(wallet, entry, isNew)),
  };
  watch = new WalletWatch(wallets, {
    depthWanted: () => 1,
    tell: ({ json }) => void reported.push(JSON.parse(json) as Reported),
  });
  const outputs: TxOutput[] = [{ value: 5n * COIN, script: await opened.script() }];
  const prevout = { hash: sha256(Buffer.from('somebody')), index: 0 };
  const input = { prevout, scriptSig: Buffer.alloc(0), sequence: 0xffffffff, witness: [] };
  node.mine(undefined, [{ version: 2, inputs: [input], outputs, lockTime: 0 }]);
  await turns();
  reported.length = 0;
});
afterEach(() => opened.close());

const of = (event: string): Reported[] => reported.filter((one) => one.event === event);

describe('a wallet that sends a payment', () => {
  const send = (): Promise<unknown> =>
    sendTransaction(
      opened.wallet,
      [{ script: OTHER, valueSat: COIN, subtractsFee: false }],
      coinControl(opened.wallet),
    );

  it('reports the transaction once, with the balance of that time only', async () => {
    const id = hashToHex((await send()) as Buffer);
    await turns();
    expect(of('transaction')).toMatchObject([{ txid: id, new: true }]);
    expect(of('balance').map(({ balance }) => Math.round(balance!))).toEqual([4]);
  });

  it('reports no other balance if something else happens before the mempool has answered', async () => {
    const { submit } = node.port.mempool;
    node.port.mempool.submit = async (tx, maxFeeSat) => {
      watch.tipChanged();
      await turns();
      return submit(tx, maxFeeSat);
    };
    await send();
    await turns();
    expect(of('balance').map(({ balance }) => Math.round(balance!))).toEqual([4]);
  });

  it('reports changes meanwhile also if nothing was sent in the end', async () => {
    const { wallet } = opened;
    node.mine([{ value: COIN, script: await opened.script() }], []);
    node.mineEmpty(98);
    watch.tipChanged();
    await turns();
    reported.length = 0;
    const failure = wallet.announcements.hold(async () => {
      // The coinbase matures.
      node.mineEmpty(3);
      watch.tipChanged();
      await turns();
      expect(reported).toEqual([]);
      throw new Error('no');
    });
    await expect(failure).rejects.toThrow('no');
    await turns();
    expect(reported).toMatchObject([{ event: 'balance', balance: 6 }]);
  });

  it('reports it once if the mempool refuses it', async () => {
    node.refuse = () => 'refused';
    await send();
    await turns();
    expect(of('transaction')).toMatchObject([{ new: true }]);
    expect(of('balance').map(({ balance }) => balance)).toEqual([0]);
  });
});

describe('an unconfirmed transaction', () => {
  interface Sent {
    readonly id: string;
    readonly coin: { readonly hash: Buffer; readonly index: number };
  }

  /** Spends the coin of the wallet. A second call spends the change of the first one. */
  async function send(): Promise<Sent> {
    const { wallet } = opened;
    const recipients = [{ script: OTHER, valueSat: COIN, subtractsFee: false }];
    const id = (await sendTransaction(wallet, recipients, coinControl(wallet))) as Buffer;
    const { prevout } = wallet.ledger.transaction(wallet.ledger.find(id)!).inputs[0]!;
    return { id: hashToHex(id), coin: { hash: Buffer.from(prevout.hash), index: prevout.index } };
  }

  const confirmationsReported = (): [string, number][] =>
    of('transaction').map(({ txid: id, confirmations }) => [id!, confirmations!]);

  it('is reported when a block conflicts with it, with its descendants, and when that block is disconnected', async () => {
    const [first, second] = [await send(), await send()];
    await turns();
    reported.length = 0;
    const input = { prevout: first.coin, scriptSig: Buffer.of(1), sequence: 0xffffffff, witness: [] };
    const outputs = [{ value: COIN, script: OTHER }];
    node.mine(undefined, [{ version: 2, inputs: [input], outputs, lockTime: 0 }]);
    await turns();
    const against = confirmationsReported().filter(([, confirmations]) => confirmations < 0);
    expect(against).toEqual([
      [first.id, -1],
      [second.id, -1],
    ]);
    expect(of('balance')).toHaveLength(1);
    reported.length = 0;
    node.disconnect();
    await turns();
    expect(confirmationsReported().filter(([id]) => [first.id, second.id].includes(id))).toEqual([
      [first.id, 0],
      [second.id, 0],
    ]);
  });

  it('changes no reported balance during a reorganisation', async () => {
    const { id } = await send();
    await turns();
    reported.length = 0;
    let end = (): void => undefined;
    node.reorganisation = new Promise((resolve) => (end = resolve));
    const txid = Buffer.from(id, 'hex').reverse();
    const tx = node.port.mempool.transaction(txid)!;
    node.dropFromMempool(txid);
    watch.transactionRemoved({ txid }, 'reorg');
    await turns();
    node.addToMempool(tx);
    node.reorganisation = null;
    end();
    await turns();
    expect(of('balance')).toEqual([]);
  });

  it('leaves the mempool, and only the balance reports it', async () => {
    const { id } = await send();
    await turns();
    reported.length = 0;
    const txid = Buffer.from(id, 'hex').reverse();
    node.dropFromMempool(txid);
    watch.transactionRemoved({ txid }, 'block');
    watch.transactionRemoved({ txid: Buffer.alloc(32) }, 'expiry');
    await turns();
    expect(reported).toEqual([]);
    watch.transactionRemoved({ txid }, 'expiry');
    await turns();
    expect(reported).toMatchObject([{ event: 'balance', balance: 0 }]);
  });

  it('is reported when it is abandoned, with its descendants', async () => {
    const [first, second] = [await send(), await send()];
    await turns();
    const { wallet } = opened;
    for (const { id } of [second, first]) node.dropFromMempool(Buffer.from(id, 'hex').reverse());
    reported.length = 0;
    const entry = wallet.ledger.find(Buffer.from(first.id, 'hex').reverse())!;
    await wallet.change((batch) => wallet.ledger.abandon(batch, entry));
    await turns();
    expect(of('transaction')).toMatchObject([
      { txid: first.id, abandoned: true },
      { txid: second.id, abandoned: true },
    ]);
    expect(of('balance')).toMatchObject([{ balance: 5 }]);
  });
});

describe('a block with claims', () => {
  it('is reported with those whose output belongs to the wallet', async () => {
    const [entry] = [...opened.wallet.ledger.all()];
    const own = Buffer.from(entry!.key, 'latin1');
    expect(entry!.outputs[0]!.mine & MINE.spendable).not.toBe(0);
    const claims = [
      { event: { txid: own, n: 0 }, json: '{"name":"own"}' },
      { event: { txid: own, n: 1 }, json: '{"name":"of another output"}' },
      { event: { txid: txid({ version: 1, inputs: [], outputs: [], lockTime: 0 }), n: 0 }, json: '{}' },
      { event: {}, json: '{}' },
    ];
    watch.blockChanged({ claims } as never);
    await turns();
    expect(reported).toEqual([{ event: 'claim', wallet: '', claim: { name: 'own' } }]);
  });
});
