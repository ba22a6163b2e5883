/**
 * The Esplora-compatible interface of a real node: each declared path against its declared shape and against JSON-RPC, errors,
 * origins of web pages, and the WebSocket of mempool.space.
 */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { checkJson } from '../../src/schema/schemaCheck.js';
import { ESPLORA_PATHS } from '../../src/server/esplora/pathTable.js';
import { parseJson } from '../../src/util/json/jsonParse.js';
import { startRegtest, type RegtestNode } from './support/node.js';

const PAGE = 'https://wallet.example';
const BLOCKS = 140;

interface Tx {
  txid: string;
  fee: number;
  vin: { txid: string; vout: number; prevout: Output | null; is_coinbase: boolean }[];
  vout: Output[];
  status: { confirmed: boolean; block_height?: number; block_hash?: string };
}
interface Output {
  value: number;
  scriptpubkey: string;
  scriptpubkey_type: string;
  scriptpubkey_address?: string;
  isClaim?: boolean;
  claim?: { op: string; name: string; claimId: string };
}
type Message = Record<string, unknown>;

describe('-esplora', () => {
  let node: RegtestNode;
  let base: string;
  let address: string;
  let other: string;
  /** A claim in block `BLOCKS` + 1. */
  let claimTx: string;
  let tip: string;

  const ask = async (path: string, init?: RequestInit): Promise<Response> => fetch(base + path, init);
  const text = async (path: string, init?: RequestInit): Promise<string> => (await ask(path, init)).text();
  const json = async <T>(path: string): Promise<T> => JSON.parse(await text(path)) as T;
  const refused = async (path: string, init?: RequestInit): Promise<[number, string]> => {
    const answer = await ask(path, init);
    return [answer.status, await answer.text()];
  };
  const mine = async (count = 1): Promise<void> => {
    await node.rpc('generatetoaddress', [count, address]);
    tip = await node.rpc('getbestblockhash');
  };
  /** SHA-256 of the script that the address stands for. */
  const scriptHash = async (of: string): Promise<string> => {
    const { scriptPubKey } = await node.rpc<{ scriptPubKey: string }>('validateaddress', [of]);
    return createHash('sha256').update(Buffer.from(scriptPubKey, 'hex')).digest('hex');
  };

  beforeAll(async () => {
    const more = process.env['LBCNODE_ESPLORA_ARGS']?.split(' ') ?? [];
    node = await startRegtest({
      args: ['-esplora', `-esploraorigin=${PAGE}`, '-fallbackfee=0.0002', ...more],
    });
    base = `http://127.0.0.1:${node.rpcPort}`;
    address = await node.rpc('getnewaddress');
    other = await node.rpc('getnewaddress');
    await mine(BLOCKS);
    claimTx = await node.rpc('claimname', ['esplora', '00', 1]);
    await mine();
  });
  afterAll(() => node.stop());

  it('answers the pages of a block like its transactions, again and after a reorganisation', async () => {
    const outputs: Record<string, number> = {};
    for (let n = 0; n < 27; n++) outputs[await node.rpc<string>('getnewaddress')] = 0.1;
    const parent = await node.rpc<string>('sendmany', ['', outputs]);
    await mine();
    const { vout } = await node.rpc<{ vout: { n: number; value: number }[] }>('getrawtransaction', [
      parent,
      true,
    ]);
    for (const { n } of vout.filter(({ value }) => value === 0.1)) {
      const raw = await node.rpc<string>('createrawtransaction', [
        [{ txid: parent, vout: n }],
        { [other]: 0.0999 },
      ]);
      const { hex } = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', [raw]);
      await node.rpc('sendrawtransaction', [hex]);
    }
    await mine();
    const full = tip;
    const pages = async (): Promise<Tx[]> => [
      ...(await json<Tx[]>(`/api/block/${full}/txs`)),
      ...(await json<Tx[]>(`/api/block/${full}/txs/25`)),
    ];
    const first = await pages();
    expect(first).toHaveLength(28);
    expect(first.slice(1).every(({ fee, vin }) => fee > 0 && vin[0]!.prevout!.value === 10_000_000)).toBe(
      true,
    );
    expect(await pages()).toEqual(first);
    const txids = await json<string[]>(`/api/block/${full}/txids`);
    expect(txids).toEqual(first.map(({ txid }) => txid));
    for (const [n, tx] of first.entries()) {
      if (n % 10 <= 1) expect(await json(`/api/tx/${tx.txid}`)).toEqual(tx);
    }
    await node.rpc('invalidateblock', [full]);
    const stale = await pages();
    expect(stale.map(({ status }) => status.confirmed)).not.toContain(true);
    expect(stale.map(({ txid }) => txid)).toEqual(txids);
    // The transaction is unconfirmed, then confirmed in another block, and at the end in the first block again.
    const { txid } = first[1]!;
    const status = async (): Promise<Tx['status']> => (await json<Tx>(`/api/tx/${txid}`)).status;
    expect(await status()).toEqual({ confirmed: false });
    await mine();
    expect(await status()).toMatchObject({ confirmed: true, block_hash: tip });
    expect(await json(`/api/tx/${txid}/status`)).toEqual(await status());
    await node.rpc('invalidateblock', [tip]);
    await node.rpc('reconsiderblock', [full]);
    tip = full;
    expect(await pages()).toEqual(first);
    expect(await json(`/api/tx/${txid}`)).toEqual(first[1]);
  });

  it('answers a plain GET without the HTTP parser as with it', async () => {
    /** The answer to a request without its date, with sorted headers. */
    const raw = (head: string): Promise<string[]> =>
      new Promise((resolve, reject) => {
        let text = '';
        const socket = connect(node.rpcPort, '127.0.0.1', () => socket.write(`${head}\r\n\r\n`));
        socket.on('data', (part) => {
          text += part.toString('latin1');
          const end = text.indexOf('\r\n\r\n');
          const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
          if (end >= 0 && text.length >= end + 4 + length) socket.destroy();
        });
        socket.on('error', reject);
        socket.on('close', () => {
          const [lines = '', ...body] = text.split('\r\n\r\n');
          const headers = lines.split('\r\n').filter((line) => !/^(date|keep-alive):/i.test(line));
          resolve([...headers.map((line) => line.toLowerCase()).sort(), ...body]);
        });
      });
    const paths = [
      'blocks/tip/height',
      `block/${tip}`,
      `block/${tip}/raw`,
      `tx/${'ab'.repeat(32)}`,
      'nothing',
    ];
    for (const path of paths) {
      for (const more of [
        '',
        '\r\nHost: localhost',
        `\r\nHost: localhost\r\nOrigin: ${PAGE}`,
        '\r\nHost: evil.example',
      ]) {
        const head = `GET /api/${path} HTTP/1.1${more}`;
        // A connection with this header is passed to the HTTP parser.
        const parsed = await raw(`${head}\r\nTE: gzip`);
        expect(await raw(head)).toEqual(parsed);
      }
    }
    expect((await raw('GET /api/blocks/tip/height HTTP/1.1\r\nHost: evil.example')).join()).toContain(
      '403 forbidden',
    );
    // The length is that of a body that does not follow, so the node must close the connection.
    const head = 'HEAD /api/blocks/tip/height HTTP/1.1\r\nHost: localhost\r\nConnection: close';
    expect((await raw(head)).join()).toContain('200 ok');
  });

  it('turns on the indexes that it needs', async () => {
    const synced = { synced: true, best_block_height: await node.rpc('getblockcount') };
    expect(await node.rpc('getindexinfo')).toMatchObject({
      txindex: synced,
      addressindex: synced,
      spendindex: synced,
    });
  });

  it('answers each declared path in its declared shape', async () => {
    const waiting = await node.rpc<string>('sendtoaddress', [other, 0.5]);
    const hash = await scriptHash(address);
    const values: Record<string, string> = {
      hash: tip,
      txid: claimTx,
      address,
      scripthash: hash,
      height: '100',
      index: '0',
      start: '0',
      vout: '0',
      last: claimTx,
    };
    const urls = ESPLORA_PATHS.filter(({ method }) => method === 'GET').flatMap((declared) => {
      const whole = declared.path.replace(/[()]/g, '');
      const brief = declared.path.replace(/\(.*\)/, '');
      return [...new Set([whole, brief])].map((path) => ({
        declared,
        url: path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? `no example of ${name}`),
      }));
    });
    urls.push(...urls.map(({ declared, url }) => ({ declared, url: url.replaceAll(claimTx, waiting) })));
    const faults: unknown[] = [];
    for (const { declared, url } of urls) {
      const answer = await ask(url);
      const body = Buffer.from(await answer.arrayBuffer());
      if (answer.status !== 200 && !(url.includes('merkle-proof') && url.includes(waiting)))
        faults.push([url, answer.status, body.toString()]);
      if (answer.status !== 200) continue;
      const { kind } = declared.answer;
      const type = { json: 'application/json', text: 'text/plain', bytes: 'application/octet-stream' }[kind];
      if (answer.headers.get('content-type') !== type) faults.push([url, answer.headers.get('content-type')]);
      if (declared.answer.kind !== 'json') continue;
      const wrong = checkJson(declared.answer.schema, parseJson(body.toString()));
      if (wrong.length > 0) faults.push([url, wrong.slice(0, 3)]);
    }
    expect(faults).toEqual([]);
    expect(urls.length).toBeGreaterThan(60);
    await mine();
  });

  it('returns the same data about blocks as JSON-RPC', async () => {
    const block = await node.rpc<Record<string, unknown> & { tx: string[] }>('getblock', [tip, 1]);
    expect(await text('/api/blocks/tip/hash')).toBe(tip);
    expect(await text('/api/blocks/tip/height')).toBe(String(block['height']));
    expect(await text(`/api/block-height/${String(block['height'])}`)).toBe(tip);
    expect(await json(`/api/block/${tip}`)).toEqual({
      id: tip,
      height: block['height'],
      version: block['version'],
      timestamp: block['time'],
      tx_count: block['nTx'],
      size: block['size'],
      weight: block['weight'],
      merkle_root: block['merkleroot'],
      previousblockhash: block['previousblockhash'],
      mediantime: block['mediantime'],
      nonce: block['nonce'],
      bits: parseInt(block['bits'] as string, 16),
      difficulty: block['difficulty'],
      nameclaimroot: block['nameclaimroot'],
    });
    expect(await json(`/api/block/${tip}/txids`)).toEqual(block.tx);
    expect(await text(`/api/block/${tip}/txid/1`)).toBe(block.tx[1]);
    expect(await text(`/api/block/${tip}/header`)).toBe(await node.rpc('getblockheader', [tip, false]));
    const raw = Buffer.from(await (await ask(`/api/block/${tip}/raw`)).arrayBuffer());
    expect(raw.toString('hex')).toBe(await node.rpc('getblock', [tip, 0]));
    const before = block['previousblockhash'] as string;
    expect(await json(`/api/block/${before}/status`)).toMatchObject({ in_best_chain: true, next_best: tip });
    const blocks = await json<{ id: string; height: number }[]>('/api/blocks');
    expect(blocks.map(({ height }) => height)).toEqual(
      Array.from({ length: 10 }, (_, n) => (block['height'] as number) - n),
    );
    expect(await json<{ height: number; previousblockhash: unknown }[]>('/api/blocks/1')).toMatchObject([
      { height: 1 },
      { height: 0, previousblockhash: null },
    ]);
  });

  it('returns for a claim output its address, its claim operation, and the type of the script after the operation', async () => {
    const tx = await json<Tx>(`/api/tx/${claimTx}`);
    const raw = await node.rpc<{ vout: { value: number; scriptPubKey: { hex: string } }[]; size: number }>(
      'getrawtransaction',
      [claimTx, true],
    );
    expect(tx.vout.map(({ scriptpubkey, value }) => [scriptpubkey, value])).toEqual(
      raw.vout.map(({ value, scriptPubKey }) => [scriptPubKey.hex, Math.round(value * 1e8)]),
    );
    const claim = tx.vout.find(({ isClaim }) => isClaim === true)!;
    const [known] = await node.rpc<{ claimId: string; n: number }[]>('getclaimsfortx', [claimTx]);
    expect(claim).toMatchObject({
      scriptpubkey_type: expect.stringMatching(/^(p2pkh|p2sh|v0_p2wpkh)$/) as unknown,
      claim: { op: 'claim', name: 'esplora', claimId: known!.claimId },
    });
    expect(claim.scriptpubkey_address).toMatch(/^[a-zA-Z0-9]{26,50}$/);
    const paid = tx.vin.reduce((sum, { prevout }) => sum + prevout!.value, 0);
    expect(tx.fee).toBe(paid - tx.vout.reduce((sum, { value }) => sum + value, 0));
    expect(tx.status).toMatchObject({ confirmed: true, block_height: BLOCKS + 1 });
    // The outputs that the claim transaction spends report it as their spender.
    const { txid, vout } = tx.vin[0]!;
    expect(await json(`/api/tx/${txid}/outspend/${vout}`)).toMatchObject({
      spent: true,
      txid: claimTx,
      vin: 0,
      status: { confirmed: true, block_height: BLOCKS + 1 },
    });
    expect(await text(`/api/tx/${claimTx}/hex`)).toBe(await node.rpc('getrawtransaction', [claimTx]));
    const proof = await json<{ block_height: number; merkle: string[]; pos: number }>(
      `/api/tx/${claimTx}/merkle-proof`,
    );
    expect(proof).toMatchObject({ block_height: BLOCKS + 1, pos: 1 });
  });

  it('sends transactions to the network, and returns the reason of a rejection', async () => {
    const to = await node.rpc<string>('getnewaddress');
    const unspent = await node.rpc<{ txid: string; vout: number; amount: number }[]>('listunspent');
    const coin = unspent.find(({ amount }) => amount >= 0.9)!;
    const paid = Math.round((coin.amount - 0.001) * 1e8) / 1e8;
    const unsigned = await node.rpc('createrawtransaction', [[coin], { [to]: paid }]);
    const { hex } = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', [unsigned]);
    const txid = await text('/api/tx', { method: 'POST', body: hex });
    expect(await node.rpc('getrawmempool')).toContain(txid);
    expect(await json(`/api/tx/${txid}/status`)).toEqual({ confirmed: false });
    expect(await json<Tx>(`/api/tx/${txid}`)).toMatchObject({ fee: 100_000, status: { confirmed: false } });
    expect(await json(`/api/tx/${coin.txid}/outspend/${coin.vout}`)).toEqual({
      spent: true,
      txid,
      vin: 0,
      status: { confirmed: false },
    });
    expect(await json(`/api/address/${to}/utxo`)).toEqual([
      { txid, vout: 0, status: { confirmed: false }, value: Math.round(paid * 1e8) },
    ]);
    expect(await refused('/api/tx', { method: 'POST', body: 'zz' })).toEqual([
      400,
      'sendrawtransaction RPC error: {"code":-22,"message":"TX decode failed"}',
    ]);
    const [status, why] = await refused('/api/tx', { method: 'POST', body: unsigned as string });
    expect([status, why]).toEqual([400, expect.stringMatching(/"code":-2[56]/) as unknown]);
    await mine();
  });

  it('returns the index data of an address, also by the hash of its script', async () => {
    const stats = await json<{ chain_stats: Record<string, number> }>(`/api/address/${address}`);
    const balance = await node.rpc<{ balance: number; received: number; txcount: number }>(
      'getaddressbalance',
      [address],
    );
    const { tx_count, funded_txo_count, funded_txo_sum, spent_txo_count, spent_txo_sum } = stats.chain_stats;
    expect([tx_count, funded_txo_sum! - spent_txo_sum!]).toEqual([balance.txcount, balance.balance]);
    const utxos = await json<{ value: number }[]>(`/api/address/${address}/utxo`);
    expect(utxos).toHaveLength(funded_txo_count! - spent_txo_count!);
    expect(utxos.reduce((sum, { value }) => sum + value, 0)).toBe(balance.balance);
    const hash = await scriptHash(address);
    expect(await json(`/api/scripthash/${hash}`)).toEqual({
      scripthash: hash,
      chain_stats: stats.chain_stats,
      mempool_stats: expect.anything() as unknown,
    });
    expect(await json(`/api/scripthash/${hash}/utxo`)).toEqual(utxos);
  });

  it('returns the history of an address in pages, each transaction once', async () => {
    const wanted = await node.rpc<string[]>('getaddresstxids', [{ addresses: [address], descending: true }]);
    const seen: string[] = [];
    for (let last = ''; ;) {
      const page = await json<Tx[]>(`/api/address/${address}/txs/chain${last === '' ? '' : `/${last}`}`);
      if (page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(25);
      seen.push(...page.map(({ txid }) => txid));
      last = seen.at(-1)!;
    }
    expect(seen).toEqual(wanted);
    const behind = await json<Tx[]>(`/api/address/${address}/txs?after_txid=${seen[24]!}`);
    expect(behind.map(({ txid }) => txid)).toEqual(seen.slice(25, 50));
    expect(await json(`/api/address/${address}/txs/chain/${'ab'.repeat(32)}`)).toEqual([]);
  });

  it.each([
    ['/api/block-height/100000', 404, 'Block not found'],
    ['/api/blocks/100000', 404, 'Block not found'],
    [`/api/block/${'ab'.repeat(32)}`, 404, 'Block not found'],
    [`/api/block/${'ab'.repeat(31)}`, 400, 'Invalid hash string'],
    [`/api/tx/${'ab'.repeat(32)}`, 404, 'Transaction not found'],
    [`/api/tx/${'ab'.repeat(32)}/merkle-proof`, 404, 'Transaction not found or is unconfirmed'],
    ['/api/tx/zz/status', 400, 'Invalid hash string'],
    ['/api/blocks/one', 400, 'Invalid number'],
    ['/api/address/nobody', 400, 'Invalid address'],
    ['/api/scripthash/00', 400, 'Invalid hex string'],
    ['/api/address/%zz', 400, 'Invalid path'],
    ['/api/nothing', 404, 'endpoint does not exist "/api/nothing"'],
    ['/api/', 404, 'endpoint does not exist "/api/"'],
  ])('refuses %s', async (path, status, message) => {
    expect(await refused(path)).toEqual([status, message]);
  });

  it('refuses requests that are too large, and other methods', async () => {
    expect(await refused('/api/mempool', { method: 'POST', body: '' })).toEqual([
      405,
      'this path accepts only GET',
    ]);
    expect(await refused('/api/tx', { method: 'POST', body: 'ab'.repeat(600_000) })).toEqual([
      413,
      'body exceeds 1048576 bytes',
    ]);
    expect(await refused(`/api/block/${tip}/txs/3`)).toEqual([404, 'start index out of range']);
  });

  it('allows web pages of the allowed origin to read answers, and no others', async () => {
    const allowed = await ask('/api/blocks/tip/height', { headers: { origin: PAGE } });
    expect(allowed.headers.get('access-control-allow-origin')).toBe(PAGE);
    const foreign = await ask('/api/blocks/tip/height', { headers: { origin: 'https://other.example' } });
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    const asked = await ask('/api/tx', {
      method: 'OPTIONS',
      headers: { origin: PAGE, 'access-control-request-headers': 'content-type' },
    });
    expect([
      asked.status,
      asked.headers.get('access-control-allow-methods'),
      asked.headers.get('access-control-allow-headers'),
    ]).toEqual([204, 'GET, HEAD, POST, OPTIONS', 'content-type']);
  });

  it('marks only immutable answers as cacheable', async () => {
    const control = async (path: string): Promise<string | null> =>
      (await ask(path)).headers.get('cache-control');
    expect(await control(`/api/block/${await node.rpc<string>('getblockhash', [5])}`)).toMatch(
      /max-age=\d{8}/,
    );
    expect(await control(`/api/block/${tip}`)).toBe('no-cache');
    expect(await control('/api/mempool')).toBe('no-cache');
  });

  describe('by WebSocket', () => {
    class Socket {
      readonly messages: Message[] = [];
      private readonly wakers = new Set<() => void>();
      readonly socket: WebSocket;

      constructor(origin?: string) {
        this.socket = new WebSocket(`ws://127.0.0.1:${node.rpcPort}/api/v1/ws`, origin ? { origin } : {});
        this.socket.on('message', (data: Buffer) => {
          this.messages.push(JSON.parse(data.toString()) as Message);
          for (const wake of this.wakers) wake();
        });
      }

      opened(): Promise<string> {
        return new Promise((resolve) => {
          this.socket.once('open', () => resolve('open'));
          this.socket.once('error', (error) => resolve(error.message));
        });
      }

      say(request: unknown): void {
        this.socket.send(JSON.stringify(request));
      }

      /** The next message with a member of this name. */
      async next<T = unknown>(name: string): Promise<T> {
        for (;;) {
          const at = this.messages.findIndex((message) => name in message);
          if (at >= 0) return this.messages.splice(0, at + 1).at(-1)![name] as T;
          await new Promise<void>((resolve) => {
            const wake = (): void => {
              this.wakers.delete(wake);
              resolve();
            };
            this.wakers.add(wake);
          });
        }
      }
    }

    it('greets, answers pings, and reports blocks, stats and projected blocks', async () => {
      const socket = new Socket();
      expect(await socket.opened()).toBe('open');
      socket.say({ action: 'ping' });
      expect(await socket.next('pong')).toBe(true);
      socket.say({ action: 'init' });
      const blocks = await socket.next<{ id: string }[]>('blocks');
      expect(blocks.at(-1)!.id).toBe(tip);
      socket.say({ action: 'want', data: ['blocks', 'stats', 'mempool-blocks'] });
      const state = await socket.next<{ size: number }>('mempoolInfo');
      const txid = await node.rpc('sendtoaddress', [other, 0.1]);
      let latest: { txid: string }[] = [];
      while (latest[0]?.txid !== txid) latest = await socket.next<{ txid: string }[]>('transactions');
      await mine();
      const block = await socket.next<{ id: string; tx_count: number }>('block');
      expect(block).toMatchObject({ id: tip, tx_count: state.size + 2 });
      socket.socket.close();
    });

    it('reports tracked addresses and transactions', async () => {
      const socket = new Socket(PAGE);
      expect(await socket.opened()).toBe('open');
      socket.say({ 'track-address': other });
      socket.say({ action: 'ping' });
      await socket.next('pong');
      const txid = await node.rpc<string>('sendtoaddress', [other, 0.2]);
      const [came] = await socket.next<Tx[]>('address-transactions');
      expect([came!.txid, came!.status.confirmed]).toEqual([txid, false]);
      socket.say({ 'track-tx': txid });
      expect(await socket.next('txPosition')).toMatchObject({ txid, position: { block: 0 } });
      await mine();
      expect(await socket.next('txConfirmed')).toBe(txid);
      socket.say({ 'track-addresses': [other, address] });
      socket.say({ action: 'ping' });
      await socket.next('pong');
      await mine();
      const all = await socket.next<Record<string, { confirmed: Tx[] }>>('multi-address-transactions');
      expect(all[address]!.confirmed[0]!.status).toMatchObject({ confirmed: true, block_hash: tip });
      socket.socket.close();
    });

    it('reports the newest blocks after a reorganisation', async () => {
      const socket = new Socket();
      await socket.opened();
      socket.say({ action: 'want', data: ['blocks'] });
      await socket.next('blocks');
      const stale = tip;
      await node.rpc('invalidateblock', [stale]);
      const blocks = await socket.next<{ id: string }[]>('blocks');
      expect(blocks.some(({ id }) => id === stale)).toBe(false);
      expect(await json(`/api/block/${stale}/status`)).toMatchObject({ in_best_chain: false });
      await node.rpc('reconsiderblock', [stale]);
      expect(await socket.next('block')).toMatchObject({ id: stale });
      socket.socket.close();
    });

    it('refuses pages of other origins, and disconnects clients that send invalid data', async () => {
      expect(await new Socket('https://other.example').opened()).toContain('403');
      const socket = new Socket();
      await socket.opened();
      const closed = new Promise<number>((resolve) => socket.socket.once('close', resolve));
      socket.socket.send('nonsense');
      expect(await closed).toBe(1007);
    });
  });
});

describe('without -esplora', () => {
  it('answers nothing under /api/', async () => {
    const node = await startRegtest();
    try {
      expect((await fetch(`http://127.0.0.1:${node.rpcPort}/api/blocks/tip/height`)).status).toBe(404);
    } finally {
      await node.stop();
    }
  });
});
