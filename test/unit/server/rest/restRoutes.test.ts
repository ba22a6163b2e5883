/** REST over HTTP: paths, warm-up, callers, failures and large answers. The functional test checks the contents of resources. */
import http from 'node:http';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Reorganisation } from '../../../../src/chain/reorganisation.js';
import { METHODS } from '../../../../src/rpc/declare/methodTable.js';
import { MethodTable } from '../../../../src/rpc/declare/table.js';
import { addRestRoutes, type RestDeps } from '../../../../src/server/rest/restRoutes.js';
import type { ServerLoad } from '../../../../src/server/routes.js';
import { ask, ServerBench, type Answer } from '../support.js';

let bench: ServerBench;
beforeEach(() => {
  bench = new ServerBench();
});
afterEach(() => bench.close());

/** Polling options for slow machines. */
const PATIENT = { timeout: 60_000, interval: 10 };

const TXID = '11'.repeat(32);
/** A block of three MiB. Only its first bytes are tested. */
const BIG = Buffer.alloc(3 << 20, 0x5a);

/** The parts of a node that the requests below use. */
const services = {
  params: { base58: {} },
  mempool: {
    size: 2,
    *txidsInSlices() {
      yield;
      return [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    },
    entry: () => null,
    transaction: (): never => {
      throw new Error('a bug');
    },
  },
  options: { serializeWitness: true },
  pruner: null,
  chain: {
    chain: { index: { active: { tip: 3 } }, reorganisation: new Reorganisation() },
    hasData: () => true,
    readBlockBytes: () => Promise.resolve(BIG),
  },
} as unknown as RestDeps['services'];

async function start(deps: Partial<RestDeps> = {}): Promise<number> {
  return bench.start({}, undefined, {
    extraRoutes: (app, tools) =>
      addRestRoutes(app, tools, {
        services,
        table: new MethodTable(METHODS),
        warmupStatus: () => null,
        onException: () => undefined,
        ...deps,
      }),
  });
}

const get = (port: number, path: string, method = 'GET'): Promise<Answer> =>
  ask(port, '', { path, method, auth: null });

describe('REST', () => {
  it('needs no password', async () => {
    const answer = await get(await start(), '/rest/mempool/contents.json');
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([
      200,
      'application/json',
      '{}\n',
    ]);
  });

  it('uses the beginning of the path as it is written', async () => {
    const port = await start();
    for (const path of [
      '/rest/mempool/contentsxyz.json',
      '/rest/mempool/contents/a/b.json',
      '/rest/mempool/contents?x.json',
    ])
      expect((await get(port, path)).status, path).toBe(200);
    for (const path of [
      '/rest',
      '/rest/',
      '/rest/nosuch',
      '/rest/mempool',
      '/rest/%6dempool/contents.json',
      '/rest/%',
      '/REST/x',
    ])
      expect(await get(port, path), path).toMatchObject({ status: 404, text: '' });
    expect(await get(port, '/rest/mempool/contents.json?x=1')).toMatchObject({
      status: 404,
      text: 'output format not found (available: json)\r\n',
    });
    expect((await get(port, '/rest/mempool/contents.json', 'DELETE')).status).toBe(405);
  });

  it('returns the text that it does not understand', async () => {
    expect(await get(await start(), '/rest/tx/%zz.json')).toMatchObject({
      status: 400,
      text: 'Invalid hash: %zz\r\n',
      headers: { 'content-type': 'text/plain', 'content-length': '19' },
    });
  });

  it('reports the start of the node for existing resources', async () => {
    const port = await start({ warmupStatus: () => 'Loading block index...' });
    expect(await get(port, `/rest/tx/${TXID}.json`)).toMatchObject({
      status: 503,
      text: 'Service temporarily unavailable: Loading block index...\r\n',
    });
    expect((await get(port, '/rest/nosuch')).status).toBe(404);
  });

  it('reports a bug, and continues to answer', async () => {
    const reported: unknown[] = [];
    const port = await start({ onException: (error, what) => reported.push(String(error), what) });
    expect(await get(port, `/rest/tx/${TXID}.json`)).toMatchObject({
      status: 500,
      text: 'Internal error\r\n',
    });
    expect(reported).toEqual(['Error: a bug', '/rest/tx/']);
    expect((await get(port, '/rest/mempool/contents.json')).status).toBe(200);
  });

  it('sends large answers completely, with their length', async () => {
    const port = await start();
    const hex = await get(port, '/rest/block/tip.hex');
    expect(hex.headers['content-length']).toBe(String(BIG.length * 2 + 1));
    expect(hex.text === `${BIG.toString('hex')}\n`).toBe(true);
    const binary = await get(port, '/rest/block/tip.bin');
    expect(binary.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(BIG.length),
    });
    expect(binary.text === BIG.toString()).toBe(true);
    expect(await get(port, '/rest/block/tip.bin', 'HEAD')).toMatchObject({ status: 200, text: '' });
  });

  it('distinguishes pruned blocks from unknown ones', async () => {
    const without = (pruner: unknown, txCount: number): RestDeps['services'] =>
      ({
        ...services,
        pruner,
        chain: {
          ...services.chain,
          hasData: () => false,
          behindSnapshot: () => null,
          headers: { txCount: () => txCount },
        },
      }) as unknown as RestDeps['services'];
    const pruned = await get(await start({ services: without({}, 5) }), '/rest/block/tip.json');
    expect([pruned.status, pruned.text]).toEqual([404, 'tip not available (pruned data)\r\n']);
    await bench.server?.close();
    const absent = await get(await start({ services: without({}, 0) }), '/rest/block/tip.json');
    expect([absent.status, absent.text]).toEqual([404, 'tip not found\r\n']);
  });

  it('uses a place of the work queue', async () => {
    let finish: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => (finish = resolve));
    const slow = {
      ...services,
      chain: { ...services.chain, readBlockBytes: () => waiting.then(() => BIG) },
    } as unknown as RestDeps['services'];
    const port = await bench.start({ threads: 1, workQueueDepth: 1 }, undefined, {
      extraRoutes: (app, tools) =>
        addRestRoutes(app, tools, {
          services: slow,
          table: new MethodTable([]),
          warmupStatus: () => null,
          onException: () => undefined,
        }),
    });
    const agent = new http.Agent({ keepAlive: true });
    // Three requests at once: one is processed, one waits, and one is refused.
    const asked = [1, 2, 3].map(() =>
      ask(port, '', { path: '/rest/block/tip.bin', method: 'GET', auth: null, agent }),
    );
    const first = await Promise.race(asked);
    expect([first.status, first.text]).toEqual([503, 'Work queue depth exceeded']);
    finish();
    const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 503]);
    agent.destroy();
  });

  it('delays no RPC call, however many clients pipeline requests', async () => {
    let finish: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => (finish = resolve));
    const slow = {
      ...services,
      chain: { ...services.chain, readBlockBytes: () => waiting.then(() => Buffer.from('Z')) },
    } as unknown as RestDeps['services'];
    let load: () => ServerLoad = () => expect.unreachable();
    const port = await bench.start({ threads: 1, workQueueDepth: 4 }, undefined, {
      extraRoutes: (app, tools) => {
        load = () => tools.load();
        addRestRoutes(app, tools, {
          services: slow,
          table: new MethodTable([]),
          warmupStatus: () => null,
          onException: () => undefined,
        });
      },
    });
    const [CLIENTS, REQUESTS] = [10, 12];
    const clients = Array.from({ length: CLIENTS }, () => net.connect({ port, host: '127.0.0.1' }));
    const answers: Record<string, number> = { '200': 0, '503': 0 };
    for (const client of clients) {
      let text = '';
      let counted = 0;
      client.on('data', (part) => {
        text += part.toString('latin1');
        const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) [^]*?\r\n\r\n/g)].map(([, status]) => status!);
        for (; counted < statuses.length; counted++) answers[statuses[counted]!]!++;
      });
      client.write('GET /rest/block/tip.bin HTTP/1.1\r\n\r\n'.repeat(REQUESTS));
    }
    // One request is processed, and two wait together with the later requests of their clients. All others are refused.
    await vi.waitFor(() => expect(answers).toEqual({ '200': 0, '503': (CLIENTS - 3) * REQUESTS }), PATIENT);
    const calls = Array.from({ length: 4 }, () => ask(port, '{"method":"echo"}'));
    await vi.waitFor(() => expect(load().queued).toBe(2 + calls.length), PATIENT);
    finish();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await vi.waitFor(() => expect(answers['200']).toBe(3 * REQUESTS), PATIENT);
    expect(answers['503']).toBe((CLIENTS - 3) * REQUESTS);
    for (const client of clients) client.destroy();
  });
});
