import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import type { TxoFilter } from '../../../../src/daemon/ledger/txoQuery.js';
import { Resolver } from '../../../../src/daemon/resolve/resolver.js';
import { Txo } from '../../../../src/daemon/txo/txo.js';
import { BlockedSchema, Error_Code } from '../../../../src/metadata/messages/result_pb.js';
import { ecdsaBackend } from '../../../../src/crypto/ecdsa.js';
import { formatDer } from '../../../../src/crypto/ecdsaEncoding.js';
import { hash160 } from '../../../../src/crypto/hash.js';
import { txid, type Transaction } from '../../../../src/primitives/transaction.js';
import { buildUpdatePrefix } from '../../../../src/script/claimScript.js';
import { pushData } from '../../../../src/script/script.js';
import { SIG_VERSION, SIGHASH, signatureHash } from '../../../../src/script/sighash.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { concatBytes, hashToHex } from '../../../../src/util/bytes.js';
import {
  at,
  channel,
  claim,
  errorRow,
  forged,
  outputs,
  payment,
  priced,
  repost,
  row,
  signedSupport,
  stream,
  transactions,
  world,
} from './claimWorld.js';

const signed = (txo: Txo) => row(txo, { canonicalUrl: `@lab#1/${txo.claimName}#1`, channel: at(channel) });
const idOf = (txo: Txo): string => hashToHex(txo.claimId!);
const found = (txo: unknown): Txo => {
  expect(txo).toBeInstanceOf(Txo);
  return txo as Txo;
};

describe('unconfirmed claims', () => {
  const waiting = claim('early', { case: 'stream', value: {} });
  const known = transactions.get(waiting.txidHex)!;
  transactions.set(waiting.txidHex, { ...known, height: 0, position: -1, isVerified: false });
  const heights = { creationHeight: 0, activationHeight: 0, expirationHeight: 0, takeOverHeight: 0 };
  const waitingRow = (height: number) => ({ ...row(waiting, heights), height });

  it('have no heights, if the hub reports so', async () => {
    const { ports } = world([outputs({ txos: [waitingRow(0)] })]);
    const early = found((await new Resolver(ports).resolve(['early'])).get('early'));
    expect([early.txidHex, early.height]).toEqual([waiting.txidHex, 0]);
    expect(early.notes.meta).toMatchObject({ creation_height: 0, expiration_height: 0 });
    expect(early.notes.meta).not.toHaveProperty('creation_timestamp');
  });

  it('are not accepted as confirmed', async () => {
    const { ports, distrusted } = world([outputs({ txos: [waitingRow(10)] })]);
    const resolver = new Resolver({ ...ports, pause: () => Promise.resolve() });
    await expect(resolver.resolve(['early'])).rejects.toThrow('is reported as unconfirmed');
    expect(distrusted[0]).toContain('is reported as unconfirmed');
  });
});

describe('unconfirmed updates', () => {
  const OWNER = Buffer.alloc(32, 9);
  const publicKey = Buffer.from(ecdsaBackend().publicKeyOf(OWNER, true));
  const heights = { creationHeight: 7, activationHeight: 0, expirationHeight: 0 };

  /** An update of a claim by a transaction in the mempool, signed with `secret`. */
  function update(of: Txo, secret: Buffer): Txo {
    const script = concatBytes(
      buildUpdatePrefix(Buffer.from(of.claimName!), of.claimId!, Buffer.from('new')),
      scriptForDestination({ type: 'pubkeyhash', hash: hash160(publicKey) }),
    );
    const tx: Transaction = {
      version: 1,
      inputs: [
        {
          prevout: { hash: of.txid, index: of.nout },
          scriptSig: Buffer.alloc(0),
          sequence: 0xffffffff,
          witness: [],
        },
      ],
      outputs: [{ value: of.amountDewies, script }],
      lockTime: 0,
    };
    const hash = signatureHash(of.script, tx, 0, SIGHASH.ALL, of.amountDewies, SIG_VERSION.BASE);
    const signature = concatBytes(
      formatDer(ecdsaBackend().sign(hash, secret, null).compact),
      Buffer.of(SIGHASH.ALL),
    );
    tx.inputs[0]!.scriptSig = concatBytes(pushData(signature), pushData(publicKey));
    transactions.set(hashToHex(txid(tx)), { tx, height: 0, position: -1, isVerified: false });
    return new Txo({
      txid: txid(tx),
      nout: 0,
      height: 0,
      amountDewies: of.amountDewies,
      script,
      firstOutPoint: null,
    });
  }
  const owned = claim('owned', { case: 'stream', value: {} }, undefined, undefined, hash160(publicKey));
  const answer = (txo: Txo) => world([outputs({ txos: [row(txo, heights)] })]);

  it('by the owner are shown, also updates of updates', async () => {
    const first = update(owned, OWNER);
    const second = update(first, OWNER);
    for (const txo of [first, second]) {
      const { ports } = answer(txo);
      const shown = found((await new Resolver(ports).resolve(['owned'])).get('owned'));
      expect([shown.txidHex, shown.height, idOf(shown)]).toEqual([txo.txidHex, 0, idOf(owned)]);
    }
  });

  it('by others are not, nor updates of those', async () => {
    const wrong = update(owned, Buffer.alloc(32, 3));
    for (const txo of [wrong, update(wrong, OWNER)]) {
      const { ports, distrusted } = answer(txo);
      const resolver = new Resolver({ ...ports, pause: () => Promise.resolve() });
      await expect(resolver.resolve(['owned'])).rejects.toThrow('is not signed by the owner of the claim');
      expect(distrusted[0]).toContain(idOf(owned));
    }
  });

  it('that do not spend the claim are not', async () => {
    const other = claim('owned', { case: 'stream', value: {} }, undefined, undefined, hash160(publicKey));
    const spending = update(other, OWNER);
    const { tx } = transactions.get(spending.txidHex)!;
    tx.outputs[0]!.script = concatBytes(
      buildUpdatePrefix(Buffer.from('owned'), owned.claimId!, Buffer.from('new')),
      scriptForDestination({ type: 'pubkeyhash', hash: hash160(publicKey) }),
    );
    const { ports } = answer(spending);
    const resolver = new Resolver({ ...ports, pause: () => Promise.resolve() });
    await expect(resolver.resolve(['owned'])).rejects.toThrow('is not signed by the owner of the claim');
  });
});

describe('resolving URLs', () => {
  it('returns outputs with data of the index, channels and reposted claims', async () => {
    const answer = outputs({
      txos: [
        signed(stream),
        row(channel, { claimsInChannel: 3 }),
        row(repost, { channel: at(channel), repost: at(stream) }),
      ],
      extraTxos: [row(channel, { claimsInChannel: 3 }), signed(stream)],
    });
    const { ports, asked } = world([answer]);
    const urls = ['lbry://@lab/note', 'not a url', '@lab', 'again'];
    const result = await new Resolver(ports).resolve([...urls, '@lab']);
    expect([...result.keys()]).toEqual(urls);
    expect(result.get('not a url')).toBeNull();
    expect(asked).toEqual([['lbry://@lab/note', '@lab', 'again']]);

    const note = found(result.get(urls[0]!));
    expect([note.txidHex, note.amountDewies, note.height]).toEqual([stream.txidHex, 100_000_000n, 10]);
    expect(note.notes).toMatchObject({ shortUrl: 'lbry://note#1', canonicalUrl: 'lbry://@lab#1/note#1' });
    expect(note.notes.meta).toEqual({
      reposted: 1,
      is_controlling: true,
      take_over_height: 8,
      creation_height: 7,
      creation_timestamp: 1_500_000_007,
      activation_height: 9,
      expiration_height: 510,
      effective_amount: '1.5',
      support_amount: '0.5',
    });
    expect(note.notes.channel!.notes).toMatchObject({
      canonicalUrl: 'lbry://@lab#1',
      meta: { claims_in_channel: 3 },
    });
    expect(note.isSignedBy(note.notes.channel!, ports.ledger.params)).toBe(true);
    const original = found(result.get('again')).notes.repostedClaim!;
    expect(idOf(original)).toBe(idOf(stream));
    expect(idOf(original.notes.channel!)).toBe(idOf(channel));
  });

  it("returns the hub's error for unresolved URLs, and the blocking channel", async () => {
    const answer = outputs({
      txos: [
        errorRow(Error_Code.NOT_FOUND, 'Could not find claim at "gone".'),
        errorRow(Error_Code.BLOCKED, 'Resolve was blocked.', channel),
      ],
      extraTxos: [row(channel)],
    });
    const result = await new Resolver(world([answer]).ports).resolve(['gone', 'bad']);
    expect(result.get('gone')).toEqual({
      failure: { name: 'NOT_FOUND', text: 'Could not find claim at "gone".', censor: null },
    });
    const blocked = result.get('bad') as { failure: { name: string; censor: Txo } };
    expect([blocked.failure.name, idOf(blocked.failure.censor)]).toEqual(['BLOCKED', idOf(channel)]);
  });

  it('rejects a claim in a channel that the channel did not sign', async () => {
    const answer = outputs({ txos: [signed(forged), row(stream)], extraTxos: [row(channel)] });
    const urls = ['@lab/forged', '@lab/note'];
    const result = await new Resolver(world([answer]).ports).resolve(urls);
    for (const url of urls)
      expect(result.get(url)).toMatchObject({
        failure: { name: 'INVALID', text: `${url} has invalid channel signature` },
      });
    const alone = await new Resolver(world([outputs({ txos: [row(forged)] })]).ports).resolve(['forged']);
    expect(idOf(found(alone.get('forged')))).toBe(idOf(forged));
  });

  it('requests 100 URLs at once', async () => {
    const urls = Array.from({ length: 250 }, (_, n) => `name${n}`);
    const parts = [100, 100, 50].map((count) =>
      outputs({ txos: Array.from({ length: count }, () => errorRow(Error_Code.NOT_FOUND, 'no')) }),
    );
    const { ports, asked } = world(parts);
    expect((await new Resolver(ports).resolve(urls)).size).toBe(250);
    expect(asked.map((part) => (part as string[]).length)).toEqual([100, 100, 50]);
  });

  it('compares names like the chain, and ids like hubs', async () => {
    const upper = claim('Größe', { case: 'stream', value: {} });
    const id = idOf(upper);
    const digits = id.slice(0, 12).replace(/..$/, id.slice(10, 12) === '00' ? '11' : '00');
    const urls = ['grösse', `GRÖSSE#${id.slice(0, 4)}`, `größe:${digits}`, `other#${id}`, 'größe$2'];
    const answer = outputs({ txos: urls.map(() => row(upper)) });
    const result = await new Resolver(world([answer]).ports).resolve(urls);
    for (const url of urls) expect(idOf(found(result.get(url)))).toBe(id);
  });
});

describe('a wrong answer of a hub', () => {
  const right = outputs({ txos: [row(stream)] });
  const { nout, height, amountDewies, script, firstOutPoint } = stream;
  const facts = { nout, height, amountDewies, script, firstOutPoint };
  const unknown = new Txo({ ...facts, txid: Buffer.alloc(32, 9) });
  const lies: [string, Buffer, string][] = [
    ['is not a message', Buffer.from('ff', 'hex'), 'not a message'],
    ['has too few rows', outputs({}), '1 URLs have 0 answers'],
    ['names an output that is not there', outputs({ txos: [{ ...row(stream), nout: 1 }] }), 'no output 1'],
    ['names an output that is not a claim', outputs({ txos: [row(payment())] }), 'is not a claim'],
    ['names another claim', outputs({ txos: [row(priced)] }), 'note does not resolve to claim'],
    ['refers to no row', outputs({ txos: [row(stream, { channel: at(unknown) })] }), 'which is in no row'],
    [
      'names a channel that is not that of the claim',
      outputs({ txos: [row(stream, { channel: at(priced) })], extraTxos: [row(priced)] }),
      'does not refer to',
    ],
    [
      'has an id of a wrong size',
      outputs({ txos: [{ ...row(stream), txHash: Buffer.alloc(5) }] }),
      '32 bytes',
    ],
  ];

  it.each(lies)('that %s is rejected, and another hub is used', async (_what, lie, reason) => {
    const { ports, asked, distrusted } = world([lie, right]);
    const result = await new Resolver(ports).resolve(['note']);
    expect(idOf(found(result.get('note')))).toBe(idOf(stream));
    expect(asked).toHaveLength(2);
    expect(distrusted).toHaveLength(1);
    expect(distrusted[0]).toContain(reason);
  });

  it('is asked again, a few times, if a reorganisation may be the reason, and then another one', async () => {
    const gone = outputs({ txos: [row(unknown)] });
    const resolve = async (...answers: Buffer[]) => {
      const { ports, asked, distrusted } = world(answers);
      const waitsMs: number[] = [];
      const pause = (ms: number): Promise<void> => Promise.resolve(void waitsMs.push(ms));
      const result = await new Resolver({ ...ports, pause })
        .resolve(['note'])
        .catch((error: unknown) => error);
      return { result, asked: asked.length, distrusted, waitsMs };
    };
    expect(await resolve(gone, gone, gone, right)).toMatchObject({
      asked: 4,
      distrusted: [],
      waitsMs: [150, 300, 600],
    });
    const lying = await resolve(gone, gone, gone, gone, right);
    expect(lying).toMatchObject({ asked: 5, distrusted: [expect.any(String)] });
    expect(lying.distrusted[0]).toContain(`the transaction ${'09'.repeat(32)} is missing`);
    // Each of the three hubs gets the same number of requests.
    const end = await resolve(gone);
    expect(end).toMatchObject({ asked: 12, result: { name: 'RPCError' } });
    expect(end.distrusted).toHaveLength(3);
  });

  it('is an error if no other hub gives a valid answer', async () => {
    const { ports, asked, distrusted } = world([outputs({})]);
    await expect(new Resolver(ports).resolve(['note'])).rejects.toMatchObject({ name: 'RPCError' });
    expect(asked.length).toBe(distrusted.length);
  });

  it('limits chains of claims that refer to each other', async () => {
    const answer = outputs({
      txos: [row(channel, { channel: at(channel) })],
    });
    // The channel is not signed, so that it refers to nothing.
    const { ports, distrusted } = world([answer, outputs({ txos: [row(channel)] })]);
    await new Resolver(ports).resolve(['@lab']);
    expect(distrusted[0]).toContain('does not refer to');
  });
});

describe('notes of a wallet', () => {
  it('are read from the database on request', async () => {
    const asked: TxoFilter[] = [];
    const database = {
      txoCount: (filter: TxoFilter) => Promise.resolve(asked.push(filter) && 1),
      txoSum: (filter: TxoFilter) => Promise.resolve(BigInt(asked.push(filter))),
      transactions: () => Promise.resolve([]),
    };
    const { ports } = world([outputs({ txos: [row(stream)] })], database);
    const includes = { isMyOutput: true, sentSupports: true, sentTips: true, receivedTips: true };
    const result = await new Resolver(ports).resolve(['note'], ['account'], includes);
    const shared = { accountIds: ['account'], claimIds: [idOf(stream)] };
    expect(asked).toEqual([
      { ...shared, types: [1, 2, 5, 6], isMyOutput: true, isSpent: false },
      { ...shared, types: [3], isMyInput: true, isMyOutput: true, isSpent: false },
      { ...shared, types: [3], isMyInput: true, isMyOutput: false },
      { ...shared, types: [3], isMyInput: false, isMyOutput: true },
    ]);
    expect(found(result.get('note')).notes).toMatchObject({
      isMyOutput: true,
      sentSupportsDewies: 2n,
      sentTipsDewies: 3n,
      receivedTipsDewies: 4n,
    });
    await new Resolver(ports).resolve(['note'], [], includes);
    expect(asked).toHaveLength(4);
  });
});

describe('searching', () => {
  it('returns a page with the numbers of blocked claims and the blocking channels', async () => {
    const answer = outputs({
      txos: [signed(stream)],
      extraTxos: [row(channel)],
      total: 77,
      blocked: [create(BlockedSchema, { count: 2, channel: at(channel) })],
      blockedTotal: 2,
    });
    const { rows, total, blocked, blockedTotal } = await new Resolver(world([answer]).ports).search({});
    expect([rows.length, total, blockedTotal, blocked[0]!.count]).toEqual([1, 77, 2, 2]);
    expect(idOf(blocked[0]!.channel!)).toBe(idOf(channel));
  });

  it('accepts an empty answer, for instance for an unknown channel', async () => {
    const { rows, total } = await new Resolver(world([Buffer.alloc(0)]).ports).search({ channel: '@none' });
    expect([rows, total]).toEqual([[], 0]);
  });

  it('returns claims by id in the order of the ids', async () => {
    const answer = outputs({ txos: [row(stream), row(repost)] });
    const { ports, asked } = world([answer]);
    const ids = [idOf(repost), 'ab'.repeat(20), idOf(stream), idOf(repost)];
    const claims = await new Resolver(ports).claimsById(ids);
    expect(claims.map((txo) => txo && idOf(txo))).toEqual([ids[0], null, ids[2], ids[0]]);
    expect(asked).toEqual([{ claim_ids: ids.slice(0, 3), limit: 50 }]);
  });

  it('checks the id of a returned claim', async () => {
    const { ports } = world([outputs({ txos: [row(stream)] })]);
    expect(idOf((await new Resolver(ports).claimById(idOf(stream)))!)).toBe(idOf(stream));
    await expect(new Resolver(ports).claimById(idOf(repost))).rejects.toThrow('No hub');
    const none = world([outputs({ txos: [errorRow(Error_Code.NOT_FOUND, 'no')] })]);
    expect(await new Resolver(none.ports).claimById(idOf(repost))).toBeNull();
    expect(await new Resolver(none.ports).claimById('short')).toBeNull();
  });
});

describe('outputs of a list', () => {
  it('are inflated with the index and keep their notes, or the reason is logged', async () => {
    const support = signedSupport(stream, channel);
    const mine = new Txo(stream, { isSpent: false, isMyOutput: true, meta: {} });
    const fresh = new Txo(priced, { isMyOutput: true });
    const resolved = outputs({
      txos: [signed(stream), errorRow(Error_Code.NOT_FOUND, 'not yet')],
      extraTxos: [row(channel)],
    });
    const { ports, asked } = world([resolved, outputs({ txos: [row(channel)] })]);
    const txos = await new Resolver(ports).resolveTxos([], [mine, support, fresh]);
    expect(asked).toEqual([
      [`lbry://note#${idOf(stream)}`, `lbry://expensive#${idOf(priced)}`],
      { claim_ids: [idOf(channel)], limit: 50 },
    ]);
    expect(txos[0]!.notes).toMatchObject({
      isSpent: false,
      isMyOutput: true,
      shortUrl: 'lbry://note#1',
      meta: { effective_amount: '1.5' },
    });
    expect(idOf(txos[0]!.notes.channel!)).toBe(idOf(channel));
    expect(txos[1]!.isSignedBy(txos[1]!.notes.channel!, ports.ledger.params)).toBe(true);
    expect(txos[2]!.notes).toEqual({
      isMyOutput: true,
      meta: { error: { name: 'NOT_FOUND', text: 'not yet' } },
    });
  });

  it('with a name that no URL can have are requested by their ids', async () => {
    const odd = claim('@a/b', { case: 'stream', value: {} });
    const { ports, asked } = world([outputs({ txos: [row(odd)] })]);
    const [txo] = await new Resolver(ports).resolveTxos([], [odd]);
    expect(asked).toEqual([[`lbry://claim#${idOf(odd)}`]]);
    expect(txo!.notes.shortUrl).toBe('lbry://@a/b#1');
  });
});
