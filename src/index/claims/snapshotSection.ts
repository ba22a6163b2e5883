/**
 * The part of the claim index in a chain snapshot: rows of live claims, and the amounts that trending uses. Undo rows, ended
 * claims and numbers by block are omitted. The rows of ended claims and of numbers by block are computed again from rows of
 * the claim trie (`pastWalk.ts`).
 */
import { formatIndexPosition, indexPositionKey } from '../../chain/connect/contributor.js';
import { SnapshotError } from '../../chain/snapshot/snapshotFile.js';
import type { SnapshotSection } from '../../chain/snapshot/snapshotState.js';
import type { IndexStatus } from '../chainIndex.js';
import { CLAIM_INDEX_NAME, CLAIM_INDEX_VERSION } from './claimIndex.js';
import { SNAPSHOT_PREFIXES, trendingKey } from './claimIndexKeys.js';
import { canTakeBack, dropChunks, takeBack } from './notedRows.js';

/** Section of a snapshot with the claim index. `status` returns the status of the index; null if the index is off. */
export function claimIndexSection(status: () => IndexStatus | null): SnapshotSection {
  return {
    name: CLAIM_INDEX_NAME,
    version: CLAIM_INDEX_VERSION,
    prefixes: SNAPSHOT_PREFIXES,
    async takeBack(rows, height) {
      if (!(await canTakeBack(rows, height)))
        throw new SnapshotError(
          `The claim index cannot undo block ${height}: it stores undo data only for as many blocks as there ` +
            'are name proofs (-claimproofwindow), and none for the blocks of a snapshot from which the node was ' +
            'started. Dump the tip, or a block nearer to it.',
        );
      await takeBack(rows, height);
      await dropChunks(rows, (chunk) => trendingKey(height, chunk));
    },
    finish(rows, block) {
      rows.put(indexPositionKey(CLAIM_INDEX_NAME), formatIndexPosition(CLAIM_INDEX_VERSION, block));
    },
    problem() {
      const found = status();
      if (found === null)
        return 'A snapshot contains the rows of the claim index. Start the node with -claimindex to write one.';
      if (found.synced) return null;
      return (
        'A snapshot contains the rows of the claim index, which is not at the tip: it is at block ' +
        `${found.height}. ${found.failure ?? 'Retry when getindexinfo shows that it is synced.'}`
      );
    },
  };
}
