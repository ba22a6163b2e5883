/** A mempool with a real chain in a temporary folder, a miner, and functions that make transactions. */
import { join } from 'node:path';
import { Mempool } from '../../../src/mempool/mempool.js';
import type { AcceptOptions, AcceptVerdict } from '../../../src/mempool/acceptance.js';
import type { MempoolOptions } from '../../../src/mempool/mempoolOptions.js';
import { Miner } from '../../../src/mining/miner.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { hashToHex, type Bytes } from '../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { OPEN_SCRIPT, TestChain } from '../../support/testChain.js';

export const COIN = 100_000_000n;

export const DEFAULTS: Omit<MempoolOptions, 'dumpPath'> = {
  maxUsageBytes: 300_000_000,
  expirySec: 336 * 60 * 60,
  minRelayFeeRatePerKb: 1000n,
  incrementalFeeRatePerKb: 1000n,
  allowsReplacement: true,
  requireStandard: false,
  standard: { maxDataCarrierBytes: 83, permitBareMultisig: true, dustFeeRatePerKb: 1000n },
  bytesPerSigop: 20,
  limits: {
    ancestorCount: 25,
    ancestorSizeBytes: 101_000,
    descendantCount: 25,
    descendantSizeBytes: 101_000,
  },
  checkEvery: 1,
  persist: true,
};

export interface Coin {
  readonly txid: Bytes;
  readonly n: number;
  readonly value: bigint;
}

export class PoolWorld {
  readonly chain: TestChain;
  readonly mempool: Mempool;
  readonly options: MempoolOptions;
  private readonly miner: Miner;

  private constructor(chain: TestChain, options: MempoolOptions, maxWeight: number) {
    this.chain = chain;
    this.options = options;
    const nowSec = (): number => chain.timeSec;
    this.mempool = new Mempool(options, { reader: chain.opened.reader, nowSec, log: SILENT_LOGGER });
    this.miner = new Miner(
      { maxWeight, minFeeRatePerKb: 0n, version: null },
      { chain: chain.opened.chain, source: this.mempool, adjustedTimeSec: nowSec },
    );
  }

  /** Opens a chain with this number of blocks whose coinbases pay `OPEN_SCRIPT`. */
  static async open(
    blocks: number,
    changes: Partial<MempoolOptions> = {},
    maxWeight = 8_000_000,
  ): Promise<PoolWorld> {
    const chain = await TestChain.open({ txIndex: false });
    await chain.mine(blocks);
    const options = { ...DEFAULTS, dumpPath: join(chain.folder, 'mempool.dat'), ...changes };
    return new PoolWorld(chain, options, maxWeight);
  }

  /** The same chain with a new mempool, as after a restart. The old object must not be used afterwards. */
  restarted(): PoolWorld {
    this.chain.opened.chain.afterStep.length = 0;
    return new PoolWorld(this.chain, this.options, 8_000_000);
  }

  get height(): number {
    return this.chain.opened.chain.height;
  }

  close(): Promise<void> {
    return this.chain.close();
  }

  /** The coinbase of a block of the active chain. */
  async coinbase(height: number): Promise<Coin> {
    const block = await this.chain.blockAt(height);
    const hash = Buffer.from(block.parsed.txids.subarray(0, 32));
    const coin = await this.chain.opened.reader.coin(Buffer.concat([hash, Buffer.alloc(4)]));
    return { txid: hash, n: 0, value: coin?.amount ?? 0n };
  }

  accept(tx: Transaction, options: AcceptOptions = {}): Promise<AcceptVerdict> {
    return this.mempool.acceptToMempool(tx, options);
  }

  /** Accepts a transaction. Returns its id. Throws the reason if it is refused. */
  async mustAccept(tx: Transaction, options: AcceptOptions = {}): Promise<Buffer> {
    const { accepted, error, missingInputs } = await this.accept(tx, options);
    if (!accepted) throw new Error(missingInputs ? 'missing inputs' : JSON.stringify(error));
    return txid(tx);
  }

  /** The error as in RPC answers, or `accepted`. */
  async refusal(tx: Transaction, options: AcceptOptions = {}): Promise<string> {
    const { accepted, error, missingInputs } = await this.accept(tx, options);
    if (accepted) return 'accepted';
    return missingInputs ? 'missing inputs' : `${error!.rejectCode}: ${error!.reason}`;
  }

  /** Printed ids of the transactions in the mempool, sorted. */
  ids(): string[] {
    return this.mempool.txids().map(hashToHex).sort();
  }

  /** Mines blocks with transactions of the mempool. */
  mineMempool(count = 1, script: Bytes = OPEN_SCRIPT): Promise<Buffer[]> {
    return this.miner.generate(script, count, Infinity, new AbortController().signal);
  }

  /** Mines one block that holds exactly these transactions. */
  async mineBlock(transactions: readonly Transaction[], script: Bytes = OPEN_SCRIPT): Promise<void> {
    this.chain.pending.push(...transactions);
    await this.chain.mine(1, script);
  }

  /** Disconnects the block at `height` and all blocks above it. */
  async disconnectFrom(height: number): Promise<number> {
    const { chain } = this.chain.opened;
    const id = chain.index.active.at(height);
    await chain.invalidateBlock(id);
    return id;
  }

  async reconsider(id: number): Promise<void> {
    await this.chain.opened.chain.reconsiderBlock(id);
  }
}

export interface SpendOptions {
  /** By default 0xffffffff: the transaction cannot be replaced, and lock times have no effect. */
  sequence?: number;
  lockTime?: number;
  version?: number;
  /** Number of outputs of equal value. */
  outputs?: number;
  script?: Bytes;
  /** Size in bytes of a further, unspendable output. */
  padding?: number;
}

/** A transaction that anyone can make: spends `OPEN_SCRIPT` outputs and pays a fee. */
export function spendCoins(coins: readonly Coin[], feeSat: bigint, options: SpendOptions = {}): Transaction {
  const { sequence = 0xffffffff, lockTime = 0, version = 2, outputs = 1, script = OPEN_SCRIPT } = options;
  const total = coins.reduce((sum, { value }) => sum + value, 0n) - feeSat;
  const each = total / BigInt(outputs);
  const made = Array.from({ length: outputs }, (_, i) => ({
    value: i === 0 ? total - each * BigInt(outputs - 1) : each,
    script,
  }));
  if (options.padding !== undefined) {
    made.push({ value: 0n, script: Buffer.concat([Buffer.of(0x6a), Buffer.alloc(options.padding, 1)]) });
  }
  return {
    version,
    inputs: coins.map((coin) => ({
      prevout: { hash: coin.txid, index: coin.n },
      scriptSig: new Uint8Array(0),
      sequence,
      witness: [],
    })),
    outputs: made,
    lockTime,
  };
}

/** The outputs of a transaction as coins. */
export function coinsOf(tx: Transaction): Coin[] {
  const id = txid(tx);
  return tx.outputs.map(({ value }, n) => ({ txid: id, n, value })).filter(({ value }) => value > 0n);
}
