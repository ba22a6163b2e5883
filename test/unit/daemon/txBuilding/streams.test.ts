import { describe, expect, it } from 'vitest';
import { createChannel, updateChannel } from '../../../../src/daemon/txBuilding/channelBuilding.js';
import { createCollection, updateCollection } from '../../../../src/daemon/txBuilding/collectionBuilding.js';
import type { ClaimArguments } from '../../../../src/daemon/txBuilding/claimArguments.js';
import type { TxBuildingPorts } from '../../../../src/daemon/txBuilding/ports.js';
import { TxBuilder, type MadeTransaction } from '../../../../src/daemon/txBuilding/txBuilder.js';
import {
  createRepost,
  createStream,
  publish,
  updateStream,
} from '../../../../src/daemon/txBuilding/streamBuilding.js';
import { createSupport } from '../../../../src/daemon/txBuilding/supportBuilding.js';
import { formatFeeAddress } from '../../../../src/metadata/fee.js';
import { hashToHex, toHex } from '../../../../src/util/bytes.js';
import { txBuildingWorld, params, WorldWallet } from '../../../support/txBuildingWorld.js';
import { exportChannel, importChannel } from '../../../../src/daemon/txBuilding/channelSharing.js';

const LBC = 100_000_000n;
const SENT = { preview: false };
const SD_HASH = 'ab'.repeat(48);

function world() {
  const made = txBuildingWorld();
  const [first, second] = made.wallet.accounts;
  for (let n = 0; n < 8; n++) made.ledger.give(first!.keyHash(n), 10n * LBC);
  const txBuilder = new TxBuilder(made.ports);
  const { wallet } = made;
  const claim = { bidDewies: LBC, allowDuplicateName: false, signing: {}, fields: {} };
  const change = { bidDewies: undefined, replace: false, clearChannel: false, signing: {}, fields: {} };
  return {
    ...made,
    first: first!,
    second: second!,
    txBuilder,
    channel: (name: string, more: object = {}) =>
      createChannel(txBuilder, wallet, { ...claim, name, ...more }, SENT),
    stream: (name: string, fields: ClaimArguments, more: object = {}, options: object = {}) =>
      createStream(txBuilder, wallet, { ...claim, name, fields, ...more }, { ...SENT, ...options }),
    update: (claimId: string, fields: ClaimArguments, more: object = {}, options: object = {}) =>
      updateStream(txBuilder, wallet, { ...change, claimId, fields, ...more }, { ...SENT, ...options }),
    repost: (name: string, claimId: string, more: object = {}) =>
      createRepost(txBuilder, wallet, { ...claim, name, claimId, ...more }, SENT),
    publish: (name: string, fields: ClaimArguments, more: object = {}) =>
      publish(txBuilder, wallet, { ...claim, clearChannel: false, name, fields, ...more }, SENT),
    collection: (name: string, claims: string[], more: object = {}) =>
      createCollection(txBuilder, wallet, { ...claim, name, fields: { claims }, ...more }, SENT),
    updateCollection: (claimId: string, fields: ClaimArguments, more: object = {}) =>
      updateCollection(txBuilder, wallet, { ...change, claimId, fields, ...more }, SENT),
  };
}

const idOf = (made: MadeTransaction): string => hashToHex(made.outputs[0]!.claimId!);

function streamIn({ outputs: [txo] }: MadeTransaction) {
  const claim = txo!.claim!.claim;
  if (claim.type.case !== 'stream') throw new Error('no stream');
  return { claim, stream: claim.type.value };
}

const isSigned = ({ outputs: [txo] }: MadeTransaction): boolean =>
  txo!.notes.channel !== undefined && txo!.isSignedBy(txo!.notes.channel, params);

describe('outputs at a fresh address', () => {
  it('reserve it until they are sent or abandoned', async () => {
    const { ledger, wallet, txBuilder, first, channel, stream, collection } = world();
    const held: number[] = [];
    const send = ledger.broadcast.bind(ledger);
    ledger.broadcast = (tx) => {
      held.push(first.receivingInHand.size);
      return send(tx);
    };
    await channel('@a');
    const claimId = idOf(await stream('s', { sd_hash: SD_HASH }));
    await collection('l', [claimId]);
    const support = { claimId, amountDewies: LBC, comment: undefined, signing: {} };
    await createSupport(txBuilder, wallet, { ...support, isTip: false }, SENT);
    await createSupport(txBuilder, wallet, { ...support, isTip: true }, SENT);
    expect(held).toEqual([1, 1, 1, 1, 0]);
    expect(first.receivingInHand.size).toBe(0);
    await expect(stream('s', { sd_hash: SD_HASH })).rejects.toThrow(/already have a stream/);
    await expect(stream('t', { sd_hash: SD_HASH }, { bidDewies: 10_000n * LBC })).rejects.toThrow(/funds/);
    expect(first.receivingInHand.size).toBe(0);
  });
});

describe('claims and supports whose size is invalid in a block', () => {
  const LONG = 'd'.repeat(8_200);
  const TOO_LONG = /^The name and the metadata have \d{4,5} bytes in the output script, .* at most 8192\./;

  it('are refused before they are signed', async () => {
    const {
      ledger,
      wallet,
      txBuilder,
      first,
      channel,
      stream,
      update,
      repost,
      publish: put,
      ...made
    } = world();
    const { collection, updateCollection: updated } = made;
    const claimId = idOf(await stream('s', { sd_hash: SD_HASH }));
    const list = idOf(await collection('l', [claimId]));
    const sent = ledger.broadcasts.length;
    const keyOf = first.privateKeyOf.bind(first);
    let signatures = 0;
    first.privateKeyOf = (hash) => {
      signatures++;
      return keyOf(hash);
    };
    const many = Array.from({ length: 500 }, (_, n) => n.toString(16).padStart(40, '0'));
    const support = { claimId, amountDewies: LBC, comment: LONG, signing: {}, isTip: false };
    for (const call of [
      () => channel('@c', { fields: { description: LONG } }),
      () => stream('t', { sd_hash: SD_HASH, description: LONG }),
      () => stream('t', { sd_hash: SD_HASH, description: LONG }, {}, { preview: true }),
      () => update(claimId, { description: LONG }),
      () => put('u', { sd_hash: SD_HASH, description: LONG }, { bidDewies: LBC }),
      () => collection('m', many),
      () => updated(list, { claims: many }),
      () => createSupport(txBuilder, wallet, support, SENT),
    ])
      await expect(call()).rejects.toThrow(TOO_LONG);
    const name = 'é'.repeat(128);
    for (const call of [
      () => channel(`@${name.slice(1)}x`),
      () => stream(name, { sd_hash: SD_HASH }),
      () => repost(name, claimId),
      () => collection(name, [claimId]),
    ])
      await expect(call()).rejects.toThrow(
        'The name has 256 bytes, and a claim may have a name of at most 255.',
      );
    expect([signatures, ledger.broadcasts.length - sent, ledger.reserved]).toEqual([0, 0, []]);
  });

  it('are not those of the largest valid size', async () => {
    const { stream } = world();
    const { outputs } = await stream('n'.repeat(255), { sd_hash: SD_HASH, description: 'd'.repeat(7_800) });
    expect(outputs[0]!.script.length).toBeGreaterThan(8_100);
  });
});

describe('a stream', () => {
  it('reports a missing file', async () => {
    const { stream } = world();
    const made = await stream('note', {
      sd_hash: SD_HASH,
      file_name: 'a.mp4',
      file_size: 5,
      width: 3,
      title: 'T',
    });
    const { claim, stream: said } = streamIn(made);
    expect([toHex(said.source!.sdHash), said.source!.mediaType, said.type.case]).toEqual([
      SD_HASH,
      'video/mp4',
      'video',
    ]);
    expect([claim.title, isSigned(made)]).toEqual(['T', false]);
  });

  it('is signed by a channel of any account of the wallet', async () => {
    const { channel, stream, first, second } = world();
    await channel('@lab');
    const named = await stream('a', {}, { signing: { channelName: '@lab' } });
    const paid = await stream('b', {}, { signing: { channelName: '@lab' } }, { accountId: second.id });
    expect([isSigned(named), isSigned(paid)]).toEqual([true, true]);
    await expect(
      stream('c', {}, { signing: { channelName: '@lab', channelAccountIds: [second.id] } }),
    ).rejects.toThrow("Couldn't find channel with channel_name '@lab'.");
    expect(
      isSigned(await stream('d', {}, { signing: { channelName: '@lab', channelAccountIds: [first.id] } })),
    ).toBe(true);
  });

  it('is not signed by a channel without its key', async () => {
    const { ledger, txBuilder, wallet, channel, stream } = world();
    const made = await channel('@lab');
    const watching = new WorldWallet(ledger, []);
    await importChannel(txBuilder, watching, await exportChannel(txBuilder, wallet, { channelName: '@lab' }));
    watching.accounts[0]!.account.channelKeys.clear();
    const signing = { channelId: idOf(made) };
    await expect(
      createStream(
        txBuilder,
        watching,
        { name: 'a', bidDewies: LBC, allowDuplicateName: false, fields: {}, signing },
        SENT,
      ),
    ).rejects.toMatchObject({
      name: 'PrivateKeyNotFoundError',
      message: `Couldn't find private key for id '${idOf(made)}'.`,
    });
    watching.isLocked = true;
    await expect(exportChannel(txBuilder, watching, { channelName: '@lab' })).rejects.toThrow(
      'Cannot spend funds with locked wallet',
    );
    await expect(stream('a', {}, { signing: { channelId: 'x' } })).rejects.toThrow(
      "Couldn't find channel with channel_id 'x'.",
    );
  });

  it('pays its price to the address of the claim, unless another address is given', async () => {
    const { stream, first, second } = world();
    const fee = { fee_currency: 'usd', fee_amount: '1.005' };
    const own = streamIn(await stream('a', fee, {}, { claimAddress: first.address(4) })).stream.fee!;
    expect([own.amount, formatFeeAddress(own.address)]).toEqual([101n, first.address(4)]);
    const other = streamIn(await stream('b', { ...fee, fee_address: second.address(1) })).stream.fee!;
    expect(formatFeeAddress(other.address)).toBe(second.address(1));
    await expect(stream('c', { fee_amount: '1.0' })).rejects.toThrow(
      'In order to set a fee amount, please specify a fee currency.',
    );
    await expect(stream('c', { fee_currency: 'lbc' })).rejects.toThrow(
      'In order to set a fee currency, please specify a fee amount.',
    );
    await expect(stream('c', { fee_currency: 'doge', fee_amount: '1.0' })).rejects.toThrow(
      'Missing or unknown currency provided: doge',
    );
    await expect(stream('c', { ...fee, fee_address: 'x' })).rejects.toThrow("'x' is not a valid address");
  });

  it('uses a taken name only on request, or in another account', async () => {
    const { ledger, stream, second } = world();
    await stream('a', {});
    await expect(stream('a', {})).rejects.toThrow(
      "You already have a stream claim published under the name 'a'. Use --allow-duplicate-name flag to override.",
    );
    await expect(stream('a', {}, { bidDewies: 79n * LBC, allowDuplicateName: true })).rejects.toThrow(
      'Not enough funds',
    );
    await stream('a', {}, { allowDuplicateName: true });
    await stream('a', {}, {}, { accountId: second.id });
    expect([ledger.broadcasts.length, ledger.reserved]).toEqual([3, []]);
  });
});

describe('an update of a claim whose channel another wallet holds', () => {
  const change = { bidDewies: undefined, replace: false, clearChannel: false, signing: {}, fields: {} };

  /** A signed stream, repost and collection. Their channel was sent to another wallet, but its key is still in this one. */
  async function sent() {
    const made = world();
    const { channel, stream, repost, collection, ledger, txBuilder } = made;
    const channelId = idOf(await channel('@lab'));
    const signing = { channelName: '@lab' };
    const streamId = idOf(await stream('a', { title: 'Old', sd_hash: SD_HASH }, { signing }));
    const repostId = idOf(await repost('b', streamId, { signing }));
    const collectionId = idOf(await collection('c', [streamId], { signing }));
    const other = new WorldWallet(ledger, ['other']);
    const [account] = other.accounts;
    for (const index of [1, 2, 3]) ledger.give(account!.keyHash(index), LBC);
    const moved = {
      claimId: channelId,
      bidDewies: undefined,
      replace: false,
      newSigningKey: false,
      fields: {},
    };
    await updateChannel(txBuilder, made.wallet, moved, { ...SENT, claimAddress: account!.address(0) });
    return {
      ...made,
      ...{ channelId, streamId, repostId, collectionId, other, account: account! },
      rotateKey: () => updateChannel(txBuilder, other, { ...moved, newSigningKey: true }, SENT),
      /** Updates the stream with another answer of the claim index. */
      updateWith: (byId: TxBuildingPorts['claims']['byId']) =>
        updateStream(
          new TxBuilder({ ...made.ports, claims: { ...made.ports.claims, byId } }),
          made.wallet,
          { ...change, claimId: streamId },
          SENT,
        ),
    };
  }

  it('is signed with the existing key', async () => {
    const { update, updateCollection, streamId, repostId, collectionId, second } = await sent();
    for (const made of [
      await update(streamId, { title: 'New' }),
      await update(repostId, {}),
      await updateCollection(collectionId, { title: 'New' }),
      await update(streamId, {}, {}, { claimAddress: second.address(3) }),
    ])
      expect(isSigned(made)).toBe(true);
  });

  it('is refused if the channel has another key now, with advice', async () => {
    const { update, updateCollection, streamId, repostId, collectionId, channelId, ledger, rotateKey } =
      await sent();
    await rotateKey();
    const sentBefore = ledger.broadcasts.length;
    for (const refused of [
      () => update(streamId, { title: 'New' }),
      () => update(repostId, {}),
      () => updateCollection(collectionId, {}),
    ])
      await expect(refused()).rejects.toMatchObject({
        name: 'PrivateKeyNotFoundError',
        message: expect.stringMatching(`'${channelId}'.*--channel_id.*--clear_channel`) as string,
      });
    expect([ledger.broadcasts.length - sentBefore, ledger.reserved]).toEqual([0, []]);
    expect(isSigned(await update(streamId, {}, { clearChannel: true }))).toBe(false);
  });

  it('is refused to the receiver of the claim, who has no key', async () => {
    const { txBuilder, update, streamId, other, account } = await sent();
    await update(streamId, {}, {}, { claimAddress: account.address(4) });
    const receive = (more: object): Promise<MadeTransaction> =>
      updateStream(txBuilder, other, { ...change, claimId: streamId, ...more }, SENT);
    await expect(receive({})).rejects.toThrow(/no private key.*--clear_channel/);
    expect(isSigned(await receive({ clearChannel: true }))).toBe(false);
  });

  it('is refused without a hub, and if the channel does not exist any more', async () => {
    const { updateWith } = await sent();
    await expect(updateWith(() => Promise.reject(new Error('offline')))).rejects.toThrow(
      /its key could not be requested from a hub \(offline\).*--channel_id/,
    );
    await expect(updateWith(() => Promise.resolve(null))).rejects.toThrow(
      /no longer exists.*--clear_channel/,
    );
  });
});

it('reports an expired claim before it searches the channel', async () => {
  const { channel, stream, update, ledger, ports } = world();
  await channel('@old');
  const made = await stream('note', { sd_hash: SD_HASH }, { signing: { channelName: '@old' } });
  const kept = [...ledger.kept.values()].find(({ txo }) => txo.txidHex === made.outputs[0]!.txidHex)!;
  Object.assign(kept.txo, { height: 10 });
  ledger.height = 10 + ledger.params.network.claimForks.originalExpiration;
  Object.assign(ports.claims, { byId: () => Promise.resolve(null) });
  for (const one of ledger.kept.values())
    if (one.txo.claimName === '@old') Object.assign(one, { spentBy: Buffer.alloc(32) });
  await expect(update(idOf(made), { title: 'New' })).rejects.toThrow(
    /expired at height \d+.*txo_spend --type=stream/,
  );
});

it('refuses to sign with a channel that has expired, and says what to do', async () => {
  const { channel, stream, update, ledger, ports } = world();
  const old = await channel('@old');
  const made = await stream('note', { sd_hash: SD_HASH }, { signing: { channelName: '@old' } });
  const kept = [...ledger.kept.values()].find(({ txo }) => txo.txidHex === old.outputs[0]!.txidHex)!;
  const { byId } = ports.claims;
  Object.assign(kept.txo, { height: 10 });
  ledger.height = 9 + ledger.params.network.claimForks.originalExpiration;
  const signing = { channelName: '@old' };
  expect(isSigned(await stream('other', { sd_hash: SD_HASH }, { signing }))).toBe(true);
  ledger.height++;
  Object.assign(ports.claims, { byId: () => Promise.resolve(null) });
  const sent = ledger.broadcasts.length;
  const text = new RegExp(
    `The channel '${idOf(old)}' expired at height ${ledger.height}.*channel_create.*txo_spend --type=channel --claim_id=`,
  );
  await expect(stream('third', { sd_hash: SD_HASH }, { signing })).rejects.toThrow(text);
  await expect(update(idOf(made), { title: 'New' })).rejects.toThrow(text);
  await expect(update(idOf(made), {}, { signing })).rejects.toThrow(text);
  expect([ledger.broadcasts.length, ledger.reserved]).toEqual([sent, []]);
  expect(isSigned(await update(idOf(made), {}, { clearChannel: true }))).toBe(false);
  // The hub's answer counts.
  Object.assign(ports.claims, { byId });
  expect(isSigned(await stream('third', { sd_hash: SD_HASH }, { signing }))).toBe(true);
});

describe('an update of a stream', () => {
  it('keeps fields that are not given, and the channel', async () => {
    const { channel, stream, update } = world();
    await channel('@lab');
    const fields = { title: 'Old', sd_hash: SD_HASH, file_name: 'a.mp4', tags: ['a'] };
    const made = await stream('note', fields, { signing: { channelName: '@lab' } });
    const changed = await update(idOf(made), { title: 'New' });
    const { claim, stream: said } = streamIn(changed);
    expect([claim.title, claim.tags, toHex(said.source!.sdHash)]).toEqual(['New', ['a'], SD_HASH]);
    expect([isSigned(changed), changed.spent[0]!.claimName]).toEqual([true, 'note']);
    expect(isSigned(await update(idOf(made), {}, { clearChannel: true }))).toBe(false);
    expect(isSigned(await update(idOf(made), {}, { signing: { channelName: '@lab' } }))).toBe(true);
  });

  it('keeps only the source to replace it, and its media type', async () => {
    const { channel, stream, update } = world();
    await channel('@lab');
    const fields = { title: 'Old', author: 'me', sd_hash: SD_HASH, file_name: 'a.mp4', width: 7 };
    const made = await stream('note', fields, { signing: { channelName: '@lab' } });
    const changed = await update(idOf(made), { tags: 'x' }, { replace: true });
    const { claim, stream: said } = streamIn(changed);
    expect([claim.title, said.author, claim.tags, toHex(said.source!.sdHash)]).toEqual([
      '',
      '',
      ['x'],
      SD_HASH,
    ]);
    expect([said.type.case === 'video' && said.type.value.width, isSigned(changed)]).toEqual([7, false]);
  });

  it('changes price and address together', async () => {
    const { stream, update, second } = world();
    const made = await stream('note', { fee_currency: 'lbc', fee_amount: '0.01' });
    const moved = await update(
      idOf(made),
      { fee_currency: 'lbc', fee_amount: '0.02' },
      {},
      {
        claimAddress: second.address(2),
      },
    );
    const { fee } = streamIn(moved).stream;
    expect([fee!.amount, formatFeeAddress(fee!.address)]).toEqual([2_000_000n, second.address(2)]);
    expect(streamIn(await update(idOf(made), { clear_fee: true })).stream.fee).toBeUndefined();
  });

  it('applies to a stream or a repost', async () => {
    const { channel, stream, repost, update, first, second } = world();
    const id = idOf(await channel('@lab'));
    await expect(update(id, {})).rejects.toMatchObject({
      name: 'InputValueError',
      message: `A claim with id '${id}' was found but it is not a stream or repost claim.`,
    });
    await expect(update('00', {})).rejects.toThrow(
      `Can't find the stream '00' in account(s) '${first.id}', '${second.id}'.`,
    );
    const reposted = idOf(await stream('a', {}));
    const made = await repost('b', reposted);
    const switches = { clear_fee: false, clear_tags: false, title: 'T' };
    const changed = await update(idOf(made), switches, { bidDewies: 2n * LBC });
    const { claim, kind } = changed.outputs[0]!.claim!;
    expect([kind, claim.title, changed.outputs[0]!.amountDewies]).toEqual(['repost', 'T', 2n * LBC]);
    expect(claim.type.case === 'repost' && hashToHex(claim.type.value.claimHash)).toBe(reposted);
    await expect(update(idOf(made), { author: 'x' })).rejects.toMatchObject({ name: 'ValueError' });
  });
});

describe('a repost', () => {
  it('points to a claim, by a whole id only', async () => {
    const { channel, stream, repost } = world();
    await channel('@lab');
    const reposted = idOf(await stream('a', {}));
    const made = await repost('b', reposted, { signing: { channelName: '@lab' } });
    const { type } = made.outputs[0]!.claim!.claim;
    expect(type.case === 'repost' && hashToHex(type.value.claimHash)).toBe(reposted);
    expect(isSigned(made)).toBe(true);
    for (const bad of ['', 'zz', reposted.slice(1), `${reposted}00`, 'z'.repeat(40)])
      await expect(repost('c', bad)).rejects.toThrow(
        'Invalid claim id. It is expected to be a 40 characters long',
      );
  });
});

describe('publishing', () => {
  it('makes a stream, then replaces it', async () => {
    const { publish: put } = world();
    const made = await put('bare', { sd_hash: SD_HASH, title: 'One', clear_tags: false });
    const again = await put('bare', { author: 'me' }, { bidDewies: undefined });
    const { claim, stream } = streamIn(again);
    expect([idOf(again), claim.title, stream.author, toHex(stream.source!.sdHash)]).toEqual([
      idOf(made),
      '',
      'me',
      SD_HASH,
    ]);
  });

  it('creates one claim of a name in concurrent calls', async () => {
    const { publish: put, stream, repost, collection, ledger } = world();
    const made = await Promise.all(['One', 'Two', 'Three'].map((title) => put('bare', { title })));
    expect(new Set(made.map(idOf)).size).toBe(1);
    expect(made.map((one) => one.outputs[0]!.isUpdate)).toEqual([false, true, true]);
    const [list, sent] = [['aa'.repeat(20)], ledger.broadcasts.length];
    const claims = [() => stream('a', {}), () => repost('b', idOf(made[0]!)), () => collection('c', list)];
    const all = await Promise.allSettled(claims.flatMap((make) => [make(), make()]));
    expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(3);
    expect([ledger.broadcasts.length - sent, ledger.reserved]).toEqual([3, []]);
  });

  it('requires a bid for a new claim, and a single stream with the name', async () => {
    const { publish: put, stream, repost } = world();
    await expect(put('bare', {}, { bidDewies: undefined })).rejects.toThrow(
      "'bid' is a required argument for new publishes.",
    );
    const id = idOf(await stream('a', {}));
    await stream('a', {}, { allowDuplicateName: true });
    await expect(put('a', {})).rejects.toThrow(
      "There are 2 claims for 'a', please use 'stream update' command to update a specific stream claim.",
    );
    await repost('b', id);
    await expect(put('b', {})).rejects.toThrow("Claim at name 'b' is not a stream claim.");
    await expect(put('a b', {})).rejects.toThrow('Invalid stream name.');
  });
});

describe('a collection', () => {
  const [A, B] = ['aa'.repeat(20), 'bb'.repeat(20)];
  const claimsIn = ({ outputs: [txo] }: MadeTransaction): string[] => {
    const { type } = txo!.claim!.claim;
    return type.case === 'collection'
      ? type.value.claimReferences.map(({ claimHash }) => hashToHex(claimHash))
      : [];
  };

  it('lists claims, adds to them, and starts over', async () => {
    const { channel, collection, updateCollection: update } = world();
    await channel('@lab');
    const made = await collection('list', [A], { signing: { channelName: '@lab' } });
    const id = idOf(made);
    expect([claimsIn(made), isSigned(made)]).toEqual([[A], true]);
    const more = await update(id, { claims: [B], title: 'T' });
    expect([claimsIn(more), isSigned(more)]).toEqual([[A, B], true]);
    expect(claimsIn(await update(id, { claims: [B], clear_claims: true }))).toEqual([B]);
    const replaced = await update(id, { claims: [A] }, { replace: true });
    expect([claimsIn(replaced), replaced.outputs[0]!.claim!.claim.title, isSigned(replaced)]).toEqual([
      [A],
      '',
      false,
    ]);
  });

  it('is refused with the messages that clients know', async () => {
    const { collection, updateCollection: update, channel } = world();
    await collection('list', [A]);
    await expect(collection('list', [A])).rejects.toThrow(
      "You already have a collection under the name 'list'. Use --allow-duplicate-name flag to override.",
    );
    await expect(collection('other', ['x'])).rejects.toMatchObject({ name: 'Error' });
    const id = idOf(await channel('@lab'));
    await expect(update(id, {})).rejects.toThrow(
      `A claim with id '${id}' was found but it is not a collection.`,
    );
    await expect(update(A, {})).rejects.toThrow(`Can't find the collection '${A}' in account(s)`);
  });
});
