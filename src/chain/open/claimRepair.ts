/**
 * Handles missing rows of the claim trie. Rows that can be derived from others are rebuilt once, and the step runs again;
 * for other rows the error explains how to compute them again. Contains the policy; the checks are in
 * `store/claims/claimCheck.ts`.
 */
import { ClaimCorruptionError, TrieCorruptionError } from '../../claimtrie/corruption.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { ClaimStore, TrieTip } from '../../store/claims/claimStore.js';
import type { RowStore } from '../../store/rows/rowStore.js';
import type { Logger } from '../../util/logging.js';
import type { BlockIndex } from '../index/blockIndex.js';
import { corruptChainState } from './corruption.js';

interface RepairDeps {
  readonly index: BlockIndex;
  readonly store: RowStore;
  readonly claims: ClaimStore;
  /** Folder of the database, for error messages. */
  readonly folder: string;
  readonly log: Logger;
}

/** State of the claim trie after the tip, with the root in the tip's header; null before the first block. */
export async function trieTip({ index }: Pick<RepairDeps, 'index'>): Promise<TrieTip | null> {
  const { active, headers } = index;
  if (active.tip === NO_HEADER) return null;
  return { height: active.height, root: (await headers.readHeader(active.tip)).claimRoot };
}

/**
 * Runs a step on the claim trie in the state after the tip. A step that fails must discard its row transaction, so that no
 * transaction is open during the repair. Throws the `EnvironmentError` of `corruptChainState` for rows that cannot be
 * rebuilt. No other code may change the chain during the call.
 */
export async function withClaimRepair<T>(deps: RepairDeps, step: () => Promise<T>): Promise<T> {
  try {
    try {
      return await step();
    } catch (error) {
      await repair(deps, await repairable(deps, error));
      return await step();
    }
  } catch (error) {
    if (error instanceof ClaimCorruptionError) throw corruptChainState(deps.folder, error.what);
    throw error;
  }
}

/**
 * Returns the corruption that a repair can fix, also if it is only the cause of another error. Rethrows errors that a repair
 * cannot fix.
 */
async function repairable(deps: RepairDeps, error: unknown): Promise<TrieCorruptionError> {
  if (error instanceof TrieCorruptionError) return error;
  const tip = error instanceof ClaimCorruptionError ? await trieTip(deps) : null;
  if (tip === null) throw error;
  try {
    await deps.claims.checkTrie(deps.store, tip);
  } catch (found) {
    if (found instanceof TrieCorruptionError) return found;
    throw found;
  }
  throw error;
}

async function repair(deps: RepairDeps, corruption: TrieCorruptionError): Promise<void> {
  const { store, claims, log } = deps;
  const tip = await trieTip(deps);
  if (tip === null) throw corruption;
  const rows = store.begin();
  try {
    await claims.repair(rows, tip);
    store.commit(rows);
  } catch (error) {
    await store.discard(rows);
    throw error;
  }
  log.warn(
    `The claim trie after block ${tip.height} was corrupt (${corruption.what}) and was rebuilt from its ` +
      'names. If this happens again, check the disk.',
  );
}
