/** Actions after each change of the chain: log lines, and consistency checks of the block index. */
import type { Chain } from '../../chain/chain.js';
import { checkBlockIndex } from '../../chain/index/checkBlockIndex.js';
import type { OpenedChain } from '../../chain/open/openChain.js';
import { hashToHex } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import type { LoadedOptions } from '../options/options.js';

/**
 * Checks the consistency of the block index (`-checkblockindex`) after each disconnected block, and when the index has grown
 * by 1/32 since the last check. The average time per block therefore does not depend on the chain's length.
 */
export function watchBlockIndex(chain: Chain, { params, derived }: LoadedOptions, logger: Logger): void {
  const prunes = derived.prune.kind !== 'off';
  const checked = { headers: 0, disconnects: 0 };
  chain.afterStep.push(async () => {
    const { index } = chain;
    const { count } = index.headers;
    const { disconnects } = index.active;
    if (disconnects === checked.disconnects && count <= checked.headers + (checked.headers >> 5)) return;
    // During a reorg the tip may have less work than before, so the check is skipped.
    if (index.candidates.best() !== chain.tip) return;
    checkBlockIndex(index, {
      genesisHash: params.genesisHash,
      prunes: prunes || index.snapshotHeight >= 0,
    });
    Object.assign(checked, { headers: count, disconnects });
    logger.debug('bench', () => `Block index checked: ${count} headers`);
  });
}

/** Minimum interval in ms of tip lines during the initial download, when a progress display exists anyway. */
const INITIAL_TIP_MS = 30_000;

/** Logs each new tip, as the reference does. During the initial download only some tips are logged. */
export function watchTip(opened: OpenedChain, logger: Logger): void {
  const { chain, flusher } = opened;
  const { headers } = chain.index;
  let lastMs = 0;
  chain.events.on('tipChanged', ({ id, height, hash, initialDownload }) => {
    const now = performance.now();
    if (initialDownload && now - lastMs < INITIAL_TIP_MS) return;
    lastMs = now;
    const date = new Date(headers.timeSec(id) * 1000).toISOString().replace('.000', '');
    logger.info(
      `UpdateTip: new best=${hashToHex(hash)} height=${height} version=0x${(headers.version(id) >>> 0).toString(16).padStart(8, '0')} tx=${headers.chainTxCount(id)} date='${date}' cache=${(flusher.usageBytes / (1 << 20)).toFixed(1)}MiB`,
    );
  });
}
