/**
 * Compares the answers of the hub's methods, field by field, with the node's RPC: headers, transactions, script hashes, the
 * features of the server, and the errors of each method. `hub.test.ts` tests the sequences of calls that wallets make.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sha256, sha256d } from '../../src/crypto/hash.js';
import { formatTransaction } from '../../src/primitives/transaction.js';
import { buildClaimPrefix } from '../../src/script/claimScript.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, hashToHex, toHex } from '../../src/util/bytes.js';
import { HubClient } from './support/hubClient.js';
import { OPEN, OPEN_ADDRESS } from './support/network.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';

const HEIGHT = 130;
const OPEN_SCRIPT = scriptForDestination(OPEN);
const OPEN_HASH = hashToHex(sha256(OPEN_SCRIPT));
const COIN_SAT = 100_000_000n;
const FEE_SAT = 1_000_000n;

const folder = mkdtempSync(join(tmpdir(), 'lbcnode-hubmethods-'));
let node: RegtestNode;
let port: number;
let client: HubClient;
const clients: HubClient[] = [];

async function open(): Promise<HubClient> {
  const opened = await HubClient.open(port);
  clients.push(opened);
  return opened;
}

beforeAll(async () => {
  port = await freePort();
  const banner = join(folder, 'banner.txt');
  writeFileSync(
    banner,
    '$SERVER_VERSION|$DAEMON_VERSION|$DAEMON_SUBVERSION|$PAYMENT_ADDRESS|$DONATION_ADDRESS',
  );
  const says = [`-hubbanner=${banner}`, `-hubdonationaddress=${ADDRESS}`, '-hubdescription=of a test'];
  node = await startRegtest({ args: ['-hub', `-hubport=${port}`, '-hubudpport=0', ...says] });
  await node.rpc('generatetoaddress', [3, OPEN_ADDRESS]);
  await node.rpc('generatetoaddress', [HEIGHT - 3, ADDRESS]);
  client = await HubClient.open(port);
});
afterAll(async () => {
  await client.close();
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  for (const opened of clients.splice(0)) await opened.close();
});

/** The header in the format of Electrum servers, computed from the node's answer. */
async function electrumHeader(height: number): Promise<object> {
  const hash = await node.rpc<string>('getblockhash', [height]);
  const header = await node.rpc<Record<string, unknown>>('getblockheader', [hash]);
  return {
    version: header['version'],
    prev_block_hash: header['previousblockhash'],
    merkle_root: header['merkleroot'],
    claim_trie_root: header['nameclaimroot'],
    timestamp: header['time'],
    bits: Number.parseInt(header['bits'] as string, 16),
    nonce: header['nonce'],
    block_height: height,
  };
}

const rawHeader = async (height: number): Promise<string> =>
  node.rpc('getblockheader', [await node.rpc('getblockhash', [height]), false]);

async function rawHeaders(from: number, count: number): Promise<string> {
  const headers: string[] = [];
  for (let height = from; height < from + count; height++) headers.push(await rawHeader(height));
  return headers.join('');
}

describe('headers', () => {
  it('are returned whole or in parts, one by one or in chunks', async () => {
    const other = await open();
    expect(await other.call('blockchain.headers.subscribe')).toEqual(await electrumHeader(HEIGHT));
    expect(await other.call('blockchain.headers.subscribe', { raw: true })).toEqual({
      hex: await rawHeader(HEIGHT),
      height: HEIGHT,
    });
    expect(await other.call('blockchain.headers.subscribe', [0])).toEqual(await electrumHeader(HEIGHT));
    expect(await other.call('blockchain.block.get_header', ['7'])).toEqual(await electrumHeader(7));
    expect(await other.call('blockchain.block.get_server_height')).toBe(HEIGHT);
    expect(await other.call('blockchain.block.get_chunk', [0])).toBe(await rawHeaders(0, 96));
    expect(await other.call('blockchain.block.get_chunk', [1])).toBe(await rawHeaders(96, HEIGHT + 1 - 96));
    expect(await other.call('blockchain.block.get_chunk', [2])).toBe('');
    expect(await other.call('blockchain.block.headers', [HEIGHT + 1, 5, 0, true])).toEqual({
      base64: '',
      count: 0,
      max: 40_960,
    });
  });

  it('are proven by a branch to the root of all headers up to a checkpoint', async () => {
    const hashes: Buffer[] = [];
    for (let height = 0; height <= 100; height++)
      hashes.push(hashFromHex(await node.rpc<string>('getblockhash', [height])));
    let level = hashes;
    while (level.length > 1) {
      const above: Buffer[] = [];
      for (let n = 0; n < level.length; n += 2)
        above.push(sha256d(Buffer.concat([level[n]!, level[n + 1] ?? level[n]!])));
      level = above;
    }
    const answer = await client.call<{
      hex: string;
      count: number;
      max: number;
      branch: string[];
      root: string;
    }>('blockchain.block.headers', { start_height: 30, count: 8, cp_height: 100 });
    const { branch, root, ...headers } = answer;
    expect(headers).toEqual({ hex: await rawHeaders(30, 8), count: 8, max: 40_960 });
    expect(root).toBe(hashToHex(level[0]!));
    // The proof is that of the last header.
    const proven = branch.map(hashFromHex).reduce((hash, sibling, n) => {
      const isRight = (37 >> n) & 1;
      return sha256d(Buffer.concat(isRight ? [sibling, hash] : [hash, sibling]));
    }, hashes[37]!);
    expect(hashToHex(proven)).toBe(root);
  });
});

describe('transactions and scripts', () => {
  let coinbases: string[];
  beforeAll(async () => {
    const history = await client.call<{ tx_hash: string }[]>('blockchain.address.get_history', [
      OPEN_ADDRESS,
    ]);
    coinbases = history.map(({ tx_hash }) => tx_hash);
  });

  const claim = (coinbase: string): string => {
    const value = COIN_SAT - FEE_SAT;
    const scripts = [
      Buffer.concat([buildClaimPrefix(Buffer.from('n'), Buffer.of(1)), OPEN_SCRIPT]),
      OPEN_SCRIPT,
    ];
    return toHex(
      formatTransaction({
        version: 2,
        inputs: [
          {
            prevout: { hash: hashFromHex(coinbase), index: 0 },
            scriptSig: Buffer.of(1, 0x51),
            sequence: 0xfffffffe,
            witness: [],
          },
        ],
        outputs: scripts.map((script) => ({ value: value / 2n, script })),
        lockTime: 5,
      }),
    );
  };

  it('are also returned in the hub’s own format', async () => {
    const txid = coinbases[0]!;
    const raw = await node.rpc<string>('getrawtransaction', [txid]);
    expect(await client.call('blockchain.transaction.get', [txid])).toBe(raw);
    expect(await client.call('blockchain.transaction.get', { txid, verbose: false })).toBe(raw);
    const { vout, vin, locktime, version, size } = await node.rpc<{
      vout: { value: number; n: number; scriptPubKey: { hex: string } }[];
      vin: { coinbase: string; sequence: number }[];
      locktime: number;
      version: number;
      size: number;
    }>('decoderawtransaction', [raw]);
    expect(await client.call('blockchain.transaction.get', [txid, true])).toEqual({
      txid,
      hash: txid,
      version,
      size,
      vsize: size,
      weight: null,
      locktime,
      vin: vin.map(({ coinbase, sequence }) => ({
        txid: '00'.repeat(32),
        vout: 0xffffffff,
        scriptSig: { asm: null, hex: coinbase },
        sequence,
      })),
      vout: vout.map(({ value, n, scriptPubKey: { hex } }) => ({
        value,
        n,
        scriptPubKey: {
          asm: null,
          hex,
          reqSigs: 1,
          type: 'scripthash',
          addresses: n === 0 ? [OPEN_ADDRESS] : expect.any(Array),
        },
      })),
      hex: raw,
    });
  });

  it('have a position in a block, or none', async () => {
    const txid = coinbases[1]!;
    const place = { block_height: 2, merkle: [], pos: 0 };
    expect(await client.call('blockchain.transaction.get_merkle', [txid, 77])).toEqual(place);
    expect(await client.call('blockchain.transaction.info', { tx_hash: txid })).toEqual([
      await node.rpc('getrawtransaction', [txid]),
      place,
    ]);
    expect(await client.call('blockchain.transaction.get_height', [txid])).toBe(2);
    const unknown = 'ab'.repeat(32);
    expect(await client.call('blockchain.transaction.get_height', [unknown])).toBe(-2);
    expect(await client.refusal('blockchain.transaction.get', [unknown])).toEqual({
      code: 1,
      message: 'No such mempool or blockchain transaction.',
    });
    expect(await client.refusal('blockchain.transaction.get_merkle', [unknown, 1234])).toEqual({
      code: 1,
      message: `tx hash ${unknown} not in block at height 1,234`,
    });
    expect(await client.call('blockchain.transaction.get_batch', [txid, unknown])).toEqual({
      [txid]: [await node.rpc('getrawtransaction', [txid]), place],
      [unknown]: [null, { block_height: -1 }],
    });
  });

  it('are found by script hashes like by addresses, including the mempool', async () => {
    const entries = coinbases.map((tx_hash, n) => ({ tx_hash, height: n + 1 }));
    const coins = entries.map((entry) => ({ ...entry, tx_pos: 0, value: Number(COIN_SAT) }));
    const both = async (address: string, scripthash = address): Promise<unknown> => {
      const of = await client.call(`blockchain.address.${address}`, { address: OPEN_ADDRESS });
      expect(await client.call(`blockchain.scripthash.${scripthash}`, { scripthash: OPEN_HASH })).toEqual(of);
      return of;
    };
    expect(await both('get_history')).toEqual(entries);
    expect(await both('get_mempool')).toEqual([]);
    expect(await both('listunspent')).toEqual(coins);
    expect(await both('getbalance', 'get_balance')).toEqual({
      confirmed: 3 * Number(COIN_SAT),
      unconfirmed: 0,
    });
    const txid = await client.call<string>('blockchain.transaction.broadcast', {
      raw_tx: claim(coinbases[1]!),
    });
    const waiting = { tx_hash: txid, height: 0, fee: Number(FEE_SAT) };
    expect(await both('get_history')).toEqual([...entries, waiting]);
    expect(await both('get_mempool')).toEqual([waiting]);
    const half = Number(COIN_SAT - FEE_SAT) / 2;
    expect(await both('listunspent')).toEqual([
      coins[0],
      coins[2],
      { tx_hash: txid, tx_pos: 0, height: 0, value: half },
      { tx_hash: txid, tx_pos: 1, height: 0, value: half },
    ]);
    expect(await both('getbalance', 'get_balance')).toEqual({
      confirmed: 3 * Number(COIN_SAT),
      unconfirmed: -Number(FEE_SAT),
    });
    expect(await client.call('blockchain.transaction.get', [txid, true])).toMatchObject({
      locktime: 5,
      vin: [{ txid: coinbases[1], vout: 0, sequence: 0xfffffffe }],
      vout: [
        {
          n: 0,
          scriptPubKey: { type: 'nonstandard', isclaim: true, issupport: false, subtype: 'scripthash' },
        },
        { n: 1, scriptPubKey: { type: 'scripthash', addresses: [OPEN_ADDRESS] } },
      ],
    });
    expect(await both('unsubscribe')).toBeNull();
    expect(await client.call('blockchain.address.subscribe', [])).toEqual([]);
  });
});

describe('its features', () => {
  it('are the options, with the values of this node', async () => {
    const { version, subversion } = await node.rpc<{ version: number; subversion: string }>('getnetworkinfo');
    const parts = [1_000_000, 10_000, 100].map((unit) => Math.floor(version / unit) % 100);
    expect(await client.call('server.banner')).toBe(`0.107.0|${parts.join('.')}|${subversion}||${ADDRESS}`);
    expect(await client.call('server.payment_address')).toBe('');
    expect(await client.call('server.donation_address')).toBe(ADDRESS);
    expect(await client.call('server.features')).toMatchObject({
      description: 'of a test',
      donation_address: ADDRESS,
      payment_address: '',
      daily_fee: '0',
    });
    expect(await client.call('blockchain.estimatefee', [2])).toBe(0.00014601);
    expect(await client.call('blockchain.relayfee')).toBe(0.00001);
    expect(await client.call('mempool.get_fee_histogram')).toEqual([]);
  });

  it('contain a common version, or the connection ends', async () => {
    const versions: [unknown, string][] = [
      [null, '0.54.0'],
      ['0.65', '0.65'],
      [['0.50.0', '0.500.0'], '0.199.0'],
      ['1.2', '1.2'],
    ];
    for (const [asked, agreed] of versions) {
      const other = await open();
      expect(await other.call('server.version', ['a client', asked])).toEqual(['0.107.0', agreed]);
      expect(await other.call('server.version', ['again', '9.9'])).toEqual(['0.107.0', agreed]);
    }
    const old = await open();
    expect(await old.refusal('server.version', { client_name: 'old', client_version: '0.10' })).toEqual({
      code: 1,
      message: 'unsupported protocol version: 0.10',
    });
    await old.closed;
  });
});

describe('errors', () => {
  const INTERNAL = { code: -32603, message: 'internal server error' };
  const wrong = (message: string) => ({ code: 1, message });
  const txid = 'ab'.repeat(32);

  it.each([
    ['blockchain.address.get_history', ['x'], wrong('x is not a valid address')],
    ['blockchain.address.unsubscribe', [null], wrong('None is not a valid address')],
    [
      'blockchain.scripthash.subscribe',
      ['zz'.repeat(32)],
      wrong(`${'zz'.repeat(32)} is not a valid script hash`),
    ],
    ['blockchain.scripthash.get_balance', [5], wrong('5 is not a valid script hash')],
    ['blockchain.transaction.get', ['ab'], wrong('ab should be a transaction hash')],
    ['blockchain.transaction.get_batch', [true], wrong('True should be a transaction hash')],
    ['blockchain.transaction.get_merkle', [txid, 'high'], INTERNAL],
    ['blockchain.block.headers', ['x', 1], wrong('x should be a non-negative integer')],
    ['blockchain.block.headers', [1, null], INTERNAL],
    ['blockchain.block.headers', [1], INTERNAL],
    ['blockchain.block.get_chunk', [-1], wrong('-1 should be a non-negative integer')],
    ['blockchain.block.get_header', [{}], INTERNAL],
    ['blockchain.headers.subscribe', [null], wrong('None should be a boolean value')],
    ['blockchain.address.get_history', { name: 'x' }, INTERNAL],
    ['blockchain.address.subscribe', { address: OPEN_ADDRESS }, INTERNAL],
    ['blockchain.estimatefee', [], INTERNAL],
    ['blockchain.claimtrie.getclaimbyid', ['zz'.repeat(20)], INTERNAL],
    ['blockchain.claimtrie.resolve', [5], INTERNAL],
    ['blockchain.claimtrie.search', [1], INTERNAL],
    ['blockchain.claimtrie.search', { claim_type: 'song' }, wrong('claim_type: there is no type "song".')],
    ['blockchain.nothing', [], { code: -32601, message: 'unknown method "blockchain.nothing"' }],
    ['server.ping', 7, { code: -32602, message: 'invalid request arguments: 7' }],
  ])('of %s with %j', async (method, params, error) => {
    expect(await (await open()).refusal(method, params as unknown[])).toEqual(error);
  });
});
