/**
 * Decides whether an announced transaction must be requested. Stores the ids of rejected transactions until the tip changes,
 * because a new tip may make them valid. Until the tip changes, rejected transactions are not requested from any peer.
 * Source: Core net_processing.cpp `AlreadyHave`, `recentRejects`.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import type { RelaySource } from '../../mempool/mempoolReader.js';
import { OUTPOINT_SIZE_BYTES } from '../../store/cache/coinTable.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import type { RollingBloomFilter } from '../bloom/rollingBloomFilter.js';
import type { RandomSource } from '../messageHandler.js';
import { rollingFilter } from './rollingFilter.js';

export interface KnownTransactionsDeps {
  readonly reader: Pick<ChainReader, 'cachedCoin'> & { readonly chain: { readonly tip: number } };
  readonly mempool: Pick<RelaySource, 'hasKey'>;
  readonly orphans: { has(key: string): boolean };
  readonly random: RandomSource;
}

/**
 * Number of rejected ids in the filter, which takes 1.3 MB. A fast peer can send about this many of the smallest
 * transactions in two minutes.
 */
const MAX_REJECTS = 120_000;
const FALSE_POSITIVE_RATE = 0.000001;
/** Number of outputs that are looked up in the coin cache to detect that a transaction is confirmed. */
const PROBED_OUTPUTS = 2;

export class KnownTransactions {
  private readonly deps: KnownTransactionsDeps;
  private readonly rejects: RollingBloomFilter;
  private rejectsTip: number;
  private readonly outPoint = Buffer.alloc(OUTPOINT_SIZE_BYTES);

  constructor(deps: KnownTransactionsDeps) {
    this.deps = deps;
    this.rejects = rollingFilter(MAX_REJECTS, FALSE_POSITIVE_RATE, deps.random);
    this.rejectsTip = this.tip;
  }

  /** Current tip. Rejections are valid only for this tip. */
  get tip(): number {
    return this.deps.reader.chain.tip;
  }

  private refresh(): void {
    if (this.tip === this.rejectsTip) return;
    this.rejectsTip = this.tip;
    this.rejects.reset();
  }

  /** Whether the transaction is in the mempool or an orphan, was rejected, or was recently confirmed. */
  alreadyHave(txid: Bytes): boolean {
    const { mempool, orphans } = this.deps;
    const key = toLatin1(txid);
    return orphans.has(key) || mempool.hasKey(key) || this.isRejected(txid) || this.isConfirmed(txid);
  }

  /** Whether the transaction is confirmed, as far as the coin cache can show. */
  private isConfirmed(txid: Bytes): boolean {
    this.outPoint.set(txid);
    for (let n = 0; n < PROBED_OUTPUTS; n++) {
      this.outPoint.writeUInt32LE(n, 32);
      if (this.deps.reader.cachedCoin(this.outPoint) !== null) return true;
    }
    return false;
  }

  isRejected(txid: Bytes): boolean {
    this.refresh();
    return this.rejects.contains(txid);
  }

  /**
   * Records a rejection. Without effect if the tip has changed since the caller read `tip`, because the transaction may be
   * valid after the new tip.
   */
  noteRejected(txid: Bytes, tip: number): void {
    this.refresh();
    if (tip === this.rejectsTip) this.rejects.insert(txid);
  }
}
