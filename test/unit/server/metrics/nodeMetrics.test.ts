import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChainEvents } from '../../../../src/chain/chainEvents.js';
import type { ChainReader } from '../../../../src/chain/chainReader.js';
import { StepTimers } from '../../../../src/chain/connect/stepTimers.js';
import { LateReads } from '../../../../src/store/claims/lateReads.js';
import type { Mempool, MempoolListener } from '../../../../src/mempool/mempool.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { NodeMetrics } from '../../../../src/server/metrics/nodeMetrics.js';
import type { MeasuredPeers } from '../../../../src/server/metrics/peerMetrics.js';
import { putSummary, type ClaimTotals } from '../../../../src/store/claims/rows/summaryRow.js';
import type { RowWriter } from '../../../../src/store/rows/rows.js';
import type { Bytes } from '../../../../src/util/bytes.js';
import { ask, held, holdSlow, ServerBench } from '../support.js';

let bench: ServerBench;
let metrics: NodeMetrics;
let port: number;
/** Number of milliseconds by which the clock is ahead. */
let later = 0;
let warning: string;
beforeEach(async () => {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + later);
  bench = new ServerBench();
  warning = '';
  metrics = new NodeMetrics({
    version: '1.2.3',
    params: regtestParams,
    folders: { data: tmpdir(), blocks: '/nowhere/at/all' },
    warnings: () => warning,
  });
  port = await bench.start({}, undefined, { extraRoutes: (app, tools) => metrics.addRoute(app, tools) });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await bench.close();
});

/** Reads the metrics after advancing the clock, so that the answer is not the cached one. */
async function scrape(): Promise<string[]> {
  later += 100;
  const answer = await ask(port, '', { path: '/metrics', method: 'GET', auth: null });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  return answer.text.split('\n');
}

/** The values of lines with this prefix, by the rest of the line's name. */
async function values(prefix: string): Promise<Record<string, number>> {
  const lines = (await scrape()).filter((line) => line.startsWith(prefix));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(prefix.length, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' '))),
    ]),
  );
}

function summaryRow(totals: ClaimTotals): Bytes {
  let row: Bytes = Buffer.alloc(0);
  const rows = { put: (_key: string, value: Bytes) => (row = value) };
  putSummary(rows as unknown as RowWriter, { root: Buffer.alloc(32), totals });
  return row;
}

function fakeChain(): { reader: ChainReader; events: ChainEvents; timers: StepTimers } {
  const [events, timers] = [new ChainEvents(), new StepTimers()];
  const lateReads = new LateReads();
  lateReads.count('item');
  const deps = {
    timers,
    claims: { lateReads },
    coins: { usageBytes: 100, entryCount: 5, dirtyCount: 2 },
    store: {
      dirtyBytes: 50,
      recentBytes: 60,
      get: async () => summaryRow({ names: 3, claims: 5, amount: 800n, controllingAmount: 600n }),
    },
    files: { fileNumbers: () => [0, 1], sizeBytes: (kind: string) => (kind === 'blk' ? 10 : 3) },
  };
  const headers = {
    height: (id: number) => id,
    bits: () => 0x1f00ffff,
    timeSec: () => 1_700_000_000,
    chainTxCount: () => 77,
  };
  const chain = { height: 7, tip: 7, index: { bestHeader: 9 }, isInitialDownload: () => false, events, deps };
  return { reader: { chain, headers } as unknown as ChainReader, events, timers };
}

function fakeMempool(): { mempool: Mempool; tell: MempoolListener } {
  const tell: MempoolListener = {};
  const mempool = {
    size: 4,
    totalSizeBytes: 400,
    usageBytes: 4000,
    maxUsageBytes: 300_000_000,
    minFeeRatePerKb: 1000n,
    unbroadcastCount: 1,
    listen: (listener: MempoolListener) => Object.assign(tell, listener),
  } as unknown as Mempool;
  return { mempool, tell };
}

describe('the metrics of a node', () => {
  it('begin with its name, the version and the process, before there is a chain', async () => {
    const names = (await scrape()).filter((line) => line !== '' && !line.startsWith('#'));
    expect(names.every((line) => line.startsWith('lbcnode_'))).toBe(true);
    expect(await values('lbcnode_build_info')).toEqual({ '{version="1.2.3"}': 1 });
    expect(await values('lbcnode_network_info')).toEqual({ '{network="regtest"}': 1 });
    expect((await values('lbcnode_process_resident_memory_bytes'))['']).toBeGreaterThan(0);
    expect(await values('lbcnode_nodejs_eventloop_lag_p99_seconds')).toHaveProperty('');
    expect(await values('lbcnode_chain_height')).toEqual({});
    expect(await values('lbcnode_coin_cache')).toEqual({});
  });

  it('report the chain at the time of the request', async () => {
    const { reader } = fakeChain();
    metrics.follow(reader, fakeMempool().mempool);
    expect(await values('lbcnode_chain_')).toMatchObject({
      height: 7,
      headers: 9,
      difficulty: 1,
      tip_time_seconds: 1_700_000_000,
      transactions: 77,
      initial_block_download: 0,
      size_on_disk_bytes: 26,
    });
    expect(await values('lbcnode_coin_cache_')).toEqual({ bytes: 100, entries: 5, dirty_entries: 2 });
    expect(await values('lbcnode_overlay_bytes')).toEqual({ '': 50 });
    expect(await values('lbcnode_claim_cache_bytes')).toEqual({ '': 60 });
    (reader.chain as { height: number }).height = 8;
    expect(await values('lbcnode_chain_height')).toEqual({ '': 8 });
    expect(await values('lbcnode_claim_late_reads')).toMatchObject({ '{row="item"}': 1 });
  });

  it('count blocks and reorganisations', async () => {
    const { reader, events } = fakeChain();
    metrics.follow(reader, fakeMempool().mempool);
    const block = {} as never;
    for (const name of [
      'blockConnected',
      'tipChanged',
      'blockDisconnected',
      'blockDisconnected',
      'blockConnected',
      'tipChanged',
      'tipChanged',
    ] as const)
      events.emit(name, block);
    expect(await values('lbcnode_chain_blocks_')).toEqual({ connected_total: 2, disconnected_total: 2 });
    expect(await values('lbcnode_chain_reorgs_total')).toEqual({ '': 1 });
  });

  it('measure the steps of connecting blocks, and flushes', async () => {
    const { reader, timers } = fakeChain();
    metrics.follow(reader, fakeMempool().mempool);
    timers.add('coins', 2);
    timers.add('coins', 20);
    timers.add('flush', 500);
    const steps = await values('lbcnode_chain_connect_step_seconds');
    expect(steps).toMatchObject({
      '_bucket{le="0.003",step="coins"}': 1,
      '_bucket{le="0.03",step="coins"}': 2,
      '_count{step="coins"}': 2,
    });
    expect(steps['_sum{step="coins"}']).toBeCloseTo(0.022, 9);
    expect(await values('lbcnode_flush_duration_seconds')).toMatchObject({ _sum: 0.5, _count: 1 });
    expect(steps).not.toHaveProperty('_count{step="flush"}');
  });

  it('report the mempool', async () => {
    const { mempool, tell } = fakeMempool();
    metrics.follow(fakeChain().reader, mempool);
    const reported = {} as never;
    tell.added!(reported, reported, [], []);
    tell.added!(reported, reported, [], []);
    tell.removed!(reported, 'block', reported);
    tell.removed!(reported, 'replaced', reported);
    expect(await values('lbcnode_mempool_')).toEqual({
      transactions: 4,
      virtual_bytes: 400,
      usage_bytes: 4000,
      max_usage_bytes: 300_000_000,
      min_fee_satoshis: 1000,
      unbroadcast_transactions: 1,
      accepted_total: 2,
      'removed_total{reason="block"}': 1,
      'removed_total{reason="replaced"}': 1,
    });
  });

  it('report peers, and keep the bytes of disconnected ones', async () => {
    const peer = (isInbound: boolean, sent: number) => ({
      isInbound,
      connection: { sentByCommand: new Map([['inv', sent]]), receivedByCommand: new Map([['*other*', 5]]) },
    });
    const connected = [peer(true, 10), peer(true, 20), peer(false, 30)];
    const gone: ((peer: never) => void)[] = [];
    metrics.followPeers({
      peers: { peers: () => connected.values(), onPeerGone: (listener: never) => gone.push(listener) },
      bans: { list: () => [1, 2] },
    } as unknown as MeasuredPeers);
    expect(await values('lbcnode_peers')).toEqual({
      '{direction="inbound"}': 2,
      '{direction="outbound"}': 1,
    });
    expect(await values('lbcnode_banned_subnets')).toEqual({ '': 2 });
    for (const listener of gone) listener(connected[0] as never);
    connected.shift();
    expect(await values('lbcnode_peers')).toMatchObject({ '{direction="inbound"}': 1 });
    expect(await values('lbcnode_peer_sent_bytes_total')).toEqual({ '{message="inv"}': 60 });
    expect(await values('lbcnode_peer_received_bytes_total')).toEqual({ '{message="*other*"}': 15 });
  });

  it('report claims, free disk space and warnings', async () => {
    expect(await values('lbcnode_claim')).toEqual({});
    metrics.follow(fakeChain().reader, fakeMempool().mempool);
    expect(await values('lbcnode_claims')).toEqual({ '': 5, _amount_satoshis: 800 });
    expect(await values('lbcnode_claimed_names')).toEqual({ '': 3 });
    expect(await values('lbcnode_controlling_claims_amount_satoshis')).toEqual({ '': 600 });
    // A folder that does not exist yet has no value.
    const free = await values('lbcnode_disk_free_bytes');
    expect(Object.keys(free)).toEqual(['{folder="data"}']);
    expect(free['{folder="data"}']).toBeGreaterThan(0);
    expect(await values('lbcnode_warning')).toEqual({ '': 0 });
    warning = 'something is wrong';
    expect(await values('lbcnode_warning')).toEqual({ '': 1 });
  });

  it('report the work queue', async () => {
    const letGo = holdSlow();
    const before = held.slow;
    const calls = Array.from({ length: 3 }, () => ask(port, '{"id":1,"method":"test_slow"}'));
    await vi.waitUntil(() => held.slow === before + 3, { timeout: 60_000 });
    expect(await values('lbcnode_rpc_queue_calls')).toEqual({
      '{state="running"}': 3,
      '{state="queued"}': 0,
      '{state="waiting"}': 0,
    });
    expect((await values('lbcnode_http_connections'))['']).toBeGreaterThanOrEqual(3);
    letGo();
    await Promise.all(calls);
    expect(await values('lbcnode_rpc_queue_calls')).toMatchObject({ '{state="running"}': 0 });
    expect(await values('lbcnode_rpc_refused_total')).toEqual({ '': 0 });
  });

  it('report calls by method', async () => {
    metrics.onCall('getblock', 2, false);
    metrics.onCall('getblock', 50, true);
    expect(await values('lbcnode_rpc_duration_seconds')).toMatchObject({
      '_bucket{le="0.003",method="getblock"}': 1,
      '_bucket{le="0.1",method="getblock"}': 2,
      '_count{method="getblock"}': 2,
    });
    expect(await values('lbcnode_rpc_errors_total')).toEqual({ '{method="getblock"}': 1 });
  });
});
