/** Steps of a start with snapshot options. */
import { resolve } from 'node:path';
import { cacheSizes } from '../../chain/open/cacheSizes.js';
import type { OpenedChain } from '../../chain/open/openChain.js';
import { BackgroundValidation, type ValidationOptions } from '../../chain/snapshot/backgroundValidation.js';
import type { SnapshotSource } from '../../chain/snapshot/loadSnapshot.js';
import { snapshotFolders } from '../../chain/snapshot/snapshotRecord.js';
import { TrackedIndex } from '../../index/chainIndex.js';
import { CLAIM_INDEX_NAME, claimIndex } from '../../index/claims/claimIndex.js';
import type { LoadedOptions } from '../options/options.js';
import { snapshotSections } from '../services/snapshotService.js';

/** Returns the snapshot file to start from; null without `-loadsnapshot`. */
export function snapshotSource({ options, params, paths }: LoadedOptions): SnapshotSource | null {
  const { loadsnapshot, snapshothash } = options;
  if (loadsnapshot === undefined || loadsnapshot === '') return null;
  return {
    path: resolve(paths.networkDir, loadsnapshot),
    hash: snapshothash ?? null,
    known: params.snapshots,
    sections: snapshotSections(() => []),
  };
}

type Deps = Pick<ValidationOptions, 'log' | 'warn' | 'onFatal' | 'onPassed' | 'onPoint'> & {
  readonly adjustedTimeSec: () => number;
};

/** Opens the background validation of a snapshot; null if the chain was not started from a snapshot. */
export async function openValidation(
  { options, params, derived, paths }: LoadedOptions,
  opened: OpenedChain,
  { adjustedTimeSec, ...deps }: Deps,
): Promise<BackgroundValidation | null> {
  const { chain, flusher, claims, snapshot } = opened;
  if (snapshot === null) return null;
  const { rules, proofWindow } = claims;
  // The claim index is computed and compared even without `-claimindex`: its rows from the snapshot stay in the database, and
  // a later start with the option uses them.
  const sections = snapshotSections(() => [
    { name: CLAIM_INDEX_NAME, synced: true, height: chain.height, failure: null },
  ]);
  return BackgroundValidation.open(chain, flusher, {
    path: snapshotFolders(resolve(paths.networkDir, 'chainstate')).validation,
    record: snapshot,
    sections,
    contributors: () => [
      new TrackedIndex(claimIndex({ params, rules, window: proofWindow, tipHeight: () => -1 })),
    ],
    claims: { rules, proofWindow },
    indexOptions: { params, checkpoints: options.checkpoints, adjustedTimeSec },
    ...cacheSizes({ cacheBytes: derived.dbCacheBytes, claimCacheBytes: derived.claimTrieCacheBytes }, true),
    batchBytes: options.dbbatchsize,
    ...deps,
  });
}
