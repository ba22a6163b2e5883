/**
 * Implementation of the mining RPC methods: mines blocks on request and accepts blocks from miners. Source: lbrycrd
 * rpc/mining.cpp `generateBlocks`.
 */
import { loadBlock, type LoadedBlock } from '../chain/blocks/loadedBlock.js';
import { decodeCompact } from '../primitives/compactTarget.js';
import type { ValidationError } from '../consensus/reject.js';
import { formatHeader } from '../primitives/header.js';
import { NULL_HASH } from '../primitives/transaction.js';
import { equalBytes, type Bytes } from '../util/bytes.js';
import {
  BlockAssembler,
  formatTemplate,
  setExtraNonce,
  type AssemblerDeps,
  type AssemblerOptions,
  type BlockTemplate,
} from './blockAssembler.js';
import { grind } from './grind.js';
import { waitForWork, type KnownWork } from './longPoll.js';
import { NO_HEADER } from '../store/files/headerTable.js';
import { letOthersWork } from '../scheduler/pace.js';
import { checkProposal } from './proposal.js';
import { submitBlock } from './submitBlock.js';

/** Number of nonces that are tried before a new template is created. Source: `nInnerLoopCount`. */
const NONCES_PER_TEMPLATE = 0x10000;

export interface MiningService {
  /** Data of the last assembled block: weight including the reserve, and number of transactions without the coinbase. */
  readonly lastBlock: { readonly weight: number; readonly txCount: number };
  /** `changeCount` of the mempool when the last block was assembled; 0 before the first one. */
  readonly lastChangeCount: number;
  /**
   * Mines up to `count` blocks that pay `outputScript`, and tries at most `maxTries` nonces in total. Resolves to the ids of
   * the blocks in wire order. Rejects with `MiningError` if the chain rejects a mined block.
   */
  generate(outputScript: Bytes, count: number, maxTries: number, signal: AbortSignal): Promise<Buffer[]>;
  /**
   * Returns the payout script for a call that names no address. The addresses of `-miningaddress` are used in turn; null if
   * there are none.
   */
  nextPayoutScript(): Bytes | null;
  /**
   * Creates a block template for a miner, without merkle root. `includeWitness`: whether the block may contain transactions
   * with witness.
   */
  template(outputScript: Bytes, includeWitness: boolean): Promise<BlockTemplate>;
  /** See `longPoll.ts`. */
  waitForWork(known: KnownWork, signal: AbortSignal): Promise<void>;
  /** See `proposal.ts`. */
  propose(block: LoadedBlock): Promise<string | null>;
  /** See `submitBlock.ts`. */
  submit(block: LoadedBlock): Promise<string | null>;
}

/** Error: the chain rejected a block that this node mined. `cause` is the verdict. */
export class MiningError extends Error {
  override readonly name = 'MiningError';

  constructor(verdict: ValidationError) {
    super('ProcessNewBlock, block not accepted', { cause: verdict });
  }
}

export class Miner implements MiningService {
  readonly assembler: BlockAssembler;
  private readonly payoutScripts: readonly Bytes[];
  private payouts = 0;
  private readonly deps: AssemblerDeps;

  constructor(options: AssemblerOptions & { payoutScripts?: readonly Bytes[] }, deps: AssemblerDeps) {
    this.assembler = new BlockAssembler(options, deps);
    this.payoutScripts = options.payoutScripts ?? [];
    this.deps = deps;
  }

  get lastBlock(): { weight: number; txCount: number } {
    return this.assembler.lastBlock;
  }

  get lastChangeCount(): number {
    return this.assembler.lastChangeCount;
  }

  nextPayoutScript(): Bytes | null {
    return this.payoutScripts[this.payouts++ % this.payoutScripts.length] ?? null;
  }

  template(outputScript: Bytes, includeWitness: boolean): Promise<BlockTemplate> {
    return this.assembler.template(outputScript, includeWitness);
  }

  waitForWork(known: KnownWork, signal: AbortSignal): Promise<void> {
    return waitForWork(this.deps.chain, this.deps.source, known, signal);
  }

  propose(block: LoadedBlock): Promise<string | null> {
    return checkProposal(this.deps.chain, block);
  }

  async generate(
    outputScript: Bytes,
    count: number,
    maxTries: number,
    signal: AbortSignal,
  ): Promise<Buffer[]> {
    const { chain } = this.deps;
    const hashes: Buffer[] = [];
    let triesLeft = maxTries;
    let extraNonce = 0;
    let parent: Bytes = NULL_HASH;
    while (hashes.length < count && triesLeft > 0 && !signal.aborted) {
      const began = performance.now();
      const template = await this.assembler.assemble(outputScript);
      const { header } = template;
      if (!equalBytes(header.prevHash, parent)) extraNonce = 0;
      parent = header.prevHash;
      setExtraNonce(template, ++extraNonce);
      const target = decodeCompact(header.bits).target;
      const tries = Math.min(triesLeft, NONCES_PER_TEMPLATE);
      const nonce = await grind(formatHeader(header), target, tries, signal);
      if (nonce < 0) {
        triesLeft -= tries;
        continue;
      }
      triesLeft -= nonce;
      header.nonce = nonce;
      const block = loadBlock(formatTemplate(template));
      // The same block was mined before and was invalidated. The next round uses a new coinbase, which gives another
      // block.
      if (chain.index.headers.find(block.hash) !== NO_HEADER) continue;
      const { error } = await chain.processBlock(block, true);
      if (error) throw new MiningError(error);
      hashes.push(block.hash);
      await letOthersWork(performance.now() - began);
    }
    return hashes;
  }

  submit(block: LoadedBlock): Promise<string | null> {
    return submitBlock(this.deps.chain, block);
  }
}
