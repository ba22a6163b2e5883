/**
 * The tree of known blocks: accepts headers, links block data as it arrives, and records failures. Defines the meaning of
 * the header table (status, candidates, best header); changes no coins and connects nothing. Source: Core validation.cpp
 * `AcceptBlockHeader`, `AddToBlockIndex`, `ReceivedBlockTransactions`.
 */
import { checkProofOfWork, contextualCheckHeader } from '../../consensus/checkHeader.js';
import { blockWork } from '../../primitives/compactTarget.js';
import { ChunkChecks } from '../../primitives/headerChunks.js';
import { HeaderWalk } from '../../consensus/headerWalk.js';
import { reject, type ValidationError } from '../../consensus/reject.js';
import { nextWorkRequired } from '../../primitives/retarget.js';
import { VersionBits } from '../../consensus/versionBits.js';
import type { NetworkParams } from '../../params/network.js';
import { formatHeader, powHash, type BlockHeader } from '../../primitives/header.js';
import type { FilePosition } from '../../store/files/blockFiles.js';
import type { HeaderTable } from '../../store/files/headerTable.js';
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import { atOnce, type Slices } from '../../util/slices.js';
import { loadNative } from '../../native/binding.js';
import { ActiveChain } from './activeChain.js';
import { Candidates } from './candidates.js';

/** Offset of the field `bits` in a header. */
const BITS_OFFSET = 104;
/** Number of headers that are processed between two yields to the event loop, which takes some tenths of a millisecond. */
const SLICE_HEADERS = 4096;

const EMPTY = Buffer.alloc(0);

export interface AcceptedHeader {
  /**
   * Id of the header in the table, even if the header was known and rejected before. `NO_HEADER` if the header is not in the
   * table.
   */
  id: number;
  error: ValidationError | null;
}

export interface BlockIndexOptions {
  params: NetworkParams;
  /** Whether checkpoints are enforced (`-checkpoints`). */
  checkpoints: boolean;
  /** Returns the time in seconds with which a header's time is compared. */
  adjustedTimeSec: () => number;
}

export class BlockIndex {
  readonly headers: HeaderTable;
  readonly active: ActiveChain;
  readonly candidates: Candidates;
  readonly versionBits: VersionBits;
  /**
   * The header with the most work received so far. It stays the best header when its branch turns out invalid, as in the
   * reference; a restart searches for the best one again.
   */
  bestHeader = NO_HEADER;
  /** The invalid block with the most work. Used only for warnings. */
  bestInvalid = NO_HEADER;
  /**
   * Height of the snapshot on which the active chain is based while its blocks are validated in the background; -1 without
   * one. During that time nothing at or below this height is disconnected.
   */
  snapshotHeight = -1;
  private readonly options: BlockIndexOptions;
  /** Blocks whose data is stored while the data of an ancestor is missing, grouped by parent. */
  private readonly unlinked = new Map<number, number[]>();
  private readonly chunkChecks: ChunkChecks | null;
  /**
   * Result of the last check: the last block of a branch whose blocks are all on disk, and the number of disconnects at the
   * time of the check.
   */
  private readonly whole = { end: NO_HEADER as number, disconnects: 0 };

  constructor(headers: HeaderTable, options: BlockIndexOptions) {
    this.headers = headers;
    this.options = options;
    this.active = new ActiveChain(headers);
    this.candidates = new Candidates(headers);
    this.versionBits = new VersionBits(options.params, this.active);
    const chunks = options.checkpoints ? options.params.headerChunks() : EMPTY;
    this.chunkChecks = chunks.length > 0 ? new ChunkChecks(chunks) : null;
  }

  /** Rebuilds the state that is only in memory. Called after the header table was loaded. */
  restore(tip: number): void {
    const { headers } = this;
    this.active.reset(tip);
    this.bestHeader = tip;
    for (let id = 0; id < headers.count; id++) {
      this.inheritFailure(id);
      if (headers.isFailed(id)) this.noteInvalid(id);
      else this.noteBest(id);
      if (headers.chainTxCount(id) > 0) this.candidates.link(id);
      else if (headers.hasStatus(id, STATUS.haveData)) this.addUnlinked(id);
    }
    atOnce(this.reconsiderCandidates());
  }

  /**
   * Makes every linked block that is not worse than the tip a candidate again. Headers and blocks may be added between
   * slices; the tip must not change.
   */
  *reconsiderCandidates(): Slices<void> {
    const { headers, active, candidates } = this;
    for (let id = 0; id < headers.count; id++) {
      if (id % SLICE_HEADERS === 0) yield;
      if (headers.chainTxCount(id) === 0 || headers.isFailed(id)) continue;
      if (active.tip === NO_HEADER || candidates.compare(id, active.tip) >= 0) candidates.add(id);
    }
  }

  private noteBest(id: number): void {
    if (this.bestHeader === NO_HEADER || this.headers.compareWork(id, this.bestHeader) > 0)
      this.bestHeader = id;
  }

  /** Updates the block's mark for a failed ancestor. The mark of the parent must be up to date. */
  private inheritFailure(id: number): void {
    const { headers } = this;
    const prev = headers.prev(id);
    const mustBe = prev !== NO_HEADER && headers.isFailed(prev);
    if (mustBe === headers.hasStatus(id, STATUS.failedChild)) return;
    if (mustBe) headers.addStatus(id, STATUS.failedChild);
    else headers.clearStatus(id, STATUS.failedChild);
  }

  private addUnlinked(id: number): void {
    const prev = this.headers.prev(id);
    const list = this.unlinked.get(prev);
    if (!list) this.unlinked.set(prev, [id]);
    else if (!list.includes(id)) list.push(id);
  }

  /** Whether the block's data is stored while that of an ancestor is missing. */
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

  /** Checks whether a header may follow its parent. Also used for blocks that never enter the tree (templates, proposals). */
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

  /** Starts the check of headers that follow a known header and are not added to the tree. */
  beginWalk(from: number): HeaderWalk {
    const { params, adjustedTimeSec } = this.options;
    const lastCheckpointHeight = this.lastCheckpointHeight();
    return new HeaderWalk(this.active, from, this.headers.work(from), {
      params,
      adjustedTimeSec,
      lastCheckpointHeight,
    });
  }

  checkWork(header: BlockHeader, headerBytes = formatHeader(header)): ValidationError | null {
    return this.checkWorkOf(headerBytes, header.bits);
  }

  /** Like `checkWork`, for a serialized header of 112 bytes. */
  checkWorkOf(headerBytes: Buffer, bits = headerBytes.readUInt32LE(BITS_OFFSET)): ValidationError | null {
    const proof = loadNative()?.powHash(headerBytes) ?? powHash(headerBytes);
    return checkProofOfWork(proof, bits, this.options.params);
  }

  /**
   * Adds a header to the tree if it is valid. Source: `AcceptBlockHeader`. `hash` is the header's id in wire order.
   * `workChecked`: `checkWork` has accepted the header before.
   */
  acceptHeader(header: BlockHeader, hash: Bytes, workChecked = false): AcceptedHeader {
    const { headers, options } = this;
    const known = headers.find(hash);
    const isGenesis = equalBytes(hash, options.params.genesisHash);
    if (known !== NO_HEADER) {
      return { id: known, error: !isGenesis && headers.isFailed(known) ? reject('duplicate') : null };
    }
    if (isGenesis) {
      const id = this.add(header, hash, NO_HEADER);
      this.chunkChecks?.accepted(id, NO_HEADER, 0, formatHeader(header));
      return { id, error: null };
    }
    const work = workChecked ? null : this.checkWork(header);
    if (work) return { id: NO_HEADER, error: work };
    const prev = headers.find(header.prevHash);
    if (prev === NO_HEADER) return { id: NO_HEADER, error: reject('prev-blk-not-found') };
    if (headers.isFailed(prev)) return { id: NO_HEADER, error: reject('bad-prevblk') };
    const error = this.checkAfterParent(header, prev);
    if (error) return { id: NO_HEADER, error };
    if (this.chunkChecks === null) return { id: this.add(header, hash, prev), error: null };
    const [bytes, height] = [formatHeader(header), headers.height(prev) + 1];
    if (!this.chunkChecks.allows(prev, height, bytes))
      return { id: NO_HEADER, error: reject('checkpoint mismatch') };
    const id = this.add(header, hash, prev);
    this.chunkChecks.accepted(id, prev, height, bytes);
    return { id, error: null };
  }

  private add(header: BlockHeader, hash: Bytes, prev: number): number {
    const below = prev === NO_HEADER ? 0n : this.headers.work(prev);
    const id = this.headers.add(header, hash, prev, below + blockWork(header.bits));
    this.noteBest(id);
    return id;
  }

  /**
   * Records that the block's data is on disk. Links the block, and blocks that waited for it, when the data of all ancestors
   * is stored.
   */
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

  /**
   * Records that a block is invalid and that its descendants have an invalid ancestor. The status of every block then tells
   * exactly whether the block itself or an ancestor failed. Source: `InvalidBlockFound`, `InvalidChainFound`; later Core's
   * `SetBlockFailureFlags`.
   */
  markFailed(id: number): void {
    const { headers, candidates } = this;
    headers.addStatus(id, STATUS.failed);
    candidates.delete(id);
    this.noteInvalid(id);
    // A parent has a lower id than its children, so one pass in ascending order is sufficient.
    for (let above = id + 1; above < headers.count; above++) {
      if (headers.isFailed(above) || !headers.isFailed(headers.prev(above))) continue;
      headers.addStatus(above, STATUS.failedChild);
      if (!candidates.has(above)) continue;
      candidates.delete(above);
      this.noteInvalid(above);
    }
  }

  private noteInvalid(id: number): void {
    if (this.bestInvalid === NO_HEADER || this.headers.compareWork(id, this.bestInvalid) > 0)
      this.bestInvalid = id;
  }

  /**
   * Clears the verdict on a block, its descendants and its ancestors. Other branches that failed only because of such an
   * ancestor become usable again; the reference leaves them failed, without any benefit. Headers, blocks and verdicts may be
   * added between slices: a header whose parent is still marked is rejected, as before the call. The tip must not change.
   * Source: `ResetBlockFailureFlags`.
   */
  *clearFailure(block: number): Slices<void> {
    const { headers, active } = this;
    const height = headers.height(block);
    for (let id = 0; id < headers.count; id++) {
      if (id % SLICE_HEADERS === 0) yield;
      if (!headers.hasStatus(id, STATUS.failed)) continue;
      const isRelated =
        headers.height(id) < height
          ? active.ancestorOf(block, headers.height(id)) === id
          : active.ancestorOf(id, height) === block;
      if (isRelated) headers.clearStatus(id, STATUS.failed);
    }
    this.bestInvalid = NO_HEADER;
    // A parent has a lower id than its children, so one pass in ascending order is sufficient.
    for (let id = 0; id < headers.count; id++) {
      if (id % SLICE_HEADERS === 0) yield;
      this.inheritFailure(id);
      if (headers.isFailed(id)) this.noteInvalid(id);
      else this.noteBest(id);
    }
    yield* this.reconsiderCandidates();
  }

  /**
   * Returns the candidate with the most work for whose branch all block data is stored. Candidates with missing data are
   * removed from the set until the data arrives. Failed blocks are never candidates. Source: `FindMostWorkChain`.
   */
  findMostWorkChain(): number {
    // Branches that leave the active chain below the snapshot must wait until the snapshot is validated.
    const barred: number[] = [];
    try {
      return this.findWholeChain(barred);
    } finally {
      for (const id of barred) this.candidates.add(id);
    }
  }

  private findWholeChain(barred: number[]): number {
    const { headers, active, candidates, whole } = this;
    for (;;) {
      const best = candidates.best();
      if (best === NO_HEADER) return NO_HEADER;
      // A branch that was checked is not checked again each time a block of it is connected.
      if (best === whole.end && active.disconnects === whole.disconnects) return best;
      let at = best;
      while (at !== NO_HEADER && !active.contains(at) && headers.hasStatus(at, STATUS.haveData))
        at = headers.prev(at);
      if (this.snapshotHeight >= 0 && headers.height(active.findFork(at)) < this.snapshotHeight) {
        candidates.delete(best);
        barred.push(best);
        continue;
      }
      if (at === NO_HEADER || active.contains(at)) {
        whole.end = best;
        whole.disconnects = active.disconnects;
        return best;
      }
      for (let above = best; above !== at; above = headers.prev(above)) {
        this.addUnlinked(above);
        candidates.delete(above);
      }
      candidates.delete(at);
    }
  }

  /**
   * Called when the file with the block was pruned. The block's data must be downloaded again before its branch can become
   * the active chain.
   */
  forgetData(id: number): void {
    const { headers } = this;
    this.whole.end = NO_HEADER;
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
