/**
 * Fast path of a scan: skips blocks without changes for the wallet. The node searches many blocks in one call. A block is
 * skipped if the wallet already knows all transactions that were found in it. A block with an unknown transaction is left to
 * the full scan. Determines the number of blocks per call. Does not change the wallet.
 */
import { equalBytes } from '../../util/bytes.js';
import { paysToPool } from '../keys/paysToPool.js';
import type { Entry } from '../ledger/entry.js';
import type { FoundPayments } from '../port.js';
import type { Wallet } from '../wallet.js';
import { txConcernsWallet } from './takeBlock.js';

/**
 * Maximum and minimum number of blocks in one call. The number grows while no unknown transaction is found, and shrinks
 * otherwise. Arbitrary.
 */
const MOST_BLOCKS = 512;
const FEWEST_BLOCKS = 4;
const FIRST_BLOCKS = 64;
/** Size in bytes of the buffer for the blocks that are read in one call. Arbitrary. */
const MEMORY_BYTES = 1 << 20;

export class QuickScan {
  private readonly wallet: Wallet;
  private blocks = FIRST_BLOCKS;
  private memory: Buffer | null = null;

  constructor(wallet: Wallet) {
    this.wallet = wallet;
  }

  /**
   * Whether the fast path can be used. It cannot be used if scripts are watched: these are compared as a whole, so blocks
   * must be searched one by one.
   */
  get isPossible(): boolean {
    return !this.wallet.keyring.watchesScripts;
  }

  /** Number of blocks that the next call should search. */
  get wanted(): number {
    return this.isPossible ? this.blocks : 1;
  }

  /**
   * Searches blocks at ascending heights. Announces the known transactions in them unless `isQuiet`. Returns the number of
   * leading blocks that need no full scan. When the promise resolves, the wallet has applied all events of the chain.
   */
  async look(heights: readonly number[], isQuiet: boolean): Promise<number> {
    const { wallet } = this;
    if (!this.isPossible) return 0;
    const { chain } = wallet.node;
    const isWhole = heights[heights.length - 1]! <= chain.height;
    const asked = isWhole ? heights : heights.filter((height) => height <= chain.height);
    if (asked.length === 0) return 0;
    const { keyring, ledger } = wallet;
    const [revision, size] = [keyring.revision, ledger.size];
    // Settled transactions need not be reported if no listener is notified about them.
    const isSilent = isQuiet || !wallet.hasListeners;
    let found: FoundPayments;
    try {
      found = await chain.scanPayments(asked, {
        scripts: keyring.idWords,
        txids: ledger.idWords,
        settled: isSilent ? ledger.settledPayments : null,
        memory: (this.memory ??= Buffer.allocUnsafeSlow(MEMORY_BYTES)),
      });
    } catch {
      // The full scan gets the same error and reports it.
      return 0;
    }
    await wallet.events.caughtUp();
    // If keys or transactions were added during the search, the result may be incomplete.
    if (found.blockCount === 0 || keyring.revision !== revision || ledger.size !== size) return 0;
    // If the last searched block is still in the active chain, all searched blocks are.
    const last = found.blockCount - 1;
    const hash = chain.hashAt(asked[last]!);
    if (hash === null || !equalBytes(hash, found.hash(last))) return 0;
    return this.pass(found, isSilent);
  }

  /**
   * Announces the known transactions up to the first block with an unknown transaction. Returns the number of that block in
   * the call.
   */
  private pass(found: FoundPayments, isSilent: boolean): number {
    let known: Entry[] = [];
    let block = 0;
    const tell = (): void => {
      if (!isSilent) for (const entry of known) this.wallet.announce(entry, false);
      known = [];
    };
    for (let n = 0; n < found.count; n++) {
      if (found.block(n) !== block) {
        tell();
        block = found.block(n);
      }
      const entry = this.wallet.ledger.entry(found.txKey(n));
      if (entry === undefined) {
        if (!txConcernsWallet(this.wallet, found.txBytes(n))) continue;
      } else if (this.isKnown(entry, found, n)) {
        known.push(entry);
        continue;
      }
      this.blocks = Math.max(FEWEST_BLOCKS, Math.min(this.blocks, 2 * block));
      return block;
    }
    tell();
    // The next call searches twice as many blocks as fit into the buffer, because the next blocks may be smaller.
    this.blocks =
      found.blockCount < this.blocks
        ? Math.max(FEWEST_BLOCKS, Math.min(this.blocks, 2 * found.blockCount))
        : Math.min(4 * this.blocks, MOST_BLOCKS);
    return found.blockCount;
  }

  /** Whether scanning the transaction would neither change its entry nor use a key of the pool. */
  private isKnown(entry: Entry, found: FoundPayments, n: number): boolean {
    const place = { blockHash: found.hash(found.block(n)), index: found.index(n) };
    if (!this.wallet.ledger.isSettled(entry, place, found.hasWitness(n))) return false;
    const { keypool, keyring } = this.wallet;
    return entry.outputs.every(({ to }) => !paysToPool(keyring, keypool, to));
  }
}
