/**
 * The entry of blocks and headers into the chain: checks that need no chain state but headers, the storage of the data, and
 * the limits for data that was not requested. Nothing is connected here. Source: Core validation.cpp `ProcessNewBlock`,
 * `AcceptBlock`, `ProcessNewBlockHeaders`.
 */
import type { ValidationError } from '../../consensus/reject.js';
import { TX_FLAGS, TX_IS_COINBASE } from '../../primitives/blockLayout.js';
import { blockWork } from '../../primitives/compactTarget.js';
import { headerHash, parseHeaderBytes } from '../../primitives/header.js';
import type { FilePosition } from '../../store/files/blockFiles.js';
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import type { ChainEvents } from '../chainEvents.js';
import { checkBlockView, contextualCheckBlockView } from '../connect/checkBlockView.js';
import type { BlockIndex } from '../index/blockIndex.js';
import type { LoadedBlock } from './loadedBlock.js';
import type { StoredBlocks } from './storedBlocks.js';

/** Maximum height above the tip of an unrequested block that is stored (Core's MIN_BLOCKS_TO_KEEP). */
export const MIN_BLOCKS_TO_KEEP = 288;
/** Number of blocks whose work a branch may lack compared with the tip to be accepted (Core's 144-block buffer). */
const NEAR_TIP_BLOCKS = 144n;

export interface AcceptResult {
  /** Id of the block's header; `NO_HEADER` if it is unknown. */
  id: number;
  error: ValidationError | null;
  /** Whether the block's data was stored by this call. */
  isNew: boolean;
}

export interface AcceptedHeaders {
  /** Id of the last accepted header; `NO_HEADER` if none was accepted. */
  last: number;
  /** Verdict on the first invalid header. */
  error: ValidationError | null;
}

export interface AcceptanceRules {
  /** Work of the network's known chain. Unrequested branches with less work are not stored. */
  readonly minimumChainWork: bigint;
  /** Height from which a coinbase contains the height of its block. */
  readonly bip34Height: number;
}

/** The parts of the chain that the acceptance uses. */
export interface AcceptingChain {
  readonly events: ChainEvents;
  readonly importing: boolean;
  isInitialDownload(): boolean;
  /** Reports an error of the environment, after which the node stops. Returns the error to throw. */
  fail(error: unknown): unknown;
}

export class Acceptance {
  private readonly rules: AcceptanceRules;
  private readonly index: BlockIndex;
  private readonly blocks: StoredBlocks;
  private readonly chain: AcceptingChain;

  /** Called after the data of a block was stored. */
  onStored: (id: number) => void = () => undefined;
  /** Called with a block below a snapshot whose contents match its header, but break a rule. */
  onInvalidBehind: (id: number, error: ValidationError) => void = () => undefined;

  constructor(rules: AcceptanceRules, index: BlockIndex, blocks: StoredBlocks, chain: AcceptingChain) {
    this.rules = rules;
    this.index = index;
    this.blocks = blocks;
    this.chain = chain;
  }

  private get tip(): number {
    return this.index.active.tip;
  }

  /**
   * Minimum total work of a branch received from a peer, so that headers of minimal difficulty cannot fill the memory: the
   * known work of the network's chain, and nearly the work of this node's tip. Blocks from the operator (calls, files) need no
   * minimum. Source: later Core's `GetAntiDoSWorkThreshold`.
   */
  get leastBranchWork(): bigint {
    const { minimumChainWork } = this.rules;
    if (this.tip === NO_HEADER) return minimumChainWork;
    const { headers } = this.index;
    const nearTip = headers.work(this.tip) - NEAR_TIP_BLOCKS * blockWork(headers.bits(this.tip));
    return nearTip > minimumChainWork ? nearTip : minimumChainWork;
  }

  /** Whether a header with these bits after the header `parent` is on a branch with too little work to store. */
  isWeakBranch(parent: number, bits: number): boolean {
    return this.index.headers.work(parent) + blockWork(bits) < this.leastBranchWork;
  }

  /** Checks a block in the order of `ProcessNewBlock`, and stores it if it is new and valid. */
  acceptBlock(block: LoadedBlock, requested: boolean, position: FilePosition | null): AcceptResult {
    const { index, chain } = this;
    const { headers } = index;
    const wrong = index.checkWork(block.header, block.raw.subarray(0, 112)) ?? checkBlockView(block);
    if (wrong) {
      const known = headers.find(block.hash);
      if (this.isBehind(known) && hasCoinbase(block)) this.noteInvalidBehind(known, wrong);
      return { id: known, error: wrong, isNew: false };
    }
    const previousBest = index.bestHeader;
    const { id, error } = index.acceptHeader(block.header, block.hash, true);
    if (error) return { id, error, isNew: false };
    if (index.bestHeader !== previousBest) chain.events.emit('headerTip', { id: index.bestHeader });
    if (headers.hasStatus(id, STATUS.haveData)) return { id, error: null, isNew: false };
    if (!requested && !this.wantsUnrequested(id)) return { id, error: null, isNew: false };
    const contextual = this.checkContext(block, headers.prev(id));
    if (contextual) {
      if (this.isBehind(id)) this.noteInvalidBehind(id, contextual);
      else if (!contextual.corruption) index.markFailed(id);
      return { id, error: contextual, isNew: false };
    }
    try {
      this.blocks.add(id, block, position, chain.importing);
    } catch (error) {
      throw chain.fail(error);
    }
    this.onStored(id);
    if (headers.prev(id) === this.tip && !chain.isInitialDownload())
      chain.events.emit('blockFound', {
        id,
        height: headers.height(id),
        hash: block.hash,
        raw: block.raw,
        parsed: block.parsed,
      });
    return { id, error: null, isNew: true };
  }

  /**
   * Accepts consecutive headers up to the first invalid header. Returns the id of the last accepted header (`NO_HEADER` for
   * none) and the verdict on the invalid header. `workChecked`: the caller has verified the proof of work of all headers.
   * Source: `ProcessNewBlockHeaders`.
   */
  acceptHeaders(headers: readonly Buffer[], workChecked = false): AcceptedHeaders {
    const { index } = this;
    const previousBest = index.bestHeader;
    let last = NO_HEADER;
    let error: ValidationError | null = null;
    for (const bytes of headers) {
      const accepted = index.acceptHeader(parseHeaderBytes(bytes), headerHash(bytes), workChecked);
      error = accepted.error;
      if (error) break;
      last = accepted.id;
    }
    if (index.bestHeader !== previousBest) this.chain.events.emit('headerTip', { id: index.bestHeader });
    return { last, error };
  }

  /** Whether the block is assumed to be valid because of the snapshot that the node was started from. */
  private isBehind(id: number): boolean {
    const { headers, active, snapshotHeight } = this.index;
    return id !== NO_HEADER && headers.height(id) <= snapshotHeight && active.contains(id);
  }

  private noteInvalidBehind(id: number, error: ValidationError): void {
    if (!error.corruption) this.onInvalidBehind(id, error);
  }

  private wantsUnrequested(id: number): boolean {
    const { headers } = this.index;
    if (headers.txCount(id) !== 0) return false;
    if (this.tip !== NO_HEADER && headers.compareWork(id, this.tip) < 0) return false;
    if (headers.height(id) > this.index.active.height + MIN_BLOCKS_TO_KEEP) return false;
    return headers.work(id) >= this.rules.minimumChainWork;
  }

  /** Source: `ContextualCheckBlock`. */
  checkContext(block: LoadedBlock, parent: number): ValidationError | null {
    const { versionBits, active, headers } = this.index;
    const medianTime = parent !== NO_HEADER && versionBits.isActive('csv', parent);
    return contextualCheckBlockView(block, {
      height: parent === NO_HEADER ? 0 : headers.height(parent) + 1,
      bip34Height: this.rules.bip34Height,
      segwitActive: versionBits.isActive('segwit', parent),
      lockTimeCutoffSec: medianTime ? active.medianTimeOf(parent) : block.header.timeSec,
    });
  }
}

/**
 * Whether the first transaction is a coinbase. If not, the transactions may be nodes of the merkle tree, which have the same
 * root as the block. Source: later Core's `IsBlockMutated`.
 */
function hasCoinbase({ parsed }: LoadedBlock): boolean {
  return parsed.txCount > 0 && (parsed.txs[TX_FLAGS]! & TX_IS_COINBASE) !== 0;
}
