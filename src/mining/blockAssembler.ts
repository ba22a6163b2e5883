/**
 * Puts the next block together: transactions, coinbase, header with the claim root that they lead to. Changes nothing.
 * Source: lbrycrd miner.cpp `BlockAssembler::CreateNewBlock`, `UpdateTime`.
 */
import type { Chain } from '../chain/chain.js';
import { previewClaimRoot } from '../chain/connectBlock.js';
import { loadBlock } from '../chain/loadedBlock.js';
import { MAX_BLOCK_SIGOPS_COST, MAX_BLOCK_WEIGHT } from '../consensus/limits.js';
import { nextWorkRequired } from '../consensus/retarget.js';
import { blockSubsidy } from '../consensus/subsidy.js';
import { merkleRoot } from '../crypto/merkle.js';
import type { BlockCandidate, BlockSource } from '../mempool/mempoolReader.js';
import { formatHeader, type BlockHeader } from '../primitives/header.js';
import { formatTransaction, NULL_HASH, txid, type Transaction } from '../primitives/transaction.js';
import { assert } from '../util/assert.js';
import { hashToHex, type Bytes } from '../util/bytes.js';
import { formatCoins } from '../util/json.js';
import { Writer } from '../util/writer.js';
import { buildCoinbase, coinbaseScriptSig } from './coinbase.js';

/** Weight and signature operations kept free for header and coinbase. */
const RESERVED_WEIGHT = 4000;
const RESERVED_SIGOPS_COST = 400;

export interface AssemblerOptions {
  /** `-blockmaxweight`. */
  maxWeight: number;
  /** `-blockmintxfee`, satoshis per 1,000 virtual bytes. */
  minFeeRatePerKb: bigint;
  /** `-blockversion`, on regtest only; null takes the one that version bits ask for. */
  version: number | null;
  /** Takes a line with the fee rate of each chosen transaction (`-printpriority`). */
  printPriority?: (line: string) => void;
}

export interface AssemblerDeps {
  chain: Chain;
  source: BlockSource;
  adjustedTimeSec: () => number;
}

export interface BlockTemplate {
  height: number;
  /** Header with nonce 0; its merkle root belongs to the coinbase as it stands here. */
  header: BlockHeader;
  coinbase: Transaction;
  transactions: readonly BlockCandidate[];
  feesSat: bigint;
}

export class BlockAssembler {
  /** The last block put together: weight with what is reserved, and transactions without the coinbase. */
  lastBlock = { weight: 0, txCount: 0 };
  private readonly options: AssemblerOptions;
  private readonly deps: AssemblerDeps;

  constructor(options: AssemblerOptions, deps: AssemblerDeps) {
    this.options = options;
    this.deps = deps;
  }

  /** The block that would follow the tip, paying `outputScript`. The chain stands still meanwhile. */
  assemble(outputScript: Bytes, includeWitness = true): Promise<BlockTemplate> {
    return this.deps.chain.exclusively(() => this.build(outputScript, includeWitness));
  }

  private async build(outputScript: Bytes, includeWitness: boolean): Promise<BlockTemplate> {
    const { chain } = this.deps;
    const { params, index } = chain.deps;
    const { active, headers, versionBits } = index;
    const parent = chain.tip;
    const height = headers.height(parent) + 1;
    const segwitActive = versionBits.isActive('segwit', parent);
    const transactions = this.select(height, parent, segwitActive && includeWitness);
    const feesSat = transactions.reduce((sum, tx) => sum + tx.feeSat, 0n);
    const coinbase = buildCoinbase({
      height,
      outputScript,
      valueSat: feesSat + blockSubsidy(height, params.subsidyLevelInterval),
      wtxids: transactions.map((tx) => tx.wtxid),
      segwitActive,
    });
    const timeSec = Math.max(active.medianTimeOf(parent) + 1, this.deps.adjustedTimeSec());
    const header: BlockHeader = {
      version: this.options.version ?? versionBits.computeBlockVersion(parent),
      prevHash: Buffer.from(headers.hash(parent)),
      merkleRoot: NULL_HASH,
      claimRoot: NULL_HASH,
      timeSec,
      bits: nextWorkRequired(active, parent, timeSec, params),
      nonce: 0,
    };
    const template: BlockTemplate = { height, header, coinbase, transactions, feesSat };
    header.merkleRoot = templateMerkleRoot(template);
    const block = transactions.length === 0 ? null : loadBlock(formatTemplate(template));
    header.claimRoot = await previewClaimRoot(chain.deps, block);
    return template;
  }

  private select(height: number, parent: number, includeWitness: boolean): readonly BlockCandidate[] {
    const maxWeight = Math.max(
      RESERVED_WEIGHT,
      Math.min(MAX_BLOCK_WEIGHT - RESERVED_WEIGHT, this.options.maxWeight),
    );
    const chosen = this.deps.source.selectForBlock({
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
}

/** The fee rate that counts for the order, and the transaction. Source: `BlockAssembler::AddToBlock`. */
function feeLine({ modifiedFeeSat, sizeBytes, txid }: BlockCandidate): string {
  const feeRatePerKb = (modifiedFeeSat * 1000n) / BigInt(sizeBytes);
  return `fee ${formatCoins(feeRatePerKb)} LBC/kB txid ${hashToHex(txid)}`;
}

function templateMerkleRoot(template: BlockTemplate): Buffer {
  return merkleRoot([txid(template.coinbase), ...template.transactions.map((tx) => tx.txid)]).root;
}

/** Puts the extra nonce into the coinbase and the root that follows into the header. */
export function setExtraNonce(template: BlockTemplate, extraNonce: number): void {
  const scriptSig = coinbaseScriptSig(template.height, extraNonce);
  assert(scriptSig.length <= 100, 'a coinbase script has at most 100 bytes');
  template.coinbase.inputs[0]!.scriptSig = scriptSig;
  template.header.merkleRoot = templateMerkleRoot(template);
}

/** The block's bytes. */
export function formatTemplate(template: BlockTemplate): Buffer {
  const { header, coinbase, transactions } = template;
  const size = transactions.reduce((sum, tx) => sum + tx.bytes.length, 512);
  const writer = new Writer(size)
    .raw(formatHeader(header))
    .compactSize(transactions.length + 1)
    .raw(formatTransaction(coinbase));
  for (const tx of transactions) writer.raw(tx.bytes);
  return writer.finish();
}
