import { describe, expect, it } from 'vitest';
import { createChannel } from '../../../../src/daemon/txBuilding/channelBuilding.js';
import { TxBuilder, type MadeTransaction } from '../../../../src/daemon/txBuilding/txBuilder.js';
import { buyClaim } from '../../../../src/daemon/txBuilding/purchases.js';
import type { TxBuildingPorts } from '../../../../src/daemon/txBuilding/ports.js';
import { createStream } from '../../../../src/daemon/txBuilding/streamBuilding.js';
import { abandonSupports, createSupport } from '../../../../src/daemon/txBuilding/supportBuilding.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { txBuildingWorld, params, WorldWallet } from '../../../support/txBuildingWorld.js';

const LBC = 100_000_000n;
const SENT = { preview: false };

async function world(fee: Record<string, string> = {}, settings: Partial<TxBuildingPorts['settings']> = {}) {
  const made = txBuildingWorld(settings);
  const { ledger, wallet } = made;
  const [first, second] = wallet.accounts;
  for (let n = 0; n < 6; n++) ledger.give(first!.keyHash(n), 10n * LBC);
  const txBuilder = new TxBuilder(made.ports);
  const claim = { bidDewies: LBC, allowDuplicateName: false, signing: {}, fields: {} };
  await createChannel(txBuilder, wallet, { ...claim, name: '@lab' }, SENT);
  const options = { ...SENT, claimAddress: second!.address(7) };
  const signing = { channelName: '@lab' };
  const stream = await createStream(
    txBuilder,
    wallet,
    { ...claim, name: 'note', fields: fee, signing },
    options,
  );
  const claimId = hashToHex(stream.outputs[0]!.claimId!);
  const support = (more: object = {}) =>
    createSupport(
      txBuilder,
      wallet,
      { claimId, amountDewies: LBC, isTip: false, comment: undefined, signing: {}, ...more },
      SENT,
    );
  const buy = (more: object = {}) =>
    buyClaim(
      txBuilder,
      wallet,
      { claimId, allowDuplicatePurchase: false, overrideMaxKeyFee: false, ...more },
      SENT,
    );
  return { ...made, first: first!, second: second!, txBuilder, claimId, support, buy };
}

const keyHashOf = ({ outputs: [txo] }: MadeTransaction) => txo!.read?.values['pubkey_hash'];

describe('a support', () => {
  it('remains with its sender, or is given to the owner of the claim', async () => {
    const { support, first, second } = await world();
    const kept = await support();
    const given = await support({ isTip: true });
    expect([kept.outputs[0]!.isSupport, kept.outputs[0]!.hasSupportData]).toEqual([true, false]);
    expect(keyHashOf(given)).toEqual(second.keyHash(7));
    expect(first.privateKeyOf(keyHashOf(kept)!)).not.toBeNull();
  });

  it('contains a comment, signed or not', async () => {
    const { support } = await world();
    const bare = await support({ comment: 'hello' });
    const signed = await support({ comment: '𝒜', signing: { channelName: '@lab' } });
    const silent = await support({ signing: { channelName: '@lab' } });
    expect([bare, signed, silent].map(({ outputs: [txo] }) => txo!.support!.support.comment)).toEqual([
      'hello',
      '𝒜',
      '',
    ]);
    for (const { outputs } of [signed, silent])
      expect(outputs[0]!.isSignedBy(outputs[0]!.notes.channel!, params)).toBe(true);
    expect(bare.outputs[0]!.channelId).toBeNull();
  });

  it('is added to a claim that the index returns', async () => {
    const { support } = await world();
    await expect(support({ claimId: '00'.repeat(20) })).rejects.toThrow(
      `Could not find claim with claim_id '${'00'.repeat(20)}'.`,
    );
    await expect(support({ claimId: 'x' })).rejects.toThrow("Could not find claim with claim_id 'x'.");
  });

  it('is spent again, whole or in part', async () => {
    const { ledger, txBuilder, wallet, support, claimId } = await world();
    await support();
    await support();
    const abandon = (choice: object) =>
      abandonSupports(txBuilder, wallet, { keepDewies: 0n, ...choice }, SENT);
    const kept = await abandon({ claimId, keepDewies: LBC / 2n });
    expect([kept.tx.inputs.length, kept.outputs[0]!.isSupport, kept.outputs[0]!.amountDewies]).toEqual([
      2,
      true,
      LBC / 2n,
    ]);
    const rest = await abandon({ txid: kept.outputs[0]!.txidHex, nout: 0 });
    expect([rest.tx.inputs.length, rest.outputs.length]).toEqual([1, 1]);
    await expect(abandon({ claimId })).rejects.toThrow(
      'No supports found for the specified claim_id or txid:nout',
    );
    await expect(abandon({})).rejects.toThrow('Must specify claim_id, or txid and nout');
    expect(ledger.reserved).toEqual([]);
  });
});

describe('a purchase', () => {
  const FEE = { fee_currency: 'usd', fee_amount: '1.0' };

  it('pays the price with a receipt, once', async () => {
    const { buy, claimId, second } = await world(FEE);
    const made = await buy();
    expect([made.outputs[0]!.amountDewies, made.outputs[1]!.isData]).toEqual([20n * LBC, true]);
    expect(keyHashOf(made)).toEqual(second.keyHash(7));
    await expect(buy()).rejects.toMatchObject({
      name: 'AlreadyPurchasedError',
      message: `You already have a purchase for claim_id '${claimId}'. Use`,
    });
    await buy({ allowDuplicatePurchase: true });
  });

  it('is paid once in concurrent calls', async () => {
    const { buy, ledger } = await world(FEE);
    const sent = ledger.broadcasts.length;
    const all = await Promise.allSettled([
      buy(),
      buy({ claimId: undefined, url: 'lbry://@lab/note' }),
      buy(),
    ]);
    expect(all.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect([ledger.broadcasts.length - sent, ledger.reserved]).toEqual([1, []]);
  });

  it('can be requested by the URL of a claim', async () => {
    const { buy } = await world(FEE);
    expect((await buy({ claimId: undefined, url: 'lbry://@lab/note' })).outputs).toHaveLength(3);
    await expect(buy({ claimId: undefined, url: 'lbry://none' })).rejects.toThrow(
      "Could not find claim with url 'lbry://none'.",
    );
    await expect(buy({ claimId: undefined, url: 'not a url' })).rejects.toThrow("with url 'not a url'.");
    await expect(buy({ claimId: undefined })).rejects.toThrow('Missing argument claim_id or url.');
    await expect(buy({ claimId: '00'.repeat(20) })).rejects.toThrow('Could not find claim with claim_id');
  });

  it('costs at most the limit of the setting, unless that is overridden', async () => {
    const { buy } = await world(FEE, { maxKeyFee: { currency: 'USD', amount: '0.5' } });
    await expect(buy()).rejects.toMatchObject({
      name: 'KeyFeeAboveMaxAllowedError',
      message: 'Purchase price of 20.0 LBC (1 USD) exceeds maximum configured price of 10.0 LBC (0.5 USD).',
    });
    expect((await buy({ overrideMaxKeyFee: true })).outputs[0]!.amountDewies).toBe(20n * LBC);
  });

  it('is refused if the limit cannot be converted to LBC', async () => {
    const { buy } = await world(FEE, { maxKeyFee: { currency: 'BTC', amount: '50.0' } });
    await expect(buy()).rejects.toMatchObject({
      name: 'CurrencyConversionError',
      message: expect.stringMatching(
        /^Unable to convert 50 from BTC to LBC, .*cannot be compared with the setting 'max_key_fee'/,
      ) as string,
    });
    expect((await buy({ overrideMaxKeyFee: true })).outputs[0]!.amountDewies).toBe(20n * LBC);
  });

  it('requires a price, and a currency with a rate', async () => {
    const free = await world();
    await expect(free.buy()).rejects.toThrow(`Claim '${free.claimId}' does not have a purchase price.`);
    const { buy } = await world({ fee_currency: 'btc', fee_amount: '1.0' });
    await expect(buy()).rejects.toMatchObject({ name: 'CurrencyConversionError' });
  });

  it('is paid by accounts with enough coins', async () => {
    const { ledger, txBuilder, claimId } = await world(FEE);
    const poor = new WorldWallet(ledger, ['only one poor seed']);
    await expect(
      buyClaim(txBuilder, poor, { claimId, allowDuplicatePurchase: false, overrideMaxKeyFee: false }, SENT),
    ).rejects.toThrow('Not enough funds');
    poor.isLocked = true;
    await expect(
      buyClaim(txBuilder, poor, { claimId, allowDuplicatePurchase: false, overrideMaxKeyFee: false }, SENT),
    ).rejects.toMatchObject({ name: 'AssertionError' });
  });
});
