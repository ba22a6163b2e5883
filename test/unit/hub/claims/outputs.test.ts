import { fromBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ClaimAnswers, type FoundClaims } from '../../../../src/hub/claims/claimAnswers.js';
import { messageOf, type HubOutputs } from '../../../../src/hub/claims/foundOutputs.js';
import { ClientQueue } from '../../../../src/scheduler/clientQueue.js';
import type { ClaimRecord, ResolvedUrl } from '../../../../src/index/claims/claimReader.js';
import { confirmedClaims } from '../../../../src/index/waiting/waitingIndex.js';
import { OutputsSchema, type Output, type Outputs } from '../../../../src/metadata/messages/result_pb.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import { hashToHex, toLatin1, type Bytes } from '../../../../src/util/bytes.js';

const idOf = (name: string): Buffer => sha256(Buffer.from(name)).subarray(0, 20);
const txidOf = (name: string): Buffer => sha256(Buffer.from(`tx of ${name}`));

function claim(name: string, more: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    claimId: idOf(name),
    name: Buffer.from(name),
    normalizedName: Buffer.from(name),
    txid: txidOf(name),
    nout: 3,
    height: 100,
    position: 1,
    amountSat: 5n,
    creationHeight: 90,
    creationPosition: 1,
    creationNout: 0,
    activationHeight: 95,
    expirationHeight: 600,
    takeoverHeight: 95,
    isControlling: true,
    effectiveAmountSat: 2n ** 63n,
    supportAmountSat: 7n,
    kind: 'stream',
    channelId: null,
    isSignatureValid: false,
    repostedId: null,
    isRepostedGone: false,
    repostCount: 2,
    claimsInChannel: 0,
    shortUrl: `${name}#1`,
    canonicalUrl: `${name}#1`,
    ...more,
  };
}

const channel = claim('@c', { kind: 'channel', claimsInChannel: 4 });
const outer = claim('@outer', { kind: 'channel' });
const signedChannel = claim('@in', { kind: 'channel', channelId: outer.claimId, isSignatureValid: true });
const stream = claim('s', { channelId: channel.claimId, isSignatureValid: true });
const sound = claim('v', { channelId: signedChannel.claimId, isSignatureValid: true });
const unsound = claim('u', { channelId: signedChannel.claimId });
const orphan = claim('o', { channelId: idOf('gone') });
const repost = claim('r', { kind: 'repost', repostedId: stream.claimId });
const ALL = [channel, outer, signedChannel, stream, sound, unsound, orphan, repost];
const URLS: Record<string, Partial<ResolvedUrl>> = {
  '@c': { claim: channel },
  '@c/s': { claim: stream, channel },
  u: { claim: unsound },
  r: { claim: repost, reposted: stream, repostedChannel: channel },
  none: { failure: { kind: 'not-found-claim', text: 'Could not find claim at "none".' } },
  '?': { failure: { kind: 'invalid', text: 'Invalid LBRY URL' } },
};
const NOTHING: ResolvedUrl = {
  claim: null,
  channel: null,
  reposted: null,
  repostedChannel: null,
  failure: null,
};
const byId = new Map(ALL.map((record) => [toLatin1(record.claimId), record]));
const find = (id: Bytes): ClaimRecord | null => byId.get(toLatin1(id)) ?? null;
const index = confirmedClaims({
  claims: (ids: readonly Bytes[]) => Promise.resolve(ids.map(find)),
  resolve: (urls: readonly string[]) => Promise.resolve(urls.map((url) => ({ ...NOTHING, ...URLS[url] }))),
});

/** Results are passed to another thread. */
const decode = (found: HubOutputs | null): Outputs =>
  fromBinary(OutputsSchema, Buffer.from(messageOf(structuredClone(found!)), 'base64'));

/** Resolves references as lbry-sdk does: every reference must be in a transaction of a row. */
function inflate({ txos, extraTxos }: Outputs): void {
  const known = new Set(
    [...txos, ...extraTxos].filter(({ meta }) => meta.case === 'claim').map(({ txHash }) => toLatin1(txHash)),
  );
  for (const { meta } of [...txos, ...extraTxos]) {
    if (meta.case !== 'claim') continue;
    for (const reference of [meta.value.channel, meta.value.repost])
      if (reference) expect(known.has(toLatin1(reference.txHash))).toBe(true);
  }
}

const nameOf = ({ txHash }: Output): string =>
  ALL.find(({ txid }) => Buffer.from(txid).equals(txHash))?.name.toString() ?? 'none';

describe('resolve', () => {
  it('has a row for each URL in order, and rows for referenced claims', async () => {
    const urls = ['@c/s', 'none', '@c', 'r', '?', '@c/s'];
    const outputs = decode(
      await new ClaimAnswers(index, null).resolve(urls, await new ClientQueue().enter({})),
    );
    inflate(outputs);
    expect(outputs.txos.map(({ meta }) => (meta.case === 'error' ? meta.value.text : 'found'))).toEqual([
      'found',
      'Could not find claim at "none".',
      'found',
      'found',
      'Invalid LBRY URL',
      'found',
    ]);
    expect(outputs.txos.map(({ meta }) => (meta.case === 'error' ? meta.value.code : 0))).toEqual([
      0, 1, 0, 0, 2, 0,
    ]);
    expect(outputs.extraTxos.map(nameOf).sort()).toEqual(['@c', 's']);
    const [first, , channelRow] = outputs.txos;
    expect(first).toMatchObject({ nout: 3, height: 100 });
    expect(nameOf(first!)).toBe('s');
    expect(first!.meta).toMatchObject({
      value: {
        shortUrl: 's#1',
        effectiveAmount: 2n ** 63n,
        supportAmount: 7n,
        reposted: 2,
        creationHeight: 90,
      },
    });
    expect(first!.meta.case === 'claim' && nameOf(first!.meta.value.channel!)).toBe('@c');
    expect(channelRow!.meta.case === 'claim' && channelRow!.meta.value.claimsInChannel).toBe(4);
    expect([outputs.total, outputs.offset]).toEqual([0, 0]);
  });
});

describe('a claim that does not belong to the channel that it names', () => {
  it('is returned with that channel, so that a client can verify it', async () => {
    const answers = new ClaimAnswers(index, null);
    const byUrl = decode(await answers.resolve(['u'], await new ClientQueue().enter({})));
    for (const outputs of [byUrl, decode(await answers.byId(hashToHex(unsound.claimId)))]) {
      inflate(outputs);
      expect(outputs.txos.map(nameOf)).toEqual(['u']);
      expect(outputs.extraTxos.map(nameOf)).toEqual(['@in']);
      const [{ meta }] = outputs.txos as [(typeof outputs.txos)[number]];
      expect(meta.case === 'claim' && nameOf(meta.value.channel!)).toBe('@in');
    }
  });
});

describe('getclaimbyid', () => {
  it('returns the claim, its channel, the reposted claim, and its channel', async () => {
    const answers = new ClaimAnswers(index, null);
    const outputs = decode(await answers.byId(hashToHex(repost.claimId)));
    inflate(outputs);
    expect(outputs.txos.map(nameOf)).toEqual(['r']);
    expect(outputs.extraTxos.map(nameOf)).toEqual(['s', '@c']);
    const missing = decode(await answers.byId('ab'.repeat(20)));
    expect(missing.txos[0]!.meta).toMatchObject({
      value: { code: 1, text: `Could not find claim at ${'ab'.repeat(20)}` },
    });
  });
});

describe('search', () => {
  const searching = (found: FoundClaims) => {
    const asked: unknown[] = [];
    const search = (constraints: unknown): Promise<FoundClaims> => {
      asked.push(constraints);
      return Promise.resolve(found);
    };
    return { answers: new ClaimAnswers(index, { search }), asked };
  };

  it('includes channels of invalid signatures, and the channels of channels', async () => {
    const rows = [sound, unsound, orphan, repost].map(({ claimId }) => claimId);
    const { answers } = searching({ rows, total: 77, blocked: [{ channelId: channel.claimId, count: 3 }] });
    const outputs = decode(await answers.search({}, await new ClientQueue().enter({}), {}));
    inflate(outputs);
    expect(outputs.txos.map(nameOf)).toEqual(['v', 'u', 'o', 'r']);
    expect(outputs.extraTxos.map(nameOf).sort()).toEqual(['@c', '@in', '@outer', 's']);
    expect(
      outputs.txos.map(({ meta }) => (meta.case === 'claim' && meta.value.channel ? 'signed' : 'not')),
    ).toEqual(['signed', 'signed', 'not', 'not']);
    expect([outputs.total, outputs.blockedTotal, outputs.blocked[0]!.count]).toEqual([77, 3, 3]);
    expect(nameOf(outputs.blocked[0]!.channel!)).toBe('@c');
  });

  it('searches in the channel of a URL, and finds nothing without one', async () => {
    const { answers, asked } = searching({ rows: [], total: 0, blocked: [] });
    const turn = await new ClientQueue().enter({});
    expect(decode(await answers.search({ channel: '@c', limit: 5 }, turn, {})).txos).toEqual([]);
    await answers.search({ channel: '@c/s' }, turn, {});
    await answers.search({ channel: null }, turn, {});
    const inChannel = { channel_id: hashToHex(channel.claimId) };
    expect(asked).toEqual([{ ...inChannel, limit: 5 }, inChannel, {}]);
    for (const url of ['none', '?', 'r', ''])
      expect(await answers.search({ channel: url }, turn, {})).toBeNull();
    expect(asked).toHaveLength(3);
    await expect(answers.search({ channel: ['@c'] }, turn, {})).rejects.toMatchObject({
      code: 1,
      message: 'channel: the value is not a URL.',
    });
  });

  it('returns errors of the search to the client', async () => {
    const failing = new ClaimAnswers(index, {
      search: () => Promise.reject(Object.assign(new Error('query timed out'), { code: -32000 })),
    });
    await expect(failing.search({}, await new ClientQueue().enter({}), {})).rejects.toMatchObject({
      name: 'HubError',
      code: -32000,
      message: 'query timed out',
    });
  });
});
