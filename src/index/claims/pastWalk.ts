/**
 * Computes the rows of `claimPast.ts` for blocks that were connected before the index stored these rows, or while it was
 * off. It reads all item rows of the claim trie, the rows of outputs that their own blocks spent, and the history of owners in
 * the background. Rows are written in the queue that serializes changes of the chain, for a few milliseconds each time. After a restart of the node or a disconnected
 * block the computation begins again. Queries of past data return nothing until it is complete.
 */
import type { Chain } from '../../chain/chain.js';
import { REMOVAL, type Item } from '../../claimtrie/item.js';
import { CLAIM_PREFIX, claimIdKey, parseItemKey, parseOwnerKey } from '../../store/claims/rows/claimKeys.js';
import { parseFleeting } from '../../store/claims/lbcd/lbcdFleeting.js';
import { parseItemRow } from '../../store/claims/rows/itemRow.js';
import { parseOwnerRow } from '../../store/claims/rows/markRow.js';
import { prefixEnd } from '../../store/rows/rows.js';
import type { Logger } from '../../util/logging.js';
import { letOthersWork } from '../../scheduler/pace.js';
import { endedKey, PAST_KEY, seriesKey } from './claimIndexKeys.js';
import {
  formatEndedRow,
  formatSeriesRow,
  PAST_VALUE,
  parseEndedRow,
  readKnownPast,
  type ItemPlace,
} from './claimPast.js';

/** Number of rows that are read or written in one step: some milliseconds. */
const ROWS_AT_ONCE = 1000;
/**
 * Offset of the name in the key of an item row. The length of the name comes before it and takes one byte, or three bytes if
 * the first byte is 255.
 */
const nameAt = (key: string): number => (key.charCodeAt(1) === 255 ? 4 : 2);
/** Number of bytes after the name in the key of an item row: `since` and outpoint. */
const BEHIND_NAME = 40;

export interface PastWalkDeps {
  readonly chain: Pick<Chain, 'index' | 'change' | 'events' | 'deps'>;
  /** Whether the claim index is at the tip. */
  readonly isSynced: () => boolean;
  readonly log: Logger;
}

/**
 * Changes of the number of names, the number of claims and their amount, by block height. At the end they are summed up to
 * totals by height.
 */
class Deltas {
  readonly names: Int32Array;
  readonly claims: Int32Array;
  readonly amounts: BigInt64Array;

  constructor(blocks: number) {
    this.names = new Int32Array(blocks);
    this.claims = new Int32Array(blocks);
    this.amounts = new BigInt64Array(blocks);
  }

  /** Counts a claim from the block in which it became active, or moved to this name, until the block that removed it. */
  addClaim({ activated, since, removed, amount }: Item): void {
    const last = this.claims.length - 1;
    if (activated === 0 || activated > last) return;
    const entered = Math.max(activated, since);
    if (entered > last) return;
    this.claims[entered]!++;
    this.amounts[entered]! += amount;
    if (removed === 0 || removed > last) return;
    this.claims[removed]!--;
    this.amounts[removed]! -= amount;
  }
}

export class PastWalk {
  private readonly deps: PastWalkDeps;
  private stopping = false;
  private running: Promise<void> = Promise.resolve();
  private wake: () => void = () => undefined;

  constructor(deps: PastWalkDeps) {
    this.deps = deps;
  }

  /**
   * Starts the background task. It runs until the rows are complete, and again after each fill of the index. `onBug`
   * receives unexpected errors.
   */
  start(onBug: (error: unknown) => void): void {
    const { events } = this.deps.chain;
    const off = [
      events.on('backgroundProgress', () => this.wake()),
      events.on('tipChanged', () => this.wake()),
    ];
    this.running = this.run()
      .catch(onBug)
      .finally(() => off.forEach((end) => end()));
  }

  /** Stops the computation. Resolves when the last write has finished. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.wake();
    await this.running;
  }

  private async run(): Promise<void> {
    const { store } = this.deps.chain.deps;
    while (!this.stopping) {
      if (this.deps.isSynced() && !(await readKnownPast(store)).ended) {
        if (await this.walk())
          this.deps.log.info('claimindex: ended claims and the totals of all past blocks are available now');
        else await letOthersWork(1);
        continue;
      }
      if (this.stopping) return;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Runs the background task once. Returns whether it was completed. */
  async walk(): Promise<boolean> {
    const { active } = this.deps.chain.index;
    const { disconnects, height } = active;
    const isSame = (): boolean => !this.stopping && active.disconnects === disconnects;
    // In a folder of an older version only the rows of `walkFleeting` are missing.
    if ((await readKnownPast(this.deps.chain.deps.store)).series)
      return (await this.walkFleeting(height, isSame)) && this.finish(isSame);
    const deltas = new Deltas(height + 1);
    return (
      (await this.walkItems(deltas, height, isSame)) &&
      (await this.walkFleeting(height, isSame)) &&
      (await this.walkOwners(deltas, isSame)) &&
      (await this.writeSeries(deltas, isSame)) &&
      this.finish(isSame)
    );
  }

  private finish(isSame: () => boolean): Promise<boolean> {
    const { chain } = this.deps;
    const { store } = chain.deps;
    return chain.change(async () => {
      if (!isSame()) return false;
      const rows = store.begin();
      rows.put(PAST_KEY, PAST_VALUE);
      store.commit(rows);
      return true;
    });
  }

  /** Yields the rows with a prefix in pieces, and lets other tasks run between the pieces. */
  private async *pieces(prefix: string, isSame: () => boolean) {
    const { store } = this.deps.chain.deps;
    for (let gte = prefix; isSame();) {
      const began = performance.now();
      const rows = await store.getRange({ gte, lt: prefixEnd(prefix), limit: ROWS_AT_ONCE });
      yield rows;
      if (rows.length < ROWS_AT_ONCE) return;
      gte = `${rows.at(-1)![0]}\0`;
      await letOthersWork(performance.now() - began);
    }
  }

  private async walkItems(deltas: Deltas, height: number, isSame: () => boolean): Promise<boolean> {
    for await (const rows of this.pieces(CLAIM_PREFIX.item, isSame)) {
      const ended = new Map<string, Item>();
      for (const [key, row] of rows) {
        const name = key.slice(nameAt(key), key.length - BEHIND_NAME);
        const { since, point } = parseItemKey(key);
        const item = parseItemRow(name, since, point, row);
        if (item.kind === 'support') continue;
        deltas.addClaim(item);
        if (item.removed === 0 || item.removed > height || item.removal === REMOVAL.refiled) continue;
        const known = ended.get(item.claimId);
        if (known === undefined || known.since < since) ended.set(item.claimId, item);
      }
      if (ended.size > 0 && !(await this.writeEnded(ended, isSame))) return false;
    }
    return isSame();
  }

  /** Writes the rows of claims whose last outputs were created and spent by one block. */
  private async walkFleeting(height: number, isSame: () => boolean): Promise<boolean> {
    for await (const rows of this.pieces(CLAIM_PREFIX.fleeting, isSame)) {
      const ended = new Map<string, ItemPlace>();
      for (const [key, row] of rows)
        for (const item of parseFleeting(key, row))
          // Later items of a row were spent later, and later rows of a name have later blocks.
          if (item.kind !== 'support' && item.height <= height) ended.set(item.claimId, item);
      if (ended.size > 0 && !(await this.writeEnded(ended, isSame))) return false;
    }
    return isSame();
  }

  /**
   * Writes the rows of ended claims, except for claims that are live again and claims that already have a row of a later
   * output. Returns false if the chain changed.
   */
  private async writeEnded(ended: ReadonlyMap<string, ItemPlace>, isSame: () => boolean): Promise<boolean> {
    const { chain } = this.deps;
    const { store } = chain.deps;
    return chain.change(async () => {
      if (!isSame()) return false;
      const ids = [...ended.keys()];
      const alive = await store.getMany(ids.map(claimIdKey));
      const filed = await store.getMany(ids.map(endedKey));
      const rows = store.begin();
      for (const [i, id] of ids.entries()) {
        const item = ended.get(id)!;
        const former = filed[i];
        if (alive[i] !== undefined || (former && parseEndedRow(former).since >= item.since)) continue;
        rows.put(endedKey(id), formatEndedRow(item));
      }
      store.commit(rows);
      return true;
    });
  }

  private async walkOwners(deltas: Deltas, isSame: () => boolean): Promise<boolean> {
    let latest: { readonly name: string; readonly hasClaims: boolean } | null = null;
    for await (const rows of this.pieces(CLAIM_PREFIX.owner, isSame)) {
      for (const [key, row] of rows) {
        const { name, height } = parseOwnerKey(key);
        const { hasClaims } = parseOwnerRow(row, height);
        const had = latest?.name === name && latest.hasClaims;
        latest = { name, hasClaims };
        if (height < deltas.names.length && had !== hasClaims) deltas.names[height]! += hasClaims ? 1 : -1;
      }
    }
    return isSame();
  }

  private async writeSeries({ names, claims, amounts }: Deltas, isSame: () => boolean): Promise<boolean> {
    const { chain } = this.deps;
    const { store } = chain.deps;
    const sums = { names: 0, claims: 0, amount: 0n };
    for (let from = 0; from < names.length; from += ROWS_AT_ONCE) {
      const began = performance.now();
      const end = Math.min(names.length, from + ROWS_AT_ONCE);
      const written = await chain.change(async () => {
        if (!isSame()) return false;
        const rows = store.begin();
        for (let height = from; height < end; height++) {
          sums.names += names[height]!;
          sums.claims += claims[height]!;
          sums.amount += amounts[height]!;
          rows.put(seriesKey(height), formatSeriesRow(sums));
        }
        store.commit(rows);
        return true;
      });
      if (!written) return false;
      await letOthersWork(performance.now() - began);
    }
    return true;
  }
}
