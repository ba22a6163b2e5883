/** The background validation of a snapshot in unit tests. */
import { join } from 'node:path';
import { BackgroundValidation } from '../../src/chain/snapshot/backgroundValidation.js';
import { snapshotFolders } from '../../src/chain/snapshot/snapshotRecord.js';
import { TrackedIndex } from '../../src/index/chainIndex.js';
import { CLAIM_INDEX_NAME, claimIndex } from '../../src/index/claims/claimIndex.js';
import { snapshotSections } from '../../src/node/services/snapshotService.js';
import { regtestParams } from '../../src/params/regtest.js';
import { SILENT_LOGGER } from '../../src/util/logging.js';
import type { TestChain } from './testChain.js';

export interface Validation {
  readonly validation: BackgroundValidation;
  readonly warnings: string[];
  /** Resolves when the validation has passed. Rejects with an error that would stop the node. */
  readonly passed: Promise<void>;
}

/** Starts the background validation of a chain that was started from a snapshot. */
export async function startValidation(
  chain: TestChain,
  onPoint: (name: string) => void = () => undefined,
): Promise<Validation> {
  const { opened, folder } = chain;
  const { rules, proofWindow } = opened.claims;
  const warnings: string[] = [];
  let pass = (): void => undefined;
  let fail = (_error: unknown): void => undefined;
  const passed = new Promise<void>((resolve, reject) => ([pass, fail] = [resolve, reject]));
  passed.catch(() => undefined);
  const validation = await BackgroundValidation.open(opened.chain, opened.flusher, {
    path: snapshotFolders(join(folder, 'chainstate')).validation,
    record: opened.snapshot!,
    sections: snapshotSections(() => [
      { name: CLAIM_INDEX_NAME, synced: true, height: opened.chain.height, failure: null },
    ]),
    contributors: () => [
      new TrackedIndex(
        claimIndex({ params: regtestParams, rules, window: proofWindow, tipHeight: () => -1 }),
      ),
    ],
    claims: { rules, proofWindow },
    indexOptions: { params: regtestParams, checkpoints: true, adjustedTimeSec: () => chain.timeSec },
    cacheBytes: 1 << 20,
    claimCacheBytes: 1 << 20,
    batchBytes: 16 << 20,
    log: { ...SILENT_LOGGER, warn: (text) => void warnings.push(text) },
    warn: (text) => void warnings.push(text),
    onFatal: (error) => fail(error),
    onPassed: () => pass(),
    onPoint,
  });
  validation.start();
  return { validation, warnings, passed };
}
