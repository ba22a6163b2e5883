/**
 * The hub of a real node, used as lbry-sdk uses it: the calls of a first connection, histories that match their statuses,
 * notifications of blocks, mempool and reorganisations, errors, batches, and the status port.
 */
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hash160, sha256, sha256d } from '../../src/crypto/hash.js';
import { OutputsSchema } from '../../src/metadata/messages/result_pb.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatTransaction } from '../../src/primitives/transaction.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, hashToHex, toHex } from '../../src/util/bytes.js';
import { HubClient } from './support/hubClient.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';

/** Scripts that are always true. Anyone can spend an output that pays to the hash of one. */
const redeem = (n: number): Buffer => Buffer.of(0x50 + n);
const destination = (n: number) => ({ type: 'scripthash', hash: hash160(redeem(n)) }) as const;
const addressOf = (n: number): string => encodeDestination(destination(n), addressPrefixesOf(regtestParams));
const scriptHashOf = (n: number): string => hashToHex(sha256(scriptForDestination(destination(n))));
const FEE = 100_000n;
const COIN = 100_000_000n;
const HEADER_BYTES = 112;

type HistoryEntry = { tx_hash: string; height: number; fee?: number };
type Info = { block_height: number; merkle?: string[]; pos?: number };

/** The status that lbry-sdk computes from a history. */
function statusOf(history: readonly HistoryEntry[]): string | null {
  if (history.length === 0) return null;
  const text = history.map(({ tx_hash, height }) => `${tx_hash}:${height}:`).join('');
  return createHash('sha256').update(text).digest('hex');
}

/** The root that a branch leads to. */
function rootOf(leaf: string, branch: readonly string[], position: number): string {
  let hash: Buffer = hashFromHex(leaf);
  for (const [level, sibling] of branch.entries()) {
    const other = hashFromHex(sibling);
    hash = sha256d(Buffer.concat((position >> level) & 1 ? [other, hash] : [hash, other]));
  }
  return hashToHex(hash);
}

let node: RegtestNode;
let port: number;
const clients: HubClient[] = [];
const open = async (): Promise<HubClient> => {
  const client = await HubClient.open(port);
  clients.push(client);
  return client;
};

beforeAll(async () => {
  port = await freePort();
  node = await startRegtest({
    args: [
      '-hub',
      `-hubport=${port}`,
      '-hubcountry=FR',
      '-hubpeers=peer.example:50001',
      '-hubdropclient=Evil',
      '-hubdailyfee=1.1',
      `-hubpaymentaddress=${ADDRESS}`,
    ],
  });
  await node.rpc('generatetoaddress', [3, addressOf(1)]);
  await node.rpc('generatetoaddress', [103, ADDRESS]);
});
afterAll(() => node.stop());
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** Spends a whole output. The addresses get equal shares of `totalSat`. */
async function pay(txid: string, from: number, to: readonly number[], totalSat: bigint): Promise<string> {
  return node.rpc('sendrawtransaction', [toHex(spend(txid, from, to, totalSat)), true]);
}

function spend(txid: string, from: number, to: readonly number[], totalSat: bigint): Buffer {
  return formatTransaction({
    version: 2,
    inputs: [
      {
        prevout: { hash: hashFromHex(txid), index: 0 },
        scriptSig: Buffer.concat([Buffer.of(1), redeem(from)]),
        sequence: 0xffffffff,
        witness: [],
      },
    ],
    outputs: to.map((n) => ({
      value: totalSat / BigInt(to.length),
      script: scriptForDestination(destination(n)),
    })),
    lockTime: 0,
  });
}

const history = (client: HubClient, n: number): Promise<HistoryEntry[]> =>
  client.call('blockchain.address.get_history', [addressOf(n)]);

/** Waits for the notification whose status equals the status of the address's present history. Returns the history. */
async function reportedStatus(client: HubClient, n: number, before: number): Promise<HistoryEntry[]> {
  for (let from = before; ; from++) {
    await client.until(() => client.notifications.length > from);
    const { method, params } = client.notifications[from]!;
    if (method !== 'blockchain.address.subscribe' || params[0] !== addressOf(n)) continue;
    const entries = await history(client, n);
    if (statusOf(entries) === params[1]) return entries;
  }
}

describe('the first connect of lbry-sdk', () => {
  it('succeeds in its order', async () => {
    const client = await open();
    expect(await client.call('server.version', ['LBRY SDK 0.113.0', '0.113.0'])).toEqual([
      '0.107.0',
      '0.113.0',
    ]);
    expect(await client.call('server.features', [])).toEqual({
      hosts: {},
      pruning: null,
      server_version: '0.107.0',
      protocol_min: '0.54.0',
      protocol_max: '0.199.0',
      genesis_hash: '6e3fcf1299d4ec5d79c3a4c91d624a4acf9e2e173d95a1a0504f677669687556',
      description: '',
      payment_address: ADDRESS,
      donation_address: '',
      daily_fee: '1.1',
      hash_function: 'sha256',
      trending_algorithm: 'fast_ar',
    });
    expect(await client.call('server.peers.subscribe', [])).toEqual(['peer.example:50001']);
    const tip = await client.call<{ hex: string; height: number }>('blockchain.headers.subscribe', [true]);
    expect(tip.height).toBe(106);
    expect(tip.hex).toHaveLength(2 * HEADER_BYTES);

    const headers = await client.call<{ hex: string; count: number; max: number }>(
      'blockchain.block.headers',
      [0, 2001, 0, false],
    );
    expect(headers).toMatchObject({ count: 107, max: 40_960 });
    expect(headers.hex.slice(-2 * HEADER_BYTES)).toBe(tip.hex);
    expect(await client.call('blockchain.block.headers', [107, 2001, 0, false])).toEqual({
      hex: '',
      count: 0,
      max: 40_960,
    });
    const packed = await client.call<{ base64: string }>('blockchain.block.headers', [0, 1000, 0, true]);
    expect(inflateRawSync(Buffer.from(packed.base64, 'base64')).toString('hex')).toBe(headers.hex);

    const [mine, none] = await client.call<(string | null)[]>('blockchain.address.subscribe', [
      addressOf(1),
      addressOf(9),
    ]);
    expect(none).toBeNull();
    const entries = await history(client, 1);
    expect(entries.map(({ height }) => height)).toEqual([1, 2, 3]);
    expect(statusOf(entries)).toBe(mine);
    const txids = entries.map(({ tx_hash }) => tx_hash);
    const batch = await client.call<Record<string, [string, Info]>>(
      'blockchain.transaction.get_batch',
      txids,
    );
    expect(Object.keys(batch)).toEqual(txids);
    for (const { tx_hash, height } of entries) {
      const [raw, { block_height, merkle, pos }] = batch[tx_hash]!;
      expect(hashToHex(sha256d(Buffer.from(raw, 'hex')))).toBe(tx_hash);
      expect({ block_height, merkle, pos }).toEqual({ block_height: height, merkle: [], pos: 0 });
    }
    expect(await client.call('server.ping', [])).toBeNull();
  });

  it('gets the same status for an address and its script hash', async () => {
    const client = await open();
    const [status] = await client.call<string[]>('blockchain.address.subscribe', [addressOf(1)]);
    expect(await client.call('blockchain.scripthash.subscribe', [scriptHashOf(1)])).toBe(status);
  });
});

describe('notifications', () => {
  it('report an unconfirmed transaction, its block, and its removal', async () => {
    const client = await open();
    await client.call('blockchain.headers.subscribe', [true]);
    await client.call('blockchain.address.subscribe', [addressOf(1), addressOf(2), addressOf(3)]);
    const [coin] = await history(client, 1);
    let seen = client.notifications.length;
    const first = await pay(coin!.tx_hash, 1, [2], COIN - FEE);
    expect(await reportedStatus(client, 2, seen)).toEqual([{ tx_hash: first, height: 0, fee: Number(FEE) }]);
    seen = client.notifications.length;
    const second = await pay(first, 2, [3], COIN - 2n * FEE);
    expect(await reportedStatus(client, 3, seen)).toEqual([
      { tx_hash: second, height: -1, fee: Number(FEE) },
    ]);
    expect(await client.call('blockchain.address.get_mempool', [addressOf(2)])).toEqual([
      { tx_hash: first, height: 0, fee: Number(FEE) },
      { tx_hash: second, height: -1, fee: Number(FEE) },
    ]);
    expect(await client.call('blockchain.address.getbalance', [addressOf(2)])).toEqual({
      confirmed: 0,
      unconfirmed: 0,
    });
    expect(await client.call('blockchain.address.listunspent', [addressOf(3)])).toEqual([
      { tx_hash: second, tx_pos: 0, height: 0, value: Number(COIN - 2n * FEE) },
    ]);
    expect(await client.call('blockchain.transaction.info', [second])).toMatchObject([
      expect.any(String),
      { block_height: -1 },
    ]);
    expect(await client.call('blockchain.transaction.get_height', [second])).toBe(-1);

    seen = client.notifications.length;
    const [block] = await node.rpc<string[]>('generatetoaddress', [1, ADDRESS]);
    const confirmed = await reportedStatus(client, 3, seen);
    expect(confirmed).toEqual([{ tx_hash: second, height: 107 }]);
    const reported = client.notifications.slice(seen);
    // The header is notified once, before the addresses.
    expect(reported[0]).toMatchObject({ method: 'blockchain.headers.subscribe', params: [{ height: 107 }] });
    expect(reported.filter(({ method }) => method === 'blockchain.headers.subscribe')).toHaveLength(1);
    const { merkleroot } = await node.rpc<{ merkleroot: string }>('getblockheader', [block]);
    for (const txid of [first, second]) {
      const [, info] = await client.call<[string, Required<Info>]>('blockchain.transaction.info', [txid]);
      expect(info.block_height).toBe(107);
      expect(rootOf(txid, info.merkle, info.pos)).toBe(merkleroot);
      expect(await client.call('blockchain.transaction.get_merkle', [txid, 107])).toEqual(info);
    }

    // Disconnects a block, so that the changes of its transactions are undone.
    seen = client.notifications.length;
    await node.rpc('invalidateblock', [block]);
    expect(await reportedStatus(client, 3, seen)).toEqual([
      { tx_hash: second, height: -1, fee: Number(FEE) },
    ]);
    await node.rpc('generatetoaddress', [1, addressOf(9)]);
    expect(await reportedStatus(client, 3, seen)).toEqual([{ tx_hash: second, height: 107 }]);
    // Clients are not notified of a tip that is not higher than the previous one. They are notified of the next one.
    const [higher] = await node.rpc<string[]>('generatetoaddress', [1, addressOf(9)]);
    await client.reported(
      'blockchain.headers.subscribe',
      ([header]) => (header as { height: number }).height === 108,
    );
    const heads = client.notifications
      .slice(seen)
      .filter(({ method }) => method === 'blockchain.headers.subscribe');
    expect(heads).toHaveLength(1);
    expect(await node.rpc('getblockhash', [108])).toBe(higher);
  });

  it('report an address that only disconnected blocks touched', async () => {
    const client = await open();
    const [block] = await node.rpc<string[]>('generatetoaddress', [1, addressOf(4)]);
    await client.call('blockchain.headers.subscribe', [true]);
    const [status] = await client.call<string[]>('blockchain.address.subscribe', [addressOf(4)]);
    expect(statusOf(await history(client, 4))).toBe(status);
    await node.rpc('invalidateblock', [block]);
    // An earlier notification about the confirmation may arrive before this one.
    const [address] = await client.reported(
      'blockchain.address.subscribe',
      ([, reported]) => reported === null,
    );
    expect(address).toBe(addressOf(4));
    expect(await history(client, 4)).toEqual([]);
    await node.rpc('reconsiderblock', [block]);
    await client.reported('blockchain.address.subscribe', ([, reported]) => reported === status);
  });

  it('are not sent after an unsubscribe', async () => {
    const client = await open();
    await client.call('blockchain.address.subscribe', [addressOf(5), addressOf(6)]);
    expect(await client.call('blockchain.address.unsubscribe', [addressOf(5)])).toBeNull();
    expect(await client.call('blockchain.address.unsubscribe', [addressOf(7)])).toBeNull();
    await node.rpc('generatetoaddress', [1, addressOf(5)]);
    await node.rpc('generatetoaddress', [1, addressOf(6)]);
    await client.reported('blockchain.address.subscribe', ([address]) => address === addressOf(6));
    expect(client.notifications.map(({ params }) => params[0])).not.toContain(addressOf(5));
  });
});

describe('broadcasts', () => {
  it("return the id, and the node's message for a rejected transaction", async () => {
    const client = await open();
    const [, , coin] = await history(client, 1);
    const raw = spend(coin!.tx_hash, 1, [8], COIN - FEE).toString('hex');
    await client.call('blockchain.address.subscribe', [addressOf(8)]);
    const txid = await client.call<string>('blockchain.transaction.broadcast', [raw]);
    expect(await reportedStatus(client, 8, 0)).toEqual([{ tx_hash: txid, height: 0, fee: Number(FEE) }]);
    expect(await client.refusal('blockchain.transaction.broadcast', ['00'])).toEqual({
      code: 1,
      message: 'the transaction was rejected by network rules.\n\nTX decode failed\n[00]',
    });
    const double = spend(coin!.tx_hash, 1, [9], COIN - FEE).toString('hex');
    expect((await client.refusal('blockchain.transaction.broadcast', [double])).message).toContain(
      'txn-mempool-conflict',
    );
  });
});

describe('errors', () => {
  it('have the codes and words of the reference', async () => {
    const client = await open();
    const cases: [string, unknown[] | object, number, string][] = [
      ['nosuch.method', [], -32601, 'unknown method "nosuch.method"'],
      ['blockchain.address.subscribe', ['nope'], 1, 'nope is not a valid address'],
      ['blockchain.scripthash.get_history', ['ab'], 1, 'ab is not a valid script hash'],
      ['blockchain.block.headers', [-1, 5], 1, '-1 should be a non-negative integer'],
      [
        'blockchain.block.headers',
        [0, 3, 100_000],
        1,
        'require header height 2 <= cp_height 100,000 <= chain height',
      ],
      ['blockchain.headers.subscribe', ['x'], 1, 'x should be a boolean value'],
      ['blockchain.block.get_header', [1_000_000], 1, 'height 1,000,000 out of range'],
      ['blockchain.transaction.info', ['00'.repeat(32)], 1, 'No such mempool or blockchain transaction.'],
      ['server.ping', [1], -32603, 'internal server error'],
    ];
    for (const [method, params, code, message] of cases) {
      const refused = await client.refusal(method, params);
      expect({ ...refused, message: refused.message.slice(0, message.length) }).toEqual({ code, message });
    }
    const many = await open();
    const ids = Array.from({ length: 101 }, (_, n) => n.toString(16).padStart(64, '0'));
    expect(await many.refusal('blockchain.transaction.get_batch', ids)).toEqual({
      code: 1,
      message: 'too many tx hashes in request: 101',
    });
    expect(await many.call('blockchain.transaction.get_batch', ids.slice(1, 2))).toEqual({
      [ids[1]!]: [null, { block_height: -1 }],
    });
    const addresses = Array.from({ length: 1001 }, () => ADDRESS);
    expect((await many.refusal('blockchain.address.subscribe', addresses)).message).toBe(
      'too many addresses in subscription request: 1001',
    );
    expect(await many.refusal('blockchain.claimtrie.getclaimbyid', ['ab'])).toEqual({
      code: -32603,
      message: 'internal server error',
    });
  });

  it('close the connection after ten, except those that honest clients get', async () => {
    const client = await open();
    for (let n = 0; n < 20; n++) await client.refusal('blockchain.transaction.info', ['00'.repeat(32)]);
    for (let n = 0; n < 10; n++) await client.refusal('nosuch', []);
    await client.closed;
  });

  it('do not close the connection for an unpaired surrogate, which is read as U+FFFD', async () => {
    const client = await open();
    client.socket.write('{"id": "a\\ud800", "method": "no\\udc00such"}\n');
    expect(await client.nextLine()).toMatchObject({
      error: { code: -32601, message: 'unknown method "no\ufffdsuch"' },
      id: 'a\ufffd',
    });
    expect(await client.call('server.ping', [])).toBe(null);
  });

  it('close it at once for invalid JSON, and for refused clients', async () => {
    const client = await open();
    client.socket.write('{"jsonrpc": \n');
    expect(await client.nextLine()).toEqual({
      jsonrpc: '2.0',
      error: { code: -32700, message: 'invalid JSON' },
      id: null,
    });
    await client.closed;
    const broken = await open();
    broken.socket.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
    expect(await broken.nextLine()).toMatchObject({
      error: { code: -32700, message: 'messages must be encoded in UTF-8' },
    });
    const evil = await open();
    expect(await evil.refusal('server.version', ['Evil 1', '0.113.0'])).toEqual({
      code: 1,
      message: 'unsupported client: Evil 1',
    });
    await evil.closed;
  });
});

describe('messages', () => {
  it('may come in batches, with names for parameters, and in the older form', async () => {
    const client = await open();
    client.send([
      { jsonrpc: '2.0', method: 'server.ping', id: 'a' },
      { jsonrpc: '2.0', method: 'server.ping' },
      7,
      { jsonrpc: '2.0', method: 'blockchain.block.get_header', params: { height: 0 }, id: 2 },
    ]);
    expect(await client.nextLine()).toEqual([
      { jsonrpc: '2.0', result: null, id: 'a' },
      { jsonrpc: '2.0', error: { code: -32600, message: 'request object must be a dictionary' }, id: null },
      { jsonrpc: '2.0', result: expect.objectContaining({ block_height: 0 }) as unknown, id: 2 },
    ]);
    client.send([]);
    expect(await client.nextLine()).toMatchObject({ error: { code: -32600, message: 'batch is empty' } });

    const old = await open();
    old.send({ jsonrpc: '1.0', method: 'server.ping', params: [], id: [1] });
    expect(await old.nextLine()).toEqual({ result: null, error: null, id: [1] });
    const loose = await open();
    loose.send({ method: 'server.ping', id: 1 });
    expect(await loose.nextLine()).toEqual({ jsonrpc: '2.0', result: null, id: 1 });
  });
});

describe('claims', () => {
  it('are answered as protobuf in base64', async () => {
    const client = await open();
    const name = 'hub-test';
    const rows = async (url: string) =>
      fromBinary(
        OutputsSchema,
        Buffer.from(await client.call<string>('blockchain.claimtrie.resolve', [url]), 'base64'),
      ).txos;
    expect((await rows(name))[0]!.meta).toMatchObject({
      case: 'error',
      value: { code: 1, text: `Could not find claim at "${name}".` },
    });
    expect((await rows('what?'))[0]!.meta).toMatchObject({ value: { code: 2, text: 'Invalid LBRY URL' } });
  });
});

describe('searches', () => {
  it('accept lists of up to 2,048 items', async () => {
    const client = await open();
    const ids = Array.from({ length: 2049 }, (_, n) => n.toString(16).padStart(40, '0'));
    const search = (length: number): Promise<string> =>
      client.call('blockchain.claimtrie.search', { not_channel_ids: ids.slice(0, length) });
    expect(fromBinary(OutputsSchema, Buffer.from(await search(2048), 'base64')).txos).toEqual([]);
    const refused = client.refusal('blockchain.claimtrie.search', { not_channel_ids: ids });
    // Other calls of the same client are answered meanwhile.
    expect(await client.call('server.ping')).toBeNull();
    expect(await refused).toEqual({ code: 1, message: 'not_channel_ids cant have more than 2048 items.' });
  });
});

describe('the status port', () => {
  /** Sends a datagram. Resolves with the answer. */
  function ask(ping: Buffer): Promise<Buffer> {
    const socket = createSocket('udp4');
    return new Promise<Buffer>((resolve) => {
      socket.once('message', resolve);
      socket.send(ping, port, '127.0.0.1');
    }).finally(() => socket.close());
  }

  it('reports height, tip and country', async () => {
    const ping = Buffer.alloc(69);
    ping.writeInt32BE(1_446_058_291);
    ping.writeUInt8(1, 4);
    const pong = await ask(ping);
    const { blocks, bestblockhash } = await node.rpc<{ blocks: number; bestblockhash: string }>(
      'getblockchaininfo',
    );
    expect(pong).toHaveLength(44);
    expect([pong[0], pong[1]]).toEqual([1, 1]);
    expect(pong.readUInt32BE(2)).toBe(blocks);
    expect(hashToHex(pong.subarray(6, 38))).toBe(bestblockhash);
    expect([...pong.subarray(38, 42)]).toEqual([127, 0, 0, 1]);
    expect(pong.readUInt16BE(42)).toBe(76);
  });
});

describe('other hubs', () => {
  it('added at runtime are reported to subscribers', async () => {
    const [client, other] = [await open(), await open()];
    const known = await client.call('server.peers.subscribe');
    expect(known).toEqual(['peer.example:50001']);
    await other.call('server.ping');
    await node.rpc('addhub', ['late.example']);
    await node.rpc('addhub', ['127.0.0.1:9988', 'add']);
    await client.reported('blockchain.peers.subscribe', ([peer]) => peer === '127.0.0.1:9988');
    expect(client.notifications).toEqual([
      { jsonrpc: '2.0', method: 'blockchain.peers.subscribe', params: ['late.example:50001'] },
      { jsonrpc: '2.0', method: 'blockchain.peers.subscribe', params: ['127.0.0.1:9988'] },
    ]);
    await node.rpc('addhub', ['late.example:50001', 'remove']);
    expect(await other.call('server.peers.subscribe')).toEqual(['peer.example:50001', '127.0.0.1:9988']);
    expect(other.notifications).toEqual([]);
    await expect(node.rpc('addhub', ['127.0.0.1:9988'])).rejects.toMatchObject({ code: -23 });
    await expect(node.rpc('addhub', ['late.example', 'remove'])).rejects.toMatchObject({ code: -24 });
    for (const bad of ['', 'a b', '[::1]:50001', '::1', 'host:port'])
      await expect(node.rpc('addhub', [bad])).rejects.toMatchObject({ code: -8 });
    await expect(node.rpc('addhub', ['c.example', 'onetry'])).rejects.toMatchObject({ code: -8 });
  });
});

describe('an unknown country', () => {
  it('ends the start before the chain is opened', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'lbcnode-hub-'));
    try {
      const args = ['-hub', '-hubcountry=XX'];
      await expect(startRegtest({ dataDir, args })).rejects.toThrow(
        'Error: Unknown country in -hubcountry: XX',
      );
      expect(existsSync(join(dataDir, 'regtest'))).toBe(true);
      for (const name of ['blocks', 'wallets', 'claimsearch.sqlite'])
        expect(existsSync(join(dataDir, 'regtest', name)), name).toBe(false);
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });
});

describe('gethubinfo', () => {
  it('returns clients, their requests and the block up to which they are served', async () => {
    const client = await open();
    await client.call('blockchain.headers.subscribe', [true]);
    await client.call('blockchain.address.subscribe', [addressOf(1), addressOf(2)]);
    await client.refusal('blockchain.block.get_header', [1_000_000]);
    await node.rpc('generatetoaddress', [1, addressOf(9)]);
    await client.reported('blockchain.headers.subscribe');
    await expect
      .poll(async () => {
        const { height, tip_height } = await node.rpc<Record<string, number>>('gethubinfo');
        return tip_height! - height!;
      })
      .toBe(0);
    const reported = () => node.rpc<Record<string, unknown>>('gethubinfo');
    // A request may still count as running for a moment after its answer.
    await expect.poll(reported).toMatchObject({
      listening: true,
      address: '127.0.0.1',
      port,
      udp_port: port,
      sessions: 1,
      max_sessions: 1000,
      stalled: 0,
      unsent_bytes: 0,
      subscriptions: 2,
      running: 0,
      waiting: 0,
    });
    const info = await reported();
    const { methods, notifications } = info as { methods: object; notifications: object };
    expect(methods).toMatchObject({ unknown: { errors: expect.any(Number) as number } });
    expect(methods).toHaveProperty(['blockchain.block.get_header', 'errors'], expect.any(Number));
    expect(notifications).toHaveProperty(['blockchain.headers.subscribe'], expect.any(Number));
  });
});

describe('/health', () => {
  it('reports the hub', async () => {
    await open();
    const { blocks } = await node.rpc<{ blocks: number }>('getblockchaininfo');
    const answer = await fetch(`http://127.0.0.1:${node.rpcPort}/health`);
    expect(await answer.json()).toMatchObject({
      hub: { listening: true, height: blocks, sessions: 1, maxsessions: 1000, waiting: 0 },
    });
  });
});
