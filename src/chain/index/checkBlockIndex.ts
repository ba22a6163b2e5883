/**
 * A consistency check of the block tree (`-checkblockindex`): status, links, counts, candidates and active chain. It visits
 * every header, so it is for tests and small networks; a violation is a bug. The check is valid only while the best chain is
 * active. Source: Core validation.cpp `CheckBlockIndex`.
 */
import { NO_HEADER, STATUS, STATUS_FAILED_MASK } from '../../store/files/headerTable.js';
import { AssertionError } from '../../util/assert.js';
import { equalBytes, hashToHex, type Bytes } from '../../util/bytes.js';
import type { BlockIndex } from './blockIndex.js';

export interface BlockIndexRules {
  readonly genesisHash: Bytes;
  /** Whether block files may be deleted (`-prune`). */
  readonly prunes: boolean;
}

/**
 * Status flags that describe a block together with its ancestors: a flag is set if it applies to the block or to any
 * ancestor.
 */
const PATH = {
  /** A block was found to violate a rule. */
  invalid: 1,
  /** The data of a block is not on disk. */
  missing: 2,
  /** The data of a block was never received. */
  unprocessed: 4,
  /** The block or one of its ancestors was never connected. */
  unconnected: 8,
} as const;

/** Checks the invariants of the block tree. Throws `AssertionError` for the first violation. */
export function checkBlockIndex(index: BlockIndex, rules: BlockIndexRules): void {
  const { headers } = index;
  // Parents have lower numbers than their children, so one pass visits every path from the genesis block.
  const paths = new Uint8Array(headers.count);
  for (let id = 0; id < headers.count; id++) {
    const must = (holds: boolean, what: string): void => {
      if (!holds) throw breach(index, id, what);
    };
    checkPlace(index, id, rules, must);
    const prev = headers.prev(id);
    const path = ownPath(index, id) | (prev === NO_HEADER ? 0 : paths[prev]!);
    paths[id] = path;
    checkStatus(index, id, path, rules, must);
    checkCounts(index, id, path, must);
    checkSets(index, id, path, rules, must);
  }
  checkActiveChain(index, paths);
}

type Must = (holds: boolean, what: string) => void;

function breach({ headers }: BlockIndex, id: number, what: string): AssertionError {
  return new AssertionError(
    `block index: ${what} (block ${hashToHex(headers.hash(id))} at height ${headers.height(id)})`,
  );
}

function ownPath({ headers }: BlockIndex, id: number): number {
  const isGenesis = headers.prev(id) === NO_HEADER;
  return (
    (headers.hasStatus(id, STATUS.failed) ? PATH.invalid : 0) |
    (headers.hasStatus(id, STATUS.haveData) ? 0 : PATH.missing) |
    (headers.txCount(id) > 0 ? 0 : PATH.unprocessed) |
    (isGenesis || headers.hasStatus(id, STATUS.validScripts) ? 0 : PATH.unconnected)
  );
}

function checkPlace({ headers }: BlockIndex, id: number, rules: BlockIndexRules, must: Must): void {
  const prev = headers.prev(id);
  if (prev === NO_HEADER) {
    must(equalBytes(headers.hash(id), rules.genesisHash), 'only the genesis block has no parent');
    must(headers.height(id) === 0, 'the genesis block is at height 0');
    return;
  }
  must(prev >= 0 && prev < id, 'a parent is known before its children');
  must(headers.height(id) === headers.height(prev) + 1, 'a block is one above its parent');
  must(headers.compareWork(id, prev) > 0, 'a block adds work');
}

function checkStatus(
  { headers }: BlockIndex,
  id: number,
  path: number,
  { prunes }: BlockIndexRules,
  must: Must,
): void {
  const hasData = headers.hasStatus(id, STATUS.haveData);
  const wasReceived = headers.txCount(id) > 0;
  must(!hasData || wasReceived, 'stored data was counted');
  must(prunes || hasData === wasReceived, 'received data is stored unless it was pruned');
  must(!headers.hasStatus(id, STATUS.haveUndo) || hasData, 'undo data lies beside block data');
  must(headers.hasStatus(id, STATUS.validTransactions) === wasReceived, 'received data is valid');
  if (headers.hasStatus(id, STATUS.validScripts))
    must((path & PATH.unconnected) === 0, 'ancestors of a connected block were connected');
  if ((path & PATH.invalid) === 0)
    must((headers.status(id) & STATUS_FAILED_MASK) === 0, 'failure comes from an invalid ancestor');
  else must(headers.isFailed(id), 'what follows an invalid block is marked');
}

function checkCounts({ headers }: BlockIndex, id: number, path: number, must: Must): void {
  const counted = headers.chainTxCount(id);
  must(counted === 0 || (path & PATH.unprocessed) === 0, 'a chain is counted when it is complete');
  if ((path & PATH.unprocessed) !== 0) return;
  const prev = headers.prev(id);
  const below = prev === NO_HEADER ? 0 : headers.chainTxCount(prev);
  must(counted === below + headers.txCount(id), 'a chain has the transactions of its blocks');
}

/** Checks the membership in two sets: blocks that may become the tip, and blocks that wait for an ancestor. */
function checkSets(index: BlockIndex, id: number, path: number, rules: BlockIndexRules, must: Must): void {
  const { headers, candidates, active } = index;
  const isCandidate = candidates.has(id);
  const waits = index.isUnlinked(id);
  const valid = (path & PATH.invalid) === 0;
  const complete = (path & PATH.unprocessed) === 0;
  const missing = (path & PATH.missing) !== 0;
  const hasData = headers.hasStatus(id, STATUS.haveData);
  const notWorse = complete && candidates.compare(id, active.tip) >= 0;
  if (!notWorse) must(!isCandidate, 'a candidate is complete and not worse than the tip');
  if (!valid) must(!isCandidate, 'a candidate is valid');
  if (notWorse && valid && (!missing || id === active.tip))
    must(isCandidate, 'a usable block that is not worse than the tip is a candidate');
  if (hasData && !complete && valid) must(waits, 'a block without all its ancestors waits for them');
  if (!hasData || !missing) must(!waits, 'a block waits with its data, for that of an ancestor');
  if (!hasData || !complete || !missing) return;
  must(rules.prunes, 'the data of a complete chain is there unless it was pruned');
  if (notWorse && valid && !isCandidate) must(waits, 'a better block with a pruned ancestor waits for it');
}

function checkActiveChain(index: BlockIndex, paths: Uint8Array): void {
  const { headers, active } = index;
  for (let height = 0; height <= active.height; height++) {
    const id = active.at(height);
    if (headers.height(id) !== height || (height > 0 && headers.prev(id) !== active.at(height - 1)))
      throw breach(index, id, `the active chain has a gap at height ${height}`);
  }
  if (active.tip === NO_HEADER) return;
  if ((paths[active.tip]! & (PATH.invalid | PATH.unconnected | PATH.unprocessed)) !== 0)
    throw breach(index, active.tip, 'the active chain is valid and was connected');
}
