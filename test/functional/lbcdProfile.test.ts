/** Answers of the lbcd profile that differ from those of the other profiles. Source: lbcd rpcserver.go, mining.go. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildClaimPrefix } from '../../src/script/claimScript.js';
import { hashToHex } from '../../src/util/bytes.js';
import { ClaimSource } from './support/claimSource.js';
import { OPEN_ADDRESS, peersOf, until, type PeerInfo } from './support/network.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import { envelopeFrom, type Call } from './support/reference.js';

let node: RegtestNode;
let lbcd: Call;
let waiting: { hex: string; txid: string; coin: string };

beforeAll(async () => {
  node = await startRegtest();
  const { username, password } = new URL(node.url);
  lbcd = envelopeFrom(`http://127.0.0.1:${node.rpcPort}/lbcd`, `${username}:${password}`);
  await node.rpc('generatetoaddress', [110, OPEN_ADDRESS]);
  const prefix = buildClaimPrefix(Buffer.from('name'), Buffer.from('value'));
  const { hex, hash, coin } = await new ClaimSource(node).stake(prefix, 1_000_000n);
  await node.rpc('sendrawtransaction', [hex]);
  waiting = { hex, txid: hashToHex(hash), coin: hashToHex(coin) };
});
afterAll(() => node.stop());

const result = async (method: string, ...params: unknown[]): Promise<unknown> => {
  const { result: answer, error } = await lbcd(method, params);
  expect(error).toBeNull();
  return answer;
};
const failure = async (method: string, ...params: unknown[]): Promise<unknown> => {
  const { error } = await lbcd(method, params);
  return error && [error.code, error.message];
};

it('answers errors with the HTTP status 200', async () => {
  const { username, password } = new URL(node.url);
  const headers = { Authorization: `Basic ${btoa(`${username}:${password}`)}` };
  const statusOf = async (path: string, body: string): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${node.rpcPort}${path}`, { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({ error: { code: expect.any(Number) as number } });
    return answer.status;
  };
  const bodies = [
    '{"id":1,"method":"getblock","params":["00"]}',
    '{"id":1,"method":"none"}',
    '{"id":1}',
    '{',
  ];
  const statuses = async (path: string): Promise<number[]> =>
    Promise.all(bodies.map((body) => statusOf(path, body)));
  expect(await statuses('/lbcd')).toEqual([200, 200, 200, 200]);
  expect(await statuses('/lbrycrd')).toEqual([500, 404, 400, 500]);
});

describe('the mempool', () => {
  it('distinguishes sizes, and fees in coins', async () => {
    const size = waiting.hex.length / 2;
    expect(await result('getmempoolentry', waiting.txid)).toMatchObject({
      size,
      vsize: size,
      weight: size * 4,
      fee: 0.0002,
      ancestorfees: 0.0002,
      descendantfees: 0.0002,
    });
    expect(await result('getrawmempool', true)).toMatchObject({ [waiting.txid]: { vsize: size } });
    expect(await node.rpc('getmempoolentry', [waiting.txid])).toMatchObject({ ancestorfees: 20_000 });
    expect(await node.rpc('getmempoolentry', [waiting.txid])).not.toHaveProperty('vsize');
  });

  it('returns outputs even if a mempool transaction spends them', async () => {
    expect(await result('gettxout', waiting.coin, 0)).toMatchObject({ confirmations: 110, coinbase: true });
    expect(await node.rpc('gettxout', [waiting.coin, 0])).toBeNull();
  });
});

it('writes scripts with the names of lbcd', async () => {
  expect(await result('decoderawtransaction', waiting.hex)).toMatchObject({
    vin: [{ scriptSig: { asm: '51' } }],
    vout: [
      { scriptPubKey: { asm: expect.stringMatching(/^OP_CLAIMNAME 6e616d65 76616c7565 OP_2DROP OP_DROP /) } },
      { scriptPubKey: {} },
    ],
  });
});

it('makes transactions of version 1, with the defaults of lbcd', async () => {
  const inputs = [{ txid: waiting.txid, vout: 0 }];
  expect(await result('createrawtransaction', inputs, {})).toMatch(/^01000000/);
  expect(await node.rpc('createrawtransaction', [inputs, {}])).toMatch(/^02000000/);
  const [txid, zeros] = ['ab', '00'.repeat(31)];
  expect(await result('createrawtransaction', [{ txid, sequence: 5 }], { data: '51' })).toBe(
    `0100000001${txid}${zeros}0000000000ffffffff010000000000000000015100000000`,
  );
  expect(await result('createrawtransaction', [{ txid, sequence: 5 }], {}, 7)).toBe(
    `0100000001${txid}${zeros}0000000000feffffff0007000000`,
  );
  expect(await result('createrawtransaction', null, null)).toBe('01000000000000000000');
  expect(await failure('createrawtransaction', [{ txid: 'zz' }], {})).toEqual([
    -22,
    'Argument must be hexadecimal string (not "zz")',
  ]);
  expect(await failure('createrawtransaction', [], { [OPEN_ADDRESS]: 0 })).toEqual([-3, 'invalid amount']);
  // The result of 0.1 + 0.2 in programs that calculate with doubles.
  const rounded = await result('createrawtransaction', [], { [OPEN_ADDRESS]: 0.30000000000000004 });
  expect(rounded).toContain('80c3c90100000000');
  expect(await result('createrawtransaction', [{ txid, vout: 0xffffffff }], {})).toContain(
    'ffffffff00ffffffff',
  );
});

it('checks the types of all arguments of createrawtransaction first, then their values, as lbcd does', async () => {
  const codeOf = async (...params: unknown[]): Promise<number | undefined> =>
    (await lbcd('createrawtransaction', params)).error?.code;
  const bad = { nowhere: 0 };
  for (const vout of [-1, 4294967296, 1.5, '0', true])
    expect(await codeOf([{ txid: 'zz', vout }], bad, -1), String(vout)).toBe(-32602);
  expect(await codeOf([{ txid: 7 }], bad, -1)).toBe(-32602);
  expect(await codeOf([{ txid: 'zz' }], bad, 1.5)).toBe(-32602);
  expect(await codeOf([{ txid: 'zz' }], bad, -1)).toBe(-8);
  expect(await codeOf([{ txid: 'zz' }], bad, 4294967296)).toBe(-8);
  expect(await codeOf([{ txid: 'zz' }], bad)).toBe(-22);
  expect(await codeOf([], bad)).toBe(-3);
  expect(await codeOf([], { nowhere: 1 })).toBe(-5);
  expect(await codeOf([], { [OPEN_ADDRESS]: '1' })).toBe(-8);
  for (const amount of [-1, 1e11, true, null]) expect(await codeOf([], { [OPEN_ADDRESS]: amount })).toBe(-3);
  expect(await codeOf([], { data: 'zz' })).toBe(-22);
  expect(await codeOf([], { data: 1 })).toBe(-5);
  expect(await codeOf([], { data: null })).toBe(-3);
});

it('does not report a script with an incomplete claim operation as a claim', async () => {
  const script = 'b50161016f6d6d';
  const raw = `01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff00ffffffff010000000000000000${'07'}${script}00000000`;
  const shown = { isclaim: false, issupport: false, subtype: '', type: 'nonstandard' };
  expect(await result('decoderawtransaction', raw)).toMatchObject({ vout: [{ scriptPubKey: shown }] });
  expect(await node.rpc('decoderawtransaction', [raw])).toMatchObject({
    vout: [{ scriptPubKey: { isclaim: true } }],
  });
});

it('shows the script type after the claim operation, and accepts an odd number of digits', async () => {
  const claim = `b50161016f6d7576a914${'22'.repeat(20)}88ac`;
  expect(await result('decodescript', claim)).toMatchObject({ type: 'pubkeyhash', reqSigs: 1 });
  expect(await node.rpc('decodescript', [claim])).toMatchObject({ type: 'nonstandard' });
  expect(await result('decodescript', '151')).toMatchObject({ asm: '51' });
  expect(await failure('decodescript', 'zz')).toEqual([
    -22,
    'Argument must be hexadecimal string (not "zz")',
  ]);
});

it('refuses an output that a mempool transaction does not have', async () => {
  const message = 'Output index number (vout) does not exist for transaction.';
  expect(await failure('gettxout', waiting.txid, 9)).toEqual([-5, message]);
  expect(await result('gettxout', waiting.txid, 9, false)).toBeNull();
  expect(await failure('gettxout', waiting.txid, -1)).toEqual([
    -32602,
    "parameter #2 'vout' must be type uint32 (got -1)",
  ]);
});

it('gives templates with the flags of the coinbase and the fields of lbcd alone', async () => {
  const template = (await result('getblocktemplate')) as Record<string, unknown>;
  expect(template).toMatchObject({
    coinbaseaux: { flags: '0b2f503253482f6c6263642f' },
    rules: ['segwit'],
    sigoplimit: 80_000,
    weightlimit: 8_000_000,
  });
  expect(Object.keys(template).sort()).toEqual(
    [
      ...[
        'bits',
        'capabilities',
        'claimtrie',
        'coinbaseaux',
        'coinbasevalue',
        'curtime',
        'height',
        'longpollid',
      ],
      ...[
        'maxtime',
        'mintime',
        'mutable',
        'noncerange',
        'previousblockhash',
        'rules',
        'sigoplimit',
        'sizelimit',
      ],
      ...['target', 'transactions', 'version', 'weightlimit'],
    ].sort(),
  );
});

it('shows four deployments', async () => {
  const { bip9_softforks } = (await result('getblockchaininfo')) as { bip9_softforks: object };
  expect(Object.keys(bip9_softforks)).toEqual(['dummy', 'csv', 'segwit', 'taproot']);
  expect(bip9_softforks).toMatchObject({
    dummy: { status: 'defined', bit: 28, startTime: 0, start_time: 0, since: 0 },
    csv: { status: 'active', bit: 0, timeout: 2 ** 63, since: 1 },
    segwit: { status: 'defined', bit: 1, start_time: 0, since: 150 },
    taproot: { status: 'defined', bit: 0, start_time: 0, timeout: 0, since: 0 },
  });
});

it('accepts turning mining off, and refuses turning it on', async () => {
  expect(await result('setgenerate', false)).toBeNull();
  expect(await result('setgenerate', true, 0)).toBeNull();
  expect(await failure('setgenerate', true)).toEqual([
    -32603,
    'No payment addresses specified via --miningaddr',
  ]);
});

it('generates blocks that pay to the mining addresses, or to the wallet', async () => {
  expect(await result('generate', 1)).toHaveLength(1);
  await node.rpc('unloadwallet', ['']);
  expect(await failure('generate', 1)).toEqual([-32603, 'No payment addresses specified via --miningaddr']);
  await node.rpc('loadwallet', ['']);
  expect(await failure('generate', -1)).toEqual([
    -32602,
    "parameter #1 'numblocks' must be type uint32 (got number -1)",
  ]);
  const miner = await startRegtest({
    args: ['-compat=lbcd', '-disablewallet', `-miningaddress=${OPEN_ADDRESS}`],
  });
  try {
    await expect(miner.rpc('generate', [0])).rejects.toThrow('a nonzero number of blocks');
    const hashes = await miner.rpc<string[]>('generate', [2]);
    expect(await miner.rpc('getblockhash', [2])).toBe(hashes[1]);
    const { tx } = await miner.rpc<{ tx: { vout: { scriptPubKey: object }[] }[] }>('getblock', [
      hashes[0],
      2,
    ]);
    expect(tx[0]!.vout[0]!.scriptPubKey).toMatchObject({ addresses: [OPEN_ADDRESS] });
  } finally {
    await miner.stop();
  }
});

it('refuses an invalid address of a node', async () => {
  expect(await failure('node', 'connect', '127.0.0.1:y')).toEqual([-8, "invalid port 'y' in the address"]);
  expect(await failure('node', 'connect', '')).toEqual([-8, "invalid host '' in the address"]);
});

it('connects to and disconnects from nodes', async () => {
  const other = await startRegtest({ args: ['-listen=1'] });
  try {
    const target = `127.0.0.1:${other.p2pPort}`;
    expect(await result('node', 'connect', target, 'perm')).toBeNull();
    expect(await result('getaddednodeinfo', false)).toEqual([target]);
    const peer = async (): Promise<PeerInfo | undefined> =>
      (await peersOf(node)).find(({ addr, version }) => addr === target && version > 0);
    const comes = (): Promise<void> => until('the peer', async () => (await peer()) !== undefined);
    const goes = (): Promise<void> => until('the end of the peer', async () => (await peer()) === undefined);
    await comes();
    expect(await failure('node', 'connect', target)).toEqual([-8, 'peer exists as a permanent peer']);
    expect(await failure('node', 'connect', target, 'perm')).toEqual([-8, 'peer already connected']);
    expect(await failure('node', 'disconnect', target)).toEqual([
      -1,
      "can't disconnect a permanent peer, use remove",
    ]);
    expect(await result('node', 'remove', target)).toBeNull();
    await goes();
    expect(await result('getaddednodeinfo', false)).toEqual([]);
    expect(await result('node', 'connect', target, 'temp')).toBeNull();
    await comes();
    expect(await failure('node', 'remove', target)).toEqual([
      -1,
      "can't remove a temporary peer, use disconnect",
    ]);
    expect(await result('node', 'disconnect', String((await peer())!.id))).toBeNull();
    await goes();
  } finally {
    await other.stop();
  }
  expect(await failure('node', 'disconnect', '999')).toEqual([-8, 'peer not found']);
  expect(await failure('node', 'disconnect', 'x')).toEqual([-8, 'invalid address or node ID']);
  expect(await failure('node', 'connect', '127.0.0.1:1', 'x')).toEqual([
    -8,
    'invalid subcommand for node connect',
  ]);
  expect(await failure('node', 'x', 'y')).toEqual([-8, 'invalid subcommand for node']);
});
