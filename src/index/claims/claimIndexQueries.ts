/**
 * Queries of the claim index (`claimReader.ts`). All data of a result belongs to the same tip. If the tip changes during a
 * query, the query is repeated; after `MAX_ATTEMPTS` attempts it runs while changes of the chain wait.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import type { Item } from '../../claimtrie/item.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { PREFIX } from '../../store/rows/keys.js';
import { prefixEnd, type RowReader } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import type { IndexStatus } from '../chainIndex.js';
import { readNotedChanges, readTrending, readTrendingOf } from './blockChanges.js';
import {
  claimIdOfKey,
  claimKey,
  CLAIMS_PREFIX,
  countsKey,
  ID_LENGTH,
  nameOrderPrefix,
  repostsPrefix,
  signedByPrefix,
  TOTALS_KEY,
} from './claimIndexKeys.js';
import { CLAIM_INDEX_NAME } from './claimIndex.js';
import type {
  BlockClaimChanges,
  ClaimIndexReader,
  ClaimRecord,
  ClaimWithValue,
  ResolvedUrl,
  TrendingChange,
} from './claimReader.js';
import { readEnded, readKnownPast, readSeries, type SeriesEntry } from './claimPast.js';
import { ClaimRecords } from './claimRecords.js';
import { parseCountRow, parseTotalsRow, type KindTotals } from './claimRow.js';
import { readValues, type ValuePlace, type ValueSource } from './claimValues.js';
import { NameOrders } from './nameOrders.js';
import { NameStates } from '../../store/claims/query/nameStates.js';
import { readSignedBy, readSignedPage, type SignedPage } from './channelSums.js';
import { RecentScripts } from './recentScripts.js';
import { forEachRow } from './rowWalk.js';
import { findByUrls, resolveUrls, type ResolveScope } from './resolveUrl.js';

/** Number of attempts of a query before changes of the chain must wait for it. */
const MAX_ATTEMPTS = 3;
/** Number of claims that are read at the same tip when all claims are listed. */
const CLAIMS_A_STEP = 256;

/** Data sources that the queries read. */
export interface ClaimIndexSource {
  readonly rows: RowReader;
  readonly rules: ClaimRules;
  /** State of the chain to which `rows` belong while a snapshot is valid. */
  readonly active: { readonly height: number; readonly tip: number; readonly disconnects: number };
  /**
   * Starts a snapshot, in which rows and chain belong to the same tip. Returns a function that checks whether the snapshot
   * is still valid; null if no snapshot is available at present.
   */
  readonly snapshot: () => MaybePromise<(() => boolean) | null>;
  readonly status: () => Pick<IndexStatus, 'synced' | 'height'>;
  /**
   * Reads values of claims, as `readValues` does. The caller must discard the result if a block was disconnected during the
   * call.
   */
  readonly values: (places: readonly ValuePlace[]) => Promise<(Bytes | null)[]>;
  readonly sizeOnDisk: () => Promise<number>;
  /** Runs a task during which the chain does not change. */
  readonly exclusively: <T>(task: () => Promise<T>) => Promise<T>;
}

/** The last output of a claim in the chain. */
export interface ClaimPlace {
  readonly item: Item;
  readonly hasEnded: boolean;
}

/** Error: the index has not reached the tip yet. */
export class ClaimIndexNotReadyError extends Error {
  override readonly name = 'ClaimIndexNotReadyError';
}

/** Error: the changes of the block are not stored any more. */
export class ClaimChangesGoneError extends Error {
  override readonly name = 'ClaimChangesGoneError';
}

export class ClaimIndexQueries implements ClaimIndexReader {
  private readonly source: ClaimIndexSource;
  /** Cached lists of the claims of names. They are valid for the tip in `ordersOf`. */
  private orders = new NameOrders();
  private ordersOf = { tip: -1, disconnects: 0 };
  private readonly states = new NameStates();

  constructor(source: ClaimIndexSource) {
    this.source = source;
  }

  get height(): number {
    const { height, synced } = this.source.status();
    return synced ? this.source.active.height : height;
  }

  get isSynced(): boolean {
    return this.source.status().synced;
  }

  async claim(claimId: Bytes): Promise<ClaimRecord | null> {
    return (await this.claims([claimId]))[0]!;
  }

  async claims(claimIds: readonly Bytes[]): Promise<(ClaimRecord | null)[]> {
    if (claimIds.length === 0) return [];
    return this.atOneTip(({ records }) => records.load(claimIds.map(toLatin1)));
  }

  async value(claimId: Bytes): Promise<Bytes | null> {
    const { values } = await this.readWithValues(async () => [toLatin1(claimId)]);
    return values[0]!;
  }

  async claimsWithValues(claimIds: readonly Bytes[]): Promise<(ClaimWithValue | null)[]> {
    return (await this.withValues(async () => claimIds.map(toLatin1))).claims;
  }

  private async withValues(choose: (scope: ResolveScope) => Promise<readonly string[]>): Promise<{
    ids: readonly string[];
    claims: (ClaimWithValue | null)[];
  }> {
    const { ids, plain, values } = await this.readWithValues(choose);
    let next = ids.length;
    const claims = plain.map((claim, i) => {
      if (claim === null) return null;
      return {
        claim,
        value: values[i]!,
        repostedValue: claim.repostedId === null ? null : values[next++]!,
      };
    });
    return { ids, claims };
  }

  /**
   * Reads the chosen claims, their values, and the values of the claims that they repost. A claim that is not live is
   * null. All claims belong to the same tip. Their values stay valid as long as no block is disconnected.
   */
  private async readWithValues(choose: (scope: ResolveScope) => Promise<readonly string[]>) {
    const { active, values } = this.source;
    for (;;) {
      const read = await this.atOneTip(async (scope) => {
        const { disconnects } = active;
        const { records } = scope;
        const ids = await choose(scope);
        const plain = await records.loadPlain(ids);
        const reposted = plain.flatMap((claim) => (claim?.repostedId ? [toLatin1(claim.repostedId)] : []));
        return { ids, plain, disconnects, places: await placesOf(records, [...ids, ...reposted]) };
      });
      try {
        const found = await values(read.places.filter((place) => place !== null));
        let next = 0;
        const inOrder = read.places.map((place) => place && found[next++]!);
        if (active.disconnects === read.disconnects) return { ...read, values: inOrder };
      } catch (error) {
        if (active.disconnects === read.disconnects) throw error;
      }
    }
  }

  resolve(urls: readonly string[]): Promise<ResolvedUrl[]> {
    return this.atOneTip((scope) => resolveUrls(scope, urls));
  }

  claimsByUrl(urls: readonly string[]): Promise<(ClaimRecord | null)[]> {
    return this.atOneTip((scope) => findByUrls(scope, urls));
  }

  async changes(height: number): Promise<BlockClaimChanges> {
    return this.atOneTip(async ({ rows }) => {
      const noted = height > this.source.active.height ? null : await readNotedChanges(rows, height);
      if (noted === null)
        throw new ClaimChangesGoneError(`the changes of claims in block ${height} are not stored any more`);
      const { touched, rewritten, deleted, takeovers, signed } = noted;
      const ids = new Set([...touched, ...rewritten]);
      const counted = [...new Set([...rewritten, ...deleted])];
      const counts = await rows.getMany(counted.map(countsKey));
      for (const [i, id] of counted.entries())
        if (parseCountRow(counts[i]) > 0)
          await forEachRow(rows, repostsPrefix(id), (key) => ids.add(claimIdOfKey(key)));
      for (const by of signed) {
        const prefix = signedByPrefix(by.slice(0, ID_LENGTH), by.slice(ID_LENGTH));
        await forEachRow(rows, prefix, (_key, row) => ids.add(toLatin1(row)));
      }
      for (const group of takeovers)
        await forEachRow(rows, nameOrderPrefix(group), (_key, row) => ids.add(toLatin1(row)));
      for (const id of deleted) ids.delete(id);
      const trending = await readTrending(rows, height);
      return {
        touched: await aliveOf(rows, [...ids]),
        deleted: deleted.map(fromLatin1),
        trending: trending.map((change) => ({ ...change, claimId: fromLatin1(change.claimId) })),
      };
    });
  }

  async trending(from: number, to: number): Promise<Map<number, TrendingChange[]>> {
    const blocks = await this.atOneTip(({ rows }) => readTrendingOf(rows, from, to));
    const withBytes = new Map<number, TrendingChange[]>();
    for (const [height, changes] of blocks)
      withBytes.set(
        height,
        changes.map((change) => ({ ...change, claimId: fromLatin1(change.claimId) })),
      );
    return withBytes;
  }

  async *allClaims(after: Bytes | null): AsyncGenerator<ClaimWithValue[]> {
    let gte = after === null ? CLAIMS_PREFIX : `${claimKey(toLatin1(after))}\0`;
    for (;;) {
      const range = { gte, lt: prefixEnd(CLAIMS_PREFIX), limit: CLAIMS_A_STEP };
      const { ids, claims } = await this.withValues(async ({ rows, records }) =>
        (await rows.getRange(range)).map(([key, row]) => {
          const claimId = claimIdOfKey(key);
          records.note(claimId, row);
          return claimId;
        }),
      );
      yield claims.filter((claim) => claim !== null);
      if (ids.length < CLAIMS_A_STEP) return;
      gte = `${claimKey(ids.at(-1)!)}\0`;
    }
  }

  /** See `ClaimIndexSource`. */
  valuesAt(places: readonly ValuePlace[]): Promise<(Bytes | null)[]> {
    return this.source.values(places);
  }

  /** Ids of the live claims with a valid signature of the channel. */
  signedBy(channelId: Bytes): Promise<Bytes[]> {
    return this.atOneTip((scope) => readSignedBy(scope, toLatin1(channelId)));
  }

  /** See `readSignedPage`. The claims belong to the block at `height`. */
  signedPage(
    channelId: Bytes,
    page: { readonly after: string; readonly limit: number },
  ): Promise<(SignedPage & { readonly height: number }) | null> {
    return this.atOneTip(async (scope) => {
      const found = await readSignedPage(scope, toLatin1(channelId), page);
      return found && { ...found, height: scope.height };
    });
  }

  /** Number of claims that are unspent and not expired, by kind. */
  totals(): Promise<KindTotals> {
    return this.atOneTip(async ({ rows }) => parseTotalsRow(await rows.get(TOTALS_KEY)));
  }

  /**
   * The last output of a claim that ended; null if no claim with this id ended. `isKnown` is false while a background task
   * still collects claims that ended earlier (`pastWalk.ts`).
   */
  ended(claimId: Bytes): Promise<{ readonly item: Item | null; readonly isKnown: boolean }> {
    return this.atOneTip(async ({ rows }) => ({
      item: await readEnded(rows, this.source.rules, toLatin1(claimId)),
      isKnown: (await readKnownPast(rows)).ended,
    }));
  }

  /**
   * The last outputs of claims, in the order of the ids; null for an id that no claim of the chain has. `isKnown` is that of
   * `ended`.
   */
  places(claimIds: readonly Bytes[]): Promise<{
    readonly places: readonly (ClaimPlace | null)[];
    readonly isKnown: boolean;
  }> {
    const ids = claimIds.map(toLatin1);
    return this.atOneTip(async ({ rows, records }) => {
      const found = await records.rowsOf(ids);
      const items = await records.itemsOf(found.filter((row) => row !== null));
      const places: (ClaimPlace | null)[] = [];
      let next = 0;
      let since = performance.now();
      for (const [i, row] of found.entries()) {
        const item = row === null ? await readEnded(rows, this.source.rules, ids[i]!) : items[next++]!;
        places.push(item && { item, hasEnded: row === null });
        since = await yieldIfDue(since);
      }
      return { places, isKnown: (await readKnownPast(rows)).ended };
    });
  }

  /** Numbers and amounts of names and claims after each of these blocks; null while some are not computed yet. */
  series(heights: readonly number[]): Promise<SeriesEntry[] | null> {
    return this.atOneTip(async ({ rows }) => {
      const found = await readSeries(rows, heights);
      const whole = found.filter((entry) => entry !== null);
      return whole.length === found.length && (await readKnownPast(rows)).series ? whole : null;
    });
  }

  /** Runs `task` so that all its reads belong to the same tip. If a block is connected during the task, the task is repeated. */
  read<T>(task: (scope: ResolveScope) => Promise<T>): Promise<T> {
    return this.atOneTip(task);
  }

  /** Approximate size of the index's rows in the database files, in bytes. */
  sizeOnDisk(): Promise<number> {
    return this.source.sizeOnDisk();
  }

  private async atOneTip<T>(read: (scope: ResolveScope) => Promise<T>): Promise<T> {
    const { snapshot, exclusively } = this.source;
    this.refuseUnsynced();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const begun = snapshot();
      const isSame = isPromise(begun) ? await begun : begun;
      if (isSame === null) continue;
      try {
        // The chain may lose the index during a query, after which its rows are deleted. The state is therefore checked
        // before each attempt.
        this.refuseUnsynced();
        const answer = await read(this.scope());
        if (isSame()) return answer;
      } catch (error) {
        if (isSame()) throw error;
      }
    }
    return exclusively(() => {
      this.refuseUnsynced();
      return read(this.scope());
    });
  }

  private refuseUnsynced(): void {
    if (!this.isSynced) throw new ClaimIndexNotReadyError('The claim index is not complete. Retry later');
  }

  private scope(): ResolveScope {
    const { rows, rules, active } = this.source;
    const { height, tip, disconnects } = active;
    if (this.ordersOf.tip !== tip || this.ordersOf.disconnects !== disconnects) {
      this.orders = new NameOrders();
      this.ordersOf = { tip, disconnects };
    }
    const { orders, states } = this;
    const records = new ClaimRecords(rows, rules, height, orders, states);
    return { rows, rules, height, orders, states, records };
  }
}

/** Creates the queries for the index of a chain. `statuses` returns the status of all indexes. */
export function claimIndexOf(
  reader: ChainReader,
  rules: ClaimRules,
  statuses: () => readonly IndexStatus[],
): ClaimIndexQueries {
  const { chain } = reader;
  const { active } = chain.index;
  const isKept = (): boolean => statuses().some(({ name }) => name === CLAIM_INDEX_NAME);
  const recent = new RecentScripts();
  chain.events.on('blockConnected', (block) => {
    if (isKept()) recent.add(block);
  });
  const source: ValueSource = {
    blockAt: (height) => active.at(height),
    readTransaction: (block, wanted) =>
      reader.hasData(block) ? reader.readTransaction(block, wanted) : null,
    recentScript: (block, position, point) => recent.find(block, position, point),
    coinScript: (outPoint) => whenResolved(reader.coin(outPoint), (coin) => coin && coin.script),
  };
  return new ClaimIndexQueries({
    rows: chain.deps.store,
    rules,
    active,
    // In the node's thread, rows and tip change in the same turn of the event loop, so comparing the tip is sufficient.
    snapshot: () => {
      const { tip, disconnects } = active;
      return () => active.tip === tip && active.disconnects === disconnects;
    },
    status: () => {
      const found = statuses().find(({ name }) => name === CLAIM_INDEX_NAME);
      return found ?? { synced: false, height: 0 };
    },
    values: (places) => readValues(source, places),
    sizeOnDisk: () => chain.deps.store.sizeOnDisk(PREFIX.claimIndex),
    exclusively: (task) => chain.exclusively(task),
  });
}

/** Positions of the claims' values in the block files; null for a claim that is not live (unspent and not expired). */
async function placesOf(records: ClaimRecords, claimIds: readonly string[]): Promise<(ValuePlace | null)[]> {
  const rows = await records.rowsOf(claimIds);
  const alive = rows.filter((row) => row !== null);
  const items = await records.itemsOf(alive);
  let next = 0;
  return rows.map((row) => {
    if (row === null) return null;
    const item = items[next++]!;
    return (
      item && { point: item.point, height: item.height, position: row.position, txOffset: item.txOffset }
    );
  });
}

/** Returns those of `claimIds` whose claims are live (unspent and not expired). */
async function aliveOf(rows: RowReader, claimIds: readonly string[]): Promise<Bytes[]> {
  const alive: Bytes[] = [];
  let since = performance.now();
  for (let at = 0; at < claimIds.length; at += CLAIMS_A_STEP) {
    const part = claimIds.slice(at, at + CLAIMS_A_STEP);
    const found = await rows.getMany(part.map(claimKey));
    part.forEach((id, i) => found[i] && alive.push(fromLatin1(id)));
    since = await yieldIfDue(since);
  }
  return alive;
}
