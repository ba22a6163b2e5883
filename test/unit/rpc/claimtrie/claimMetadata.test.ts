/** `-claimmetadata`: the decoded content of values, in addition to their bytes, in every answer that has them. */
import { describe, expect, it } from 'vitest';
import { ShownMetadata } from '../../../../src/rpc/format/claimMetadata.js';
import { addressPrefixes } from '../../../../src/rpc/format/addresses.js';
import { networkParams } from '../../../../src/params/networks.js';
import { toHex } from '../../../../src/util/bytes.js';
import { toPlain } from '../../../../src/util/json/json.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';
import { jsonChunks } from '../../../../src/util/json/jsonStream.js';
import { type JsonOut } from '../../../../src/util/json/jsonWrite.js';
import { emptyInput, formatTransaction, type Transaction } from '../../../../src/primitives/transaction.js';
import { countTurns } from '../../../support/slices.js';
import { blockHashAt, claimOutput, plainOutput, supportOutput, updateOutput, World } from './world.js';

const COIN = 100_000_000n;
/** An unsigned stream with a title, which is field 8. */
const STREAM = `000a004205${toHex(Buffer.from('hello'))}`;
const CHANNEL_ID = 'ab'.repeat(19) + '01';
const SIGNATURE = 'cd'.repeat(64);
const wireOrder = (id: string): string => toHex(Buffer.from(id, 'hex').reverse());
const SIGNED = `01${wireOrder(CHANNEL_ID)}${SIGNATURE}${STREAM.slice(2)}`;
/** A support with an emoji, which is field 1. */
const SUPPORT = `000a02${toHex(Buffer.from('ok'))}`;

const PLAIN = { kind: 'stream', value: { title: 'hello' } };
const SIGNED_PLAIN = { ...PLAIN, channelId: CHANNEL_ID, signature: SIGNATURE };
const SUPPORT_PLAIN = { kind: 'support', value: { emoji: 'ok' } };

async function world(claimMetadata: boolean) {
  const made = new World();
  made.claimMetadata = claimMetadata;
  await made.mine();
  const [first] = await made.mine([
    [],
    [
      claimOutput('a', STREAM, 3n * COIN),
      claimOutput('a', SIGNED, 2n * COIN),
      claimOutput('a', 'ffff', COIN),
    ],
  ]);
  const [support] = await made.mine([
    [],
    [supportOutput('a', first!.claimId(0), COIN, SUPPORT), supportOutput('a', first!.claimId(1), COIN / 2n)],
  ]);
  return { world: made, first: first!, support: support! };
}

interface Shown {
  metadata?: { error?: string };
  value?: string;
}

describe('-claimmetadata', () => {
  it('adds decoded values in every profile', async () => {
    const { world: made } = await world(true);
    for (const profile of ['documented', 'lbrycrd', 'lbcd'] as const) {
      const params = profile === 'lbcd' ? ['a', null, 1] : ['a'];
      const { claims } = (await made.call(profile, 'getclaimsforname', ...params)) as {
        claims: (Shown & { supports?: Shown[] })[];
      };
      expect(claims.map(({ metadata }) => metadata)).toEqual([
        PLAIN,
        SIGNED_PLAIN,
        { error: expect.stringMatching(/./) as unknown },
      ]);
      expect(claims.map(({ value }) => value)).toEqual([STREAM, SIGNED, 'ffff']);
      const supports = claims.flatMap((claim) => claim.supports ?? []);
      expect(supports.map(({ metadata }) => metadata)).toEqual([SUPPORT_PLAIN, undefined]);
    }
  });

  it('adds them to answers about one claim and about the claims of a transaction', async () => {
    const { world: made, first, support } = await world(true);
    for (const profile of ['documented', 'lbrycrd'] as const) {
      expect(await made.call(profile, 'getvalueforname', 'a')).toMatchObject({ metadata: PLAIN });
      const [held] = (await made.call(profile, 'getclaimsfortx', first.id)) as Shown[];
      expect(held).toMatchObject({ metadata: PLAIN });
    }
    const all = (await made.call('documented', 'getclaimsintrie')) as { claims: Shown[] }[];
    expect(all[0]!.claims[1]).toMatchObject({ metadata: SIGNED_PLAIN });
    const [, claim] = (await made.call('documented', 'getclaimsfortx', first.id)) as Shown[];
    expect(claim).toMatchObject({ metadata: SIGNED_PLAIN });
    const [supported] = (await made.call('documented', 'getclaimsfortx', support.id)) as Shown[];
    expect(supported).toMatchObject({ metadata: SUPPORT_PLAIN });
  });

  it('adds them to the answer about many claims of a transaction, each time', async () => {
    const { world: made } = await world(true);
    const names = Array.from({ length: 20 }, (_, n) => `name${n}`);
    const [tx] = await made.mine([[], names.map((name) => claimOutput(name, STREAM, COIN))]);
    for (let depth = 0; depth < 2; depth++) {
      const shown = (await made.call('documented', 'getclaimsfortx', tx!.id)) as Shown[];
      expect(shown).toEqual(
        names.map((name) => expect.objectContaining({ name, depth, metadata: PLAIN }) as Shown),
      );
      await made.mineEmpty(1);
    }
  });

  it('adds nothing if the option is off', async () => {
    const { world: made } = await world(false);
    expect(JSON.stringify(await made.call('documented', 'getclaimsforname', 'a'))).not.toContain('metadata');
    expect(JSON.stringify(await made.call('documented', 'getvalueforname', 'a'))).not.toContain('metadata');
  });

  it('adds the value of an update, and nothing for a spent output in a pruned block', async () => {
    const { world: made, first } = await world(true);
    await made.mine([[first.out(0)], [updateOutput('a', first.claimId(0), SIGNED, 5n * COIN)]]);
    expect(await made.call('documented', 'getvalueforname', 'a')).toMatchObject({ metadata: SIGNED_PLAIN });
    made.pruned.add(1);
    const past = (await made.call('documented', 'getvalueforname', 'a', blockHashAt(2))) as Shown;
    expect(past).toMatchObject({ pruned: true, value: null });
    expect(past.metadata).toBeUndefined();
  });

  it('adds them to transactions', async () => {
    const { world: made } = await world(true);
    const tx: Transaction = {
      version: 1,
      inputs: [emptyInput({ hash: Buffer.alloc(32, 1), index: 0 })],
      outputs: [
        claimOutput('a', STREAM, COIN),
        plainOutput(COIN),
        updateOutput('a', Buffer.alloc(20), 'ff', COIN),
      ],
      lockTime: 0,
    };
    const params = [toHex(formatTransaction(tx))];
    const shown = (await made.call('documented', 'decoderawtransaction', ...params)) as { vout: Shown[] };
    expect(shown.vout.map(({ metadata }) => metadata)).toEqual([
      PLAIN,
      undefined,
      { error: expect.stringMatching(/./) as unknown },
    ]);
    made.claimMetadata = false;
    const plain = await made.call('documented', 'decoderawtransaction', ...params);
    expect(JSON.stringify(plain)).not.toContain('metadata');
  });
});

describe('every claim format of the chain', () => {
  const KEY = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
  const json2016 = { ver: '0.0.3', sources: { lbry_sd_hash: '00ff' }, title: 'old', 'content-type': 'a/b' };
  const claims = [
    [STREAM, PLAIN],
    [SIGNED, SIGNED_PLAIN],
    [`001223 0a21 ${KEY}`, { kind: 'channel', value: { public_key: KEY } }],
    [`002216 0a14 ${wireOrder(CHANNEL_ID)}`, { kind: 'repost', value: { claim_id: CHANNEL_ID } }],
    [`001a18 1216 0a14 ${wireOrder(CHANNEL_ID)}`, { kind: 'collection', value: { claims: [CHANNEL_ID] } }],
    // A channel of 2017, and a stream of 2016.
    [`0801 1002 2227 0801 1003 2221 ${KEY}`, { kind: 'channel', value: { public_key: KEY } }],
    [toHex(Buffer.from(JSON.stringify(json2016))), { kind: 'stream', value: { title: 'old' } }],
  ] as const;
  const values = claims.map(([hex]) => hex.replaceAll(' ', ''));

  it('is decoded in transactions and in answers about a name', async () => {
    const made = new World();
    made.claimMetadata = true;
    await made.mine();
    const [tx] = await made.mine([
      [],
      values.map((value, n) => claimOutput('a', value, COIN * BigInt(values.length - n))),
    ]);
    const { claims: shown } = (await made.call('documented', 'getclaimsforname', 'a')) as {
      claims: Shown[];
    };
    expect(shown.map(({ metadata, value }) => [value, metadata])).toMatchObject(
      claims.map(([, metadata], n) => [values[n], metadata]),
    );
    const [held] = (await made.call('documented', 'getclaimsfortx', tx!.id)) as Shown[];
    expect(held).toMatchObject({ metadata: PLAIN });
  });

  it('is decoded in purchases but not in other data outputs', async () => {
    const made = new World();
    made.claimMetadata = true;
    const bought = `500a14${wireOrder(CHANNEL_ID)}`;
    const scripts = [
      `6a17${bought}`,
      `6a4c17${bought}`,
      `6a17${bought}00`,
      `6a16${bought.slice(0, -2)}`,
      '6a16' + `500a13${wireOrder(CHANNEL_ID).slice(2)}`,
      '6a0150',
      '6a',
      '6a17',
      '6a02ffff',
    ];
    const tx: Transaction = {
      version: 1,
      inputs: [emptyInput({ hash: Buffer.alloc(32, 1), index: 0 })],
      outputs: scripts.map((script) => ({ value: 0n, script: Buffer.from(script, 'hex') })),
      lockTime: 0,
    };
    const params = [toHex(formatTransaction(tx))];
    const shown = (await made.call('documented', 'decoderawtransaction', ...params)) as { vout: Shown[] };
    const purchase = { kind: 'purchase', value: { claim_id: CHANNEL_ID } };
    expect(shown.vout.map(({ metadata }) => metadata)).toEqual([
      purchase,
      purchase,
      ...scripts.slice(2).map(() => undefined),
    ]);
  });
});

describe('a claim value', () => {
  const metadata = new ShownMetadata(addressPrefixes(networkParams('regtest')));
  async function shown(value: JsonOut | undefined): Promise<unknown> {
    let text = '';
    for await (const chunk of jsonChunks(value ?? null)) text += chunk;
    return toPlain(parseJson(text));
  }

  it('that is longer than a spendable script is not decoded', async () => {
    const long = Buffer.concat([Buffer.from(STREAM, 'hex'), Buffer.alloc(1_000_000)]);
    expect(await shown(metadata.ofValue(long, false))).toEqual({
      error: 'The value has more than 20005 bytes',
    });
  });

  it('that is deeply nested, or decodes to very much text, is decoded or refused', async () => {
    const nested = Buffer.from(`{"ver":"0.0.1","a":${'['.repeat(9000)}${']'.repeat(9000)}}`);
    expect(await shown(metadata.ofValue(nested, false))).toEqual({
      error: expect.stringMatching(/./) as unknown,
    });
    const tags = Buffer.concat([Buffer.from('000a00', 'hex'), Buffer.alloc(19_000, Buffer.from([0x5a, 0]))]);
    expect(await shown(metadata.ofValue(tags, false))).toMatchObject({ kind: 'stream' });
    expect(await shown(metadata.ofValue(Buffer.alloc(0), false))).toEqual({ error: 'The value is empty' });
  });

  it('among many others is decoded with yields to other work', async () => {
    const tags = Buffer.concat([Buffer.from('000a00', 'hex'), Buffer.alloc(10_000, Buffer.from([0x5a, 0]))]);
    const many = Array.from({ length: 40 }, () => metadata.ofValue(tags, false)!);
    const { turns } = await countTurns(() => shown(many));
    expect(turns).toBeGreaterThanOrEqual(many.length);
  });
});
