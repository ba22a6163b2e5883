/** The metrics page of lbcnet: it has lbrynet's names, and the checker of Prometheus accepts it. */
import { spawnSync } from 'node:child_process';
import { beforeEach, describe, expect, it } from 'vitest';
import { CallMetrics } from '../../../../src/daemon/http/metricsServer.js';
import { addReflectorMetrics } from '../../../../src/daemon/http/reflectorMetrics.js';
import { isInstalled } from '../../../support/installed.js';

let page: string;
beforeEach(async () => {
  const metrics = new CallMetrics();
  addReflectorMetrics(metrics.registry, () => ({
    running: true,
    used_bytes: 5,
    blob_store: { state: 'degraded', waiting_blobs: 3 },
  }));
  metrics.begin('status')('done');
  metrics.begin('resolve')('failed');
  metrics.begin('resolve')('cancelled');
  metrics.begin('version');
  page = await metrics.registry.metrics();
});

describe('the metrics page of lbcnet', () => {
  it('counts calls under the names of lbrynet', () => {
    expect(page).toContain('daemon_api_requests_count_total{method="resolve"} 2\n');
    expect(page).toContain('daemon_api_failed_request_count_total{method="resolve"} 1\n');
    expect(page).toContain('daemon_api_cancelled_request_count_total{method="resolve"} 1\n');
    expect(page).toContain('daemon_api_pending_requests{method="version"} 1\n');
    expect(page).toContain('daemon_api_pending_requests{method="status"} 0\n');
    expect(page).toContain('daemon_api_response_time_count{method="resolve"} 2\n');
  });

  it('shows the numbers of a reflector and its object store', async () => {
    expect(page).toContain('lbcnet_reflector_used_bytes 5\n');
    expect(page).toContain('lbcnet_reflector_store_waiting_blobs 3\n');
    expect(page).toContain('lbcnet_reflector_store_degraded 1\n');
    const metrics = new CallMetrics();
    addReflectorMetrics(metrics.registry, () => ({ running: false }));
    expect(await metrics.registry.metrics()).not.toMatch(/^lbcnet_reflector_store_degraded [01]/m);
  });

  it.skipIf(!isInstalled('promtool'))('has nothing that promtool finds wrong', () => {
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' });
    expect([checked.stdout + checked.stderr, checked.status]).toEqual(['', 0]);
  });
});
