/**
 * Effects of a block's chosen transactions on the claim trie, and the resulting root. Both are cached for one tip, so that a
 * template with a few more transactions needs work only for these. The chain is not changed.
 */
import { blockClaims } from '../chain/connect/blockClaims.js';
import { withClaimRepair } from '../chain/open/claimRepair.js';
import { loadCoins, type ConnectDeps } from '../chain/connect/connectBlock.js';
import { loadBlock } from '../chain/blocks/loadedBlock.js';
import type { BlockCandidate } from '../mempool/mempoolReader.js';
import { HEADER_SIZE_BYTES } from '../primitives/header.js';
import type { ClaimTx } from '../store/claims/claimStore.js';
import { yieldIfDue } from '../scheduler/yield.js';
import { toLatin1 } from '../util/bytes.js';
import { Writer } from '../util/writer.js';
import { ClaimPreview } from './claimPreview.js';

/**
 * Number of transactions that are processed between two checks whether to yield to the event loop. Arbitrary: takes some
 * milliseconds.
 */
const TRANSACTIONS_AT_ONCE = 500;
/** Maximum size in bytes of a block's header and transaction count. */
const HEAD_SIZE_BYTES = HEADER_SIZE_BYTES + 9;

export class TemplateClaims {
  private readonly deps: ConnectDeps;
  private readonly height: number;
  private readonly preview: ClaimPreview;
  /** Cached claim operations of transactions; null for a transaction without operations. */
  private readonly known = new WeakMap<BlockCandidate, ClaimTx | null>();

  /** Creates the object for the block at `height`, which must be the next block after the tip. */
  constructor(deps: ConnectDeps, height: number) {
    this.deps = deps;
    this.height = height;
    this.preview = new ClaimPreview(deps.store, deps.claims, height);
  }

  /**
   * Claim root after a block with these transactions. Each transaction must come after the transactions that it spends. The
   * chain must not change during the call.
   */
  async root(transactions: readonly BlockCandidate[]): Promise<Buffer> {
    const news = transactions.filter((tx) => !this.known.has(tx));
    let since = performance.now();
    for (let at = 0; at < news.length; at += TRANSACTIONS_AT_ONCE) {
      await this.learn(news.slice(at, at + TRANSACTIONS_AT_ONCE));
      since = await yieldIfDue(since);
    }
    const operations: ClaimTx[] = [];
    for (const tx of transactions) {
      const claims = this.known.get(tx);
      if (claims) operations.push(claims);
    }
    return withClaimRepair(this.deps, () => this.preview.root(operations));
  }

  /**
   * Reads the claim operations of new transactions. To read them, the new transactions are treated as a block, together with
   * the mempool transactions that they spend.
   */
  private async learn(news: readonly BlockCandidate[]): Promise<void> {
    const { coins } = this.deps;
    const wanted = new Set(news);
    const parents = new Set(news.flatMap((tx) => tx.parents).filter((parent) => !wanted.has(parent)));
    const block = loadBlock(formatTransactions([...parents, ...news]));
    await loadCoins(this.deps, block, false);
    const resolved = coins.resolve(block.raw, block.parsed, this.height, false);
    const found = new Map(
      blockClaims(block, resolved, this.height).transactions.map((tx) => [toLatin1(tx.txid), tx]),
    );
    for (const tx of news) this.known.set(tx, found.get(tx.key) ?? null);
  }
}

/** Serializes the transactions as a block whose header is all zeros. */
function formatTransactions(transactions: readonly BlockCandidate[]): Buffer {
  const size = transactions.reduce((sum, tx) => sum + tx.bytes.length, HEAD_SIZE_BYTES);
  const writer = new Writer(size).raw(new Uint8Array(HEADER_SIZE_BYTES)).compactSize(transactions.length);
  for (const tx of transactions) writer.raw(tx.bytes);
  return writer.finish();
}
