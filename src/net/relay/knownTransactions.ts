/**
 * Whether a transaction that a peer announces is worth asking for. Remembers what was refused until the tip moves:
 * what was wrong may be right then, and until then no other peer is asked for it. Source: Core net_processing.cpp
 * `AlreadyHave`, `recentRejects`.
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

/** Two minutes of the smallest transactions from a fast peer; 1.3 MB. */
const MAX_REJECTS = 120_000;
const FALSE_POSITIVE_RATE = 0.000001;
/** Outputs by which a confirmed transaction is known while the cache holds them. */
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

  /** The tip under which verdicts are given now. */
  get tip(): number {
    return this.deps.reader.chain.tip;
  }

  private refresh(): void {
    if (this.tip === this.rejectsTip) return;
    this.rejectsTip = this.tip;
    this.rejects.reset();
  }

  /** Whether the transaction is here, or waits for its parents, or was refused, or recently confirmed. */
  alreadyHave(txid: Bytes): boolean {
    const { mempool, orphans } = this.deps;
    const key = toLatin1(txid);
    return orphans.has(key) || mempool.hasKey(key) || this.isRejected(txid) || this.isConfirmed(txid);
  }

  /** Whether it is confirmed, from the coin cache only. */
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

  /** Notes a refusal, unless the tip has moved since `tip` was read: the verdict may be another by now. */
  noteRejected(txid: Bytes, tip: number): void {
    this.refresh();
    if (tip === this.rejectsTip) this.rejects.insert(txid);
  }
}
