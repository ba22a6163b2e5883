/** Snapshots of the chains of unit tests. */
import { join } from 'node:path';
import {
  dumpSnapshot,
  type DumpedSnapshot,
  type SnapshotRules,
} from '../../src/chain/snapshot/dumpSnapshot.js';
import { freshIndex, readSnapshot, type ReadSnapshot } from '../../src/chain/snapshot/readSnapshot.js';
import { unpackRows } from '../../src/chain/snapshot/snapshotFormat.js';
import { viewedChain, type SnapshotSection } from '../../src/chain/snapshot/snapshotState.js';
import { snapshotSections } from '../../src/node/services/snapshotService.js';
import type { TestChain } from './testChain.js';

export const SNAPSHOT_RULES: SnapshotRules = { network: 'regtest', rules: 'of the test' };

const signal = new AbortController().signal;

export const sectionsOf = (chain: TestChain): readonly SnapshotSection[] =>
  snapshotSections(() => chain.fill.statuses());

/** Writes a snapshot into the chain's folder. */
export function dumpOf(
  chain: TestChain,
  name: string,
  height: number | null = null,
  rules: SnapshotRules = SNAPSHOT_RULES,
): Promise<DumpedSnapshot> {
  const { opened, folder } = chain;
  const path = join(folder, name);
  return dumpSnapshot(viewedChain(opened.chain, opened.flusher), sectionsOf(chain), rules, {
    path,
    height,
    signal,
  });
}

/** Reads a file as a node of the chain's network does. `change` replaces what the node expects. */
export function verify(
  chain: TestChain,
  path: string,
  change: Partial<SnapshotRules & { minimumChainWork: bigint }> = {},
): Promise<ReadSnapshot> {
  const { params } = chain.services;
  return readSnapshot(
    {
      path,
      ...SNAPSHOT_RULES,
      sections: sectionsOf(chain),
      claimRules: chain.opened.claims.rules,
      minimumChainWork: 0n,
      index: freshIndex({ params, checkpoints: true, adjustedTimeSec: () => chain.timeSec }),
      signal,
      ...change,
    },
    {
      put: () => undefined,
      del: () => undefined,
      putRecords: () => Promise.resolve(),
      relieve: () => Promise.resolve(),
    },
  );
}

/** The rows of a payload. */
export function rowsOfPayload(payload: Buffer, isCoins: boolean): [key: string, value: Buffer][] {
  const rows: [string, Buffer][] = [];
  unpackRows(payload, isCoins, (key, value) => rows.push([key, value]));
  return rows;
}
