import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addHealthRoute, type HealthDeps } from '../../../src/server/health.js';
import { ask, ServerBench, type Answer } from './support.js';

let bench: ServerBench;
beforeEach(() => {
  bench = new ServerBench();
});
afterEach(() => bench.close());

const CHAIN = {
  chain: { height: 7, index: { bestHeader: 9 }, isInitialDownload: () => true },
  headers: { count: 10, height: (id: number) => id },
} as unknown as ReturnType<HealthDeps['chain']>;

const UP: HealthDeps = {
  warmupStatus: () => null,
  isStopping: () => false,
  chain: () => CHAIN,
  peerCount: () => 3,
};

async function start(deps: Partial<HealthDeps> = {}): Promise<number> {
  return bench.start({}, undefined, { extraRoutes: (app) => addHealthRoute(app, { ...UP, ...deps }) });
}

const health = (port: number): Promise<Answer> =>
  ask(port, '', { path: '/health', method: 'GET', auth: null });

describe('/health', () => {
  it('reports that the node is up, without a password', async () => {
    const answer = await health(await start());
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
    expect(answer.text).toBe(
      '{"status":"ok","height":7,"headers":9,"initialblockdownload":true,"peers":3}\n',
    );
  });

  it('is degraded, and up, while no peer can be reached', async () => {
    const answer = await health(
      await start({ peerCount: () => 0, outage: () => 'No contact. Check the cable.' }),
    );
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({
      status: 'degraded',
      message: 'No contact. Check the cable.',
      peers: 0,
    });
    expect(JSON.parse((await health(await start({ outage: () => '' }))).text)).toMatchObject({
      status: 'ok',
    });
  });

  it('reports the step of the start', async () => {
    const port = await start({
      warmupStatus: () => 'Loading block index...',
      chain: () => null,
      peerCount: () => 0,
    });
    const answer = await health(port);
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toEqual({
      status: 'starting',
      message: 'Loading block index...',
      height: null,
      headers: null,
      initialblockdownload: true,
      peers: 0,
    });
  });

  it('reports a stop, also one before the node is up', async () => {
    const port = await start({ isStopping: () => true, warmupStatus: () => 'Importing blocks...' });
    const answer = await health(port);
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({ status: 'stopping', height: 7 });
    expect(answer.text).not.toContain('message');
  });

  it('reports the state of indexes, search and hub, and their failures', async () => {
    const search = {
      tip: { height: 6 },
      documents: 5,
      building: null,
      failure: null,
      running: 1,
      waiting: 2,
    };
    const hub = { listening: true, failure: null, height: 6, sessions: 4, maxSessions: 9, waiting: 3 };
    const indexes = [{ name: 'txindex', synced: true, height: 7, failure: null }];
    const well = await health(await start({ indexes: () => indexes, search: () => search, hub: () => hub }));
    expect(JSON.parse(well.text)).toMatchObject({
      indexes: { txindex: { synced: true, height: 7 } },
      claimsearch: { height: 6, documents: 5, running: 1, waiting: 2 },
      hub: { listening: true, height: 6, sessions: 4, maxsessions: 9, waiting: 3 },
    });
    expect(well.text).not.toMatch(/failure|building/);
    await bench.close();
    bench = new ServerBench();
    const bad = await health(
      await start({
        indexes: () => [{ name: 'txindex', synced: false, height: 3, failure: 'no disk' }],
        search: () => ({ ...search, tip: null, building: { stage: 'claims' }, failure: 'no room' }),
        hub: () => ({ ...hub, listening: false, failure: 'no memory' }),
      }),
    );
    expect(bad.status).toBe(200);
    expect(JSON.parse(bad.text)).toMatchObject({
      indexes: { txindex: { synced: false, height: 3, failure: 'no disk' } },
      claimsearch: { height: null, building: 'claims', failure: 'no room' },
      hub: { listening: false, failure: 'no memory' },
    });
  });

  it('exists for GET and HEAD only', async () => {
    const port = await start();
    expect(await ask(port, '', { path: '/health', method: 'HEAD', auth: null })).toMatchObject({
      status: 200,
      text: '',
    });
    expect((await ask(port, '{}', { path: '/health', method: 'POST' })).status).toBe(404);
    expect((await ask(port, '', { path: '/health/', method: 'GET' })).status).toBe(404);
  });
});
