/** Snapshots for the RPC methods: writes a snapshot of this node's chain state, and verifies a snapshot file. */
import { resolve } from 'node:path';
import type { SnapshotStatus } from '../../chain/snapshot/backgroundValidation.js';
import type { OpenedChain } from '../../chain/open/openChain.js';
import { dumpSnapshot, snapshotRules } from '../../chain/snapshot/dumpSnapshot.js';
import { freshIndex, readSnapshot } from '../../chain/snapshot/readSnapshot.js';
import { SnapshotError } from '../../chain/snapshot/snapshotFile.js';
import {
  CLAIMS_SECTION,
  COINS_SECTION,
  viewedChain,
  type SnapshotSection,
} from '../../chain/snapshot/snapshotState.js';
import type { IndexStatus } from '../../index/chainIndex.js';
import { CLAIM_INDEX_NAME } from '../../index/claims/claimIndex.js';
import { claimIndexSection } from '../../index/claims/snapshotSection.js';
import type { SnapshotService } from '../../interfaces/services.js';
import { folderIdentity } from '../start/folderIdentity.js';
import type { LoadedOptions } from '../options/options.js';

/** Returns the sections of a snapshot in order. `indexes` returns how far each index has been filled. */
export function snapshotSections(indexes: () => readonly IndexStatus[]): readonly SnapshotSection[] {
  const claimIndex = (): IndexStatus | null =>
    indexes().find(({ name }) => name === CLAIM_INDEX_NAME) ?? null;
  return [COINS_SECTION, CLAIMS_SECTION, claimIndexSection(claimIndex)];
}

export interface SnapshotServiceDeps {
  readonly opened: () => Pick<OpenedChain, 'chain' | 'flusher' | 'claims'>;
  readonly indexes: () => readonly IndexStatus[];
  readonly adjustedTimeSec: () => number;
  readonly status: () => SnapshotStatus | null;
}

export function snapshotService(loaded: LoadedOptions, deps: SnapshotServiceDeps): SnapshotService {
  const sections = snapshotSections(deps.indexes);
  const rules = snapshotRules(folderIdentity(loaded));
  /** Paths of snapshot files that are being written. */
  const writing = new Set<string>();
  return {
    status: () => deps.status(),
    resolve: (name) => resolve(loaded.paths.networkDir, name),
    async dump(path, height, signal) {
      if (writing.has(path)) throw new SnapshotError(`${path} is being written by another call.`);
      writing.add(path);
      try {
        const { chain, flusher } = deps.opened();
        return await dumpSnapshot(viewedChain(chain, flusher), sections, rules, { path, height, signal });
      } finally {
        writing.delete(path);
      }
    },
    verify(path, signal) {
      const { params, options, derived } = loaded;
      const { adjustedTimeSec } = deps;
      const index = freshIndex({ params, checkpoints: options.checkpoints, adjustedTimeSec });
      return readSnapshot(
        {
          path,
          ...rules,
          sections,
          claimRules: deps.opened().claims.rules,
          minimumChainWork: derived.minimumChainWork,
          index,
          signal,
        },
        {
          put: () => undefined,
          del: () => undefined,
          putRecords: () => Promise.resolve(),
          relieve: () => Promise.resolve(),
        },
      );
    },
  };
}
