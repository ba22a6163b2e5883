/**
 * The channel of claims while the channel changes its key, is updated, abandoned, expires and is restored by reorganisations:
 * equal in all answers of a node and its hub. Searches of one channel: the limit on all pages, release times of channels,
 * reposts of abandoned claims. With the search index in SQLite and in PostgreSQL.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutputsSchema, type ClaimMeta, type Outputs } from '../../src/metadata/messages/result_pb.js';
import { hashToHex } from '../../src/util/bytes.js';
import { newPostgresTarget, postgresUrl } from '../support/searchBackends.js';
import { abandon, claim, update, type Step } from './scenarios/claimLives.js';
import { ClaimActor, FundingCoins } from './support/claimActor.js';
import { HubClient } from './support/hubClient.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';

interface Answer {
  readonly claim_id: string;
  readonly name: string;
  readonly short_url: string;
  readonly canonical_url: string;
  readonly claims_in_channel: number;
  readonly creation_timestamp: number;
  readonly expiration_height: number;
  readonly channel_id?: string;
  readonly is_channel_signature_valid?: boolean;
  readonly is_reposted_claim_gone?: boolean;
  readonly signing_channel?: { readonly claim_id: string };
  readonly reposted_claim?: object;
}

interface Page {
  readonly height: number;
  readonly total: number;
  readonly claims: readonly Answer[];
}

/** A fee delta in satoshis that is so low that no block includes the transaction. */
const KEPT_OUT = -100_000_000;
const TERM_BLOCKS = 60;
const SCHEME = 'lbry://';
const SIGNED = { has_channel_signature: true };
const VALID = { ...SIGNED, signature_valid: true };

const backends = [
  { name: 'SQLite', keep: () => ({ args: ['-claimsearch'], remove: () => undefined }) },
  {
    name: 'PostgreSQL',
    async keep() {
      const { url, schema, remove } = await newPostgresTarget();
      return { args: [`-claimsearchurl=${url}`, `-claimsearchschema=${schema}`], remove };
    },
  },
];

describe.each(postgresUrl() === null ? backends.slice(0, 1) : backends)('with $name', ({ keep }) => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-channelkeys-'));
  let kept: Awaited<ReturnType<typeof keep>>;
  let node: RegtestNode;
  let client: HubClient;
  let actor: ClaimActor;

  beforeAll(async () => {
    kept = await keep();
    const port = await freePort();
    node = await startRegtest({
      dataDir: folder,
      args: [
        ...['-hub', `-hubport=${port}`, '-hubudpport=0', `-claimexpiration=${TERM_BLOCKS},${TERM_BLOCKS}`],
        ...kept.args,
      ],
    });
    const funding = new FundingCoins(node);
    await funding.fill();
    actor = new ClaimActor(funding, 'unnamed');
    while (client === undefined) {
      await HubClient.open(port).then(
        (opened) => void (client = opened),
        () => node.rpc('getblockcount'),
      );
    }
  });
  afterAll(async () => {
    await client.close();
    await node.stop();
    await kept.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the steps and mines their transactions in one block. Returns its hash. */
  async function mine(...steps: Step[]): Promise<string> {
    for (const step of steps) await actor.act(step as never);
    const [hash] = await node.rpc<string[]>('generatetoaddress', [1, ADDRESS]);
    return hash!;
  }

  /** A page of the search index at the tip, with claims of the chain only. Claims of disconnected blocks are in the mempool. */
  async function search(constraints: object): Promise<Page> {
    const height = await node.rpc<number>('getblockcount');
    for (;;) {
      const page = await node
        .rpc<Page>('searchclaims', [{ ...constraints, confirmed_only: true }])
        .catch((error: unknown) => {
          if (!(error as Error).message.includes('being built')) throw error;
          return null;
        });
      if (page?.height === height) return page;
    }
  }

  async function hub(method: string, params: object): Promise<Outputs> {
    const text = await client.call<string>(`blockchain.claimtrie.${method}`, params as never);
    return fromBinary(OutputsSchema, Buffer.from(text, 'base64'));
  }

  const metaOf = ({ txos }: Outputs): ClaimMeta => {
    const { meta } = txos[0]!;
    if (meta.case !== 'claim') throw new Error(`the hub answers ${JSON.stringify(meta.value)}`);
    return meta.value;
  };

  const namesOf = ({ claims }: Page): string[] => claims.map(({ name }) => name).sort();

  /** The claims of a channel, in pages of one claim. */
  async function listed(channelId: string): Promise<Answer[]> {
    const claims: Answer[] = [];
    for (let after: string[] = []; ;) {
      const page = await node.rpc<Page & { next?: string }>('listchannelclaims', [channelId, 1, ...after]);
      expect(page.height).toBe(await node.rpc('getblockcount'));
      claims.push(...page.claims);
      if (page.next === undefined) {
        expect(page.total).toBe(claims.length);
        return claims;
      }
      after = [page.next];
    }
  }

  /** The claims that belong to the channel. Checks that all answers agree about them. */
  async function belonging(channel: string, ...labels: string[]): Promise<string[]> {
    const channelId = actor.idOf(channel);
    const valid: string[] = [];
    for (const label of labels) {
      const claimId = actor.idOf(label);
      const answer = await node.rpc<Answer>('getclaim', [claimId, true]);
      const isValid = answer.is_channel_signature_valid === true;
      if (isValid) valid.push(label);
      expect(answer.channel_id).toBe(channelId);
      expect(answer.signing_channel?.claim_id).toBe(isValid ? channelId : undefined);
      const url = `@any#${channelId}/${answer.name}`;
      const resolved = await node.rpc<Record<string, Answer>>('resolve', [[answer.short_url, url], true]);
      expect(resolved[answer.short_url]).toEqual(answer);
      expect(resolved[url]?.claim_id).toBe(isValid ? claimId : undefined);
      expect((await search({ claim_id: claimId, ...VALID })).claims).toEqual(isValid ? [answer] : []);
      expect(await search({ claim_id: claimId, ...VALID, signature_valid: false })).toMatchObject({
        claims: isValid ? [] : [answer],
      });
      const canonical = answer.canonical_url.slice(SCHEME.length);
      const rows = [
        await hub('search', { claim_id: claimId, confirmed_only: true }),
        await hub('resolve', [answer.short_url]),
        await hub('search', {
          claim_ids: [claimId],
          ...SIGNED,
          signature_valid: isValid,
          confirmed_only: true,
        }),
      ];
      for (const row of rows) {
        expect(metaOf(row).canonicalUrl).toBe(canonical);
        // The channel that the claim refers to, if the channel still exists. Clients verify the signature with its key.
        const place = metaOf(row).channel;
        const { total } = await search({ claim_id: channelId });
        expect(place && hashToHex(Buffer.from(place.txHash))).toBe(
          total === 1 ? hashToHex(actor.of(channel).txid) : undefined,
        );
      }
      expect(canonical.startsWith('@')).toBe(isValid);
    }
    expect(namesOf(await search({ channel_ids: [channelId], limit: 50 }))).toEqual([...labels].sort());
    expect(namesOf(await search({ channel_ids: [channelId], ...VALID }))).toEqual([...valid].sort());
    const found = await search({ claim_id: channelId });
    const signed = found.total === 1 ? await listed(channelId) : [];
    expect(signed.map(({ name }) => name)).toEqual(
      [...valid].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)),
    );
    for (const answer of signed) expect(await node.rpc('getclaim', [answer.claim_id, true])).toEqual(answer);
    if (found.total === 1) {
      expect(found.claims[0]!.claims_in_channel).toBe(valid.length);
      expect(await search({ claim_id: channelId, claims_in_channel: valid.length })).toEqual(
        actor.of(channel).isChannel ? found : { ...found, claims: [], total: 0 },
      );
      const row = await hub('search', { claim_id: channelId, confirmed_only: true });
      expect(metaOf(row).claimsInChannel).toBe(valid.length);
    } else expect(valid).toEqual([]);
    return valid;
  }

  const takenBack = async (block: string, look: () => Promise<void>): Promise<void> => {
    await node.rpc('invalidateblock', [block]);
    await look();
    await node.rpc('reconsiderblock', [block]);
  };

  it('uses the current key of the channel, over updates and reorganisations', async () => {
    await mine(claim('@c', 10, { name: '@c', isChannel: true, key: 'first' }));
    await mine(claim('old', 1, { name: 'old', by: '@c', key: 'first' }));
    await mine(
      claim('new', 1, { name: 'new', by: '@c', key: 'second' }),
      claim('wrong', 1, { name: 'wrong', by: '@c', key: 'third' }),
    );
    const all = () => belonging('@c', 'old', 'new', 'wrong');
    expect(await all()).toEqual(['old']);
    const former = actor.of('@c');
    const rotated = await mine(update('@c', 11, { key: 'second' }));
    const latter = actor.of('@c');
    expect(await all()).toEqual(['new']);
    await takenBack(rotated, async () => {
      actor.made.set('@c', former);
      expect(await all()).toEqual(['old']);
    });
    actor.made.set('@c', latter);
    expect(await all()).toEqual(['new']);
    // A block changes the key of the channel, and contains a claim that is signed with an earlier key. Then the channel returns
    // to its first key.
    await mine(update('wrong', 2, { by: '@c', key: 'first' }), update('@c', 12, { key: 'third' }));
    expect(await all()).toEqual([]);
    await mine(update('@c', 13, { key: 'first' }));
    expect(await all()).toEqual(['old', 'wrong']);
  });

  it('has no claims before the channel exists and after it has ended', async () => {
    const all = () => belonging('@c', 'old', 'new', 'wrong');
    const channel = actor.of('@c');
    const replaced = await mine(update('@c', 14, { isChannel: false }));
    const stream = actor.of('@c');
    expect(await all()).toEqual([]);
    await takenBack(replaced, async () => {
      actor.made.set('@c', channel);
      expect(await all()).toEqual(['old', 'wrong']);
    });
    actor.made.set('@c', stream);
    await mine(update('@c', 15, { isChannel: true, key: 'second' }));
    expect(await all()).toEqual(['new']);
    const ended = await mine(abandon('@c'));
    expect(await all()).toEqual([]);
    await takenBack(ended, async () => expect(await all()).toEqual(['new']));
    expect(await all()).toEqual([]);
    const channelId = actor.idOf('@c');
    await expect(node.rpc('listchannelclaims', [channelId])).rejects.toThrow('Could not find claim');
    await expect(node.rpc('listchannelclaims', ['ab'])).rejects.toThrow('40 hexadecimal digits');
    for (const after of ['zz', 'ff', '00', `0001${'00'.repeat(10)}`])
      await expect(node.rpc('listchannelclaims', [channelId, 1, after])).rejects.toThrow('"next"');
  });

  it('includes claims from earlier blocks until the channel expires', async () => {
    await actor.act(claim('@late', 10, { name: '@late', isChannel: true, key: 'late' }) as never);
    const txid = hashToHex(actor.of('@late').txid);
    await node.rpc('prioritisetransaction', [txid, 0, KEPT_OUT]);
    await mine(claim('early', 1, { name: 'early', by: '@late', key: 'late' }));
    expect(await belonging('@late', 'early')).toEqual([]);
    await node.rpc('prioritisetransaction', [txid, 0, -KEPT_OUT]);
    const made = await mine();
    expect(await belonging('@late', 'early')).toEqual(['early']);
    await takenBack(made, async () => expect(await belonging('@late', 'early')).toEqual([]));
    await mine(update('early', 2, { by: '@late', key: 'late' }));
    const { expiration_height: end } = await node.rpc<Answer>('getclaim', [actor.idOf('@late')]);
    const left = end - (await node.rpc<number>('getblockcount'));
    const upcoming = await node.rpc<{ events: { claimid: string }[] }>('listupcoming', [left, 'expiration']);
    expect(upcoming.events.some((event) => JSON.stringify(event).includes(actor.idOf('@late')))).toBe(true);
    await node.rpc('generatetoaddress', [left - 1, ADDRESS]);
    expect(await belonging('@late', 'early')).toEqual(['early']);
    const last = await mine();
    expect(await belonging('@late', 'early')).toEqual([]);
    await takenBack(last, async () => expect(await belonging('@late', 'early')).toEqual(['early']));
    await node.rpc('reconsiderblock', [last]);
  });

  it('is limited per channel over all pages together, and can be sorted by release time', async () => {
    await mine(
      claim('@a', 10, { name: '@a', isChannel: true }),
      claim('@b', 10, { name: '@b', isChannel: true }),
    );
    const { time } = await node.rpc<{ time: number }>('getblock', [await node.rpc('getbestblockhash')]);
    await node.rpc('setmocktime', [time + 1000]);
    await mine(
      ...['a1', 'a2', 'a3', 'a4'].map((name, n) => claim(name, 20 - n, { name, by: '@a' })),
      ...['b1', 'b2'].map((name, n) => claim(name, 10 - n, { name, by: '@b' })),
      // These claims have invalid signatures, so they do not count as claims of the channel.
      ...['f1', 'f2'].map((name, n) => claim(name, 5 - n, { name, by: '@a', key: 'of another' })),
    );
    const asked = {
      channel_ids: ['@a', '@b'].map((label) => actor.idOf(label)),
      order_by: 'amount',
      limit: 3,
    };
    const limited = { ...asked, limit_claims_per_channel: 2 };
    const pages: string[][] = [];
    for (let offset = 0; offset < 9; offset += 3) {
      const { claims, total } = await search({ ...limited, offset });
      expect(total).toBe(6);
      pages.push(claims.map(({ name }) => name));
      const row = await hub('search', { ...limited, offset });
      expect(row.txos.map((txo) => hashToHex(Buffer.from(txo.txHash)))).toEqual(
        pages.at(-1)!.map((label) => hashToHex(actor.of(label).txid)),
      );
    }
    expect(pages).toEqual([['a1', 'a2', 'b1'], ['b2', 'f1', 'f2'], []]);
    const walked: string[] = [];
    for (let after: string | undefined = ''; after !== undefined;) {
      const page: Page & { next?: string } = await node.rpc('searchclaims', [limited, after]);
      walked.push(...page.claims.map(({ name }) => name));
      after = page.next;
    }
    expect(walked).toEqual(pages.flat());

    const id = actor.idOf('@a');
    const { creation_timestamp: madeSec } = await node.rpc<Answer>('getclaim', [id]);
    for (const [bound, count] of [
      [`<=${madeSec}`, 1],
      [`>${madeSec + 360}`, 0],
      [`<${madeSec - 720}`, 0],
      [`>=${madeSec - 720}`, 1],
    ] as const)
      expect((await search({ claim_id: id, release_time: bound })).total, bound).toBe(count);
    const ordered = (await search({ name: ['@a', 'a1', 'a2'], order_by: '^release_time' })).claims;
    expect(ordered.map(({ name }) => name)).toEqual(['@a', 'a1', 'a2']);
  });

  it('marks reposts of missing claims, which can be excluded', async () => {
    await mine(claim('target', 1, { name: 'target' }));
    await mine(claim('copy', 1, { name: 'copy', reposts: 'target' }));
    const find = async (rest: object) => (await search({ name: ['copy', 'target'], ...rest })).claims;
    const copy = () => node.rpc<Answer>('getclaim', [actor.idOf('copy')]);
    expect(await copy()).toMatchObject({ is_reposted_claim_gone: false, reposted_claim: { name: 'target' } });
    expect(await find({ is_reposted_claim_gone: false })).toHaveLength(2);
    expect(await find({ is_reposted_claim_gone: true })).toEqual([]);
    const gone = await mine(abandon('target'));
    expect(await copy()).toMatchObject({ is_reposted_claim_gone: true });
    expect((await copy()).reposted_claim).toBeUndefined();
    expect(await find({})).toEqual([await copy()]);
    expect(await find({ is_reposted_claim_gone: false })).toEqual([]);
    expect(await find({ is_reposted_claim_gone: true })).toEqual([await copy()]);
    const asked = { claim_ids: [actor.idOf('copy')], is_reposted_claim_gone: false };
    expect((await hub('search', asked)).txos).toEqual([]);
    expect(metaOf(await hub('resolve', ['copy'])).repost).toBeUndefined();
    await takenBack(gone, async () => {
      expect(await copy()).toMatchObject({ is_reposted_claim_gone: false });
      expect(await find({ is_reposted_claim_gone: false })).toHaveLength(2);
    });
    await expect(search({ reposts_of_gone: true })).rejects.toThrow(
      'The constraint "reposts_of_gone" does not exist.',
    );
    await expect(search({ is_reposted_claim_gone: 'x' })).rejects.toThrow('neither true nor false');
  });
});
