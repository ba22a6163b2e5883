/**
 * The tree of known blocks: accepts headers, links block data as it arrives, and knows what failed. Owns the header
 * table's meaning (status, candidates, best header); moves no coins and connects nothing.
 * Source: Core validation.cpp `AcceptBlockHeader`, `AddToBlockIndex`, `ReceivedBlockTransactions`.
 */
import { checkProofOfWork, contextualCheckHeader } from '../consensus/checkHeader.js';
import { blockWork } from '../consensus/compactTarget.js';
import { reject, type ValidationError } from '../consensus/reject.js';
import { nextWorkRequired } from '../consensus/retarget.js';
import { VersionBits } from '../consensus/versionBits.js';
import type { NetworkParams } from '../params/network.js';
import { formatHeader, powHash, type BlockHeader } from '../primitives/header.js';
import type { FilePosition } from '../store/blockFiles.js';
import type { HeaderTable } from '../store/headerTable.js';
import { NO_HEADER, STATUS, STATUS_FAILED_MASK } from '../store/headerTable.js';
import { equalBytes, type Bytes } from '../util/bytes.js';
import { loadNative } from '../native/binding.js';
import { ActiveChain } from './activeChain.js';
import { Candidates } from './candidates.js';

export interface AcceptedHeader {
  /** The header's id, also when it is known and was refused; `NO_HEADER` when it never entered the tree. */
  id: number;
  error: ValidationError | null;
}

export interface BlockIndexOptions {
  params: NetworkParams;
  /** Whether checkpoints bind (`-checkpoints`). */
  checkpoints: boolean;
  /** The clock that limits a header's time, in seconds. */
  adjustedTimeSec: () => number;
}

export class BlockIndex {
  readonly headers: HeaderTable;
  readonly active: ActiveChain;
  readonly candidates: Candidates;
  readonly versionBits: VersionBits;
  /**
   * The header with the most work that ever came. It stays when its branch turns out invalid, as in the reference;
   * a restart looks for the best one anew.
   */
  bestHeader = NO_HEADER;
  /** The most work ever found invalid; for warnings only. */
  bestInvalid = NO_HEADER;
  private readonly options: BlockIndexOptions;
  /** Blocks found invalid themselves (not because of an ancestor). */
  private readonly failedBlocks = new Set<number>();
  /** Blocks whose data is here while an ancestor's is not, by parent. */
  private readonly unlinked = new Map<number, number[]>();

  constructor(headers: HeaderTable, options: BlockIndexOptions) {
    this.headers = headers;
    this.options = options;
    this.active = new ActiveChain(headers);
    this.candidates = new Candidates(headers);
    this.versionBits = new VersionBits(options.params, this.active);
  }

  /** Rebuilds what is kept in memory only, after the header table was loaded. */
  restore(tip: number): void {
    const { headers } = this;
    this.active.reset(tip);
    this.bestHeader = tip;
    for (let id = 0; id < headers.count; id++) {
      const prev = headers.prev(id);
      if (headers.hasStatus(id, STATUS.failed)) this.failedBlocks.add(id);
      else if (prev !== NO_HEADER && headers.isFailed(prev)) headers.addStatus(id, STATUS.failedChild);
      if (headers.isFailed(id)) {
        if (this.bestInvalid === NO_HEADER || headers.compareWork(id, this.bestInvalid) > 0)
          this.bestInvalid = id;
      } else if (this.bestHeader === NO_HEADER || headers.compareWork(id, this.bestHeader) > 0)
        this.bestHeader = id;
      if (headers.chainTxCount(id) > 0) this.candidates.link(id);
      else if (headers.hasStatus(id, STATUS.haveData)) this.addUnlinked(id);
    }
    this.reconsiderCandidates();
  }

  /** Makes every linked block that is not worse than the tip a candidate again. */
  reconsiderCandidates(): void {
    const { headers, active, candidates } = this;
    for (let id = 0; id < headers.count; id++) {
      if (headers.chainTxCount(id) === 0 || headers.isFailed(id)) continue;
      if (active.tip === NO_HEADER || candidates.compare(id, active.tip) >= 0) candidates.add(id);
    }
  }

  private addUnlinked(id: number): void {
    const prev = this.headers.prev(id);
    const list = this.unlinked.get(prev);
    if (list) list.push(id);
    else this.unlinked.set(prev, [id]);
  }

  /** Whether the block's data is here and waits for that of an ancestor. */
  isUnlinked(id: number): boolean {
    return this.unlinked.get(this.headers.prev(id))?.includes(id) ?? false;
  }

  private lastCheckpointHeight(): number | null {
    if (!this.options.checkpoints) return null;
    const { checkpoints } = this.options.params;
    for (let i = checkpoints.length - 1; i >= 0; i--) {
      if (this.headers.find(checkpoints[i]!.hash) !== NO_HEADER) return checkpoints[i]!.height;
    }
    return null;
  }

  /** Whether the header may follow its parent; also used for blocks that never enter the tree (templates, proposals). */
  checkAfterParent(header: BlockHeader, parent: number): ValidationError | null {
    const { params, adjustedTimeSec } = this.options;
    return contextualCheckHeader(
      header,
      {
        height: this.headers.height(parent) + 1,
        requiredBits: nextWorkRequired(this.active, parent, header.timeSec, params),
        parentMedianTimeSec: this.active.medianTimeOf(parent),
        adjustedTimeSec: adjustedTimeSec(),
        lastCheckpointHeight: this.lastCheckpointHeight(),
      },
      params,
    );
  }

  checkWork(header: BlockHeader, headerBytes = formatHeader(header)): ValidationError | null {
    const proof = loadNative()?.powHash(headerBytes) ?? powHash(headerBytes);
    return checkProofOfWork(proof, header.bits, this.options.params);
  }

  /** Source: `AcceptBlockHeader`. `hash` is the header's id in wire order. */
  acceptHeader(header: BlockHeader, hash: Bytes): AcceptedHeader {
    const { headers, options } = this;
    const known = headers.find(hash);
    const isGenesis = equalBytes(hash, options.params.genesisHash);
    if (known !== NO_HEADER) {
      return { id: known, error: !isGenesis && headers.isFailed(known) ? reject('duplicate') : null };
    }
    if (isGenesis) return { id: this.add(header, hash, NO_HEADER), error: null };
    const work = this.checkWork(header);
    if (work) return { id: NO_HEADER, error: work };
    const prev = headers.find(header.prevHash);
    if (prev === NO_HEADER) return { id: NO_HEADER, error: reject('prev-blk-not-found') };
    if (headers.isFailed(prev)) return { id: NO_HEADER, error: reject('bad-prevblk') };
    const error = this.checkAfterParent(header, prev);
    if (error) return { id: NO_HEADER, error };
    if (!headers.hasStatus(prev, STATUS.validScripts) && this.descendsFromFailed(prev)) {
      return { id: NO_HEADER, error: reject('bad-prevblk') };
    }
    return { id: this.add(header, hash, prev), error: null };
  }

  /** Whether a failed block lies below; then everything between it and `id` is marked. */
  private descendsFromFailed(id: number): boolean {
    for (const failed of this.failedBlocks) {
      if (this.active.ancestorOf(id, this.headers.height(failed)) !== failed) continue;
      for (let at = id; at !== failed; at = this.headers.prev(at))
        this.headers.addStatus(at, STATUS.failedChild);
      return true;
    }
    return false;
  }

  private add(header: BlockHeader, hash: Bytes, prev: number): number {
    const below = prev === NO_HEADER ? 0n : this.headers.work(prev);
    const id = this.headers.add(header, hash, prev, below + blockWork(header.bits));
    if (this.bestHeader === NO_HEADER || this.headers.compareWork(id, this.bestHeader) > 0)
      this.bestHeader = id;
    return id;
  }

  /** The block's data is on disk. Links it, and what waited for it, when all ancestors' data is there too. */
  receiveData(id: number, txCount: number, position: FilePosition): void {
    const { headers } = this;
    headers.setTxCount(id, txCount);
    headers.setChainTxCount(id, 0);
    headers.setDataPosition(id, position);
    headers.addStatus(id, STATUS.haveData | STATUS.validTransactions);
    const prev = headers.prev(id);
    if (prev !== NO_HEADER && headers.chainTxCount(prev) === 0) {
      this.addUnlinked(id);
      return;
    }
    const ready = [id];
    for (let at = ready.shift(); at !== undefined; at = ready.shift()) {
      const parent = headers.prev(at);
      headers.setChainTxCount(
        at,
        (parent === NO_HEADER ? 0 : headers.chainTxCount(parent)) + headers.txCount(at),
      );
      this.candidates.link(at);
      if (this.active.tip === NO_HEADER || this.candidates.compare(at, this.active.tip) >= 0)
        this.candidates.add(at);
      ready.push(...(this.unlinked.get(at) ?? []));
      this.unlinked.delete(at);
    }
  }

  /** Remembers that a block broke a rule. Source: `InvalidBlockFound`, `InvalidChainFound`. */
  markFailed(id: number): void {
    this.headers.addStatus(id, STATUS.failed);
    this.failedBlocks.add(id);
    this.candidates.delete(id);
    this.noteInvalid(id);
  }

  noteInvalid(id: number): void {
    if (this.bestInvalid === NO_HEADER || this.headers.compareWork(id, this.bestInvalid) > 0)
      this.bestInvalid = id;
  }

  /** Takes back the verdict on a block, its descendants and its ancestors. Source: `ResetBlockFailureFlags`. */
  clearFailure(block: number): void {
    const { headers, active } = this;
    const height = headers.height(block);
    for (let id = 0; id < headers.count; id++) {
      if (!headers.isFailed(id) || active.ancestorOf(id, height) !== block) continue;
      this.unfail(id);
      if (headers.chainTxCount(id) > 0 && this.candidates.compare(id, active.tip) > 0)
        this.candidates.add(id);
    }
    for (let id = block; id !== NO_HEADER; id = headers.prev(id)) if (headers.isFailed(id)) this.unfail(id);
  }

  private unfail(id: number): void {
    this.headers.clearStatus(id, STATUS_FAILED_MASK);
    this.failedBlocks.delete(id);
    if (this.bestInvalid === id) this.bestInvalid = NO_HEADER;
  }

  /**
   * The candidate with the most work whose whole branch is usable; branches that failed or miss data leave the set.
   * Source: `FindMostWorkChain`.
   */
  findMostWorkChain(): number {
    const { headers, active, candidates } = this;
    for (;;) {
      const best = candidates.best();
      if (best === NO_HEADER) return NO_HEADER;
      let at = best;
      while (
        at !== NO_HEADER &&
        !active.contains(at) &&
        !headers.isFailed(at) &&
        headers.hasStatus(at, STATUS.haveData)
      ) {
        at = headers.prev(at);
      }
      if (at === NO_HEADER || active.contains(at)) return best;
      const failed = headers.isFailed(at);
      if (failed) this.noteInvalid(best);
      for (let above = best; above !== at; above = headers.prev(above)) {
        if (failed) headers.addStatus(above, STATUS.failedChild);
        else this.addUnlinked(above);
        candidates.delete(above);
      }
      candidates.delete(at);
    }
  }

  /** The block's file was pruned: its data must be fetched again before its branch can be considered. */
  forgetData(id: number): void {
    const { headers } = this;
    headers.clearStatus(id, STATUS.haveData | STATUS.haveUndo);
    headers.setDataPosition(id, { file: -1, offset: 0 });
    headers.setUndoOffset(id, 0);
    const siblings = this.unlinked.get(headers.prev(id));
    if (siblings)
      this.unlinked.set(
        headers.prev(id),
        siblings.filter((other) => other !== id),
      );
  }
}
