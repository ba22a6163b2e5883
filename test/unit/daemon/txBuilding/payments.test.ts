import { describe, expect, it } from 'vitest';
import { TxBuilder } from '../../../../src/daemon/txBuilding/txBuilder.js';
import {
  depositTimeLock,
  fundAccount,
  sendPayment,
  spendOutputs,
} from '../../../../src/daemon/txBuilding/payments.js';
import { payScriptHash } from '../../../../src/daemon/wallet/tx/newOutputs.js';
import { hash160 } from '../../../../src/crypto/hash.js';
import { encodeBase58Check } from '../../../../src/script/base58.js';
import { toHex } from '../../../../src/util/bytes.js';
import { txBuildingWorld, params, publicKeyOf } from '../../../support/txBuildingWorld.js';

const LBC = 100_000_000n;
const SENT = { preview: false };
const PREVIEW = { preview: true };

function world(coins: readonly bigint[] = [10n * LBC]) {
  const made = txBuildingWorld();
  const [first, second] = made.wallet.accounts;
  coins.forEach((amount, index) => made.ledger.give(first!.keyHash(index % 10), amount));
  return { ...made, first: first!, second: second!, txBuilder: new TxBuilder(made.ports) };
}

const outputsOf = (made: { readonly outputs: readonly { readonly amountDewies: bigint }[] }): bigint[] =>
  made.outputs.map(({ amountDewies }) => amountDewies);

describe('sending', () => {
  it('pays each address the amount and creates change', async () => {
    const { ledger, wallet, txBuilder, second } = world();
    const payment = { amountDewies: LBC, addresses: [second.address(0), second.address(1)] };
    const made = await sendPayment(txBuilder, wallet, payment, SENT);
    expect(outputsOf(made)).toEqual([LBC, LBC, 8n * LBC - 14_100n]);
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([1, []]);
    expect(made.spent.map((txo) => txo?.amountDewies)).toEqual([10n * LBC]);
  });

  it('keeps nothing after a preview', async () => {
    const { ledger, wallet, txBuilder, first, second } = world();
    const payment = { amountDewies: LBC, addresses: [second.address(0)] };
    const shown = await sendPayment(txBuilder, wallet, payment, PREVIEW);
    const sent = await sendPayment(txBuilder, wallet, payment, SENT);
    expect(shown.tx).toEqual(sent.tx);
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([1, []]);
    expect(first.changeInHand.size).toBe(0);
    await fundAccount(
      txBuilder,
      wallet,
      { toAccount: second.id, amountDewies: LBC, everything: false, outputs: 1 },
      PREVIEW,
    );
    expect(first.changeInHand.size + second.changeInHand.size).toBe(0);
  });

  it.each(['prefer_confirmed', 'sqlite', 'random_draw'] as const)(
    'leaves a long chain of unconfirmed transactions alone while other coins suffice (%s)',
    async (strategy) => {
      const { ledger, ports, wallet, first, second } = world([]);
      for (const amount of [3n, 4n]) ledger.give(first.keyHash(0), amount * LBC, 0);
      ledger.longChains = [0];
      const txBuilder = new TxBuilder({ ...ports, settings: { ...ports.settings, strategy } });
      const pay = (amountDewies: bigint) =>
        sendPayment(txBuilder, wallet, { amountDewies, addresses: [second.address(0)] }, PREVIEW);
      expect((await pay(LBC)).spent.map((txo) => txo?.amountDewies)).toEqual([4n * LBC]);
      expect((await pay(6n * LBC)).spent).toHaveLength(2);
      await expect(pay(8n * LBC)).rejects.toThrow('Not enough funds');
    },
  );

  it('uses no coin twice in concurrent calls', async () => {
    const { ledger, wallet, txBuilder, second } = world(Array.from({ length: 8 }, () => 2n * LBC));
    const payment = { amountDewies: LBC, addresses: [second.address(0)] };
    const all = await Promise.all(
      Array.from({ length: 8 }, () => sendPayment(txBuilder, wallet, payment, SENT)),
    );
    const inputs = all.flatMap(({ reserved }) => reserved.map((ref) => `${toHex(ref.txid)}:${ref.nout}`));
    expect([new Set(inputs).size, ledger.broadcasts.length]).toEqual([inputs.length, 8]);
    await expect(
      sendPayment(txBuilder, wallet, { ...payment, amountDewies: 17n * LBC }, SENT),
    ).rejects.toThrow('Not enough funds');
    expect(ledger.reserved).toEqual([]);
  });

  it('refuses invalid arguments, and frees reserved coins', async () => {
    const { ledger, wallet, txBuilder, second } = world();
    const send = (amountDewies: bigint, addresses: string[], more = {}) =>
      sendPayment(txBuilder, wallet, { amountDewies, addresses, ...more }, SENT);
    await expect(send(LBC, ['nope'])).rejects.toThrow("'nope' is not a valid address");
    await expect(send(LBC, [])).rejects.toThrow('At least one address is required.');
    await expect(send(10n * LBC, [second.address(0)])).rejects.toMatchObject({
      name: 'InsufficientFundsError',
      message: 'Not enough funds to cover this transaction.',
    });
    await expect(send(LBC, [second.address(0)], { fundingAccountIds: ['who'] })).rejects.toThrow(
      "Couldn't find account: who.",
    );
    // An empty id, as from a script with an empty variable, does not select the default account.
    await expect(send(LBC, [second.address(0)], { changeAccountId: '' })).rejects.toThrow(
      "Couldn't find account: .",
    );
    for (const accounts of [{ toAccount: '' }, { toAccount: second.id, fromAccount: '' }])
      await expect(
        fundAccount(
          txBuilder,
          wallet,
          { ...accounts, amountDewies: LBC, everything: false, outputs: 1 },
          PREVIEW,
        ),
      ).rejects.toThrow("Couldn't find account: .");
    await expect(send(LBC, [second.address(0)], { fundingAccountIds: [second.id] })).rejects.toThrow(
      'Not enough funds',
    );
    ledger.refusal = new Error('the transaction was rejected by network rules.');
    await expect(send(LBC, [second.address(0)])).rejects.toThrow('rejected by network rules');
    ledger.refusal = null;
    wallet.isLocked = true;
    await expect(send(LBC, [second.address(0)])).rejects.toThrow('Cannot spend funds with locked wallet');
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([0, []]);
  });

  it('sends change to the given account', async () => {
    const { wallet, txBuilder, first, second } = world();
    const payment = { amountDewies: LBC, addresses: [first.address(3)], changeAccountId: second.id };
    const { outputs } = await sendPayment(txBuilder, wallet, payment, SENT);
    expect(outputs[1]!.read?.values['pubkey_hash']).toEqual(second.change);
  });

  it('reports a transaction that the wallet never sees', async () => {
    const { ledger, wallet, txBuilder, second } = world();
    const payment = { amountDewies: LBC, addresses: [second.address(0)] };
    const made = await sendPayment(txBuilder, wallet, payment, SENT);
    await txBuilder.waitFor(made);
    ledger.isTaken = false;
    await expect(txBuilder.waitFor(made)).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('funding an account', () => {
  const transfer = { amountDewies: LBC, everything: false, outputs: 1 };

  it('splits the amount evenly, to a change address', async () => {
    const { ledger, wallet, txBuilder, second } = world();
    const made = await fundAccount(
      txBuilder,
      wallet,
      { ...transfer, toAccount: second.id, outputs: 3 },
      SENT,
    );
    expect(outputsOf(made).slice(0, 3)).toEqual([LBC / 3n, LBC / 3n, LBC / 3n]);
    expect(made.outputs[0]!.read?.values['pubkey_hash']).toEqual(second.change);
    expect(ledger.broadcasts).toHaveLength(1);
  });

  it('creates no empty outputs', async () => {
    const { ledger, wallet, txBuilder } = world();
    const split = (amountDewies: bigint, outputs: number) =>
      fundAccount(txBuilder, wallet, { ...transfer, amountDewies, outputs }, PREVIEW);
    await expect(split(2n, 3)).rejects.toThrow('The amount is too small to be split into 3 outputs.');
    expect(outputsOf(await split(3n, 3)).slice(0, 3)).toEqual([1n, 1n, 1n]);
    for (const count of [0, -1, 2901])
      await expect(split(LBC, count)).rejects.toThrow('--outputs must be an integer from 1 to 2900.');
    expect(ledger.reserved).toEqual([]);
  });

  it('moves all spendable outputs, and no claims', async () => {
    const { ledger, wallet, txBuilder, second } = world([LBC, 2n * LBC]);
    const made = await fundAccount(
      txBuilder,
      wallet,
      { ...transfer, toAccount: second.id, everything: true },
      SENT,
    );
    expect([made.tx.inputs.length, outputsOf(made)]).toEqual([2, [3n * LBC - 14_800n - 500n - 2800n]]);
    const left = await ledger.database.spendable([wallet.accounts[0]!.id]);
    expect(left).toEqual([]);
  });

  it('refuses invalid arguments', async () => {
    const { ledger, wallet, txBuilder } = world();
    const fund = (more: object) => fundAccount(txBuilder, wallet, { ...transfer, ...more }, SENT);
    await expect(fund({ amountDewies: 0n })).rejects.toThrow('An amount is required.');
    await expect(fund({ outputs: 0 })).rejects.toThrow('--outputs must be an integer from 1');
    await expect(fund({ everything: true, outputs: 2 })).rejects.toThrow(
      'Using --everything along with --outputs is not supported.',
    );
    await expect(fund({ toAccount: 'who' })).rejects.toThrow("Couldn't find account: who.");
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([0, []]);
  });

  it('reports that there is nothing to move', async () => {
    const { wallet, txBuilder, second } = world([]);
    const all = { ...transfer, fromAccount: second.id, everything: true };
    await expect(fundAccount(txBuilder, wallet, all, SENT)).rejects.toThrow('Not enough funds');
  });
});

describe('a time lock', () => {
  const secret = Buffer.alloc(32, 5);
  const wif = (key: Buffer): string =>
    encodeBase58Check(Buffer.concat([Buffer.of(params.addressPrefixes.secretKey), key, Buffer.of(1)]));
  const lockOf = (height: string, hash: Buffer): Buffer =>
    Buffer.from(`${height}b17576a914${toHex(hash)}88ac`, 'hex');
  const script = lockOf('02e803', hash160(publicKeyOf(secret)));

  it('is spent into the account', async () => {
    const { ledger, wallet, txBuilder, second } = world([]);
    const locked = ledger.giveOutput(payScriptHash(LBC, hash160(script)).script, LBC);
    const deposit = {
      txid: locked.txidHex,
      nout: 0,
      redeemScript: toHex(script),
      privateKey: wif(secret),
      toAccount: second.id,
    };
    const { tx, outputs } = await depositTimeLock(txBuilder, wallet, deposit, SENT);
    expect([tx.lockTime, tx.inputs[0]!.sequence]).toEqual([1000, 0xffffffff - 1]);
    expect(outputs.map((txo) => txo.read?.values['pubkey_hash'])).toEqual([second.change]);
  });

  it('is not spent if script, key or output do not match', async () => {
    const { ledger, wallet, txBuilder } = world([]);
    const locked = ledger.giveOutput(payScriptHash(LBC, hash160(script)).script, LBC);
    const good = { txid: locked.txidHex, nout: 0, redeemScript: toHex(script), privateKey: wif(secret) };
    const deposit = (more: object) => depositTimeLock(txBuilder, wallet, { ...good, ...more }, SENT);
    const other = lockOf('02e903', hash160(publicKeyOf(secret)));
    await expect(deposit({ txid: '00'.repeat(32) })).rejects.toThrow('transaction not found');
    await expect(deposit({ txid: 'x' })).rejects.toThrow("'x' is not a transaction id.");
    await expect(deposit({ nout: 1 })).rejects.toThrow('has no output 1');
    await expect(deposit({ redeemScript: 'zz' })).rejects.toThrow('not hex');
    await expect(deposit({ redeemScript: '51' })).rejects.toThrow('not a time lock');
    await expect(deposit({ redeemScript: toHex(other) })).rejects.toThrow(
      'does not pay to the redeem script',
    );
    await expect(deposit({ privateKey: wif(Buffer.alloc(32, 6)) })).rejects.toThrow(
      'does not match the redeem script',
    );
    await expect(deposit({ privateKey: 'nonsense' })).rejects.toThrow('wallet import format');
  });
});

describe('spending outputs into change', () => {
  it('creates a transaction per batch, the last outputs first', async () => {
    const { ledger, wallet, txBuilder } = world([LBC, 2n * LBC, 3n * LBC, 4n * LBC, 5n * LBC]);
    const made = await spendOutputs(txBuilder, wallet, { filter: { accountIds: [] }, batchSize: 2 }, SENT);
    expect(made.map(({ spent }) => spent.map((txo) => Number(txo!.amountDewies / LBC)))).toEqual([
      [5, 4],
      [3, 2],
      [1],
    ]);
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([3, []]);
  });

  it('frees all after a preview, and unsent ones after a failure', async () => {
    const { ledger, wallet, txBuilder } = world([LBC, 2n * LBC, 3n * LBC]);
    await spendOutputs(txBuilder, wallet, { filter: { accountIds: [] }, batchSize: 1 }, PREVIEW);
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([0, []]);
    ledger.beforeTaking = () => {
      if (ledger.broadcasts.length === 1) ledger.refusal = new Error('no more');
      return Promise.resolve();
    };
    await expect(
      spendOutputs(txBuilder, wallet, { filter: { accountIds: [] }, batchSize: 1 }, SENT),
    ).rejects.toThrow('no more');
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([1, []]);
  });

  it('refuses batches that no node accepts', async () => {
    const { wallet, txBuilder } = world();
    for (const batchSize of [0, -1, 1000])
      await expect(
        spendOutputs(txBuilder, wallet, { filter: { accountIds: [] }, batchSize }, SENT),
      ).rejects.toThrow('--batch_size must be an integer from 1 to');
  });
});

describe('transactions beyond what nodes relay', () => {
  it('use as few coins as possible instead', async () => {
    const coins = [
      ...Array.from({ length: 3_000 }, () => LBC / 1_000n),
      ...Array.from({ length: 10 }, () => LBC),
    ];
    const { ledger, wallet, txBuilder, second } = world(coins);
    const payment = { amountDewies: (LBC * 19n) / 2n, addresses: [second.address(0)] };
    const made = await sendPayment(txBuilder, wallet, payment, SENT);
    expect(made.tx.inputs.length).toBe(10);
    expect(ledger.reserved).toEqual([]);
  });

  it('are refused before they are signed, with advice', async () => {
    const { ledger, wallet, txBuilder, first, second } = world(
      Array.from({ length: 900 }, () => LBC / 1_000n),
    );
    let signatures = 0;
    const keyOf = first.privateKeyOf.bind(first);
    first.privateKeyOf = (hash) => {
      signatures++;
      return keyOf(hash);
    };
    const payment = { amountDewies: (LBC * 8n) / 10n, addresses: [second.address(0)] };
    await expect(sendPayment(txBuilder, wallet, payment, SENT)).rejects.toThrow(
      /would have \d{6} bytes, and nodes relay at most 100000: it would spend \d{3} outputs.*txo_spend with --type=other/,
    );
    const transfer = { toAccount: second.id, amountDewies: 0n, everything: true, outputs: 1 };
    await expect(fundAccount(txBuilder, wallet, transfer, SENT)).rejects.toThrow(
      'it would spend 900 outputs',
    );
    expect([signatures, ledger.broadcasts.length, ledger.reserved]).toEqual([0, 0, []]);
    expect(first.changeInHand.size + second.changeInHand.size).toBe(0);
  });
});

describe('concurrent transactions', () => {
  it('wait for the change of the others', async () => {
    const { ledger, wallet, txBuilder, second } = world();
    const payment = { amountDewies: LBC / 2n, addresses: [second.address(0)] };
    const pay = () =>
      sendPayment(txBuilder, wallet, { ...payment, fundingAccountIds: [wallet.account().id] }, SENT);
    await Promise.all(Array.from({ length: 12 }, pay));
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([12, []]);
  });

  it('wait for a preview and for one that fails', async () => {
    const { ledger, wallet, txBuilder, second } = world();
    const payment = {
      amountDewies: LBC * 9n,
      addresses: [second.address(0)],
      fundingAccountIds: [wallet.account().id],
    };
    const shown = sendPayment(txBuilder, wallet, payment, PREVIEW);
    await Promise.all([shown, sendPayment(txBuilder, wallet, payment, SENT)]);
    ledger.give(wallet.account().keyHash(1), LBC * 10n);
    ledger.beforeTaking = () => {
      ledger.beforeTaking = () => Promise.resolve();
      return Promise.reject(new Error('the hub is gone'));
    };
    const both = await Promise.allSettled([1, 2].map(() => sendPayment(txBuilder, wallet, payment, SENT)));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ledger.broadcasts.length).toBe(2);
  });

  it('fail when the change of all others is not enough', async () => {
    const { ledger, wallet, txBuilder, second } = world();
    const payment = {
      amountDewies: LBC * 4n,
      addresses: [second.address(0)],
      fundingAccountIds: [wallet.account().id],
    };
    const all = await Promise.allSettled([1, 2, 3].map(() => sendPayment(txBuilder, wallet, payment, SENT)));
    expect(all.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(ledger.reserved).toEqual([]);
  });

  it('do not wait for themselves when several are built before one is sent', async () => {
    const { ledger, wallet, txBuilder, first } = world([100_000n]);
    // The amount is below the fee for spending it, so each batch needs another coin. The wallet has only one.
    for (let n = 0; n < 2; n++) ledger.give(first.keyHash(n), 1n);
    const sweep = { accountId: first.id, filter: { accountIds: [] }, batchSize: 1 };
    await expect(spendOutputs(txBuilder, wallet, sweep, SENT)).rejects.toThrow('Not enough funds');
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([0, []]);
  });
});
