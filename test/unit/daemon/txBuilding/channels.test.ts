import { describe, expect, it } from 'vitest';
import { createChannel, updateChannel } from '../../../../src/daemon/txBuilding/channelBuilding.js';
import { exportChannel, importChannel, signData } from '../../../../src/daemon/txBuilding/channelSharing.js';
import { abandonClaims } from '../../../../src/daemon/txBuilding/claimBuilding.js';
import { TxBuilder, type MadeTransaction } from '../../../../src/daemon/txBuilding/txBuilder.js';
import type { ClaimArguments } from '../../../../src/daemon/txBuilding/claimArguments.js';
import { isChannelSignatureValid } from '../../../../src/metadata/channelSignature.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import { encodeBase58 } from '../../../../src/script/base58.js';
import { hashToHex, toHex } from '../../../../src/util/bytes.js';
import { JsonObject, type JsonValue } from '../../../../src/util/json/json.js';
import { TXO_TYPE } from '../../../../src/daemon/ledger/txoQuery.js';
import { txBuildingWorld, WorldWallet } from '../../../support/txBuildingWorld.js';

const LBC = 100_000_000n;
const SENT = { preview: false };

function world(coins = 4) {
  const made = txBuildingWorld();
  const [first, second] = made.wallet.accounts;
  for (let n = 0; n < coins; n++) made.ledger.give(first!.keyHash(n), 10n * LBC);
  const txBuilder = new TxBuilder(made.ports);
  const create = (name: string, more: object = {}, options: object = SENT, fields: ClaimArguments = {}) =>
    createChannel(
      txBuilder,
      made.wallet,
      { name, bidDewies: LBC, allowDuplicateName: false, fields, ...more },
      { ...SENT, ...options },
    );
  const update = (claimId: string, more: object = {}, options: object = {}, fields: ClaimArguments = {}) =>
    updateChannel(
      txBuilder,
      made.wallet,
      { claimId, bidDewies: undefined, replace: false, newSigningKey: false, fields, ...more },
      { ...SENT, ...options },
    );
  return { ...made, first: first!, second: second!, txBuilder, create, update };
}

const idOf = (made: MadeTransaction): string => hashToHex(made.outputs[0]!.claimId!);

function channelIn({ outputs: [txo] }: MadeTransaction) {
  const claim = txo!.claim!.claim;
  if (claim.type.case !== 'channel') throw new Error('no channel');
  return { claim, channel: claim.type.value };
}

describe('a channel', () => {
  it('is saved in the wallet before it is sent', async () => {
    const { ledger, wallet, create } = world();
    const made = await create('@lab', {}, {}, { title: 'The Lab', tags: ['Art', '#music'] });
    const { claim, channel } = channelIn(made);
    expect([claim.title, claim.tags, channel.publicKey.length]).toEqual(['The Lab', ['art', 'music'], 33]);
    expect([wallet.saves, ledger.broadcasts.length]).toEqual([[0], 1]);
    expect(made.outputs[0]!.notes.hasSigningKey).toBe(true);
  });

  it('is not sent where the wallet cannot be saved', async () => {
    const { ledger, wallet, create } = world();
    wallet.failsToSave = true;
    await expect(create('@lab')).rejects.toThrow('disk full');
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([0, []]);
  });

  it('has its own key, also in concurrent calls', async () => {
    const { create } = world();
    const made = await Promise.all(['@a', '@b', '@c', '@d'].map((name) => create(name)));
    const keys = made.map((one) => toHex(channelIn(one).channel.publicKey));
    expect(new Set(keys).size).toBe(4);
  });

  it('is refused with an invalid name, bid or address', async () => {
    const { ledger, wallet, create, second } = world();
    await expect(create('lab')).rejects.toThrow("Channel names must start with '@' symbol.");
    await expect(create('@lab', { bidDewies: 1000n * LBC })).rejects.toThrow('Not enough funds');
    await expect(create('@lab', { bidDewies: 40n * LBC })).rejects.toThrow('Not enough funds');
    await expect(create('@lab', {}, { claimAddress: 'nope' })).rejects.toThrow(
      "'nope' is not a valid address",
    );
    await expect(create('@lab', {}, { accountId: 'nope' })).rejects.toThrow("Couldn't find account: nope.");
    await expect(create('@lab', {}, { fundingAccountIds: [second.id] })).rejects.toThrow('Not enough funds');
    await expect(create('@lab', {}, {}, { title: null })).rejects.toMatchObject({
      name: 'InputValueIsNoneError',
    });
    await expect(create('@lab', {}, {}, { languages: ['xx'] })).rejects.toMatchObject({ name: 'ValueError' });
    wallet.isLocked = true;
    await expect(create('@lab')).rejects.toMatchObject({ name: 'AssertionError' });
    expect([ledger.broadcasts.length, ledger.reserved, wallet.saves]).toEqual([0, [], []]);
  });

  it('has the name of another one only on request', async () => {
    const { create } = world();
    await create('@lab');
    await expect(create('@lab')).rejects.toThrow(
      "You already have a channel under the name '@lab'. Use --allow-duplicate-name flag to override.",
    );
    await create('@lab', { allowDuplicateName: true });
  });

  it('has a unique name, also in concurrent calls', async () => {
    const { ledger, create } = world();
    const all = await Promise.allSettled(Array.from({ length: 3 }, () => create('@lab')));
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([1, []]);
  });

  it('leaves nothing behind after a preview', async () => {
    const { ledger, wallet, create } = world();
    const shown = await create('@lab', {}, { preview: true });
    const sent = await create('@lab');
    expect(channelIn(sent).channel.publicKey).toEqual(channelIn(shown).channel.publicKey);
    expect(sent.reserved).toEqual(shown.reserved);
    expect([ledger.broadcasts.length, ledger.reserved, wallet.saves]).toEqual([1, [], [0]]);
  });
});

describe('an update of a channel', () => {
  it('keeps fields that are not given', async () => {
    const { create, update } = world();
    const made = await create('@lab', {}, {}, { title: 'Old', tags: ['a'], email: 'a@b' });
    const changed = await update(idOf(made), {}, {}, { title: 'New', clear_tags: true, tags: ['b'] });
    const { claim, channel } = channelIn(changed);
    expect([claim.title, claim.tags, channel.email]).toEqual(['New', ['b'], 'a@b']);
    expect(channel.publicKey).toEqual(channelIn(made).channel.publicKey);
    expect(changed.outputs[0]!.amountDewies).toBe(LBC);
    expect(changed.outputs[0]!.read?.values['pubkey_hash']).toEqual(
      made.outputs[0]!.read?.values['pubkey_hash'],
    );
    expect(changed.spent[0]!.claimName).toBe('@lab');
  });

  it('removes all except the key to replace it', async () => {
    const { create, update } = world();
    const made = await create('@lab', {}, {}, { title: 'Old', tags: ['a'], email: 'a@b' });
    const { claim, channel } = channelIn(await update(idOf(made), { replace: true }, {}, { tags: ['c'] }));
    expect([claim.title, claim.tags, channel.email]).toEqual(['', ['c'], '']);
    expect(channel.publicKey).toEqual(channelIn(made).channel.publicKey);
  });

  it('sets a new key, bid and address', async () => {
    const { create, update, second } = world();
    const made = await create('@lab');
    const changed = await update(
      idOf(made),
      { newSigningKey: true, bidDewies: 3n * LBC },
      { claimAddress: second.address(0) },
    );
    const [first] = changed.outputs;
    expect(toHex(channelIn(changed).channel.publicKey)).not.toBe(toHex(channelIn(made).channel.publicKey));
    expect(first!.read?.values['pubkey_hash']).toEqual(second.keyHash(0));
    expect([first!.amountDewies, first!.notes.hasSigningKey]).toEqual([3n * LBC, true]);
  });

  it('waits for another one of the same channel', async () => {
    const { create, update } = world();
    const id = idOf(await create('@lab'));
    const all = await Promise.all(['a', 'b', 'c'].map((title) => update(id, {}, {}, { title })));
    const spent = all.map(({ spent: [txo] }) => `${txo!.txidHex}:${txo!.nout}`);
    expect(new Set(spent).size).toBe(3);
  });

  it('applies to a channel of the given accounts', async () => {
    const { wallet, create, update, first, second } = world();
    const id = idOf(await create('@lab'));
    await expect(update('00'.repeat(20))).rejects.toThrow(
      `Can't find the channel '${'00'.repeat(20)}' in account(s) '${first.id}', '${second.id}'.`,
    );
    await expect(update(id, {}, { accountId: second.id })).rejects.toThrow(
      `Can't find the channel '${id}' in account(s) '${second.id}'.`,
    );
    await expect(update(id, {}, { claimAddress: 'nope' })).rejects.toThrow("'nope' is not a valid address");
    wallet.isLocked = true;
    await expect(update(id)).rejects.toMatchObject({ name: 'AssertionError' });
  });
});

describe('abandoning', () => {
  it('spends the claim, by its id or its outpoint', async () => {
    const { ledger, wallet, txBuilder, create, first } = world();
    const made = [await create('@a'), await create('@b')];
    const options = { ...SENT, fundingIsAll: false };
    const byId = await abandonClaims(txBuilder, wallet, { claimId: idOf(made[0]!) }, options);
    const place = { txid: made[1]!.outputs[0]!.txidHex, nout: 0 };
    await abandonClaims(txBuilder, wallet, place, options);
    expect(byId.outputs.map(({ amountDewies }) => amountDewies)).toEqual([LBC - 7_400n - 500n - 2_800n]);
    expect(
      await ledger.database.txos({ accountIds: [first.id], types: [TXO_TYPE.channel], isSpent: false }),
    ).toEqual([]);
  });

  it('reports missing arguments', async () => {
    const { txBuilder, wallet } = world();
    const abandon = (choice: object) =>
      abandonClaims(txBuilder, wallet, choice, { ...SENT, fundingIsAll: true });
    await expect(abandon({})).rejects.toThrow('Must specify claim_id, or txid and nout');
    await expect(abandon({ txid: '00' })).rejects.toThrow('Must specify claim_id, or txid and nout');
    await expect(abandon({ claimId: '00'.repeat(20) })).rejects.toThrow(
      'No claim found for the specified claim_id or txid:nout',
    );
    await expect(abandon({ txid: 'zz', nout: 0 })).rejects.toThrow('No claim found');
  });
});

describe('the key of a channel', () => {
  it('signs data with the time, or the given salt', async () => {
    const { txBuilder, wallet, create } = world();
    const made = await create('@lab');
    const { signature, salt } = await signData(txBuilder, wallet, { channelName: '@lab' }, '00ff', undefined);
    expect(salt).toBe('1700000000');
    const digest = sha256(Buffer.concat([Buffer.from(salt), made.outputs[0]!.claimId!, Buffer.of(0, 0xff)]));
    const { publicKey } = channelIn(made).channel;
    expect(isChannelSignatureValid(digest, Buffer.from(signature, 'hex'), publicKey)).toBe(true);
    await expect(signData(txBuilder, wallet, { channelName: '@lab' }, 'zz', 'x')).rejects.toThrow(
      'hex digits',
    );
    await expect(signData(txBuilder, wallet, { channelName: '@lab' }, 'é', 'x')).rejects.toMatchObject({
      name: 'ValueError',
    });
    await expect(signData(txBuilder, wallet, { channelName: '@lab' }, undefined, 'x')).rejects.toThrow(
      'hex digits',
    );
    await expect(signData(txBuilder, wallet, { channelName: '@no' }, '', 'x')).rejects.toThrow(
      "Couldn't find channel with channel_name '@no'.",
    );
    await expect(signData(txBuilder, wallet, {}, '', 'x')).rejects.toThrow(
      "Couldn't find channel because a channel_id or channel_name was not provided.",
    );
    await create('@lab', { allowDuplicateName: true });
    await expect(signData(txBuilder, wallet, { channelName: '@lab' }, '', 'x')).rejects.toThrow(
      "Multiple channels found with channel_name '@lab', pass a channel_id to narrow it down.",
    );
    wallet.isLocked = true;
    await expect(signData(txBuilder, wallet, { channelName: '@lab' }, '', 'x')).rejects.toMatchObject({
      name: 'AssertionError',
    });
  });

  it('is imported from an export, into the account of the channel', async () => {
    const { txBuilder, wallet, create, first } = world();
    const made = await create('@läb');
    const text = await exportChannel(txBuilder, wallet, { channelId: idOf(made) });
    expect(await importChannel(txBuilder, wallet, text)).toBe('@läb');
    expect(first.account.channelKeys.size).toBe(1);
    expect(wallet.saves).toEqual([0, 1]);
  });

  it('is imported into another wallet, which gets an account to watch the channel', async () => {
    const { ledger, txBuilder, wallet, create } = world();
    await create('@lab');
    const text = await exportChannel(txBuilder, wallet, { channelName: '@lab' });
    const other = new WorldWallet(ledger, []);
    const add = other.addAccount.bind(other);
    const added: JsonValue[] = [];
    other.addAccount = (json) => {
      added.push(json.get('certificates')!);
      return add(json);
    };
    await importChannel(txBuilder, other, text);
    const [account] = other.accounts;
    // Key and account are saved together, so a kill leaves both or neither.
    expect(added).toEqual([new JsonObject([...account!.account.channelKeys])]);
    expect(account!.account.channelKeys.size).toBe(1);
    expect(account!.account.name).toBe('Holding Account For Channel @lab');
    expect(account!.account.root.privateKey).toBeNull();
    const { signature } = await signData(txBuilder, other, { channelName: '@lab' }, '', '1');
    expect(signature).toHaveLength(128);
    await importChannel(txBuilder, other, text);
    expect(other.accounts).toHaveLength(1);
    await expect(
      abandonClaims(
        txBuilder,
        other,
        { txid: undefined, claimId: '00'.repeat(20) },
        { ...SENT, fundingIsAll: true },
      ),
    ).rejects.toThrow('No claim found');
  });

  it('is imported with watch-only coins, which are not spent', async () => {
    const { ledger, txBuilder, wallet, create } = world();
    await create('@lab');
    const other = new WorldWallet(ledger, [
      'zebra zero zone wrong write yard year yellow you young youth zoo',
    ]);
    await importChannel(txBuilder, other, await exportChannel(txBuilder, wallet, { channelName: '@lab' }));
    const [own, watched] = other.accounts;
    expect([own!.isSpendable, watched!.isSpendable]).toEqual([true, false]);
    for (let n = 0; n < 9; n++) ledger.give(watched!.keyHash(0), 10n * LBC);
    const plan = { name: '@mine', bidDewies: LBC, allowDuplicateName: false, fields: {} };
    await expect(createChannel(txBuilder, other, plan, SENT)).rejects.toThrow('Not enough funds');
    ledger.give(own!.keyHash(0), 10n * LBC);
    const { spent } = await createChannel(txBuilder, other, plan, SENT);
    expect(spent.map((txo) => txo!.amountDewies)).toEqual([10n * LBC]);
    await expect(
      createChannel(
        txBuilder,
        other,
        { ...plan, name: '@theirs' },
        { ...SENT, fundingAccountIds: [watched!.id] },
      ),
    ).rejects.toThrow('Cannot get private key');
  });

  it('is useless if another user owns the channel', async () => {
    const { ledger, txBuilder, wallet, create, update } = world();
    const made = await create('@lab');
    const text = await exportChannel(txBuilder, wallet, { channelName: '@lab' });
    await update(idOf(made), {}, { claimAddress: wallet.accounts[1]!.address(5) });
    const other = new WorldWallet(ledger, []);
    await expect(importChannel(txBuilder, other, text)).rejects.toThrow('Channel owning account has changed');
    expect(other.accounts).toEqual([]);
  });

  it('is not read from other data', async () => {
    const { txBuilder, wallet } = world();
    const of = (text: string): string => encodeBase58(Buffer.from(text));
    for (const text of [
      'nonsense',
      '',
      '0OIl',
      of('[]'),
      of('{'),
      of('{}'),
      of('{"name":1}'),
      'z'.repeat(20_000),
    ])
      await expect(importChannel(txBuilder, wallet, text), text.slice(0, 20)).rejects.toMatchObject({
        name: 'ValueError',
      });
  });
});

describe('an expired claim', () => {
  const expired = async () => {
    const made = world();
    const channel = await made.create('@old');
    const [txo] = channel.outputs;
    const kept = [...made.ledger.kept.values()].find(
      (one) => one.txo.txidHex === txo!.txidHex && one.txo.nout === 0,
    )!;
    Object.assign(kept.txo, { height: 10 });
    made.ledger.height = 10 + made.ledger.params.network.claimForks.originalExpiration;
    return { ...made, id: idOf(channel) };
  };

  it('is not updated, because an update would cost a fee without an effect', async () => {
    const { ledger, ports, update, id } = await expired();
    const sent = ledger.broadcasts.length;
    Object.assign(ports.claims, { byId: () => Promise.resolve(null) });
    await expect(update(id)).rejects.toThrow(
      `The claim '${id}' expired at height ${ledger.height}: an update would be paid for and have no effect. Get its amount ` +
        `back with txo_spend --type=channel --claim_id=${id}, and claim the name again.`,
    );
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([sent, []]);
    ledger.height--;
    await update(id);
  });

  it('is updated while the hub still finds it, because its chain may have another term', async () => {
    const { ledger, update, id } = await expired();
    const sent = ledger.broadcasts.length;
    await update(id);
    expect(ledger.broadcasts.length).toBe(sent + 1);
  });
});
