/**
 * Applies random claim operations to a chain with the claim index (`claimIndexRun.ts`), updates the search index, and compares
 * random searches with loops over the intended contents of the claims.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { expect } from 'vitest';
import type { ClaimRecord } from '../../src/index/claims/claimReader.js';
import { ClaimSchema } from '../../src/metadata/messages/claim_pb.js';
import { parseLanguage } from '../../src/metadata/languages.js';
import { parseLocation } from '../../src/metadata/locations.js';
import { parseConstraints } from '../../src/search/query/constraints.js';
import { makeDocument, type ClaimMetadata } from '../../src/search/document/document.js';
import type { FollowedChain } from '../../src/search/follow/followedClaims.js';
import type { CensorLists } from '../../src/search/hits/censor.js';
import { SearchFollower } from '../../src/search/follow/follower.js';
import type { IndexWriter } from '../../src/search/follow/indexChange.js';
import { trendingAfter } from '../../src/search/document/trending.js';
import { findUrls } from '../../src/search/query/urlConditions.js';
import { hashToHex } from '../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../src/util/logging.js';
import type { Description, Meaning } from './claimIndexLife.js';
import { ClaimIndexRun } from './claimIndexRun.js';
import { ModelCensor, censorTypes, randomLists } from './censorModel.js';
import {
  modelSearch,
  randomMetadata,
  randomSearch,
  Random,
  type ModelDocument,
  type ModelSearch,
} from './claimSearchModel.js';
import { valueOf } from './fakeClaimIndex.js';
import type { SearchBackendOfTests, TestIndex, TestReader } from './searchBackends.js';

const NO_LISTS = { blocking: [], filtering: [] };
/** Fields of a record that are bytes, which the naive model of the claim index has as hex. */
const BYTES = ['claimId', 'name', 'normalizedName', 'txid', 'channelId', 'repostedId'];
const SEARCH_MS = 60_000;
/** For this number of searches, one further search uses lists of channels. */
const CENSORED_SHARE = 3;

/** Random content for a claim of a kind. */
function describe(random: Random, kind: NonNullable<Meaning>): Description {
  const made = randomMetadata(random, kind, []);
  const metadata = { ...made, languages: made.languages.filter((one) => one !== 'none') };
  if (kind === 'stream' || kind === 'collection')
    return { metadata, fields: valueOf(metadata).subarray(1) as Buffer };
  const { title, description, tags, languages, locations } = metadata;
  const rest = create(ClaimSchema, {
    title,
    description,
    tags: [...tags],
    languages: languages.map(parseLanguage),
    locations: locations.map(parseLocation),
  });
  return { metadata, fields: Buffer.from(toBinary(ClaimSchema, rest)) };
}

interface Followed {
  readonly index: TestIndex;
  readonly writer: IndexWriter;
  readonly follower: SearchFollower;
}

export class ClaimSearchRun extends ClaimIndexRun {
  readonly found = { searches: 0, withHits: 0, documents: 0, censored: 0 };
  private readonly random: Random;
  private readonly censorRandom: Random;
  private readonly backend: SearchBackendOfTests;
  private followed!: Followed;
  private reader: TestReader | null = null;
  /** Searches with lists that stay unchanged while their channels, and the claims that these repost, change. */
  private censoring: { readonly lists: CensorLists; readonly reader: TestReader } | null = null;
  /** By height, for blocks up to the tip: scores of the claims that are alive after it, and positions in the chain. */
  private readonly scores: ReadonlyMap<string, number | null>[] = [];
  private readonly blocks: { readonly transactions: number; readonly timeSec: number }[] = [];

  constructor(seed: number, backend: SearchBackendOfTests) {
    const random = new Random(seed);
    super(seed, {}, (kind) => describe(random, kind));
    this.random = random;
    this.censorRandom = new Random(seed + 1);
    this.backend = backend;
  }

  override async open(): Promise<void> {
    const genesis = { transactions: 1, timeSec: 0 };
    this.blocks.push(genesis);
    this.scores.push(new Map());
    await super.open();
    this.followed = await this.startFollower();
  }

  override async close(): Promise<void> {
    await this.reader?.close();
    await this.censoring?.reader.close();
    await this.drop(this.followed);
    await super.close();
  }

  override async mine(most: number): Promise<void> {
    await super.mine(most);
    const { height, model } = this;
    const { header, parsed } = await this.chain.blockAt(height);
    this.blocks[height] = { transactions: parsed.txCount, timeSec: header.timeSec };
    const before = this.scores[height - 1]!;
    const scores = new Map(model.claims.map(({ id }) => [id, before.get(id) ?? null]));
    for (const [id, [former, latter]] of model.latestTrending) {
      if (scores.has(id)) scores.set(id, trendingAfter(scores.get(id)!, height, former, latter));
    }
    this.scores[height] = scores;
  }

  /** Updates the search index to the tip. */
  async sync(): Promise<void> {
    const { follower } = this.followed;
    await follower.sync();
    expect(follower.status.tip?.height).toBe(this.height);
  }

  /** Disconnects blocks and mines others. The search index is updated after the disconnect, or only after the new blocks. */
  override async reorganise(depth: number, most: number): Promise<void> {
    await super.reorganise(depth, most, this.random.chance(0.5));
    await this.sync();
  }

  override async check(urls: number): Promise<void> {
    await super.check(urls);
    await this.sync();
    await this.search(20);
  }

  /** Runs this number of random searches at the tip. */
  async search(count: number): Promise<void> {
    const { random, found } = this;
    const documents = this.documents();
    // Random searches take values from documents.
    if (documents.length === 0) return;
    this.reader ??= await this.followed.index.openReader(NO_LISTS);
    for (let i = 0; i < count; i++) {
      const search = randomSearch(random, documents);
      const expected = modelSearch(documents, search);
      const query = await findUrls(parseConstraints(search.constraints), this.chain.services.claimIndex!);
      const page = await this.reader.search(query, SEARCH_MS);
      const name = `at ${this.height}: ${JSON.stringify(search.constraints)}`;
      expect({ rows: page.rows, total: page.total, height: page.height }, name).toEqual({
        ...expected,
        height: this.height,
      });
      found.searches++;
      // Lets the test runner receive its messages between searches.
      await nextTurn();
      if (expected.total > 0) found.withHits++;
    }
    await this.searchCensored(documents, Math.ceil(count / CENSORED_SHARE));
    found.documents = Math.max(found.documents, documents.length);
  }

  /** Runs this number of random searches whose answers are censored by lists of channels. */
  private async searchCensored(documents: readonly ModelDocument[], count: number): Promise<void> {
    const { censorRandom: random, found } = this;
    if (this.censoring === null || random.chance(0.2)) {
      await this.censoring?.reader.close();
      const lists = randomLists(random, documents);
      this.censoring = { lists, reader: await this.followed.index.openReader(lists) };
    }
    const { lists, reader } = this.censoring;
    const censor = new ModelCensor(lists, documents);
    for (let i = 0; i < count; i++) {
      let search: ModelSearch = randomSearch(random, documents);
      if (random.chance(0.2)) search = censorTypes(random, search, censor);
      const { page: first, ...expected } = censor.search(documents, search);
      const query = await findUrls(parseConstraints(search.constraints), this.chain.services.claimIndex!);
      const { rows, total, blocked } = await reader.search(query, SEARCH_MS);
      const name = `at ${this.height}: ${JSON.stringify([lists, search.constraints, first])}`;
      expect(
        { rows, total, blocked: new Map(blocked.map((one) => [one.channelId, one.count])) },
        name,
      ).toEqual(expected);
      if (blocked.length > 0) found.censored++;
      await nextTurn();
    }
  }

  /** Compares the claim index and the search index with new ones that are built from the start. */
  async compareWithFreshBuilds(): Promise<void> {
    await this.compareWithFreshBuild();
    const fresh = await this.startFollower();
    try {
      expect(await this.followed.index.contents()).toEqual(await fresh.index.contents());
    } finally {
      await this.drop(fresh);
    }
  }

  private async startFollower(): Promise<Followed> {
    const index = await this.backend.make();
    const writer = await index.openWriter();
    const reader = this.chain.services.claimIndex!;
    const follower = new SearchFollower(reader, this.followedChain(), writer, SILENT_LOGGER);
    await follower.sync();
    return { index, writer, follower };
  }

  private async drop({ index, writer, follower }: Followed): Promise<void> {
    await follower.close();
    await writer.close();
    await index.remove();
  }

  private followedChain(): FollowedChain {
    const { index } = this.chain.opened.chain;
    const { headers } = this.chain.services.chain;
    return {
      get disconnects() {
        return index.active.disconnects;
      },
      hashAt: (height) =>
        height < 0 || height > this.height ? null : hashToHex(headers.hash(index.active.at(height))),
      transactionsBelow: (height) => this.transactionsBelow(height),
      timeSec: (height) => this.blocks[height]!.timeSec,
    };
  }

  private transactionsBelow(height: number): number {
    return this.blocks.slice(0, height).reduce((sum, { transactions }) => sum + transactions, 0);
  }

  /** The expected documents at the tip. */
  private documents(): ModelDocument[] {
    const { model, life } = this;
    const { claims } = model;
    const scores = this.scores[this.height]!;
    const metadata = new Map<string, ClaimMetadata | null>(
      claims.map(({ id, point, latest }) => {
        const intent = life.intents.get(`${point.slice(0, 64)}:${latest.nout}`)!;
        return [id, intent.metadata];
      }),
    );
    return claims.flatMap(({ id, repostedId }) => {
      const said = metadata.get(id) ?? null;
      if (said === null) return [];
      const record = recordOf(model.record(id)!);
      const places = {
        txNum: this.transactionsBelow(record.height) + record.position,
        creationTxNum: this.transactionsBelow(record.creationHeight) + record.creationPosition,
        timeSec: this.blocks[record.height]!.timeSec,
        creationTimeSec: this.blocks[record.creationHeight]!.timeSec,
      };
      const reposted = repostedId === null ? null : (metadata.get(repostedId) ?? null);
      const urls = { short: record.shortUrl, canonical: record.canonicalUrl };
      return [{ ...makeDocument(record, places, said, reposted)!, score: scores.get(id)!, urls }];
    });
  }
}

function recordOf(plain: Record<string, unknown>): ClaimRecord {
  const entries = Object.entries(plain).map(([key, value]) => [
    key,
    BYTES.includes(key) && value !== null ? Buffer.from(value as string, 'hex') : value,
  ]);
  return Object.fromEntries(entries) as ClaimRecord;
}
