/**
 * Histories of scripts and their statuses. A status is the hash of the history as text, so history and status must belong to
 * the same tip. Pages are read while no block is being connected. Mempool transactions are added in the same turn of the
 * event loop in which the last page is read. Hash states of confirmed histories are cached (`statusCache.ts`) and continued.
 */
import type { HistoryEntry } from '../../index/addressQueries.js';
import { sha256 } from '../../crypto/hash.js';
import type { RpcServices } from '../../interfaces/services.js';
import { assert } from '../../util/assert.js';
import { fromLatin1, hashToHex } from '../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import { StatusCache, type Confirmed } from './statusCache.js';
import type { Turn } from '../../scheduler/clientQueue.js';

/** Number of history entries that are read from the index in one call. */
const PAGE_ENTRIES = 1000;
/** Number of scripts whose sums are read in one call of the index. */
const SCRIPTS_AT_ONCE = 250;
/** Maximum number of unconfirmed transactions of a script that are processed without a yield to the event loop. */
const FEW_UNCONFIRMED = 200;

/** A transaction in the mempool. Height 0; -1 means that it spends unconfirmed outputs. */
export interface UnconfirmedEntry {
  readonly txid: string;
  readonly height: 0 | -1;
  readonly feeSat: bigint;
}

interface HistoryPage {
  readonly entries: readonly HistoryEntry[];
  readonly next: Buffer | null;
}

export class AddressHistories {
  private readonly node: Pick<RpcServices, 'addresses' | 'chain' | 'mempool'>;
  private readonly cache: StatusCache;

  constructor(node: Pick<RpcServices, 'addresses' | 'chain' | 'mempool'>, cache = new StatusCache()) {
    this.node = node;
    this.cache = cache;
  }

  private get index(): NonNullable<RpcServices['addresses']> {
    const { addresses } = this.node;
    assert(addresses, 'the hub runs without the address index');
    return addresses;
  }

  /** Must be called for every disconnected block, because cached hashes may contain its transactions. */
  noteDisconnected(height: number): void {
    this.cache.noteDisconnected(height);
  }

  /** Statuses of scripts in hexadecimal digits, in order; null for a script without transactions. */
  async statuses(keys: readonly string[], turn: Turn): Promise<(string | null)[]> {
    const statuses = new Map<string, string | null>();
    const left = [...new Set(keys)];
    while (left.length > 0) {
      const some = left.splice(0, SCRIPTS_AT_ONCE);
      const tip = await this.betweenBlocks();
      const totals = await this.index.totals(some);
      if (this.node.chain.chain.tip !== tip) {
        left.unshift(...some);
        continue;
      }
      const slow: string[] = [];
      for (const [n, key] of some.entries()) {
        const status = this.statusNow(key, totals[n]!.txCount);
        if (status === undefined) slow.push(key);
        else statuses.set(key, status);
      }
      for (const key of slow) statuses.set(key, await this.statusByReading(key, turn));
      const pause = turn.yieldIfDue();
      if (pause !== null) await pause;
    }
    return keys.map((key) => statuses.get(key)!);
  }

  /** Returns the status of a script if it can be computed without reading the index; otherwise undefined. */
  private statusNow(key: string, txCount: number): string | null | undefined {
    if (this.index.ofMempool(key).size > FEW_UNCONFIRMED) return undefined;
    const waiting = [...this.unconfirmed(key)].map(textOf).join('');
    if (txCount === 0) return waiting === '' ? null : sha256(Buffer.from(waiting, 'latin1')).toString('hex');
    return this.cache.status(key, txCount, waiting);
  }

  private async statusByReading(key: string, turn: Turn): Promise<string | null> {
    const confirmed = await this.readConfirmed(key, turn);
    const hash = confirmed.hash.copy();
    let isEmpty = confirmed.count === 0;
    let looked = 0;
    for (const entry of this.unconfirmed(key)) {
      hash.update(textOf(entry), 'latin1');
      isEmpty = false;
      // The mempool may change while this loop yields. The subscribers of the changed script are notified later.
      const pause = ++looked > FEW_UNCONFIRMED ? turn.yieldIfDue() : null;
      if (pause !== null) await pause;
    }
    return isEmpty ? null : hash.digest('hex');
  }

  /**
   * Hash state of the confirmed history of a script. It is valid only until the next await after the promise has resolved.
   */
  private async readConfirmed(key: string, turn: Turn): Promise<Confirmed> {
    const { chain } = this.node.chain;
    for (;;) {
      const tip = await this.betweenBlocks();
      const { disconnects } = chain.index.active;
      const confirmed = this.cache.resume(key);
      const range = { limit: PAGE_ENTRIES, startHeight: confirmed.lastHeight + 1 };
      let page = await this.index.history([key], range);
      while (page.next !== null && chain.index.active.disconnects === disconnects) {
        add(confirmed, page.entries);
        const pause = turn.yieldIfDue();
        if (pause !== null) await pause;
        page = await this.index.history([key], { ...range, after: page.next });
      }
      // A reorg or a new block may have changed the entries, so the page is read again.
      if (chain.index.active.disconnects !== disconnects) continue;
      if (chain.tip !== tip) continue;
      add(confirmed, page.entries);
      this.cache.keep(key, confirmed);
      return confirmed;
    }
  }

  /** Waits while a block is being connected or disconnected. Returns the tip. */
  private betweenBlocks(): Promise<number> {
    const { chain } = this.node.chain;
    return chain.exclusively(async () => chain.tip);
  }

  /** Iterates over the mempool transactions that pay to or spend from a script, in order of arrival. */
  *unconfirmed(key: string): Generator<UnconfirmedEntry> {
    for (const id of this.index.ofMempool(key).keys()) {
      const txid = fromLatin1(id);
      const entry = this.node.mempool.entry(txid);
      if (entry === null) continue;
      yield { txid: hashToHex(txid), height: entry.parents.length > 0 ? -1 : 0, feeSat: entry.feeSat };
    }
  }

  /** The history in the order in which the status hashes it. A long history is read while it is sent. */
  async history(key: string, turn: Turn): Promise<JsonOut> {
    const first = await this.page(key, undefined);
    const { disconnects } = this.cache;
    const waiting = this.waitingBehind(first, key);
    const isShort = first.next === null && waiting.length <= FEW_UNCONFIRMED;
    if (isShort) return [...first.entries.map(shownEntry), ...waiting];
    return jsonArray(this.longHistory(key, first, waiting, disconnects, turn));
  }

  /**
   * Unconfirmed entries to append after the last page of a history; empty if `next` shows that more pages follow. Must be
   * called in the turn of the event loop in which the page was read.
   */
  private waitingBehind({ next }: HistoryPage, key: string): JsonOut[] {
    return next === null ? [...this.shownUnconfirmed(key)] : [];
  }

  /** Reads one page of the confirmed history. It is valid only until the next await after the promise has resolved. */
  private async page(key: string, after: Buffer | undefined): Promise<HistoryPage> {
    for (;;) {
      const tip = await this.betweenBlocks();
      const page = await this.index.history([key], { limit: PAGE_ENTRIES, after });
      if (this.node.chain.chain.tip === tip) return page;
    }
  }

  private async *longHistory(
    key: string,
    first: HistoryPage,
    waitingBehindFirst: readonly JsonOut[],
    disconnects: number,
    turn: Turn,
  ): AsyncGenerator<JsonOut> {
    let page = first;
    let waiting = waitingBehindFirst;
    for (;;) {
      const { entries, next } = page;
      yield* entries.map(shownEntry);
      yield* waiting;
      if (next === null) return;
      const pause = turn.yieldIfDue();
      if (pause !== null) await pause;
      page = await this.page(key, next);
      waiting = this.waitingBehind(page, key);
      const lastHeight = entries.at(-1)?.height ?? 0;
      if (this.cache.lowestDisconnected(disconnects) <= lastHeight)
        throw new Error('a reorganisation disconnected blocks while the history was being sent');
    }
  }

  /** Unconfirmed entries in the format of `get_mempool`. */
  *shownUnconfirmed(key: string): Generator<JsonOut> {
    for (const { txid, height, feeSat } of this.unconfirmed(key))
      yield { tx_hash: txid, height, fee: feeSat };
  }
}

const textOf = ({ txid, height }: UnconfirmedEntry): string => `${txid}:${height}:`;

const shownEntry = ({ txid, height }: HistoryEntry): JsonOut => ({ tx_hash: hashToHex(txid), height });

function add(confirmed: Confirmed, entries: readonly HistoryEntry[]): void {
  if (entries.length === 0) return;
  let text = '';
  for (const { txid, height } of entries) text += `${hashToHex(txid)}:${height}:`;
  confirmed.hash.update(text, 'latin1');
  confirmed.count += entries.length;
  confirmed.lastHeight = entries.at(-1)!.height;
}
