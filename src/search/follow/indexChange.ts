/**
 * The write interface of an index, for all backends: new blocks, disconnected blocks, and the first build. Ids are hex in
 * printed order. Each call is one transaction that also sets the new tip.
 */
import type { ClaimSources } from '../document/documentSource.js';

export interface BlockId {
  readonly height: number;
  /** Hex as printed. */
  readonly hash: string;
}

/** A block with the claims that it touched or ended. If it is disconnected, these are read again. */
export interface BlockNote extends BlockId {
  readonly claimIds: readonly string[];
}

export interface ScoreChange {
  readonly claimId: string;
  readonly formerSat: bigint;
  readonly latterSat: bigint;
}

/** A block after the tip of the index. */
export interface BlockStep {
  readonly block: BlockNote;
  /** Claims that this block ended. If they do not exist any more, their scores are removed. */
  readonly ended: readonly string[];
  readonly scores: readonly ScoreChange[];
}

/** Score changes of one block. */
export interface BlockScores {
  readonly height: number;
  readonly scores: readonly ScoreChange[];
}

/** Progress of a first build. */
export interface BuildState {
  /** Blocks up to this one are covered by the documents and scores of the build; later ones are followed one by one. */
  readonly base: BlockId;
  /** The last claim that was read; null before the first. */
  readonly after: string | null;
  /** Whether all documents are written. */
  readonly hasDocuments: boolean;
  /** Height up to which scores are included. */
  readonly scoredHeight: number;
}

export interface IndexState {
  /** Null until the first build is complete. */
  readonly tip: BlockId | null;
  readonly build: BuildState | null;
  readonly documents: number;
  /** Whether another node writes the index. This node reads it, and takes over when that node ends. */
  readonly isKeptByOther?: boolean;
  /** Whether another node may write as soon as this one loses its connection. The state is then read each time. */
  readonly isShared?: boolean;
  /** Description of the corruption of a former index, which was deleted. */
  readonly damage?: string;
}

/** The writer of a backend. Only one call may run at a time. */
export interface IndexWriter {
  state(): Promise<IndexState>;
  /** Notes of blocks in the index, and of blocks above its tip, by height. */
  notes(): Promise<readonly BlockNote[]>;
  /** Stores notes of blocks before claims are read at them. */
  note(blocks: readonly BlockNote[]): Promise<void>;
  /** Live documents that repost one of the claims. */
  repostsOf(claimIds: readonly string[]): Promise<readonly string[]>;
  /** Applies blocks by height, with all their claims in the state of the present tip; returns the number of documents. */
  applyBlocks(steps: readonly BlockStep[], claims: ClaimSources): Promise<number>;
  /** Rewinds to `tip`: removes the notes of the abandoned blocks, and restores the former scores. */
  rewind(tip: BlockId, abandoned: readonly BlockId[], claims: ClaimSources): Promise<void>;
  /** Updates claims without changing the tip. */
  refresh(abandoned: readonly BlockId[], claims: ClaimSources): Promise<void>;
  /** Empties the index for a first build. */
  startBuild(base: BlockId): Promise<void>;
  /** Adds claims by ascending id, after the last added one. Of claims that do not exist only the scores are stored. */
  addClaims(claims: ClaimSources): Promise<void>;
  /** Called after the last claim: creates the index by id. */
  endClaims(): Promise<void>;
  /** Adds the score changes of blocks by height; the last block may have none. */
  addScores(blocks: readonly BlockScores[]): Promise<void>;
  /** Creates the remaining indexes; the base is then the tip. */
  endBuild(): Promise<void>;
  /**
   * Checks the next part of the index, for backends that do not do that themselves; returns a description of corruption, or
   * null.
   */
  scrub?(): Promise<string | null>;
  close(): Promise<void>;
}

/** Number of blocks whose notes and former scores are stored. A deeper reorg rebuilds the index. Arbitrary. */
export const KEPT_BLOCKS = 300;
