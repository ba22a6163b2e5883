/**
 * What the follower asks of an index, the same for all backends: blocks one by one, blocks disconnected, and the first
 * build. Ids are hex as printed. Each call is one transaction with the tip that it leads to.
 */
import type { ClaimSources } from '../document/documentSource.js';

export interface BlockId {
  readonly height: number;
  /** Hex as printed. */
  readonly hash: string;
}

/** A block with the claims that it touched or ended: should it be disconnected, these are read again. */
export interface BlockNote extends BlockId {
  readonly claimIds: readonly string[];
}

export interface ScoreChange {
  readonly claimId: string;
  readonly formerSat: bigint;
  readonly latterSat: bigint;
}

/** A block on top of the index's tip. */
export interface BlockStep {
  readonly block: BlockNote;
  /** Claims that this very block ended: where they are gone, their scores are forgotten. */
  readonly ended: readonly string[];
  readonly scores: readonly ScoreChange[];
}

/** The changes of scores of one block. */
export interface BlockScores {
  readonly height: number;
  readonly scores: readonly ScoreChange[];
}

/** How far a first build has come. */
export interface BuildState {
  /** Blocks up to here are reported by documents and scores alone; those behind it are followed one by one. */
  readonly base: BlockId;
  /** The last claim that was read; null before the first. */
  readonly after: string | null;
  /** All documents are there. */
  readonly hasDocuments: boolean;
  /** Scores of blocks up to here are in their claims. */
  readonly scoredHeight: number;
}

export interface IndexState {
  /** Null until a first build is whole. */
  readonly tip: BlockId | null;
  readonly build: BuildState | null;
  readonly documents: number;
  /** Another node writes: this one reads what is there, and takes over when that node is gone. */
  readonly isKeptByOther?: boolean;
  /** Another node may write as soon as this one has lost its connection: the state is asked again each time. */
  readonly isShared?: boolean;
  /** What was wrong with what was there, which is deleted. */
  readonly damage?: string;
}

/** The writing half of a backend. Calls are made one after the other. */
export interface IndexWriter {
  state(): Promise<IndexState>;
  /** Notes of blocks that the index has, or has seen ahead of its tip, by height. */
  notes(): Promise<readonly BlockNote[]>;
  /** Remembers blocks of the chain before claims are read at them. */
  note(blocks: readonly BlockNote[]): Promise<void>;
  /** Live documents that repost one of the claims. */
  repostsOf(claimIds: readonly string[]): Promise<readonly string[]>;
  /** Blocks by height, with the claims of all of them as they are at the present tip; answers how many documents there are. */
  applyBlocks(steps: readonly BlockStep[], claims: ClaimSources): Promise<number>;
  /** Goes back to `tip`; the notes of abandoned blocks go, scores become what they were. */
  rewind(tip: BlockId, abandoned: readonly BlockId[], claims: ClaimSources): Promise<void>;
  /** Brings claims up to date without moving the tip. */
  refresh(abandoned: readonly BlockId[], claims: ClaimSources): Promise<void>;
  /** Empties the index for a first build. */
  startBuild(base: BlockId): Promise<void>;
  /** Claims in the order of their ids, from behind the last that was added; of those that are gone the scores are kept. */
  addClaims(claims: ClaimSources): Promise<void>;
  /** No more claims come: gives them the index by id. */
  endClaims(): Promise<void>;
  /** Scores of blocks by height, each with its changes; the last may have none. */
  addScores(blocks: readonly BlockScores[]): Promise<void>;
  /** Makes the remaining indexes; the base is the tip from here on. */
  endBuild(): Promise<void>;
  /** Checks the next part of what is kept, where no one else does; says what is damaged, else null. */
  scrub?(): Promise<string | null>;
  close(): Promise<void>;
}

/** Notes and former scores are kept for this many blocks: a deeper reorganisation has the index built again. Arbitrary. */
export const KEPT_BLOCKS = 300;
