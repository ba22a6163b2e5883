/**
 * Read access to the committed chain (blocks, headers, coins) for code that serves queries. The only change it can cause is
 * the flush at the start of an iteration over all coins. The tip may change between awaits, so callers must first read the
 * ids of the blocks that they need.
 */
import { MAX_BLOCK_WEIGHT, WITNESS_SCALE_FACTOR } from '../consensus/limits.js';
import type { CoinValue } from '../native/binding.js';
import type { BlockHeader } from '../primitives/header.js';
import { TX_OUTPUT_COUNT, TX_STRIDE } from '../primitives/blockLayout.js';
import { txidAt } from '../primitives/blockView.js';
import { parseCoinRow } from '../store/cache/coinRow.js';
import { OUTPOINT_SIZE_BYTES } from '../store/cache/coinTable.js';
import { BlockFileError } from '../store/files/blockFiles.js';
import { NO_HEADER, STATUS } from '../store/files/headerTable.js';
import { coinKey, PREFIX } from '../store/rows/keys.js';
import { prefixEnd } from '../store/rows/rows.js';
import { yieldIfDue } from '../scheduler/yield.js';
import { fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import type { MaybePromise } from '../util/maybePromise.js';
import type { Chain } from './chain.js';
import type { Flusher } from './flusher.js';
import type { LoadedBlock } from './blocks/loadedBlock.js';
import type { FoundPayments, SoughtPayments } from './blocks/paymentScan.js';
import {
  StoredTransactions,
  type StoredTransaction,
  type WantedTransaction,
} from './blocks/storedTransactions.js';

/**
 * Maximum number of transactions for which unspent outputs are searched one transaction at a time. Arbitrary: each search
 * takes some milliseconds.
 */
const FEW_TXIDS = 8;
/** Maximum outputs of a block: its weight divided by that of the smallest output (8 bytes of amount and an empty script). */
const MAX_OUTPUTS_PER_BLOCK = Math.floor(MAX_BLOCK_WEIGHT / (WITNESS_SCALE_FACTOR * 9));

export interface CoinRowEntry {
  /** Outpoint of 36 bytes: txid in wire order, output number little-endian. */
  outPoint: Buffer;
  coin: CoinValue;
}

export class ChainReader {
  readonly chain: Chain;
  private readonly flusher: Flusher;
  private readonly transactions: StoredTransactions;

  constructor(chain: Chain, flusher: Flusher) {
    this.chain = chain;
    this.flusher = flusher;
    this.transactions = new StoredTransactions(chain);
  }

  get headers(): Chain['index']['headers'] {
    return this.chain.index.headers;
  }

  /** Whether the block's data is on disk (received and not pruned). */
  hasData(id: number): boolean {
    return this.headers.hasStatus(id, STATUS.haveData);
  }

  /** Whether the undo data of the block is on disk. The genesis block needs none. */
  hasUndo(id: number): boolean {
    return this.headers.prev(id) === NO_HEADER || this.headers.hasStatus(id, STATUS.haveUndo);
  }

  /**
   * Sentence with the reason if a block's data or undo data is missing because the node started from a snapshot; else null. Undo
   * data is written when the block is validated.
   */
  behindSnapshot(id: number): string | null {
    const { snapshotHeight } = this.chain.index;
    const height = this.headers.height(id);
    if (height > snapshotHeight || (this.hasData(id) && this.hasUndo(id))) return null;
    return (
      `Block ${height} is not available yet: the node was started from a snapshot of block ` +
      `${snapshotHeight}, and earlier blocks are downloaded and validated in the background`
    );
  }

  /** Sentence that transactions may be missing because the node started from a snapshot; null if all blocks are validated. */
  get transactionsBehindSnapshot(): string | null {
    const { snapshotHeight } = this.chain.index;
    if (snapshotHeight < 0) return null;
    return (
      `The node was started from a snapshot of block ${snapshotHeight}: earlier transactions are ` +
      'available once the background validation of the blocks has finished'
    );
  }

  readHeader(id: number): MaybePromise<BlockHeader> {
    return this.headers.readHeader(id);
  }

  readBlock(id: number): Promise<LoadedBlock> {
    return this.chain.readBlock(id);
  }

  /** Reads the serialized block. Takes less time for a block that was verified before. */
  readBlockBytes(id: number): Promise<Buffer> {
    return this.chain.readBlockBytes(id);
  }

  /** Like `readBlock`, but parses and hashes the block on another thread. Used to read many blocks in advance. */
  readBlockAside(id: number): Promise<LoadedBlock> {
    return this.chain.readBlockAside(id);
  }

  /** Scans stored blocks for transactions that may concern a wallet. See `StoredBlocks.scanPayments` for the result. */
  scanPayments(ids: readonly number[], sought: SoughtPayments): Promise<FoundPayments> {
    return this.chain.scanPayments(ids, sought);
  }

  /** Reads one transaction without the rest of its block; see `StoredTransactions.read`. */
  readTransaction(
    id: number,
    wanted: WantedTransaction,
  ): StoredTransaction | Promise<StoredTransaction | null> {
    return this.transactions.read(id, wanted);
  }

  /** Reads the transaction at an offset in a block, as `StoredTransactions.readAt` does. */
  readTransactionAt(id: number, offset: number, txidStart: Bytes): Promise<StoredTransaction | null> {
    return this.transactions.readAt(id, offset, txidStart);
  }

  /**
   * Undo data of a connected block (`parseUndo`); empty for the genesis block. Throws `BlockFileError` if it is not on disk or
   * corrupt.
   */
  readUndo(id: number): Buffer {
    const prev = this.headers.prev(id);
    if (prev === NO_HEADER) return Buffer.alloc(0);
    if (!this.hasUndo(id))
      throw new BlockFileError(`Block ${this.headers.height(id)} has no undo data on disk.`);
    return this.chain.deps.files.readUndoSync(this.headers.undoPosition(id), this.headers.hash(prev));
  }

  /**
   * Returns the unspent output as of the tip, or null if it is spent or unknown. The result is synchronous unless a flush is
   * in progress.
   */
  coin(outPoint: Bytes): MaybePromise<CoinValue | null> {
    if (!this.flusher.isSettled) return this.coinLater(outPoint);
    const { coins, store } = this.chain.deps;
    const cached = coins.get(outPoint);
    if (cached !== undefined) return cached;
    const row = store.getNow(coinKey(outPoint));
    if (row === undefined) return this.coinLater(outPoint);
    return row === null ? null : parseCoinRow(row);
  }

  /** Like `coin` for many outputs, which are read together. The results are in the order of the outputs. */
  coins(outPoints: readonly Bytes[]): MaybePromise<(CoinValue | null)[]> {
    if (!this.flusher.isSettled) return this.coinsLater(outPoints);
    const { coins, store } = this.chain.deps;
    const found = outPoints.map((outPoint) => coins.get(outPoint));
    const missing = [...found.keys()].filter((i) => found[i] === undefined);
    const rows = store.getManyNow(missing.map((i) => coinKey(outPoints[i]!)));
    if (rows === null) return this.coinsLater(outPoints);
    rows.forEach((row, at) => (found[missing[at]!] = row === undefined ? null : parseCoinRow(row)));
    return found.map((coin) => coin ?? null);
  }

  private async coinsLater(outPoints: readonly Bytes[]): Promise<(CoinValue | null)[]> {
    const found: (CoinValue | null)[] = [];
    for (const outPoint of outPoints) found.push(await this.coinLater(outPoint));
    return found;
  }

  private async coinLater(outPoint: Bytes): Promise<CoinValue | null> {
    const { coins, store } = this.chain.deps;
    await this.flusher.settled();
    const cached = coins.get(outPoint);
    if (cached !== undefined) return cached;
    const row = await store.get(coinKey(outPoint));
    // If a block that was connected during the read changed the coin, the coin table contains the new state.
    const now = coins.get(outPoint);
    if (now !== undefined) return now;
    return row ? parseCoinRow(row) : null;
  }

  /** Returns the unspent output at the tip if the coin cache contains it. Null means that the cache does not know the output. */
  cachedCoin(outPoint: Bytes): CoinValue | null {
    return this.chain.deps.coins.get(outPoint) ?? null;
  }

  /** Approximate size in bytes of the flushed coins on disk. */
  coinsSizeOnDisk(): Promise<number> {
    return this.chain.deps.store.sizeOnDisk(PREFIX.coin);
  }

  /**
   * Returns an unspent output of a transaction from the database, or null. Does not find outputs that have not been flushed
   * yet.
   */
  private async anyFlushedCoinOf(txid: Bytes): Promise<CoinValue | null> {
    await this.flusher.settled();
    const prefix = coinKey(txid);
    for await (const [key] of this.chain.deps.store.range({ gte: prefix, lt: prefixEnd(prefix) })) {
      const coin = await this.coin(fromLatin1(key.slice(PREFIX.coin.length)));
      if (coin) return coin;
    }
    return null;
  }

  /** Returns one unspent output of a transaction, or null if all outputs are spent. Source: `AccessByTxid`. */
  async anyCoinOf(txid: Bytes): Promise<CoinValue | null> {
    const { coins } = this.chain.deps;
    const flushed = await this.anyFlushedCoinOf(txid);
    if (flushed) return flushed;
    // Outputs that have not been flushed yet are only in the coin table, which supports only single lookups.
    const outPoint = Buffer.alloc(OUTPOINT_SIZE_BYTES);
    outPoint.set(txid);
    let since = performance.now();
    for (let n = 0; n < MAX_OUTPUTS_PER_BLOCK; n++) {
      outPoint.writeUInt32LE(n, 32);
      const coin = coins.get(outPoint);
      if (coin) return coin;
      since = await yieldIfDue(since);
    }
    return null;
  }

  /**
   * Returns one unspent output of the first listed transaction that has any, or null. For many transactions, unflushed
   * outputs are searched in the blocks that created them: in the coin table, each output number would need a lookup.
   */
  async anyCoinOfAny(txids: Iterable<Bytes>): Promise<CoinValue | null> {
    const wanted = [...txids];
    if (wanted.length <= FEW_TXIDS) {
      for (const txid of wanted) {
        const coin = await this.anyCoinOf(txid);
        if (coin) return coin;
      }
      return null;
    }
    // Coins that are flushed during the search are searched both in the database and in the blocks.
    const { flushedTip } = this.flusher;
    const places = new Map<string, number>();
    let flushed: CoinValue | null = null;
    let since = performance.now();
    for (const [place, txid] of wanted.entries()) {
      flushed = await this.anyFlushedCoinOf(txid);
      if (flushed) break;
      places.set(toLatin1(txid), place);
      since = await yieldIfDue(since);
    }
    return (await this.firstRecentCoin(places, flushedTip)) ?? flushed;
  }

  /**
   * Searches the active chain's blocks after `flushedTip`. Returns an unspent output of the first transaction in the list
   * that has one, or null.
   */
  private async firstRecentCoin(
    places: ReadonlyMap<string, number>,
    flushedTip: number,
  ): Promise<CoinValue | null> {
    const fork = this.chain.index.active.findFork(flushedTip);
    let found: CoinValue | null = null;
    let best = Infinity;
    for (let id = this.chain.tip; id !== fork && id !== NO_HEADER; id = this.headers.prev(id)) {
      const { parsed } = await this.readBlock(id);
      for (let tx = 0; tx < parsed.txCount && best > 0; tx++) {
        const txid = txidAt(parsed, tx);
        const place = places.get(toLatin1(txid)) ?? best;
        if (place >= best) continue;
        const coin = await this.firstCoinOf(txid, parsed.txs[tx * TX_STRIDE + TX_OUTPUT_COUNT]!);
        if (coin === null) continue;
        found = coin;
        best = place;
      }
    }
    return found;
  }

  /** Returns the first unspent output among the outputs with numbers below `outputs`. */
  private async firstCoinOf(txid: Bytes, outputs: number): Promise<CoinValue | null> {
    const outPoint = Buffer.alloc(OUTPOINT_SIZE_BYTES);
    outPoint.set(txid);
    let since = performance.now();
    for (let n = 0; n < outputs; n++) {
      outPoint.writeUInt32LE(n, 32);
      const coin = await this.coin(outPoint);
      if (coin) return coin;
      since = await yieldIfDue(since);
    }
    return null;
  }

  /**
   * All unspent outputs as of the block `tip`, ordered by txid bytes and then by the four bytes of the output number. The
   * iteration sees one snapshot, however long it takes and whatever blocks are connected during it.
   */
  async allCoins(): Promise<{ tip: number; coins: AsyncIterable<CoinRowEntry> }> {
    const { store } = this.chain.deps;
    return this.chain.change(async () => {
      await this.flusher.flush();
      const rows = store.range({ gte: PREFIX.coin, lt: prefixEnd(PREFIX.coin) })[Symbol.asyncIterator]();
      // The first `next` opens the database's snapshot, before the caller can change the chain.
      const first = await rows.next();
      async function* walk(): AsyncGenerator<CoinRowEntry> {
        try {
          for (let row = first; !row.done; row = await rows.next()) {
            yield { outPoint: fromLatin1(row.value[0].slice(1)), coin: parseCoinRow(row.value[1]) };
          }
        } finally {
          await rows.return?.();
        }
      }
      return { tip: this.chain.tip, coins: walk() };
    });
  }
}
