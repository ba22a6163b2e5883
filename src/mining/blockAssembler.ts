/**
 * Assembles a template of the next block: transactions, coinbase, and header with the resulting claim root. The chain is not
 * changed. Data computed for a tip is reused for later templates on the same tip, with the same results as without reuse.
 * Source: lbrycrd miner.cpp `BlockAssembler::CreateNewBlock`, `UpdateTime`.
 */
import type { Chain } from '../chain/chain.js';
import { MAX_BLOCK_SIGOPS_COST, MAX_BLOCK_WEIGHT } from '../consensus/limits.js';
import { nextWorkRequired } from '../primitives/retarget.js';
import { blockSubsidy } from '../consensus/subsidy.js';
import { merkleRoot } from '../crypto/merkle.js';
import type { BlockCandidate, BlockSource } from '../mempool/mempoolReader.js';
import { formatHeader, type BlockHeader } from '../primitives/header.js';
import { formatTransaction, NULL_HASH, txid, type Transaction } from '../primitives/transaction.js';
import { NO_HEADER } from '../store/files/headerTable.js';
import { assert } from '../util/assert.js';
import { hashToHex, type Bytes } from '../util/bytes.js';
import { formatCoins } from '../util/json/json.js';
import { Writer } from '../util/writer.js';
import { buildCoinbase, coinbaseScriptSig, commitmentScript } from './coinbase.js';
import { TemplateClaims } from './templateClaims.js';

/** Weight and signature operation cost reserved in each block for the header and the coinbase. */
const RESERVED_WEIGHT = 4000;
const RESERVED_SIGOPS_COST = 400;

export interface AssemblerOptions {
  /** `-blockmaxweight`. */
  maxWeight: number;
  /** Minimum fee rate of packages in satoshis per 1,000 virtual bytes (`-blockmintxfee`). */
  minFeeRatePerKb: bigint;
  /** Block version that `-blockversion` sets (regtest only); null to compute the version from version bits. */
  version: number | null;
  /** Called for each chosen transaction with a log line that contains its fee rate (`-printpriority`). */
  printPriority?: (line: string) => void;
}

export interface AssemblerDeps {
  chain: Chain;
  source: BlockSource;
  adjustedTimeSec: () => number;
}

/** Content of a block without coinbase and header. The object must not be modified. */
export interface BlockContents {
  /** Header id of the parent block in the node's header table. */
  readonly parent: number;
  readonly height: number;
  readonly segwitActive: boolean;
  /** Whether transactions with witness may be chosen. */
  readonly includeWitness: boolean;
  /** `changeCount` of the mempool when the transactions were selected. */
  readonly changeCount: number;
  readonly transactions: readonly BlockCandidate[];
  readonly feesSat: bigint;
  /** Value of the coinbase in satoshis: subsidy and fees. */
  readonly valueSat: bigint;
  readonly commitment: Bytes;
  readonly claimRoot: Bytes;
}

export interface BlockTemplate {
  readonly contents: BlockContents;
  /** Header with nonce 0. It has no merkle root until `setExtraNonce` is called. */
  readonly header: BlockHeader;
  readonly coinbase: Transaction;
}

export class BlockAssembler {
  /** Data of the last assembled block: weight including the reserve, and number of transactions without the coinbase. */
  lastBlock = { weight: 0, txCount: 0 };
  private readonly options: AssemblerOptions;
  private readonly deps: AssemblerDeps;
  private last: BlockContents | null = null;
  private claims: { parent: number; of: TemplateClaims } | null = null;

  constructor(options: AssemblerOptions, deps: AssemblerDeps) {
    this.options = options;
    this.deps = deps;
  }

  /** `changeCount` of the mempool when the last block was assembled; 0 before the first one. */
  get lastChangeCount(): number {
    return this.last?.changeCount ?? 0;
  }

  /**
   * Assembles the block after the tip, with a coinbase that pays to `outputScript`. The chain must not change during the
   * call.
   */
  assemble(outputScript: Bytes): Promise<BlockTemplate> {
    return this.deps.chain.exclusively(async () => this.fill(await this.choose(true), outputScript));
  }

  /**
   * Like `assemble`, but reuses the last selection of transactions if neither tip nor mempool has changed since that
   * selection.
   */
  async template(outputScript: Bytes, includeWitness: boolean): Promise<BlockTemplate> {
    const known = this.current(includeWitness);
    if (known) return this.fill(known, outputScript);
    return this.deps.chain.exclusively(async () =>
      this.fill(this.current(includeWitness) ?? (await this.choose(includeWitness)), outputScript),
    );
  }

  private current(includeWitness: boolean): BlockContents | null {
    const { last } = this;
    const { chain, source } = this.deps;
    if (last?.parent !== chain.tip || last.changeCount !== source.changeCount) return null;
    return last.includeWitness === includeWitness ? last : null;
  }

  private async choose(includeWitness: boolean): Promise<BlockContents> {
    const { chain, source } = this.deps;
    const { params, index } = chain.deps;
    const parent = chain.tip;
    assert(parent !== NO_HEADER, 'a block is put together before there is a chain');
    const height = index.headers.height(parent) + 1;
    const segwitActive = index.versionBits.isActive('segwit', parent);
    await source.prepareForBlock();
    // `changeCount` is read before the selection, so that the selection counts as outdated if the mempool changes
    // meanwhile.
    const { changeCount } = source;
    const transactions = await this.select(height, parent, segwitActive && includeWitness);
    const feesSat = transactions.reduce((sum, tx) => sum + tx.feeSat, 0n);
    if (this.claims?.parent !== parent) {
      this.claims = { parent, of: new TemplateClaims(chain.deps, height) };
    }
    const claimRoot = await this.claims.of.root(transactions);
    return (this.last = {
      parent,
      height,
      segwitActive,
      includeWitness,
      changeCount,
      transactions,
      feesSat,
      valueSat: feesSat + blockSubsidy(height, params.subsidyLevelInterval),
      commitment: commitmentScript(transactions),
      claimRoot,
    });
  }

  private async select(
    height: number,
    parent: number,
    includeWitness: boolean,
  ): Promise<readonly BlockCandidate[]> {
    const maxWeight = Math.max(
      RESERVED_WEIGHT,
      Math.min(MAX_BLOCK_WEIGHT - RESERVED_WEIGHT, this.options.maxWeight),
    );
    const chosen = await this.deps.source.selectForBlock({
      height,
      lockTimeCutoffSec: this.deps.chain.index.active.medianTimeOf(parent),
      includeWitness,
      maxWeight: maxWeight - RESERVED_WEIGHT,
      maxSigopsCost: MAX_BLOCK_SIGOPS_COST - RESERVED_SIGOPS_COST,
      minFeeRatePerKb: this.options.minFeeRatePerKb,
    });
    if (this.options.printPriority) for (const tx of chosen) this.options.printPriority(feeLine(tx));
    const weight = chosen.reduce((sum, tx) => sum + tx.weight, RESERVED_WEIGHT);
    this.lastBlock = { weight, txCount: chosen.length };
    return chosen;
  }

  /** Creates coinbase and header of a block with the current time. */
  private fill(contents: BlockContents, outputScript: Bytes): BlockTemplate {
    const { params, index } = this.deps.chain.deps;
    const { active, headers, versionBits } = index;
    const { parent } = contents;
    const timeSec = Math.max(active.medianTimeOf(parent) + 1, this.deps.adjustedTimeSec());
    const header: BlockHeader = {
      version: this.options.version ?? versionBits.computeBlockVersion(parent),
      prevHash: Buffer.from(headers.hash(parent)),
      merkleRoot: NULL_HASH,
      claimRoot: contents.claimRoot,
      timeSec,
      bits: nextWorkRequired(active, parent, timeSec, params),
      nonce: 0,
    };
    return { contents, header, coinbase: buildCoinbase({ ...contents, outputScript }) };
  }
}

/** Returns a log line about a chosen transaction with its fee rate. Source: `BlockAssembler::AddToBlock`. */
function feeLine({ modifiedFeeSat, sizeBytes, txid }: BlockCandidate): string {
  const feeRatePerKb = (modifiedFeeSat * 1000n) / BigInt(sizeBytes);
  return `fee ${formatCoins(feeRatePerKb)} LBC/kB txid ${hashToHex(txid)}`;
}

/** Writes the extra nonce to the coinbase and the resulting merkle root to the header. */
export function setExtraNonce({ contents, header, coinbase }: BlockTemplate, extraNonce: number): void {
  const scriptSig = coinbaseScriptSig(contents.height, extraNonce);
  assert(scriptSig.length <= 100, 'a coinbase script has at most 100 bytes');
  coinbase.inputs[0]!.scriptSig = scriptSig;
  header.merkleRoot = merkleRoot([txid(coinbase), ...contents.transactions.map((tx) => tx.txid)]).root;
}

/** Serializes the block of a template. */
export function formatTemplate({ contents, header, coinbase }: BlockTemplate): Buffer {
  const { transactions } = contents;
  const size = transactions.reduce((sum, tx) => sum + tx.bytes.length, 512);
  const writer = new Writer(size)
    .raw(formatHeader(header))
    .compactSize(transactions.length + 1)
    .raw(formatTransaction(coinbase));
  for (const tx of transactions) writer.raw(tx.bytes);
  return writer.finish();
}
