/**
 * Interface for writing a search index, for all backends: new blocks, disconnected blocks, and the first build. Ids are hex
 * in display order. Each call is one transaction, which also sets the new tip.
 */
import type { ClaimSources } from '../document/documentSource.js';

export interface BlockId {
  readonly height: number;
  /** Hash of the block, hex in display order. */
  readonly hash: string;
}

/** A block with the claims that it changed or ended. If the block is disconnected, these claims are read again. */
export interface BlockNote extends BlockId {
  readonly claimIds: readonly string[];
}

export interface ScoreChange {
  readonly claimId: string;
  readonly formerSat: bigint;
  readonly latterSat: bigint;
}

/** A block on top of the block that the index has reached, with the changes to apply. */
export interface BlockStep {
  readonly block: BlockNote;
  /** Claims that this block ended. If they do not exist at the current tip either, their scores are removed. */
  readonly ended: readonly string[];
  readonly scores: readonly ScoreChange[];
}

/** Score changes of claims in one block. */
export interface BlockScores {
  readonly height: number;
  readonly scores: readonly ScoreChange[];
}

/** Progress of a first build. */
export interface BuildState {
  /** Last block that the build includes in documents and scores. Later blocks are applied one by one after the build. */
  readonly base: BlockId;
  /** Claim id of the last claim that was read; null before the first one. */
  readonly after: string | null;
  /** Whether all documents have been written. */
  readonly hasDocuments: boolean;
  /** Height up to which score changes have been written to the index. */
  readonly scoredHeight: number;
}

export interface IndexState {
  /** Tip of the index; null until the first build is complete. */
  readonly tip: BlockId | null;
  readonly build: BuildState | null;
  readonly documents: number;
  /** Whether another node writes the index. This node only reads it, and takes over writing when the other node ends. */
  readonly isKeptByOther?: boolean;
  /** Whether another node may write as soon as this node loses its connection. The state is then read before each step. */
  readonly isShared?: boolean;
  /** Description of the corruption that caused the deletion of the former index. */
  readonly corruption?: string;
}

/** Writer of a search backend. Only one call may run at a time. */
export interface IndexWriter {
  state(): Promise<IndexState>;
  /**
   * Returns the records of blocks with the claims that they changed, by height: of blocks in the index, and of blocks above
   * its tip.
   */
  notes(): Promise<readonly BlockNote[]>;
  /** Stores records of blocks. Must be called before claims are read in the state after these blocks. */
  note(blocks: readonly BlockNote[]): Promise<void>;
  /** Returns the documents that repost one of the claims and are not deleted. */
  repostsOf(claimIds: readonly string[]): Promise<readonly string[]>;
  /**
   * Applies blocks in order of height. `claims` has all claims of these blocks in the state of the current tip. Returns the
   * number of documents in the index.
   */
  applyBlocks(steps: readonly BlockStep[], claims: ClaimSources): Promise<number>;
  /**
   * Rewinds the index to `tip`: removes the records of the `abandoned` blocks, and restores the scores that claims had
   * before these blocks.
   */
  rewind(tip: BlockId, abandoned: readonly BlockId[], claims: ClaimSources): Promise<void>;
  /** Updates claims without changing the tip of the index. */
  refresh(abandoned: readonly BlockId[], claims: ClaimSources): Promise<void>;
  /** Deletes all contents of the index and starts a first build. */
  startBuild(base: BlockId): Promise<void>;
  /**
   * Adds claims in order of ascending id, after the last added claim. For claims that do not exist only the scores are
   * stored.
   */
  addClaims(claims: ClaimSources): Promise<void>;
  /** Creates the database index by claim id. Called after the last claim was added. */
  endClaims(): Promise<void>;
  /** Adds the score changes of blocks, in order of height. The last block may have no changes. */
  addScores(blocks: readonly BlockScores[]): Promise<void>;
  /** Creates the remaining database indexes. The base block of the build then becomes the tip. */
  endBuild(): Promise<void>;
  /**
   * Checks the next part of the index. Returns a description of the corruption that it found, or null. Absent for backends
   * that detect corruption themselves.
   */
  scrub?(): Promise<string | null>;
  close(): Promise<void>;
}

/** Number of the latest blocks whose records and former scores are stored. A deeper reorg rebuilds the index. Arbitrary. */
export const KEPT_BLOCKS = 300;
