/** Metrics of the chain and of its caches. */
import type { Chain } from '../../chain/chain.js';
import type { ChainReader } from '../../chain/chainReader.js';
import type { Step } from '../../chain/connect/stepTimers.js';
import { difficultyOf } from '../../primitives/compactTarget.js';
import { readTotals } from '../../store/claims/query/claimQueries.js';
import type { ClaimTotals } from '../../store/claims/rows/summaryRow.js';
import { freeBytesOrNull } from '../../chain/blocks/diskSpace.js';
import type { ChainTxData } from '../../params/network.js';
import { sizeOnDisk, verificationProgress } from '../../rpc/methods/blockchain/getBlockchainInfo.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { Metrics } from './registry.js';

/** Histogram buckets: for the connection of a block 0.1 ms to 10 s, for a flush 3 ms to 100 s. */
const STEP_BUCKETS_SEC = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];
const FLUSH_BUCKETS_SEC = [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100];

/** Adds metrics of the chain's current state. They have no values before the chain is open. */
export function addChainMetrics(
  metrics: Metrics,
  reader: () => ChainReader | null,
  txData: ChainTxData,
): void {
  const gauge = (name: string, help: string, read: (reader: ChainReader) => number): void =>
    metrics.gauge(`chain_${name}`, help, () => {
      const open = reader();
      return open !== null && open.chain.tip !== NO_HEADER ? read(open) : null;
    });
  gauge('height', 'Height of the validated chain.', ({ chain }) => chain.height);
  gauge('headers', 'Height of the best header.', ({ chain, headers }) =>
    headers.height(chain.index.bestHeader),
  );
  gauge('difficulty', 'Difficulty of the tip.', ({ chain, headers }) =>
    difficultyOf(headers.bits(chain.tip)),
  );
  gauge('tip_time_seconds', 'Time of the tip, since 1970.', ({ chain, headers }) =>
    headers.timeSec(chain.tip),
  );
  gauge('transactions', 'Number of transactions in the chain up to the tip.', ({ chain, headers }) =>
    headers.chainTxCount(chain.tip),
  );
  gauge('verification_progress', 'Estimated share of the chain that is verified, 0 to 1.', (open) =>
    verificationProgress(open, open.chain.tip, txData),
  );
  gauge('initial_block_download', 'Whether the node is in initial block download: 1 or 0.', ({ chain }) =>
    chain.isInitialDownload() ? 1 : 0,
  );
  gauge('size_on_disk_bytes', 'Size of the block and undo files.', sizeOnDisk);
}

/** Adds gauges for the number of items in the claim trie at the tip. */
export function addClaimMetrics(metrics: Metrics, reader: () => ChainReader | null): void {
  const gauge = (name: string, help: string, read: (totals: ClaimTotals) => number): void =>
    metrics.gauge(name, help, async () => {
      const open = reader();
      return open && read(await readTotals(open.chain.deps.store));
    });
  gauge('claims', 'Number of active claims.', ({ claims }) => claims);
  gauge('claimed_names', 'Number of names with an active claim.', ({ names }) => names);
  gauge('claims_amount_satoshis', 'Sum of the amounts of the active claims.', ({ amount }) => Number(amount));
  gauge('controlling_claims_amount_satoshis', 'Sum of the amounts of the controlling claims.', (totals) =>
    Number(totals.controllingAmount),
  );
}

/** Adds a gauge for rows that were read from the database while a block was processed, because they were not prefetched. */
export function addLateReadMetrics(metrics: Metrics, reader: () => ChainReader | null): void {
  metrics.labelledGauge(
    'claim_late_reads',
    'Rows of the claim trie that were not prefetched and were read while a block was connected.',
    'row',
    () => Object.entries(reader()?.chain.deps.claims.lateReads.byRow ?? {}),
  );
}

/** Adds a gauge for the free space of the disks to which the node writes, by folder. */
export function addDiskMetrics(metrics: Metrics, folders: Readonly<Record<string, string>>): void {
  metrics.labelledGauge(
    'disk_free_bytes',
    'Free disk space for the node, by folder: data, blocks. Below 50 MiB the node stops.',
    'folder',
    () =>
      Object.entries(folders).flatMap(([name, path]) => {
        const free = freeBytesOrNull(path);
        return free === null ? [] : [[name, free] as const];
      }),
  );
}

/** Adds gauges for the size of the data that waits for the next flush, and for the sizes of the caches. */
export function addCacheMetrics(metrics: Metrics, reader: () => ChainReader | null): void {
  const gauge = (name: string, help: string, read: (deps: Chain['deps']) => number): void =>
    metrics.gauge(name, help, () => {
      const open = reader();
      return open && read(open.chain.deps);
    });
  gauge('coin_cache_bytes', 'Memory usage of the coin cache.', ({ coins }) => coins.usageBytes);
  gauge(
    'coin_cache_entries',
    'Entries of the coin cache, including spent outputs.',
    ({ coins }) => coins.entryCount,
  );
  gauge(
    'coin_cache_dirty_entries',
    'Entries of the coin cache that are not written to disk yet.',
    ({ coins }) => coins.dirtyCount,
  );
  gauge(
    'overlay_bytes',
    'Memory of rows of claims, indexes and headers that are not written to disk yet.',
    ({ store }) => store.dirtyBytes,
  );
  gauge(
    'claim_cache_bytes',
    'Memory of rows of claims and trie nodes that are cached after they were written.',
    ({ store }) => store.recentBytes,
  );
}

/** Adds counters of chain events, and starts counting. */
export function followChain(metrics: Metrics, chain: Chain): void {
  const connected = metrics.counter('chain_blocks_connected_total', 'Blocks connected.');
  const disconnected = metrics.counter('chain_blocks_disconnected_total', 'Blocks disconnected.');
  const reorgs = metrics.counter('chain_reorgs_total', 'Changes of the tip that disconnected blocks.');
  let { tip } = chain;
  chain.events.on('blockConnected', () => connected.inc());
  chain.events.on('blockDisconnected', () => disconnected.inc());
  chain.events.on('tipChanged', ({ id, forkId }) => {
    if (forkId !== tip) reorgs.inc();
    tip = id;
  });
  timeSteps(metrics, chain);
}

function timeSteps(metrics: Metrics, { deps }: Chain): void {
  const steps = metrics.labelledHistogram(
    'chain_connect_step_seconds',
    'Duration of each step of connecting a block.',
    'step',
    STEP_BUCKETS_SEC,
  );
  const flushes = metrics.histogram(
    'flush_duration_seconds',
    'Duration of flushes of the caches to disk.',
    FLUSH_BUCKETS_SEC,
  );
  deps.timers.onStep = (step: Step, ms: number) => {
    if (step === 'flush') flushes.observe(ms / 1000);
    else steps.observe({ step }, ms / 1000);
  };
}
