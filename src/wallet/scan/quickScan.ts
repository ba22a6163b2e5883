/**
 * Passing over blocks in bulk in which a scan would find nothing new: the node looks through many of them at once, and what it
 * finds is known here as it is there. Owns how many blocks that are; changes nothing of the wallet. A block with anything
 * else in it is left to the scan, which looks at all of its transactions.
 */
import { equalBytes } from '../../util/bytes.js';
import { paysToPool } from '../keys/paysToPool.js';
import type { Entry } from '../ledger/entry.js';
import type { FoundPayments } from '../port.js';
import type { Wallet } from '../wallet.js';
import { txConcernsWallet } from './takeBlock.js';

/** Blocks that are asked for at a time: so many as long as nothing new is found, fewer where something was. Arbitrary. */
const MOST_BLOCKS = 512;
const FEWEST_BLOCKS = 4;
const FIRST_BLOCKS = 64;
/** Memory for the blocks that are read together. Arbitrary. */
const MEMORY_BYTES = 1 << 20;

export class QuickScan {
  private readonly wallet: Wallet;
  private blocks = FIRST_BLOCKS;
  private memory: Buffer | null = null;

  constructor(wallet: Wallet) {
    this.wallet = wallet;
  }

  /** Scripts that are watched are known as a whole only, and so looked for block by block. */
  get isPossible(): boolean {
    return !this.wallet.keyring.watchesScripts;
  }

  /** How many blocks should be asked for. */
  get wanted(): number {
    return this.isPossible ? this.blocks : 1;
  }

  /**
   * Looks through blocks at ascending heights, and announces what is known of them unless `isQuiet`. Answers how many of the first
   * are done; 0 where the first needs a closer look. The wallet has caught up with the chain then.
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
    // Of transactions that are settled nothing is asked where no listener is notified of them.
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
      // The closer look meets the same, and reports it.
      return 0;
    }
    await wallet.events.caughtUp();
    // What came meanwhile was not looked for.
    if (found.blockCount === 0 || keyring.revision !== revision || ledger.size !== size) return 0;
    // Where the last of them is in the chain, all are.
    const last = found.blockCount - 1;
    const hash = chain.hashAt(asked[last]!);
    if (hash === null || !equalBytes(hash, found.hash(last))) return 0;
    return this.pass(found, isSilent);
  }

  /** Announces what was found up to the first block that has something new. */
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
    // As many large ones as have room, and some more, in case that the next are smaller.
    this.blocks =
      found.blockCount < this.blocks
        ? Math.max(FEWEST_BLOCKS, Math.min(this.blocks, 2 * found.blockCount))
        : Math.min(4 * this.blocks, MOST_BLOCKS);
    return found.blockCount;
  }

  /** Whether a look at a transaction would neither change it nor use a key of the pool. */
  private isKnown(entry: Entry, found: FoundPayments, n: number): boolean {
    const place = { blockHash: found.hash(found.block(n)), index: found.index(n) };
    if (!this.wallet.ledger.isSettled(entry, place, found.hasWitness(n))) return false;
    const { keypool, keyring } = this.wallet;
    return entry.outputs.every(({ to }) => !paysToPool(keyring, keypool, to));
  }
}
