/** REST, health and metrics of a real node. The test parses binary answers with its own code. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, OPEN_ADDRESS, spendCoinbase, startPeer } from './support/network.js';
import { startRegtest, type RegtestNode } from './support/node.js';

interface Answer {
  status: number;
  type: string | null;
  bytes: Buffer;
  text: string;
}

async function ask(node: RegtestNode, path: string, body?: Buffer | string): Promise<Answer> {
  const answer = await fetch(
    `http://127.0.0.1:${node.rpcPort}${path}`,
    body === undefined
      ? {}
      : { method: 'POST', body: typeof body === 'string' ? body : Uint8Array.from(body) },
  );
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, type: answer.headers.get('content-type'), bytes, text: bytes.toString() };
}

const HEIGHT = 110;

describe('REST', () => {
  let node: RegtestNode;
  /** An unconfirmed transaction that spends the coinbase of block 1. */
  let sent: string;
  let sentHex: string;
  beforeAll(async () => {
    node = await startRegtest({ args: ['-rest'] });
    await node.rpc('generatetoaddress', [HEIGHT, OPEN_ADDRESS]);
    sentHex = await spendCoinbase(node, 1);
    sent = await node.rpc('sendrawtransaction', [sentHex]);
  });
  afterAll(() => node.stop());

  const hashAt = (height: number): Promise<string> => node.rpc('getblockhash', [height]);
  const coinbaseAt = async (height: number): Promise<string> =>
    (await node.rpc<{ tx: string[] }>('getblock', [await hashAt(height)])).tx[0]!;

  /** Requests the path in all three formats. Compares the bytes with the hex. Returns bytes and object. */
  async function inAllFormats(path: string): Promise<{ bytes: Buffer; json: unknown }> {
    const [bin, hex, json] = await Promise.all(
      ['bin', 'hex', 'json'].map((format) => ask(node, `${path}.${format}`)),
    );
    expect([bin!.status, hex!.status, json!.status]).toEqual([200, 200, 200]);
    expect([bin!.type, hex!.type, json!.type]).toEqual([
      'application/octet-stream',
      'text/plain',
      'application/json',
    ]);
    expect(hex!.text).toBe(`${bin!.bytes.toString('hex')}\n`);
    expect(json!.text.endsWith('\n')).toBe(true);
    return { bytes: bin!.bytes, json: JSON.parse(json!.text) };
  }

  it('returns blocks by hash, by height and by the tip', async () => {
    const hash = await hashAt(5);
    const { bytes, json } = await inAllFormats(`/rest/block/${hash}`);
    expect(bytes.toString('hex')).toBe(await node.rpc('getblock', [hash, 0]));
    expect(json).toEqual(await node.rpc('getblock', [hash, 2]));
    const brief = await inAllFormats(`/rest/block/notxdetails/${hash}`);
    expect(brief.bytes.equals(bytes)).toBe(true);
    expect(brief.json).toEqual(await node.rpc('getblock', [hash, 1]));
    expect((await inAllFormats('/rest/block/5')).json).toEqual(json);
    expect((await inAllFormats(`/rest/block/${5 - HEIGHT}`)).json).toEqual(json);
    expect((await inAllFormats('/rest/block/tip')).json).toMatchObject({ height: HEIGHT });
  });

  it('returns the headers from a block upwards', async () => {
    const { bytes, json } = await inAllFormats(`/rest/headers/2000/${await hashAt(HEIGHT - 2)}`);
    const hashes = await Promise.all([HEIGHT - 2, HEIGHT - 1, HEIGHT].map(hashAt));
    expect(json).toEqual(await Promise.all(hashes.map((hash) => node.rpc('getblockheader', [hash]))));
    const headers = await Promise.all(
      hashes.map((hash) => node.rpc<string>('getblockheader', [hash, false])),
    );
    expect(bytes.toString('hex')).toBe(headers.join(''));
    expect((await ask(node, `/rest/headers/1/${'ab'.repeat(32)}.json`)).text).toBe('[]\n');
  });

  it('returns confirmed and unconfirmed transactions', async () => {
    const unconfirmed = await inAllFormats(`/rest/tx/${sent}`);
    expect(unconfirmed.bytes.toString('hex')).toBe(sentHex);
    expect(unconfirmed.json).toMatchObject({ txid: sent, hex: sentHex });
    expect(unconfirmed.json).not.toHaveProperty('blockhash');
    const confirmed = await inAllFormats(`/rest/tx/${await coinbaseAt(2)}`);
    expect(confirmed.json).toMatchObject({
      blockhash: await hashAt(2),
      hex: confirmed.bytes.toString('hex'),
    });
  });

  it('returns the state of chain and mempool', async () => {
    const json = async (path: string): Promise<unknown> => JSON.parse((await ask(node, path)).text);
    expect(await json('/rest/chaininfo.json')).toMatchObject({
      blocks: HEIGHT,
      bestblockhash: await hashAt(HEIGHT),
    });
    expect(await json('/rest/mempool/info.json')).toMatchObject({ size: 1, bytes: sentHex.length / 2 });
    expect(await json('/rest/mempool/contents.json')).toEqual(await node.rpc('getrawmempool', [true]));
  });

  describe('of unspent outputs', () => {
    /** Parses the answer: height, tip, a bitmap of the found outputs, and a list of these. */
    function parse(bytes: Buffer): { height: number; tip: string; bitmap: number[]; heights: number[] } {
      const [mapLength, found] = [bytes[36]!, bytes[37 + bytes[36]!]!];
      const heights: number[] = [];
      let at = 38 + mapLength;
      for (let i = 0; i < found; i++) {
        expect(bytes.readUInt32LE(at)).toBe(0);
        heights.push(bytes.readUInt32LE(at + 4));
        at += 17 + bytes[at + 16]!;
      }
      expect(at).toBe(bytes.length);
      return {
        height: bytes.readInt32LE(0),
        tip: Buffer.from(bytes.subarray(4, 36)).reverse().toString('hex'),
        bitmap: [...bytes.subarray(37, 37 + mapLength)],
        heights,
      };
    }

    const outPoint = (txid: string, n: number): Buffer => {
      const bytes = Buffer.from(`${txid}00000000`, 'hex');
      bytes.subarray(0, 32).reverse();
      bytes.writeUInt32LE(n, 32);
      return bytes;
    };

    it('returns the outputs in the path, with and without the mempool', async () => {
      const [spent, other] = [await coinbaseAt(1), await coinbaseAt(2)];
      const names = `${spent}-0/${other}-0/${other}-1/${sent}-0`;
      const plain = await inAllFormats(`/rest/getutxos/${names}`);
      expect(plain.json).toMatchObject({ chainHeight: HEIGHT, bitmap: '1100' });
      expect(parse(plain.bytes)).toEqual({
        height: HEIGHT,
        tip: await hashAt(HEIGHT),
        bitmap: [0b0011],
        heights: [1, 2],
      });
      const withMempool = await inAllFormats(`/rest/getutxos/checkmempool/${names}`);
      expect(withMempool.json).toMatchObject({
        bitmap: '0101',
        utxos: [
          { height: 2, value: 1, scriptPubKey: { type: 'scripthash' } },
          { height: 0x7fffffff, value: 0.99999 },
        ],
      });
      expect(parse(withMempool.bytes)).toMatchObject({ bitmap: [0b1010], heights: [2, 0x7fffffff] });
    });

    it('returns the outputs of a POST request', async () => {
      const asked = [outPoint(await coinbaseAt(1), 0), outPoint(sent, 0)];
      for (const [checksMempool, bitmap, heights] of [
        [0, 0b01, [1]],
        [1, 0b10, [0x7fffffff]],
      ] as const) {
        const body = Buffer.concat([Buffer.of(checksMempool, asked.length), ...asked]);
        const binary = await ask(node, '/rest/getutxos.bin', body);
        expect(parse(binary.bytes)).toMatchObject({ bitmap: [bitmap], heights });
        const hex = await ask(node, '/rest/getutxos.hex', body.toString('hex'));
        expect(hex.text).toBe(`${binary.bytes.toString('hex')}\n`);
      }
      const bare = await ask(node, '/rest/getutxos.bin', Buffer.concat([Buffer.of(1), asked[1]!]));
      expect(parse(bare.bytes)).toMatchObject({ bitmap: [1], heights: [0x7fffffff] });
    });

    it('refuses too many outputs and malformed requests', async () => {
      const name = `${sent}-0`;
      const refusal = async (path: string, body?: Buffer): Promise<unknown[]> => {
        const { status, text } = await ask(node, path, body);
        return [status, text];
      };
      const many = Array.from({ length: 16 }, () => name).join('/');
      expect(await refusal(`/rest/getutxos/${many}.json`)).toEqual([
        400,
        'Error: max outpoints exceeded (max: 15, tried: 16)\r\n',
      ]);
      expect(await refusal('/rest/getutxos/checkmempool.json')).toEqual([400, 'Error: empty request\r\n']);
      expect(await refusal(`/rest/getutxos/${sent}-x.json`)).toEqual([400, 'Parse error\r\n']);
      expect(await refusal('/rest/getutxos.bin', Buffer.of(1, 1, 1))).toEqual([400, 'Parse error\r\n']);
      // REST requires no password, so a request must not occupy much memory.
      expect(await refusal('/rest/getutxos.bin', Buffer.alloc(1 << 20, 1))).toEqual([
        413,
        'Request body is too large',
      ]);
      expect(await refusal(`/rest/getutxos/${name}.bin`, Buffer.of(0))).toEqual([
        400,
        'Combination of URI scheme inputs and raw post data is not allowed\r\n',
      ]);
    });
  });

  it.each([
    ['/rest/block/0.json', 400, 'Invalid hash or block height: 0'],
    [`/rest/block/${HEIGHT + 1}.json`, 400, `Invalid hash or block height: ${HEIGHT + 1}`],
    [`/rest/block/-${HEIGHT}.json`, 404, `-${HEIGHT} not found`],
    [`/rest/block/${'0'.repeat(64)}.bin`, 404, `${'0'.repeat(64)} not found`],
    ['/rest/block/tip', 404, 'output format not found (available: .bin, .hex, .json)'],
    ['/rest/tx/xyz.json', 400, 'Invalid hash: xyz'],
    [`/rest/tx/${'0'.repeat(64)}.json`, 404, `${'0'.repeat(64)} not found`],
    ['/rest/headers/5.json', 400, 'No header count specified. Use /rest/headers/<count>/<hash>.<ext>.'],
    [`/rest/headers/2001/${'0'.repeat(64)}.json`, 400, 'Header count out of range: 2001'],
    ['/rest/headers/1/xyz.json', 400, 'Invalid hash: xyz'],
    [`/rest/headers/1/${'0'.repeat(64)}`, 404, 'output format not found (available: .bin, .hex)'],
    ['/rest/chaininfo.hex', 404, 'output format not found (available: json)'],
  ])('refuses %s', async (path, status, message) => {
    expect(await ask(node, path)).toMatchObject({ status, type: 'text/plain', text: `${message}\r\n` });
  });

  it('reports its health, and serves no metrics without the option', async () => {
    const health = await ask(node, '/health');
    expect(health.status).toBe(200);
    expect(JSON.parse(health.text)).toEqual({
      status: 'ok',
      height: HEIGHT,
      headers: HEIGHT,
      initialblockdownload: false,
      peers: 0,
    });
    expect((await ask(node, '/metrics')).status).toBe(404);
  });
});

describe('metrics', () => {
  let nodes: RegtestNode[] = [];
  beforeAll(async () => {
    nodes = [await startPeer({ args: ['-metrics'] }), await startPeer()];
  });
  afterAll(() => Promise.all(nodes.map((node) => node.stop())));

  it('follow chain, mempool, peers and calls', async () => {
    const [node, peer] = nodes as [RegtestNode, RegtestNode];
    await node.rpc('generatetoaddress', [105, OPEN_ADDRESS]);
    await node.rpc('sendrawtransaction', [await spendCoinbase(node, 1)]);
    await node.rpc('invalidateblock', [await node.rpc('getbestblockhash')]);
    await connect(peer, node);
    await node.rpc('getblockhash', [1000]).catch(() => undefined);
    await node.rpc('nosuchmethod').catch(() => undefined);
    const answer = await ask(node, '/metrics');
    expect([answer.status, answer.type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const values = new Map(
      answer.text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => [line.slice(8, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
    expect(Object.fromEntries(values)).toMatchObject({
      chain_height: 104,
      chain_blocks_disconnected_total: 1,
      chain_reorgs_total: 1,
      mempool_transactions: 1,
      mempool_accepted_total: 1,
      'peers{direction="inbound"}': 1,
      'peers{direction="outbound"}': 0,
      'rpc_duration_seconds_count{method="generatetoaddress"}': 1,
      'rpc_errors_total{method="getblockhash"}': 1,
    });
    for (const name of [
      'chain_connect_step_seconds_count{step="scripts"}',
      'coin_cache_entries',
      'peer_sent_bytes_total{message="version"}',
      'peer_received_bytes_total{message="version"}',
      'process_resident_memory_bytes',
    ])
      expect(values.get(name), name).toBeGreaterThan(0);
    expect(answer.text).not.toContain('nosuchmethod');
    // Without -rest there is none.
    expect((await ask(node, '/rest/chaininfo.json')).status).toBe(404);
  });
});
