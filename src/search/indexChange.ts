/**
 * What the follower asks of an index, the same for all backends: blocks one by one, blocks taken back, and the first build.
 * Ids are hex as printed. Each call is one transaction with the tip that it leads to.
 */
import type { ClaimDocument } from './document.js';

export interface BlockId {
  readonly height: number;
  /** Hex as printed. */
  readonly hash: string;
}

/** A block with the claims that it touched or ended: should it be taken back, these are read again. */
export interface BlockNote extends BlockId {
  readonly claimIds: readonly string[];
}

/** How claims are at the present tip. */
export interface ClaimStates {
  readonly documents: readonly ClaimDocument[];
  /** Live, but with nothing to be searched for (values that cannot be decoded). */
  readonly hidden: readonly string[];
  /** Not there. */
  readonly gone: readonly string[];
}

export interface ScoreChange {
  readonly claimId: string;
  readonly formerSat: bigint;
  readonly latterSat: bigint;
}

/** A block on top of the index's tip. */
export interface BlockStep extends ClaimStates {
  readonly block: BlockNote;
  /** Of `gone`, those that this very block ended: their scores are forgotten. */
  readonly ended: readonly string[];
  readonly scores: readonly ScoreChange[];
}

/** Documents of a first build, in the order of claim ids. */
export interface BuildStep {
  readonly documents: readonly ClaimDocument[];
  readonly hidden: readonly string[];
  /** The last claim read. */
  readonly after: string;
}

/** How far a first build has come. */
export interface BuildState {
  /** Blocks up to here are told of by documents and scores alone; those behind it are followed one by one. */
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
}

/** The writing half of a backend. Calls are made one after the other. */
export interface IndexWriter {
  state(): Promise<IndexState>;
  /** Notes of blocks that the index has, or has seen ahead of its tip, by height. */
  notes(): Promise<readonly BlockNote[]>;
  /** Remembers blocks of the chain before claims are read at them. */
  note(blocks: readonly BlockNote[]): Promise<void>;
  applyBlock(step: BlockStep): Promise<void>;
  /** Goes back to `tip`, below which notes stay; scores become what they were there. */
  rewind(tip: BlockId, states: ClaimStates): Promise<void>;
  /** Brings claims up to date without moving the tip. */
  refresh(states: ClaimStates, forgotten: readonly BlockId[]): Promise<void>;
  /** Empties the index for a first build. */
  startBuild(base: BlockId): Promise<void>;
  addDocuments(step: BuildStep): Promise<void>;
  /** No more documents come: gives claims the index by id. */
  endDocuments(): Promise<void>;
  /** Scores of blocks up to `height`, by height, each with its changes. */
  addScores(blocks: readonly { readonly height: number; readonly scores: readonly ScoreChange[] }[]): Promise<void>;
  /** Makes the remaining indexes; the base is the tip from here on. */
  endBuild(): Promise<void>;
  close(): Promise<void>;
}

/** Notes and former scores are kept for this many blocks: a deeper reorganisation has the index built anew. Arbitrary. */
export const KEPT_BLOCKS = 300;
