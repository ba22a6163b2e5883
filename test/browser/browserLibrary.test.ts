/**
 * Sends the requests of a wallet library for web pages (@lumeweb/lbry-sdk): tip, blocks, transactions, coins of an address, fees,
 * broadcasting, and WebSocket requests. They run in Node, and in Chromium from a page of another origin, if Chromium exists at
 * the path in CHROMIUM or at `/usr/bin/chromium`.
 */
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket as NodeWebSocket } from 'ws';
import { startRegtest, type RegtestNode } from '../functional/support/node.js';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const hasChromium = existsSync(CHROMIUM);
if (!hasChromium) console.log(`skipped in part: there is no Chromium at ${CHROMIUM}`);

/** Results of the wallet, and notifications from the node. */
interface Session {
  readonly height: number;
  readonly tip: string;
  readonly blocks: { id: string; height: number; tx_count: number; previousblockhash: string }[];
  readonly block: { id: string; merkle_root: string };
  readonly utxos: { txid: string; vout: number; value: number; status: { block_height?: number } }[];
  readonly history: {
    txid: string;
    vin: unknown[];
    vout: { scriptpubkey_address?: string }[];
    fee: number;
  }[];
  readonly fees: Record<string, number>;
  readonly pool: {
    blockSize: number;
    nTx: number;
    totalFees: number;
    medianFee: number;
    feeRange: number[];
  }[];
  readonly sent: string;
  readonly refused: [number, string];
  readonly tx: { txid: string; status: { confirmed: boolean } };
  readonly reported: { type?: string; txid?: string; address?: string }[];
}

/** One session of the wallet. The function also runs in a page, so it must not use anything from outside. */
async function walk(base: string, address: string, hex: string): Promise<Session> {
  const get = async (path: string): Promise<Response> => {
    const answer = await fetch(base + path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const json = async (path: string): Promise<never> => (await (await get(path)).json()) as never;
  const reported: Session['reported'] = [];
  const socket = new WebSocket(`${base.replace('http', 'ws')}/api/v1/ws`);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('the WebSocket is refused'));
  });
  const whenDone = new Promise<void>((resolve) => {
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data as string) as Session['reported'][number] & { mempoolInfo?: unknown };
      reported.push(message);
      const isDone = (type: string): boolean => reported.some((one) => one.type === type);
      if (isDone('address-tx') && isDone('tx-status')) resolve();
    };
  });
  socket.send(JSON.stringify({ action: 'track', address }));
  socket.send(JSON.stringify({ action: 'want', data: ['stats', 'mempool-blocks'] }));
  const height = Number(await (await get('/api/blocks/tip/height')).text());
  const tip = (await (await get('/api/blocks/tip/hash')).text()).trim();
  const blocks: Session['blocks'] = await json(`/api/blocks/${height}`);
  const block: Session['block'] = await json(`/api/block/${tip}`);
  const utxos: Session['utxos'] = await json(`/api/address/${address}/utxo`);
  const fees: Session['fees'] = await json('/api/v1/fees/recommended');
  const bad = await fetch(`${base}/api/tx`, {
    method: 'POST',
    body: 'beef',
    headers: { 'Content-Type': 'text/plain' },
  });
  const refused: Session['refused'] = [bad.status, await bad.text()];
  const answer = await fetch(`${base}/api/tx`, { method: 'POST', body: hex });
  const sent = (await answer.text()).trim();
  socket.send(JSON.stringify({ action: 'track-tx', tx: sent }));
  await whenDone;
  socket.close();
  return {
    height,
    tip,
    blocks,
    block,
    utxos,
    fees,
    refused,
    sent,
    pool: await json('/api/v1/fees/mempool-blocks'),
    history: await json(`/api/address/${address}/txs`),
    tx: await json(`/api/tx/${sent}`),
    reported,
  };
}

describe('a wallet library of web pages', () => {
  let node: RegtestNode;
  let site: Server;
  let base: string;
  let origin: string;
  let address: string;

  beforeAll(async () => {
    site = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>wallet</title>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    node = await startRegtest({ args: ['-esplora', `-esploraorigin=${origin}`] });
    base = `http://127.0.0.1:${node.rpcPort}`;
    address = await node.rpc('getnewaddress');
    await node.rpc('generatetoaddress', [110, address]);
  });
  afterAll(async () => {
    vi.unstubAllGlobals();
    site?.close();
    await node?.stop();
  });

  /** A signed transaction that pays one coin of the address back to the address. */
  const payment = async (coin: { txid: string; vout: number; value: number }): Promise<string> => {
    const outputs = { [address]: (coin.value - 10_000) / 1e8 };
    const unsigned = await node.rpc('createrawtransaction', [
      [{ txid: coin.txid, vout: coin.vout }],
      outputs,
    ]);
    return (await node.rpc<{ hex: string }>('signrawtransactionwithwallet', [unsigned])).hex;
  };
  const coinAt = async (n: number): Promise<Session['utxos'][number]> =>
    ((await (await fetch(`${base}/api/address/${address}/utxo`)).json()) as Session['utxos'])[n]!;

  async function check(session: Session): Promise<void> {
    const height = await node.rpc<number>('getblockcount');
    const tip = await node.rpc<string>('getbestblockhash');
    expect([session.height, session.tip, session.block.id]).toEqual([height, tip, tip]);
    expect(session.blocks[0]).toMatchObject({ id: tip, height, tx_count: 1 });
    expect(session.blocks[1]!.id).toBe(session.blocks[0]!.previousblockhash);
    expect(session.utxos.length).toBeGreaterThan(100);
    expect(Object.keys(session.fees).sort()).toEqual([
      'economyFee',
      'fastestFee',
      'halfHourFee',
      'hourFee',
      'minimumFee',
    ]);
    expect(session.refused).toEqual([400, expect.stringContaining('TX decode failed') as unknown]);
    expect(await node.rpc('getrawmempool')).toContain(session.sent);
    expect(session.tx).toMatchObject({ txid: session.sent, fee: 10_000, status: { confirmed: false } });
    expect(session.history[0]).toMatchObject({ txid: session.sent, fee: 10_000 });
    expect(session.history[0]!.vout[0]!.scriptpubkey_address).toBe(address);
    expect(session.pool[0]!.nTx).toBeGreaterThan(0);
    expect(session.pool[0]!.feeRange).toHaveLength(7);
    expect(session.reported).toContainEqual(
      expect.objectContaining({ type: 'address-tx', address, txid: session.sent }) as unknown,
    );
    expect(session.reported).toContainEqual(
      expect.objectContaining({ type: 'tx-status', txid: session.sent }) as unknown,
    );
    expect(session.reported.some((message) => 'mempoolInfo' in message)).toBe(true);
  }

  it('is served in Node', async () => {
    // Node 20 has no global WebSocket.
    vi.stubGlobal('WebSocket', NodeWebSocket);
    await check(await walk(base, address, await payment(await coinAt(0))));
  });

  describe.skipIf(!hasChromium)('in Chromium', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    });
    afterAll(() => browser?.close());

    it('is served from a page of the allowed origin', async () => {
      const page = await browser.newPage();
      await page.goto(origin);
      const hex = await payment(await coinAt(1));
      // The test compiler adds calls of the helper `__name`, which the page does not have.
      const source = `(() => { const __name = (f) => f; return (${walk.toString()})(${JSON.stringify(base)}, ${JSON.stringify(address)}, ${JSON.stringify(hex)}); })()`;
      await check(await page.evaluate<Session>(source));
      await page.close();
    });

    it('is refused from a page of another origin', async () => {
      const page = await browser.newPage();
      // The same page under another host name, which is another origin.
      await page.goto(origin.replace('127.0.0.1', 'localhost'));
      const found = await page.evaluate<string>(
        `fetch(${JSON.stringify(`${base}/api/blocks/tip/height`)}).then((answer) => answer.text(), (error) => String(error))`,
      );
      expect(found).toContain('Failed to fetch');
      const socket = await page.evaluate<string>(
        `new Promise((resolve) => { const socket = new WebSocket(${JSON.stringify(`${base.replace('http', 'ws')}/api/v1/ws`)}); socket.onopen = () => resolve('open'); socket.onerror = () => resolve('refused'); })`,
      );
      expect(socket).toBe('refused');
      await page.close();
    });
  });
});
