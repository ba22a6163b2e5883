/**
 * Applies random claim operations to a chain with the index and compares every answer with the naive model. After
 * reorganisations the rows must equal those of an index that another node filled in the background.
 */
import { SILENT_LOGGER } from '../../src/util/logging.js';
import { PAST_KEY } from '../../src/index/claims/claimIndexKeys.js';
import { readSeries } from '../../src/index/claims/claimPast.js';
import { PastWalk } from '../../src/index/claims/pastWalk.js';
import { expect } from 'vitest';
import { PREFIX } from '../../src/store/rows/keys.js';
import { prefixEnd } from '../../src/store/rows/rows.js';
import { outputAmountAt, txidAt } from '../../src/primitives/blockView.js';
import { formatIndexPosition, indexPositionKey } from '../../src/chain/connect/contributor.js';
import type { ClaimRecord } from '../../src/index/claims/claimReader.js';
import { readChannelSums, withSigned } from '../../src/index/claims/channelSums.js';
import { CLAIM_INDEX_NAME } from '../../src/index/claims/claimIndex.js';
import { regtestParams } from '../../src/params/regtest.js';
import { hashToHex, toHex } from '../../src/util/bytes.js';
import { ClaimIndexLife, type LifeCoin } from './claimIndexLife.js';
import { ClaimIndexModel, plainChanges, plainRecord, type NaiveTx, type UrlPart } from './claimIndexModel.js';
import { TestChain, type TestChainOptions } from './testChain.js';

/** Number of blocks before the first claim, so that its funds are mature. */
const MATURE = 100;

/** Forks at different heights, and terms that end within the run. */
export const LIFE_PARAMS = {
  ...regtestParams,
  claimForks: {
    originalExpiration: 60,
    extendedExpiration: 90,
    extendedExpirationForkHeight: 200,
    normalizationForkHeight: 160,
    takeoverWorkaroundMin: -1,
    takeoverWorkaroundMax: -1,
    allClaimsForkHeight: 230,
  },
};

const OPTIONS: TestChainOptions = { params: LIFE_PARAMS, txIndex: false, supportDelay: 'proportional' };
export const WITH_INDEX: TestChainOptions = { ...OPTIONS, claimIndex: true };

export async function indexRows({ opened: { store } }: TestChain): Promise<string[]> {
  const rows: string[] = [];
  const prefix = PREFIX.claimIndex;
  for await (const [key, value] of store.range({ gte: prefix, lt: prefixEnd(prefix) }))
    // The row that records how far the past was indexed is not compared.
    if (key !== PAST_KEY) rows.push(`${toHex(Buffer.from(key, 'latin1'))} ${toHex(value)}`);
  return rows;
}

/** Writes the rows of past blocks that were connected while the index was filled, or of all blocks. */
async function walkPast({ opened: { chain } }: TestChain): Promise<void> {
  expect(await new PastWalk({ chain, isSynced: () => true, log: SILENT_LOGGER }).walk()).toBe(true);
}

/** Whether a block has no totals, because it was indexed while the index was filled. */
async function lacksPast({ opened: { chain, store } }: TestChain): Promise<boolean> {
  const heights = Array.from({ length: chain.height + 1 }, (_, height) => height);
  return (await readSeries(store, heights)).includes(null);
}

export class ClaimIndexRun {
  chain!: TestChain;
  /** A chain with the same blocks. Its index is filled when the two are compared. */
  other!: TestChain;
  readonly life: ClaimIndexLife;
  readonly model = new ClaimIndexModel({ ...LIFE_PARAMS.claimForks, supportDelay: 'proportional' });
  readonly seen = {
    claims: 0,
    signed: 0,
    resolved: 0,
    failed: 0,
    reposts: 0,
    deleted: 0,
    inChannels: 0,
    sums: 0,
  };
  private serial = 0;
  private builds = 0;

  private readonly options: TestChainOptions;

  constructor(
    seed: number,
    options: TestChainOptions = {},
    describe: ConstructorParameters<typeof ClaimIndexLife>[1] = null,
  ) {
    this.life = new ClaimIndexLife(seed, describe);
    this.options = options;
  }

  async open(): Promise<void> {
    this.chain = await TestChain.open({ ...WITH_INDEX, ...this.options });
    this.other = await TestChain.open({ ...OPTIONS, ...this.options });
    for (let height = 1; height <= MATURE; height++) await this.mine(0);
  }

  async close(): Promise<void> {
    await this.chain.close();
    await this.other.close();
  }

  get height(): number {
    return this.chain.opened.chain.height;
  }

  /** Height of the first block that may have claims. No block below it is disconnected. */
  get firstClaims(): number {
    return MATURE + 1;
  }

  /** Mines a block with up to this number of transactions and applies it to the model. */
  async mine(most: number): Promise<void> {
    const { chain, life } = this;
    const height = this.height + 1;
    if (most > 0) {
      const { raw, parsed } = await chain.blockAt(height - MATURE);
      const funds: LifeCoin = {
        txid: Buffer.from(txidAt(parsed, 0)),
        n: 0,
        value: outputAmountAt(raw, parsed, 0),
        height: height - MATURE,
        operation: null,
        name: Buffer.alloc(0),
        claimId: Buffer.alloc(0),
        hasMetadata: false,
      };
      chain.pending.push(...life.block(height, funds, most));
    } else life.keepAt(height);
    await chain.mine(1, Buffer.concat([Buffer.of(4), u32(this.serial++), Buffer.of(0x75, 0x51)]));
    expect(this.height).toBe(height);
    await this.follow(height);
  }

  private async follow(height: number): Promise<void> {
    const block = await this.chain.blockAt(height);
    const txs: NaiveTx[] = [];
    for (let position = 1; position < block.parsed.txCount; position++) {
      const txid = Buffer.from(txidAt(block.parsed, position));
      txs.push({ ...this.life.transactions.get(toHex(txid))!, txid, position });
    }
    this.model.connect(height, txs, this.life.intents);
    expect(hashToHex(block.header.claimRoot)).toBe(hashToHex(Buffer.from(this.model.items.root, 'hex')));
    await this.other.opened.chain.processBlock(block, true);
  }

  /** Disconnects blocks, compares the answers in between by default, and mines as many other blocks and one more. */
  async reorganise(
    depth: number,
    most: number,
    checks = true,
    between: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const { opened } = this.chain;
    const from = this.height - depth + 1;
    await opened.chain.invalidateBlock(opened.chain.index.active.at(from));
    expect(this.height).toBe(from - 1);
    for (let height = from + depth - 1; height >= from; height--) {
      this.life.disconnect(height);
      this.model.disconnect();
    }
    if (checks) await this.check(10);
    await between();
    for (let n = 0; n <= depth; n++) await this.mine(most);
    expect(this.other.opened.chain.height).toBe(this.height);
  }

  /** Compares the changes of effective amounts of claims in the latest block. */
  async checkTrending(): Promise<void> {
    const found = await this.chain.services.claimIndex!.trending(this.height, this.height);
    const reported = (found.get(this.height) ?? []).map(({ claimId, formerSat, latterSat }) => [
      toHex(claimId),
      [formerSat, latterSat],
    ]);
    const sorted = (list: readonly unknown[]): string[] =>
      list.map((one) => (one as unknown[]).join(' ')).sort();
    expect(sorted(reported), `trending at ${this.height}`).toEqual(sorted([...this.model.latestTrending]));
  }

  /** Compares all claims, the changes of the latest block, and this number of URLs. */
  async check(urls: number): Promise<void> {
    const { model, seen } = this;
    const index = this.chain.services.claimIndex!;
    const alive = model.claims.map(({ id }) => id);
    const records = await index.claims(alive.map((id) => Buffer.from(id, 'hex')));
    for (const [i, id] of alive.entries()) {
      const expected = model.record(id)!;
      expect(plainRecord(records[i]!), `claim at ${this.height}`).toEqual(expected);
      seen.claims++;
      if (expected.isSignatureValid === true) seen.signed++;
    }
    await this.checkSums(alive);
    const byUrl = await index.claimsByUrl(
      records.flatMap((record) => [record!.shortUrl, record!.canonicalUrl]),
    );
    expect(byUrl.map((record) => record && toHex(record.claimId))).toEqual(alive.flatMap((id) => [id, id]));
    const walked: string[] = [];
    let last: Uint8Array | null = null;
    for await (const part of index.allClaims(null)) {
      for (const { claim, value } of part) {
        walked.push(toHex(claim.claimId));
        last ??= claim.claimId;
        expect(toHex(value!)).toBe(toHex((await index.value(claim.claimId))!));
      }
    }
    expect(walked.toSorted()).toEqual(alive.toSorted());
    if (last !== null) {
      const [{ txid, nout }] = records.filter(
        (record) => record?.claimId && toHex(record.claimId) === walked[0],
      ) as [ClaimRecord];
      expect(toHex((await index.value(last))!)).toBe(
        toHex(this.life.intents.get(`${toHex(txid)}:${nout}`)!.value),
      );
      const behind: string[] = [];
      for await (const part of index.allClaims(last))
        behind.push(...part.map(({ claim }) => toHex(claim.claimId)));
      expect(behind).toEqual(walked.slice(1));
    }
    const totals = Object.values(await index.totals());
    expect(totals.reduce((a, b) => a + b)).toBe(alive.length);
    if (this.height > 0) {
      const changes = await index.changes(this.height);
      expect(plainChanges(changes), `changes at ${this.height}`).toEqual(model.latestChanges());
      seen.deleted += changes.deleted.length;
    }
    const asked = Array.from({ length: urls }, () => this.randomUrl());
    const answers = await index.resolve(asked.map(({ text }) => text));
    for (const [i, { text, parts }] of asked.entries()) {
      const expected = model.resolve(text, parts);
      const { claim, channel, reposted, repostedChannel, failure } = answers[i]!;
      const hex = (record: { claimId: Uint8Array } | null): string | null =>
        record && Buffer.from(record.claimId).toString('hex');
      const answer = {
        claim: hex(claim),
        channel: hex(channel),
        reposted: hex(reposted),
        repostedChannel: hex(repostedChannel),
        text: failure?.text ?? null,
      };
      expect(answer, `${text} at ${this.height}`).toEqual(expected);
      if (claim) seen.resolved++;
      else seen.failed++;
      if (reposted) seen.reposts++;
      if (parts.length === 2 && claim) seen.inChannels++;
    }
  }

  /** Compares the supports of channels for each of these claims. */
  private async checkSums(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      for (const withContent of [false, true]) {
        const sums = await this.chain.services.claimIndex!.read(async (scope) => {
          const claims = await withSigned(scope, Buffer.from(id, 'hex'), withContent);
          return readChannelSums(scope, claims!, () => null);
        });
        const reported = sums.map(
          ({ channel, amountSat, count }) => `${toHex(channel.claimId)} ${amountSat} ${count}`,
        );
        const expected = this.model.supportSums(id, withContent, this.life.supporters);
        expect(reported.sort(), `sums of supports at ${this.height}`).toEqual(expected);
        this.seen.sums += reported.length;
      }
    }
  }

  private randomUrl(): { text: string; parts: UrlPart[] } {
    const { life, model } = this;
    const { claims } = model;
    const part = (names: readonly string[]): UrlPart => {
      const known = claims[life.random(claims.length || 1)];
      const name =
        known && life.chance(40) && known.rawName.startsWith('@') === names[0]!.startsWith('@')
          ? Buffer.from(known.rawName, 'latin1').toString()
          : names[life.random(names.length)]!;
      if (name.includes('\ufffd')) return { name: names[0]! };
      const what = life.random(10);
      if (what < 4 && known)
        return {
          name,
          digits: Buffer.from(known.id, 'hex')
            .reverse()
            .toString('hex')
            .slice(0, [1, 1, 2, 3, 11, 40][life.random(6)]),
        };
      return what < 6 ? { name, place: 1 + life.random(4) } : { name };
    };
    const names = ['a', 'A', 'AB', 'é', 'e\u0301', 'STRASSE', 'straße', 'x', 'y'];
    const channels = ['@c', '@C', '@D', '@e\u0301'];
    let parts = life.chance(50)
      ? [part(names)]
      : life.chance(40)
        ? [part(channels)]
        : [part(channels), part(names)];
    const signed = claims.filter(({ isValid }) => isValid);
    if (parts.length === 2 && signed.length > 0 && life.chance(70)) {
      const claim = signed[life.random(signed.length)]!;
      const channel = claims.find(({ id }) => id === claim.channelId)!;
      const name = Buffer.from(claim.rawName, 'latin1').toString();
      const channelName = Buffer.from(channel.rawName, 'latin1').toString();
      const digits = Buffer.from(channel.id, 'hex').reverse().toString('hex');
      if (channelName.startsWith('@') && !name.startsWith('@') && !name.includes('\ufffd'))
        parts = [
          { name: channelName, digits },
          life.chance(50)
            ? { name }
            : {
                name,
                digits: Buffer.from(claim.id, 'hex')
                  .reverse()
                  .toString('hex')
                  .slice(0, 1 + life.random(3)),
              },
        ];
    }
    const text = parts
      .map(
        ({ name, digits, place }) =>
          name +
          (digits === undefined ? '' : life.chance(50) ? `#${digits}` : `:${digits}`) +
          (place === undefined ? '' : `$${place}`),
      )
      .join('/');
    return { text: life.chance(50) ? text : `lbry://${text}`, parts };
  }

  /**
   * Fills the index on the other node and compares the rows. It starts at the first block, or every other time at the block
   * where it stopped, which may have left the active chain.
   */
  async compareWithFreshBuild(): Promise<void> {
    const { store } = this.other.opened;
    const isFresh = this.builds++ % 2 === 0;
    if (isFresh) store.put(indexPositionKey(CLAIM_INDEX_NAME), formatIndexPosition(0, Buffer.alloc(32)));
    this.other = await this.other.reopen({ ...WITH_INDEX, ...this.options });
    const [status] = this.other.fill.statuses();
    expect(status!.synced).toBe(false);
    if (isFresh) expect(status!.height).toBe(0);
    while (await this.other.fill.round());
    expect(this.other.fill.statuses().map(({ synced }) => synced)).toEqual([true]);
    await walkPast(this.other);
    if (await lacksPast(this.chain)) await walkPast(this.chain);
    expect(await indexRows(this.other)).toEqual(await indexRows(this.chain));
    this.other = await this.other.reopen({ ...OPTIONS, ...this.options });
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
