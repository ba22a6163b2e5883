/**
 * Connects and disconnects one block: coins, scripts, claims, indexes, undo data, as one commit. Defines the order of the
 * steps; the rules are in `consensus`, `script` and `claimtrie`. Nothing is changed unless the block is valid. Source:
 * lbrycrd validation.cpp `ConnectBlock`, `DisconnectBlock`.
 */
import { enforcesBip30 } from '../../consensus/bip30.js';
import { reject, type ValidationError } from '../../consensus/reject.js';
import { blockScriptFlags } from '../../consensus/scriptFlags.js';
import { blockSubsidy } from '../../consensus/subsidy.js';
import type { ResolvedInputs } from '../../native/binding.js';
import type { NetworkParams } from '../../params/network.js';
import { INPUT_STRIDE, TX_OUTPUT_COUNT } from '../../primitives/blockLayout.js';
import { outputAmountAt } from '../../primitives/blockView.js';
import { BlockFileError, type BlockFiles } from '../../store/files/blockFiles.js';
import {
  checkTakenBack,
  type ClaimEvent,
  type TrieChanges,
  type ClaimReport,
  type ClaimStore,
} from '../../store/claims/claimStore.js';
import { OUTPOINT_SIZE_BYTES, type CoinTable } from '../../store/cache/coinTable.js';
import { buildUndo } from '../../store/cache/coinRow.js';
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { READ_NOW_MICROS, SLOW_ROW_MICROS } from '../../store/leveldb/levelDb.js';
import { coinKey, PREFIX } from '../../store/rows/keys.js';
import type { RowStore } from '../../store/rows/rowStore.js';
import type { RowReader, RowTransaction } from '../../store/rows/rows.js';
import { assert } from '../../util/assert.js';
import { equalBytes, hashToHex, type Bytes } from '../../util/bytes.js';
import { ClaimCorruptionError } from '../../claimtrie/corruption.js';
import { onFile } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import { blockClaims, packedClaims } from './blockClaims.js';
import type { BlockIndex } from '../index/blockIndex.js';
import { checkSpends } from './checkSpends.js';
import type { BegunBlock, BlockContributor } from './contributor.js';
import { trieTip, withClaimRepair } from '../open/claimRepair.js';
import { corruptChainState } from '../open/corruption.js';
import { disputedBefore, disputedClaims, disputedScripts } from './lbcdDisputes.js';
import type { LoadedBlock } from '../blocks/loadedBlock.js';
import { startScripts } from './scriptVerifier.js';
import type { StepTimers } from './stepTimers.js';

export interface ConnectDeps {
  params: NetworkParams;
  index: BlockIndex;
  store: RowStore;
  coins: CoinTable;
  claims: ClaimStore;
  files: BlockFiles;
  contributors: readonly BlockContributor[];
  timers: StepTimers;
  /** Folder of the database, for error messages. */
  folder: string;
  log: Logger;
  /** Whether the database contains coins. If not, the coin table contains all coins. */
  coinsOnDisk: () => boolean;
  /** Called at named points of a commit. Tests kill the process at these points. */
  onPoint: (name: string) => void;
}

export interface ConnectOptions {
  /** Whether the scripts of the block are verified (`-assumevalid` skips the verification). */
  checkScripts: boolean;
  /** Whether only the verdict is needed. In this case nothing is stored, even if the block is valid. */
  justCheck: boolean;
  /** Whether the caller reads the claim events of the block (`ConnectResult.claims`). Then the addon does not connect the claims. */
  describesClaims?: boolean;
  /** Number of blocks that will be connected next; 0 if unknown. See `BlockContributor.connect`. */
  ahead?: number;
  /** Awaited before the state in memory is changed from that of the parent to that of the block. */
  beforeCommit?: (() => Promise<void>) | undefined;
}

export interface ConnectResult {
  error: ValidationError | null;
  /** Null if the block is invalid, or if `describesClaims` was not set. */
  claims: ClaimReport | null;
}

const WRONG_CLAIM_ROOT = 'bad-claim-merkle-hash';

/** Where the rows of coins are read. */
type CoinSource = Pick<RowReader, 'getMany'> & Pick<RowTransaction, 'sourceOf'>;

/** Loads every coin that the block may use into the coin table. */
export async function loadCoins(
  deps: Pick<CheckDeps, 'coins' | 'store'>,
  block: LoadedBlock,
  withOutputs: boolean,
): Promise<void> {
  const { coins, store } = deps;
  const source = (coins.loadFrom && store.sourceOf?.(PREFIX.coin)) ?? null;
  const missing =
    source === null
      ? coins.missing(block.raw, block.parsed, withOutputs)
      : coins.loadFrom!(
          block.raw,
          block.parsed,
          withOutputs,
          source.overlay,
          source.database,
          READ_NOW_MICROS,
          SLOW_ROW_MICROS,
        );
  if (missing === null || missing.length === 0) return;
  const keys: string[] = [];
  for (let at = 0; at < missing.length; at += OUTPOINT_SIZE_BYTES) {
    keys.push(coinKey(missing.subarray(at, at + OUTPOINT_SIZE_BYTES)));
  }
  coins.load(missing, await store.getMany(keys));
}

/** Dependencies for checking a block: the index, and the coins and rows as of the block's parent. */
export type CheckDeps = Pick<
  ConnectDeps,
  'params' | 'index' | 'coins' | 'claims' | 'timers' | 'coinsOnDisk'
> & {
  store: CoinSource;
};

/** A verdict on an invalid block, or the inputs and effects of a valid block. */
export type CheckedBlock =
  { error: ValidationError } | ({ error: null; resolved: ResolvedInputs } & CheckedClaims);

/** For which purposes the result of a block must have the changes of the claim trie. */
export interface WantedClaims {
  /** Indexes read the changes. */
  readonly changes: boolean;
  /** The caller reads the claim events. */
  readonly report: boolean;
}

interface CheckedClaims {
  /** Changes of the claim trie; null if neither they nor the report were wanted. */
  claims: TrieChanges | null;
  /** Null if it was not wanted. */
  report: ClaimReport | null;
}

/**
 * Checks the block as the child of its parent. Coins and rows must be in the state after the parent. Puts the changes to
 * claims into `rows`, and does not change the coins. If the block is invalid, the caller must discard `rows`. `begin` is
 * called when script verification starts, for work in parallel with it.
 */
export async function checkConnect(
  deps: CheckDeps,
  block: LoadedBlock,
  parent: number,
  rows: RowTransaction,
  { checkScripts, wanted }: { checkScripts: boolean; wanted: WantedClaims },
  begin: (resolved: ResolvedInputs, height: number) => void = () => undefined,
): Promise<CheckedBlock> {
  const { params, index, coins, timers } = deps;
  const { headers, active, versionBits } = index;
  const height = parent === NO_HEADER ? 0 : headers.height(parent) + 1;

  const bip34Block = active.ancestorOf(parent, params.bip34Height);
  const bip30 = enforcesBip30(height, bip34Block === NO_HEADER ? null : headers.hash(bip34Block), params);
  timers.start('coins');
  // A coin that is not in the coin table counts as absent, which is correct if the database contains no coins.
  if (deps.coinsOnDisk()) await loadCoins(deps, block, bip30);
  const resolved = coins.resolve(block.raw, block.parsed, height, bip30);
  if (resolved.duplicates.length > 0) {
    return { error: reject('bad-txns-BIP30', { debug: 'tried to overwrite transaction' }) };
  }

  timers.start('inputs');
  const csvActive = versionBits.isActive('csv', parent);
  const segwitActive = versionBits.isActive('segwit', parent);
  const flags = blockScriptFlags({ height, blockHash: block.hash, csvActive, segwitActive }, params);
  // Other threads verify scripts while spends and claims are checked here. Their results are awaited before the commit.
  const scripts = checkScripts
    ? startScripts({ raw: block.raw, parsed: block.parsed, resolved, flags })
    : null;
  try {
    begin(resolved, height);
    const spends = checkSpends(block, resolved, {
      height,
      flags,
      sequenceLocks: csvActive,
      medianTimeAt: (at) => active.medianTimeOf(active.ancestorOf(parent, at)),
      parentMedianTimeSec: parent === NO_HEADER ? 0 : active.medianTimeOf(parent),
    });
    if (spends.error) return { error: spends.error };

    timers.start('claims');
    const claimed = await connectClaims(deps, block, resolved, { rows, height, wanted });
    if (claimed.error) return claimed;
    const subsidySat = blockSubsidy(height, params.subsidyLevelInterval);
    const error = checkCoinbaseAmount(block, spends.feesSat + subsidySat);
    if (error) return { error };

    timers.start('scripts');
    const failure = (await scripts?.finish())?.failure;
    if (failure) {
      const note = noteOf(disputedScripts(block, resolved));
      return { error: reject('block-validation-failed', { debug: failure.message, ...note }) };
    }
    return { error: null, resolved, claims: claimed.claims, report: claimed.report };
  } finally {
    await scripts?.join();
  }
}

/** Connects the claims of a block and compares the root with the header. */
async function connectClaims(
  { params, claims }: CheckDeps,
  block: LoadedBlock,
  resolved: ResolvedInputs,
  { rows, height, wanted }: { rows: RowTransaction; height: number; wanted: WantedClaims },
): Promise<{ error: ValidationError } | ({ error: null } & CheckedClaims)> {
  const { claimRoot } = block.header;
  const ordinary = wanted.report
    ? null
    : claims.connectOrdinary(rows, height, () => packedClaims(block, resolved), wanted.changes);
  // If the root differs, the fallback decides about the block.
  if (ordinary && equalBytes(ordinary.root, claimRoot)) {
    await ordinary.write();
    return { error: null, claims: ordinary.changes, report: null };
  }
  const operations = blockClaims(block, resolved, height);
  const connected = await claims.connect(rows, operations);
  const { root, report } = connected;
  if (equalBytes(root, claimRoot))
    return { error: null, claims: connected, report: wanted.report ? report : null };
  const dispute =
    disputedClaims(params.claimForks, operations) ??
    disputedBefore(await claims.differencesBefore(rows, height));
  return {
    error: reject(WRONG_CLAIM_ROOT, {
      debug: `the merkle root of the claim trie does not match (actual=${hashToHex(root)} vs block=${hashToHex(claimRoot)} on height=${height})`,
      ...noteOf(dispute),
    }),
  };
}

function noteOf(text: string | null): { note?: string } {
  return text === null ? {} : { note: text };
}

/**
 * Checks the block as the child of the tip, and commits it if it is valid. If rows of the claim trie are missing, they are
 * rebuilt; if this is not possible, the error tells the operator how to recompute them (`withClaimRepair`).
 */
export function connectBlock(
  deps: ConnectDeps,
  block: LoadedBlock,
  parent: number,
  options: ConnectOptions,
): Promise<ConnectResult> {
  return withClaimRepair(deps, async () => {
    const result = await connectOnce(deps, block, parent, options);
    if (result.error && !options.justCheck) await checkVerdict(deps, result.error, block);
    return result;
  });
}

async function connectOnce(
  deps: ConnectDeps,
  block: LoadedBlock,
  parent: number,
  options: ConnectOptions,
): Promise<ConnectResult> {
  const { store, timers, contributors } = deps;
  const rows = store.begin();
  /** Work that each index has started on the block; null for an index that has started none. */
  let begun: readonly (BegunBlock | null)[] = [];
  const begin = (resolved: ResolvedInputs, height: number): void => {
    if (options.justCheck) return;
    begun = contributors.map((contributor) => contributor.begin?.(rows, block, height, resolved) ?? null);
  };
  const settle = (): Promise<unknown> => Promise.all(begun.map((one) => one?.settled));
  try {
    const { checkScripts, justCheck, describesClaims = false } = options;
    const changes = !justCheck && contributors.some(({ usesClaims }) => usesClaims);
    const wanted = { changes, report: describesClaims };
    const checked = await checkConnect(deps, block, parent, rows, { checkScripts, wanted }, begin);
    if (checked.error || justCheck) {
      await settle();
      await store.discard(rows);
      timers.stop();
      return { error: checked.error, claims: null };
    }
    timers.start('commit');
    await commit(deps, block, parent, checked, rows, begun, options);
    timers.inputs += block.parsed.inputs.length / INPUT_STRIDE - 1;
    timers.stop();
    return { error: null, claims: checked.report };
  } catch (error) {
    await settle();
    await store.discard(rows);
    throw error;
  }
}

/** Throws `ClaimCorruptionError` if the claim root may be wrong because rows are missing. */
async function checkVerdict(deps: ConnectDeps, error: ValidationError, block: LoadedBlock): Promise<void> {
  if (error.reason !== WRONG_CLAIM_ROOT) return;
  const tip = await trieTip(deps);
  if (tip === null) return;
  const { store, coins, claims } = deps;
  await loadCoins(deps, block, false);
  const height = tip.height + 1;
  const resolved = coins.resolve(block.raw, block.parsed, height, false);
  await claims.checkBeforeVerdict(store, tip, blockClaims(block, resolved, height));
}

/**
 * Computes the claim effects of a valid block that follows the tip, as if the block were connected. Stores nothing. No other
 * code may change the chain during the call.
 */
export function describeClaims(deps: ConnectDeps, block: LoadedBlock): Promise<readonly ClaimEvent[]> {
  return withClaimRepair(deps, () => describeOnce(deps, block));
}

async function describeOnce(deps: ConnectDeps, block: LoadedBlock): Promise<readonly ClaimEvent[]> {
  const { index, store, coins, claims } = deps;
  const height = index.active.height + 1;
  await loadCoins(deps, block, false);
  const resolved = coins.resolve(block.raw, block.parsed, height, false);
  const rows = store.begin();
  try {
    return (await claims.connect(rows, blockClaims(block, resolved, height))).report.events;
  } finally {
    await store.discard(rows);
  }
}

function checkCoinbaseAmount(block: LoadedBlock, allowedSat: bigint): ValidationError | null {
  let paidSat = 0n;
  for (let n = 0; n < block.parsed.txs[TX_OUTPUT_COUNT]!; n++)
    paidSat += outputAmountAt(block.raw, block.parsed, n);
  if (paidSat <= allowedSat) return null;
  return reject('bad-cb-amount', {
    debug: `coinbase pays too much (actual=${paidSat} vs limit=${allowedSat})`,
  });
}

async function commit(
  deps: ConnectDeps,
  block: LoadedBlock,
  parent: number,
  { resolved, claims }: CheckedBlock & { error: null },
  rows: ReturnType<RowStore['begin']>,
  begun: readonly (BegunBlock | null)[],
  { beforeCommit, ahead = 0 }: ConnectOptions,
): Promise<void> {
  const { index, store, coins, files, contributors } = deps;
  const { headers } = index;
  const height = parent === NO_HEADER ? 0 : headers.height(parent) + 1;
  const changes = claims ?? undefined;
  for (let i = 0; i < contributors.length; i++) {
    const added =
      begun[i]?.finish(changes) ?? contributors[i]!.connect(rows, block, height, resolved, changes, ahead);
    if (added) await added;
  }
  const id = headers.find(block.hash);
  assert(id !== NO_HEADER, 'a block is connected whose header is unknown');
  deps.onPoint('commit:before-undo');
  if (parent !== NO_HEADER) {
    const undo = buildUndo(block.parsed, resolved);
    // The undo data that an earlier connection of this block wrote may be corrupt. In that case the undo data is written
    // again, because a disconnection needs it.
    if (!hasUndo(deps, id, block.header.prevHash, undo)) {
      const file = headers.file(id);
      const write = (): number => files.writeUndo(file, block.header.prevHash, undo);
      headers.setUndoOffset(
        id,
        onFile(() => files.path('rev', file), write),
      );
      headers.addStatus(id, STATUS.haveUndo);
    }
  }
  await beforeCommit?.();
  deps.onPoint('commit:before-apply');
  // The following steps cannot fail or be interrupted, because the state in memory is changed synchronously.
  coins.apply(block.raw, block.parsed, height);
  store.commit(rows);
  headers.addStatus(id, STATUS.validScripts);
  index.active.push(id);
  deps.onPoint('commit:after-apply');
}

/** Commits the rows that contributors keep for blocks that are already connected. */
export async function settleContributors({
  store,
  contributors,
}: Pick<ConnectDeps, 'store' | 'contributors'>): Promise<void> {
  const waiting = contributors.filter(({ isWaiting }) => isWaiting);
  if (waiting.length === 0) return;
  const rows = store.begin();
  try {
    for (const contributor of waiting) await contributor.settle?.(rows);
    store.commit(rows);
  } catch (error) {
    await store.discard(rows);
    throw error;
  }
}

/** Whether the undo files contain exactly this undo data for the block. */
function hasUndo({ index, files }: ConnectDeps, id: number, parentHash: Bytes, undo: Buffer): boolean {
  if (!index.headers.hasStatus(id, STATUS.haveUndo)) return false;
  try {
    return files.hasUndoSync(index.headers.undoPosition(id), parentHash, undo);
  } catch (error) {
    if (error instanceof BlockFileError) return false;
    throw error;
  }
}

/**
 * Checks that no claims of the disconnected block remain. The coins are already in the state before the block. If the check
 * fails, the coins are restored to the state after the block.
 */
async function checkClaimsTakenBack(
  { coins }: ConnectDeps,
  block: LoadedBlock,
  height: number,
  rows: RowReader,
): Promise<void> {
  const resolved = coins.resolve(block.raw, block.parsed, height, false);
  try {
    await checkTakenBack(rows, blockClaims(block, resolved, height));
  } catch (error) {
    coins.apply(block.raw, block.parsed, height);
    throw error;
  }
}

/**
 * Disconnects the tip. Throws when stored undo data or rows do not match the block. Such a mismatch is corruption, not a
 * verdict on the block.
 */
export function disconnectBlock(deps: ConnectDeps, block: LoadedBlock): Promise<void> {
  return withClaimRepair(deps, () => disconnectOnce(deps, block));
}

async function disconnectOnce(deps: ConnectDeps, block: LoadedBlock): Promise<void> {
  const { index, store, coins, claims, files, contributors } = deps;
  const { headers, active } = index;
  const id = active.tip;
  assert(equalBytes(headers.hash(id), block.hash), 'only the tip can be disconnected');
  const height = headers.height(id);
  const undo = onFile(
    () => files.path('rev', headers.file(id)),
    () => files.readUndoSync(headers.undoPosition(id), block.header.prevHash),
  );
  await loadCoins(deps, block, true);
  const rows = store.begin();
  try {
    const { root } = await claims.disconnect(rows, height);
    const parent = await headers.readHeader(headers.prev(id));
    if (!equalBytes(root, parent.claimRoot))
      throw new ClaimCorruptionError(`the claim trie before height ${height} could not be restored`);
    for (const contributor of contributors) await contributor.disconnect(rows, block, height, undo);
    const state = coins.revert(block.raw, block.parsed, undo, height);
    if (state !== 'ok')
      throw corruptChainState(deps.folder, `the coins before height ${height} could not be restored`);
    await checkClaimsTakenBack(deps, block, height, rows);
    store.commit(rows);
  } catch (error) {
    await store.discard(rows);
    throw error;
  }
  active.pop();
}
