/**
 * lbcd's WebSocket protocol at /ws of the lbcd profile, over TLS: authentication, commands, notifications, limits.
 * lbcdSocketsReference.long.test.ts compares it with lbcd.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LbcdSocket } from './support/lbcdSocket.js';
import { until } from './support/network.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

const HEIGHT = 500;

let node: RegtestNode;
let auth: string;
let ca: string;
const open: LbcdSocket[] = [];

/** A client over TLS; `credentials` null for none. */
async function client(credentials: string | null = auth, path = '/ws'): Promise<LbcdSocket> {
  const made = new LbcdSocket(`wss://localhost:${node.rpcPort}${path}`, credentials, { ca });
  open.push(made);
  return made.opened();
}

const address = (type = 'legacy'): Promise<string> => node.rpc('getnewaddress', ['', type]);
const mine = async (blocks = 1, to = ADDRESS): Promise<string[]> =>
  node.rpc<string[]>('generatetoaddress', [blocks, to]);

beforeAll(async () => {
  node = await startRegtest({
    args: ['-compat=lbcd', '-wsmaxclients=4', '-wsmaxqueue=16', '-fallbackfee=0.0002', '-debug=http'],
  });
  const { username, password } = new URL(node.url);
  auth = `${username}:${password}`;
  ca = readFileSync(join(node.dataDir, 'regtest', 'rpc.cert'), 'utf8');
  // Above the height from which blocks can have witnesses.
  await mine(HEIGHT, await address());
});
afterAll(() => node.stop());
afterEach(async () => {
  for (const each of open.splice(0)) await each.end();
});

describe('authentication', () => {
  it('works by the header of the connection', async () => {
    const one = await client();
    expect(await one.ask('getblockcount')).toEqual({ jsonrpc: '1.0', result: HEIGHT, error: null, id: 1 });
    const { sessionid } = await one.result<{ sessionid: number }>('session');
    expect(sessionid).toBeGreaterThan(0);
    expect((await (await client()).result<{ sessionid: number }>('session')).sessionid).not.toBe(sessionid);
  });

  it('works by the first request', async () => {
    const one = await client(null);
    const [user, password] = auth.split(':');
    expect(await one.ask('authenticate', user, password)).toEqual({
      jsonrpc: '1.0',
      result: null,
      error: null,
      id: 1,
    });
    expect(await one.result('getblockcount')).toBe(HEIGHT);
    one.socket.send('{"jsonrpc":"1.0","id":9,"method":"authenticate","params":["a","b"]}');
    expect((await one.closed)[0]).toBe(1008);
  });

  it.each([
    ['another request comes first', '{"jsonrpc":"1.0","id":1,"method":"getblockcount","params":[]}'],
    ['the password is wrong', '{"jsonrpc":"1.0","id":1,"method":"authenticate","params":["a","b"]}'],
    ['the message is not JSON', 'nonsense'],
  ])('ends the connection when %s', async (_why, text) => {
    const one = await client(null);
    one.socket.send(text);
    expect((await one.closed)[0]).toBe(1008);
  });

  it.each([
    [401, { auth: 'regtest:wrong' }, '/ws'],
    [403, { auth: '', headers: { origin: 'https://example.com' } }, '/ws'],
    [404, {}, '/nosuch'],
  ])('refuses with %i', async (status, options, path) => {
    const socket = new WebSocket(`wss://localhost:${node.rpcPort}${path}`, { ca, ...options });
    socket.on('error', () => undefined);
    const answered = await new Promise((resolve) =>
      socket.once('unexpected-response', (_request, response) => resolve(response.statusCode)),
    );
    expect(answered).toBe(status);
  });

  it('accepts at most -wsmaxclients clients', async () => {
    for (let i = 0; i < 4; i++) await client();
    const fifth = new LbcdSocket(`wss://localhost:${node.rpcPort}/ws`, auth, { ca });
    await expect(fifth.closed).rejects.toThrow('Unexpected server response: 503');
    // The log comes through a pipe and may arrive after the answer.
    await until('the line of the log', async () =>
      node.output().includes('Max websocket clients exceeded [4]'),
    );
  });
});

describe('calls', () => {
  it('run like those of the node, any number at once', async () => {
    const one = await client(auth, '/lbcd/ws');
    const heights = Array.from({ length: 100 }, (_, height) => height);
    const hashes = await Promise.all(heights.map((height) => one.result('getblockhash', height)));
    expect(hashes).toEqual(await Promise.all(heights.map((height) => node.rpc('getblockhash', [height]))));
    // The text is longer than a single chunk.
    const whole = (await one.result('help')) as string;
    expect(whole).toMatch(/\nrescanblocks "blockhashes"/);
    expect(await one.result('help', 'notifyspent')).toMatch(/^notifyspent "outpoints"\n/);
  });

  it('answer errors as lbcd does', async () => {
    const one = await client();
    const errors = await Promise.all([
      one.ask('nosuch'),
      one.ask('notifyreceived'),
      one.ask('notifyreceived', 5),
      one.ask('notifyreceived', ['a', 5]),
      one.ask('notifyreceived', ['nonsense']),
      one.ask('notifyspent', [{ hash: 'zz', index: 0 }]),
      one.ask('notifyspent', [{ hash: '00', index: -1 }]),
      one.ask('rescanblocks', []),
      one.ask('rescan', '00'.repeat(32), ['x'], []),
      one.ask('rescan', 'zz', [], []),
      one.ask('loadtxfilter', true, [], [{ hash: 'zz', index: 0 }]),
      one.ask('stopnotifyblocks', 1),
      one.ask('loadtxfilter', 1, [], []),
    ]);
    expect(errors.map(({ error }) => [error?.code, error?.message])).toEqual([
      [-32601, 'Method not found'],
      [-32602, 'wrong number of params (expected 1, received 0)'],
      [-32602, "parameter #1 'addresses' must be type []string (got number)"],
      [-32602, "parameter #1 'addresses' must be type string (got number)"],
      [-5, 'Invalid address or key: nonsense'],
      [-22, 'Argument must be hexadecimal string (not "zz")'],
      [-32602, "parameter #1 'outpoints' must be type uint32 (got number -1)"],
      [-1, 'Transaction filter must be loaded before rescanning'],
      [-5, `Error getting block: block ${'00'.repeat(32)} is not in the main chain`],
      [-22, 'Argument must be hexadecimal string (not "zz")'],
      [-8, "encoding/hex: invalid byte: U+007A 'z'"],
      [-32602, 'wrong number of params (expected 0, received 1)'],
      [-32602, "parameter #1 'reload' must be type bool (got number)"],
    ]);
  });

  it('accept null for an optional parameter, and a number for an optional boolean', async () => {
    const one = await client();
    const tip = await node.rpc('getbestblockhash');
    expect(await one.result('rescan', tip, [], [], null)).toBeNull();
    expect(await one.take(1)).toMatchObject([{ method: 'rescanfinished', params: [tip, HEIGHT, {}] }]);
    expect(await one.result('notifynewtransactions', null)).toBeNull();
    expect(await one.result('notifynewtransactions', 1)).toBeNull();
  });

  it.each([
    ['5', 'a request must be an object'],
    ['{"jsonrpc":1,"id":1,"method":"getblockcount"}', 'the version must be a string'],
    ['{"id":1,"method":5}', 'the method must be a string'],
    ['{"id":1,"method":"getblockcount","params":"x"}', 'the parameters must be an array'],
  ])('report a request with wrong types: %s', async (text, why) => {
    const one = await client();
    one.socket.send(text);
    one.socket.send(`[${text}]`);
    await one.untilTrue(() => one.received.length === 2, 'two replies');
    const single = one.received.find((message) => !Array.isArray(message));
    const batch = one.received.find((message) => Array.isArray(message));
    expect(single).toEqual({
      jsonrpc: '1.0',
      result: null,
      error: { code: -32700, message: `Failed to parse request: ${why}` },
      id: null,
    });
    expect(batch).toEqual([
      { jsonrpc: '2.0', result: null, error: { code: -32600, message: `Invalid request: ${why}` }, id: null },
    ]);
  });

  it('may come as a batch, and without an id', async () => {
    const one = await client();
    one.socket.send('{"jsonrpc":"1.0","method":"getblockcount","params":[]}');
    one.socket.send(
      '[{"jsonrpc":"2.0","id":7,"method":"getblockcount","params":[]},{"method":"getblockcount"},{"id":8,"method":"session"}]',
    );
    one.socket.send('[]');
    one.socket.send('[');
    one.socket.send('{}');
    await one.untilTrue(() => one.received.length === 4, 'four replies');
    const batch = one.received.find((message) => Array.isArray(message));
    expect(batch).toEqual([
      { jsonrpc: '2.0', result: HEIGHT, error: null, id: 7 },
      { jsonrpc: '1.0', result: { sessionid: expect.any(Number) }, error: null, id: 8 },
    ]);
    expect(one.received.map(({ error }) => error?.message ?? '').sort()).toEqual([
      '',
      expect.stringMatching(/^Failed to parse request: /),
      'Invalid request: empty batch',
      'Invalid request: malformed',
    ]);
  });
});

describe('notifications', () => {
  it('report blocks, also disconnected ones', async () => {
    const one = await client();
    await one.result('notifyblocks');
    const [hash] = await mine();
    const { time, height } = await node.rpc<{ time: number; height: number }>('getblockheader', [hash]);
    const header = await node.rpc('getblockheader', [hash, false]);
    expect(await one.take(2)).toEqual([
      { jsonrpc: '1.0', method: 'blockconnected', params: [hash, height, time], id: null },
      { jsonrpc: '1.0', method: 'filteredblockconnected', params: [height, header, null], id: null },
    ]);
    await node.rpc('invalidateblock', [hash]);
    expect(await one.take(2)).toEqual([
      { jsonrpc: '1.0', method: 'blockdisconnected', params: [hash, height, time], id: null },
      { jsonrpc: '1.0', method: 'filteredblockdisconnected', params: [height, header], id: null },
    ]);
    await node.rpc('reconsiderblock', [hash]);
    await one.take(2);
    await one.result('stopnotifyblocks');
    await mine();
    await one.result('getblockcount');
    expect(one.notes).toEqual([]);
  });

  it('report new transactions, transactions of watched addresses, and spends of watched outputs', async () => {
    const one = await client();
    const types = ['legacy', 'p2sh-segwit', 'bech32'];
    const addresses = await Promise.all(types.map(address));
    await one.result('notifynewtransactions', false);
    await one.result('notifyreceived', addresses);
    for (const each of addresses) {
      const txid = await node.rpc('sendtoaddress', [each, 1]);
      const hex = await node.rpc('getrawtransaction', [txid]);
      const [accepted, received] = await one.take(2);
      expect(accepted).toMatchObject({ method: 'txaccepted', params: [txid, expect.any(Number)] });
      expect(received).toEqual({ jsonrpc: '1.0', method: 'recvtx', params: [hex], id: null });
    }
    await one.result('notifynewtransactions', true);
    await one.result('stopnotifyreceived', addresses.slice(1));
    // Outputs that pay to a watched address are then watched for spends, without a further request.
    const coin = (await node.rpc<{ txid: string; vout: number; address: string }[]>('listunspent', [0])).find(
      (each) => each.address === addresses[0],
    )!;
    const raw = await node.rpc('createrawtransaction', [
      [{ txid: coin.txid, vout: coin.vout }],
      { [ADDRESS]: 0.999 },
    ]);
    const { hex } = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', [raw]);
    await node.rpc('sendrawtransaction', [hex]);
    const shown = await one.result('decoderawtransaction', hex);
    const [verbose, redeeming] = await one.take(2);
    expect(verbose).toMatchObject({ method: 'txacceptedverbose', params: [{ ...(shown as object), hex }] });
    expect(redeeming).toEqual({ jsonrpc: '1.0', method: 'redeemingtx', params: [hex], id: null });
    await one.result('stopnotifynewtransactions');
    const [hash] = await mine();
    const block = await node.rpc<{ height: number; tx: string[]; time: number }>('getblock', [hash]);
    const noted = await one.take(2);
    const details = (txid: string): unknown => ({
      height: block.height,
      hash,
      index: block.tx.indexOf(txid),
      time: block.time,
    });
    const { txid } = (await one.result('decoderawtransaction', hex)) as { txid: string };
    expect(noted.map(({ method }) => method).sort()).toEqual(['recvtx', 'redeemingtx']);
    expect(noted.find(({ method }) => method === 'redeemingtx')!.params).toEqual([hex, details(txid)]);
  });

  it('report at once an output that the mempool already spends', async () => {
    const one = await client();
    const txid = await node.rpc<string>('sendtoaddress', [ADDRESS, 1]);
    const hex = await node.rpc('getrawtransaction', [txid]);
    const { vin } = await node.rpc<{ vin: { txid: string; vout: number }[] }>('decoderawtransaction', [hex]);
    await one.result('notifyspent', [{ hash: vin[0]!.txid, index: vin[0]!.vout }]);
    expect(await one.take(1)).toMatchObject([{ method: 'redeemingtx', params: [hex] }]);
    await one.result('stopnotifyspent', [{ hash: vin[0]!.txid, index: vin[0]!.vout }]);
    await mine();
    await one.result('getblockcount');
    expect(one.notes).toEqual([]);
  });

  it('pass a filter, which rescanblocks also uses', async () => {
    const one = await client();
    const to = await address('bech32');
    await one.result('notifyblocks');
    await one.result('loadtxfilter', true, [to], []);
    const txid = await node.rpc<string>('sendtoaddress', [to, 2]);
    const hex = await node.rpc('getrawtransaction', [txid]);
    expect(await one.take(1)).toMatchObject([{ method: 'relevanttxaccepted', params: [hex] }]);
    const [hash] = await mine();
    expect((await one.take(2))[1]).toMatchObject({
      method: 'filteredblockconnected',
      params: [{}, {}, [hex]],
    });
    const [next] = await mine();
    expect(await one.result('rescanblocks', [hash, next])).toEqual([{ hash, transactions: [hex] }]);
    expect((await one.ask('rescanblocks', [next, hash])).error).toEqual({
      code: -8,
      message: `Block ${hash} is not a child of ${next}`,
    });
    await one.result('loadtxfilter', true, [], []);
    expect(await one.result('rescanblocks', [hash])).toEqual([]);
  });

  it('report a rescan, which continues watching', async () => {
    const one = await client();
    const to = await address();
    const txid = await node.rpc<string>('sendtoaddress', [to, 3]);
    const hex = await node.rpc('getrawtransaction', [txid]);
    const [hash, last] = await mine(2);
    const genesis = await node.rpc<string>('getblockhash', [0]);
    expect(await one.result('rescan', genesis, [to], [])).toBeNull();
    const { time, height } = await node.rpc<{ time: number; height: number }>('getblockheader', [last]);
    expect(await one.take(2)).toMatchObject([
      { method: 'recvtx', params: [hex, { hash, height: height - 1 }] },
      { method: 'rescanfinished', params: [last, height, time] },
    ]);
    // The last block that is named is left out, as in lbcd.
    await one.result('rescan', hash, [to], [], hash);
    await one.result('rescan', hash, [to], [], last);
    expect(await one.take(2)).toMatchObject([{ method: 'recvtx' }, { params: [hash, height - 1, {}] }]);
    await one.result('rescan', hash, [], []);
    expect(await one.take(1)).toMatchObject([{ method: 'rescanfinished', params: [last, height, time] }]);
    await node.rpc('sendtoaddress', [to, 1]);
    expect(await one.take(1)).toMatchObject([{ method: 'recvtx' }]);
  });

  it('report a mempool transaction that spends an output which a rescan found', async () => {
    const to = await address();
    await node.rpc('sendtoaddress', [to, 3]);
    const [hash] = await mine();
    const coins = await node.rpc<{ txid: string; vout: number; address: string }[]>('listunspent');
    const { txid, vout } = coins.find((coin) => coin.address === to)!;
    const raw = await node.rpc('createrawtransaction', [[{ txid, vout }], { [ADDRESS]: 2.99 }]);
    const { hex } = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', [raw]);
    await node.rpc('sendrawtransaction', [hex]);
    const one = await client();
    await one.result('rescan', hash, [to], []);
    expect(await one.take(3)).toMatchObject([
      { method: 'recvtx', params: [{}, { hash }] },
      { method: 'rescanfinished' },
      { method: 'redeemingtx', params: [hex] },
    ]);
    // With an end block, lbcd does not watch the outputs afterwards.
    await one.result('rescan', hash, [to], [], hash);
    await one.result('getblockcount');
    expect(one.notes).toEqual([]);
  });
});

it('do not block other clients while one client does not read', async () => {
  const slow = await client();
  const quick = await client();
  await quick.result('notifyblocks');
  slow.socket.pause();
  const texts = Array.from({ length: 1000 }, () => ADDRESS);
  const call = JSON.stringify({ jsonrpc: '1.0', id: 'slow', method: 'echo', params: texts.slice(0, 9) });
  for (let i = 0; i < 500; i++) slow.socket.send(call);
  const [hash] = await mine();
  expect(await quick.take(2)).toMatchObject([{ params: [hash, {}, {}] }, {}]);
  slow.socket.resume();
  await slow.untilTrue(() => slow.received.length === 500, 'all answers');
});
