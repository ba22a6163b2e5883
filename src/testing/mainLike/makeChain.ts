/**
 * Generates a regtest chain block by block: transactions, claim root, proof of work. The proportions of transaction types
 * are those of the main network. Equal options give equal bytes. Uses the node's own claim trie, in a database in a folder,
 * so that memory use is limited.
 */
import { join } from 'node:path';
import { blockSubsidy } from '../../consensus/subsidy.js';
import { merkleRoot } from '../../crypto/merkle.js';
import { buildCoinbase, commitmentScript } from '../../mining/coinbase.js';
import { grind } from '../../mining/grind.js';
import type { NetworkParams } from '../../params/network.js';
import { decodeCompact } from '../../primitives/compactTarget.js';
import { formatHeader, HEADER_SIZE_BYTES, headerHash } from '../../primitives/header.js';
import { formatTransaction, txid as txidOf } from '../../primitives/transaction.js';
import { ClaimStore, type ClaimTx } from '../../store/claims/claimStore.js';
import { packOperations } from '../../store/claims/packedOperations.js';
import { RECENT_SHARES } from '../../store/claims/rows/claimKeys.js';
import { RowStore } from '../../store/rows/rowStore.js';
import { assert } from '../../util/assert.js';
import { hashToHex, toLatin1 } from '../../util/bytes.js';
import { Writer } from '../../util/writer.js';
import { Draw } from './draw.js';
import { chainForks, FIRST_BLOCKS, mainHeightOf, type ForkPlan } from './forks.js';
import { KeyRing } from './keyRing.js';
import { Names } from './names.js';
import type { PoolCoin } from './pool.js';
import * as MAIN from './proportions.js';
import { TransactionMaker, type PoolTransaction } from './transactions.js';
import { Values } from './values.js';

/** Block version with only the version-bits prefix. It satisfies every version rule of the chain. */
const BLOCK_VERSION = 0x20000000;
/** Number of blocks after which a coinbase can be spent. */
const MATURITY = 100;
/**
 * Average number of transactions per key (`TRANSACTIONS_A_KEY`), because most keys on the main network sign a few times;
 * minimum and maximum number of keys (`KEYS`).
 */
const TRANSACTIONS_A_KEY = 8;
const KEYS = { least: 64, most: 50_000 } as const;
/**
 * Maximum total size in bytes of a block's transactions. The limit of a block is eight million bytes, which leaves space for
 * the coinbase.
 */
const MOST_BLOCK_BYTES = 7_900_000;
/** Size in bytes of unflushed rows above which they are flushed to disk. */
const DIRTY_BYTES = 64 << 20;
const DATABASE_CACHE_BYTES = 32 << 20;
const RECENT_BYTES = 224 << 20;
/** Number of bytes that are written to the file in one call. */
const WRITE_BYTES = 4 << 20;

export interface MakeChainOptions {
  /** Number of blocks after the genesis block. */
  readonly blocks: number;
  readonly seed: string;
  readonly forks: ForkPlan;
  /** Number of transactions per block, relative to the main network (1 is the same number). */
  readonly density: number;
  /** Path of an empty folder for the database of the claim trie. */
  readonly folder: string;
  /** Writes the next bytes of the block file. */
  readonly write: (bytes: Buffer) => Promise<void>;
  /** Called with the height of each block after the block was written. */
  readonly onBlock?: (height: number) => void;
}

/** Abort signal that is never aborted, so the search for a nonce continues until one is found. */
const NEVER = new AbortController().signal;

/** Statistics of a generated chain. */
export interface ChainSummary {
  readonly blocks: number;
  readonly seed: string;
  readonly forks: ForkPlan;
  readonly density: number;
  /** Hash of the last block, and the claim root in its header, in the format of RPC results. */
  readonly tip: string;
  readonly claimRoot: string;
  /** Without coinbases. */
  readonly transactions: number;
  /** Number of transaction inputs. Each has one signature. */
  readonly inputs: number;
  readonly bytes: number;
  /** Number of transactions of each type. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly emptyBlocks: number;
  /** Number of transactions in the largest block. */
  readonly largestBlock: number;
  /** Command-line options with which each program can follow the chain. */
  readonly nodeArgs: { readonly lbcnode: readonly string[]; readonly lbrycrd: readonly string[] };
}

/** The average number of transactions per block at a height of the main network. */
export function transactionRate(mainHeight: number): number {
  const rates = MAIN.TRANSACTION_RATES;
  const at = rates.findIndex(({ height }) => height > mainHeight);
  if (at < 0) return rates.at(-1)!.transactions;
  const [from, to] = [rates[at - 1]!, rates[at]!];
  const share = (mainHeight - from.height) / (to.height - from.height);
  return from.transactions + share * (to.transactions - from.transactions);
}

/**
 * Sets the header's nonce to the first one that satisfies `bits`. The target is slightly lower than the maximum target of
 * regtest.
 */
export async function mineHeader(header: Buffer, bits: number): Promise<void> {
  const nonce = await grind(header, decodeCompact(bits).target, 2 ** 31, NEVER);
  assert(nonce >= 0, 'no nonce satisfies the target of regtest');
  header.writeUInt32LE(nonce, HEADER_SIZE_BYTES - 4);
}

class ChainMaker {
  private readonly options: MakeChainOptions;
  private readonly params: NetworkParams;
  private readonly nodeArgs: ChainSummary['nodeArgs'];
  private readonly draw: Draw;
  private readonly maker: TransactionMaker;
  private readonly claims: ClaimStore;
  private readonly store: RowStore;
  private readonly immature: PoolCoin[] = [];
  private previous: Buffer;
  private claimRoot: Buffer;
  private pieces: Buffer[] = [];
  private pieceBytes = 0;
  private readonly counts = { transactions: 0, inputs: 0, bytes: 0, emptyBlocks: 0, largestBlock: 0 };
  private readonly kinds: Record<string, number> = {};

  constructor(options: MakeChainOptions, store: RowStore) {
    const { blocks, seed, density } = options;
    const { params, nodeArgs } = chainForks(blocks, options.forks);
    this.options = options;
    this.params = params;
    this.nodeArgs = nodeArgs;
    this.store = store;
    this.draw = new Draw(`${seed} chain`);
    const names = new Names(new Draw(`${seed} names`));
    const values = new Values(new Draw(`${seed} values`), names);
    const ring = new KeyRing(seed, ringSize(blocks, density));
    this.maker = new TransactionMaker(new Draw(`${seed} transactions`), ring, names, values);
    this.claims = new ClaimStore({
      rules: { ...params.claimForks, supportDelay: 'proportional' },
      proofWindow: 1,
    });
    this.previous = params.genesis.hash;
    this.claimRoot = Buffer.from(params.genesis.claimRoot);
  }

  async run(): Promise<ChainSummary> {
    const { blocks, seed, forks, density, onBlock } = this.options;
    await this.write(this.params.genesis.block);
    for (let height = 1; height <= blocks; height++) {
      await this.makeBlock(height);
      onBlock?.(height);
    }
    await this.flushFile();
    const [tip, claimRoot] = [hashToHex(this.previous), hashToHex(this.claimRoot)];
    const { counts, kinds, nodeArgs } = this;
    return { blocks, seed, forks, density, tip, claimRoot, ...counts, kinds, nodeArgs };
  }

  private async makeBlock(height: number): Promise<void> {
    const mainHeight = mainHeightOf(height, this.options.blocks);
    const segwitActive = height >= this.params.segwitHeight;
    this.maker.begin(height, mainHeight, segwitActive);
    const mature = this.immature.length >= MATURITY ? this.immature.shift() : undefined;
    if (mature !== undefined) this.maker.addCoin(mature);
    const made = height <= FIRST_BLOCKS ? [] : this.transactions(mainHeight);
    const fees = made.reduce((sum, { feeSat }) => sum + feeSat, 0);
    const miner = this.maker.anyKey();
    const subsidy = blockSubsidy(height, this.params.subsidyLevelInterval);
    const coinbase = buildCoinbase({
      height,
      outputScript: miner.script,
      valueSat: subsidy + BigInt(fees),
      commitment: commitmentScript(made),
      segwitActive,
    });
    const coinbaseId = txidOf(coinbase);
    const amountSat = Number(coinbase.outputs[0]!.value);
    const txKey = toLatin1(coinbaseId);
    this.immature.push({ txKey, n: 0, amountSat, key: miner, isWitness: false, stake: null });
    const head = new Writer(512)
      .compactSize(made.length + 1)
      .raw(formatTransaction(coinbase))
      .finish();
    this.claimRoot = await this.connect(height, made, HEADER_SIZE_BYTES + head.length);
    const header = await this.mine(height, merkleRoot([coinbaseId, ...made.map(({ txid }) => txid)]).root);
    this.previous = headerHash(header);
    this.count(made);
    await this.write(header, head, ...made.map(({ bytes }) => bytes));
  }

  private transactions(mainHeight: number): PoolTransaction[] {
    const made: PoolTransaction[] = [];
    const mix = MAIN.MIXES.findLast(({ from }) => from <= mainHeight)!;
    const shares = MAIN.TRANSACTION_KINDS.map((kind, i) => [kind, mix.shares[i]!] as const);
    const factor = this.draw.oneIn(MAIN.HEAVY_EVERY) ? MAIN.HEAVY_FACTOR : 1;
    const mean = transactionRate(mainHeight) * this.options.density * factor;
    let bytes = 0;
    for (let left = this.draw.geometric(mean); left > 0; left--) {
      const kind = this.draw.share(shares);
      const tx = this.maker.make(kind);
      if (tx === null) break;
      made.push(tx);
      this.kinds[kind] = (this.kinds[kind] ?? 0) + 1;
      bytes += tx.bytes.length;
      if (bytes > MOST_BLOCK_BYTES) break;
    }
    return made;
  }

  /**
   * Connects the block to the claim trie. Returns the claim root. `at` is the offset of the block's second transaction,
   * which follows the coinbase.
   */
  private async connect(height: number, made: readonly PoolTransaction[], at: number): Promise<Buffer> {
    const transactions: ClaimTx[] = [];
    let txOffset = at;
    for (const { txid, bytes, claims } of made) {
      if (claims.spends.length + claims.outputs.length > 0) transactions.push({ txid, txOffset, ...claims });
      txOffset += bytes.length;
    }
    const rows = this.store.begin();
    const block = { height, transactions };
    const ordinary = this.claims.connectOrdinary(rows, height, () => packOperations(block));
    await ordinary?.write();
    const { root } = ordinary ?? (await this.claims.connect(rows, block));
    this.store.commit(rows);
    if (this.store.dirtyBytes > DIRTY_BYTES || this.store.mustFlush) await this.flushRows(height);
    return Buffer.from(root);
  }

  private async flushRows(height: number): Promise<void> {
    await this.store.flush();
    for (const { gte, lt } of this.claims.prunable(height)) await this.store.dropRange(gte, lt);
  }

  private async mine(height: number, merkle: Buffer): Promise<Buffer> {
    const { genesis, powLimitBits } = this.params;
    const spacingSec = (MAIN.MAIN_SPACING_SEC * MAIN.MAIN_BLOCKS) / this.options.blocks;
    const header = formatHeader({
      version: BLOCK_VERSION,
      prevHash: this.previous,
      merkleRoot: merkle,
      claimRoot: this.claimRoot,
      timeSec: genesis.timeSec + Math.round(height * spacingSec),
      bits: powLimitBits,
      nonce: 0,
    });
    await mineHeader(header, powLimitBits);
    return header;
  }

  private count(made: readonly PoolTransaction[]): void {
    const { counts } = this;
    counts.transactions += made.length;
    for (const { inputs } of made) counts.inputs += inputs;
    if (made.length === 0) counts.emptyBlocks++;
    counts.largestBlock = Math.max(counts.largestBlock, made.length);
  }

  private async write(...parts: Buffer[]): Promise<void> {
    const frame = Buffer.alloc(8);
    frame.set(this.params.magic);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    frame.writeUInt32LE(length, 4);
    this.pieces.push(frame, ...parts);
    this.pieceBytes += frame.length + length;
    this.counts.bytes += frame.length + length;
    if (this.pieceBytes >= WRITE_BYTES) await this.flushFile();
  }

  private async flushFile(): Promise<void> {
    const bytes = Buffer.concat(this.pieces);
    this.pieces = [];
    this.pieceBytes = 0;
    await this.options.write(bytes);
  }
}

function ringSize(blocks: number, density: number): number {
  let transactions = 0;
  for (let i = 0; i < 100; i++) transactions += (transactionRate(i * 20_000) * blocks) / 100;
  const wanted = Math.ceil((transactions * density) / TRANSACTIONS_A_KEY);
  return Math.max(KEYS.least, Math.min(KEYS.most, wanted));
}

/**
 * Generates a chain and writes its blocks, beginning with the genesis block. Throws `RangeError` for fewer blocks than
 * `LEAST_BLOCKS`.
 */
export async function makeChain(options: MakeChainOptions): Promise<ChainSummary> {
  const store = await RowStore.open({
    path: join(options.folder, 'rows'),
    cacheBytes: DATABASE_CACHE_BYTES,
    recent: { shares: RECENT_SHARES, maxBytes: RECENT_BYTES },
  });
  try {
    return await new ChainMaker(options, store).run();
  } finally {
    await store.close();
  }
}
