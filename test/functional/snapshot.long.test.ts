/** A node that starts from the snapshot of another node: what it serves immediately, and its background validation. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { regtestParams } from '../../src/params/regtest.js';
import { changedSnapshot } from '../support/snapshots.js';
import { ADDRESS, program, type RegtestNode } from './support/node.js';
import { runToEnd } from './support/process.js';
import { connect, PeerGroup, until, untilSameTip } from './support/network.js';

/** Height of the snapshot. */
const HEIGHT = 106;
const VALUE = Buffer.from('a value').toString('hex');

interface Dump {
  height: number;
  blockhash: string;
  filename: string;
  hash: string;
}

interface Info {
  blocks: number;
  snapshot?: { height: number; blockhash: string; hash: string; validated_height: number };
}

describe('a node started from a snapshot', () => {
  const group = new PeerGroup();
  let source: RegtestNode;
  let dump: Dump;
  let claimId: string;
  let claimTx: string;

  beforeAll(async () => {
    source = await group.start({ args: ['-claimindex', '-txindex'] });
    const own = await source.rpc<string>('getnewaddress');
    await source.rpc('generatetoaddress', [103, own]);
    claimTx = await source.rpc<string>('claimname', ['tester', VALUE, 0.5]);
    await source.rpc('generatetoaddress', [HEIGHT - 103, ADDRESS]);
    dump = await source.rpc<Dump>('dumpsnapshot', ['chain.snapshot']);
    const { claims } = await source.rpc<{ claims: { claimId?: string; claimid?: string }[] }>(
      'getclaimsforname',
      ['tester'],
    );
    claimId = (claims[0]!.claimId ?? claims[0]!.claimid)!;
    await source.rpc('generatetoaddress', [4, ADDRESS]);
  });
  afterAll(() => group.close());

  const load = (path: string, hash: string): string[] => [
    `-loadsnapshot=${path}`,
    `-snapshothash=${hash}`,
    '-claimindex',
  ];
  const infoOf = (node: RegtestNode): Promise<Info> => node.rpc<Info>('getblockchaininfo');
  const isValidated = async (node: RegtestNode): Promise<boolean> =>
    (await infoOf(node)).snapshot === undefined;
  const health = async (node: RegtestNode): Promise<Record<string, unknown>> =>
    (await (await fetch(`http://127.0.0.1:${node.rpcPort}/health`)).json()) as Record<string, unknown>;

  /** Maximum sizes in bytes of the caches of coins and claims, by name. */
  async function cacheBounds(node: RegtestNode): Promise<Record<string, number>> {
    const { caches } = await node.rpc<{ caches: { name: string; bound: number }[] }>('getmemoryinfo');
    return Object.fromEntries(
      caches
        .filter(({ name }) => /^(validation )?(coins|claims)$/.test(name))
        .map(({ name, bound }) => [name, bound]),
    );
  }

  /** What `lbcnode-cli -getinfo` prints. */
  function cliInfo({ dataDir, rpcPort }: RegtestNode): Record<string, unknown> {
    const access = [`-datadir=${dataDir}`, `-rpcport=${rpcPort}`, '-rpcuser=regtest', '-rpcpassword=regtest'];
    const words = [program('lbcnode-cli'), '-regtest', ...access, '-getinfo'];
    return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as Record<string, unknown>;
  }

  /** The message of a start that is refused. */
  function refused(dataDir: string, ...args: string[]): string {
    const { status, stderr } = runToEnd(dataDir, args);
    expect(status, stderr).toBe(1);
    return stderr;
  }

  /** Expects that the errors of calls which need blocks below the snapshot name it. `old` is the hash of such a block. */
  async function expectRefusals(node: RegtestNode, old: string): Promise<void> {
    for (const call of [
      node.rpc('getblock', [old]),
      node.rpc('rescanblockchain', [50]),
      node.rpc('getrawtransaction', ['11'.repeat(32)]),
      node.rpc('dumpsnapshot', ['again']),
    ])
      await expect(call).rejects.toThrow(`snapshot of block ${HEIGHT}`);
    await expect(node.rpc('getblockfilter', [old])).rejects.toThrow(
      `the blocks up to the snapshot, at height ${HEIGHT}, are validated`,
    );
    await expect(node.rpc('getnameproof', ['tester', old])).rejects.toThrow(`snapshot of block ${HEIGHT}`);
    for (const path of ['', '/txs', '/txids', '/raw']) {
      const esplora = await fetch(`http://127.0.0.1:${node.rpcPort}/api/block/${old}${path}`);
      expect([esplora.status, await esplora.text()], path).toEqual([
        503,
        expect.stringContaining(`snapshot of block ${HEIGHT}`),
      ]);
    }
    const rest = await fetch(`http://127.0.0.1:${node.rpcPort}/rest/tx/${'11'.repeat(32)}.json`);
    expect([rest.status, await rest.text()]).toEqual([
      404,
      expect.stringContaining(`snapshot of block ${HEIGHT}`),
    ]);
    await expect(node.rpc('gettxoutproof', [[claimTx]])).rejects.toThrow(`snapshot of block ${HEIGHT}`);
    await expect(node.rpc('importaddress', [ADDRESS])).rejects.toThrow(`snapshot of block ${HEIGHT}`);
    const watched = { scriptPubKey: { address: ADDRESS }, timestamp: 1, watchonly: true };
    expect(await node.rpc('importmulti', [[watched]])).toMatchObject([
      {
        success: false,
        error: { message: expect.stringContaining(`snapshot of block ${HEIGHT}`) as string },
      },
    ]);
  }

  /** Expects that the node has the claims and coins of the source. */
  async function expectClaims(node: RegtestNode): Promise<void> {
    for (const [method, ...params] of [
      ['getclaimsforname', 'tester'],
      ['getclaim', claimId],
      ['resolve', 'lbry://tester'],
      ['getnamehistory', 'tester'],
      ['gettxoutsetinfo'],
    ] as const) {
      const ask = (from: RegtestNode): Promise<object> => from.rpc<object>(method, params);
      // The values of claims come from the coins, because their blocks are not on disk.
      if (method === 'getclaim' || method === 'resolve') expect(await ask(node)).toEqual(await ask(source));
      else if (method !== 'gettxoutsetinfo')
        expect(Object.keys(await ask(node)), method).toEqual(Object.keys(await ask(source)));
      else expect(await ask(node), method).toBeTypeOf('object');
    }
    expect(await node.rpc('gettxout', [claimTx, 0])).toMatchObject({ confirmations: HEIGHT - 103 });
    expect(JSON.stringify(await node.rpc('resolve', ['lbry://tester']))).toContain(claimId);
  }

  /** Expects an ordinary folder. `old` is the hash of block 50. */
  async function expectOrdinary(node: RegtestNode, old: string): Promise<void> {
    // After the validation, the folder is an ordinary one: the node writes the same snapshot, disconnects blocks below it, and
    // starts without the option.
    const again = await node.rpc<Dump>('dumpsnapshot', ['again', HEIGHT]);
    expect(again.hash).toBe(dump.hash);
    expect(existsSync(join(node.dataDir, 'regtest', 'chainstate.validation'))).toBe(false);
    await node.rpc('invalidateblock', [old]);
    expect((await infoOf(node)).blocks).toBe(49);
    await node.rpc('reconsiderblock', [old]);
    await untilSameTip([node, source]);
    const proof = await node.rpc('getnameproof', ['tester', dump.blockhash]);
    expect(proof).toEqual(await source.rpc('getnameproof', ['tester', dump.blockhash]));
  }

  it('has the tip, coins and claims of the snapshot, and reports the snapshot', async () => {
    expect(dump.height).toBe(HEIGHT);
    expect(await source.rpc('verifysnapshot', ['chain.snapshot'])).toMatchObject({
      height: HEIGHT,
      hash: dump.hash,
      inmainchain: true,
    });
    const node = await group.start({
      args: [
        ...load(dump.filename, dump.hash),
        '-txindex',
        '-addressindex',
        '-blockfilterindex=basic',
        '-rest',
        '-esplora',
      ],
    });
    const info = await infoOf(node);
    expect(info).toMatchObject({
      blocks: HEIGHT,
      snapshot: { height: HEIGHT, blockhash: dump.blockhash, hash: dump.hash },
    });
    expect(await health(node)).toMatchObject({
      status: 'ok',
      height: HEIGHT,
      snapshot: { height: HEIGHT, block: dump.blockhash },
    });
    await expectClaims(node);
    await expect(node.rpc('getaddressbalance', [{ addresses: [ADDRESS] }])).rejects.toThrow(
      `The address index is not complete: block 0 of ${HEIGHT}. It will be built when`,
    );
    const old = await node.rpc<string>('getblockhash', [50]);
    await expectRefusals(node, old);
    expect(await node.rpc('getindexinfo')).toMatchObject({
      claimindex: { synced: true, best_block_height: HEIGHT },
      txindex: { synced: false },
    });

    expect(cliInfo(node).snapshot).toEqual(info.snapshot);
    // The chain and the validation have halves of the caches.
    const during = await cacheBounds(node);
    const whole = await cacheBounds(source);
    expect(during).toEqual({
      coins: expect.any(Number),
      claims: whole.claims! / 2,
      'validation coins': expect.any(Number),
      'validation claims': whole.claims! / 2,
    });
    expect(during.coins! + during['validation coins']!).toBeLessThanOrEqual(whole.coins!);

    // Blocks can be mined on the snapshot and disconnected down to it.
    await node.rpc('generatetoaddress', [2, await node.rpc('getnewaddress')]);
    await node.rpc('invalidateblock', [await node.rpc('getblockhash', [HEIGHT + 1])]);
    await expect(node.rpc('invalidateblock', [old])).rejects.toThrow(
      `cannot be disconnected: the node was started from a snapshot of block ${HEIGHT}`,
    );
    expect((await infoOf(node)).blocks).toBe(HEIGHT);

    await connect(node, source);
    await untilSameTip([node, source]);
    await until('the validation', () => isValidated(node));
    expect((await health(node)).snapshot).toBeUndefined();
    expect(cliInfo(node)).not.toHaveProperty('snapshot');
    // The chain gets the half that the validation used.
    await until('the larger caches', async () => (await cacheBounds(node))['validation coins'] === undefined);
    const after = await cacheBounds(node);
    expect(after.claims).toBe(whole.claims);
    // The bound depends on the rows that are cached at present.
    expect(Math.abs(after.coins! - whole.coins!)).toBeLessThan(1 << 20);
    expect(await node.rpc('getblock', [old])).toEqual(await source.rpc('getblock', [old]));
    await until('the transaction index', async () => {
      const { txindex } = await node.rpc<Record<string, { synced: boolean }>>('getindexinfo');
      return txindex!.synced;
    });
    expect(await node.rpc('getrawtransaction', [claimTx])).toEqual(
      await source.rpc('getrawtransaction', [claimTx]),
    );
    await expectOrdinary(node, old);
  });

  it('is not started from an untrusted or unusable file', () => {
    const folder = group.folder();
    const wrong = `${dump.hash.slice(0, -1)}${dump.hash.endsWith('0') ? '1' : '0'}`;
    expect(refused(folder, ...load(dump.filename, wrong))).toContain(
      `has the hash ${dump.hash}, but ${wrong} was expected (given by -snapshothash)`,
    );
    expect(refused(folder, `-loadsnapshot=${dump.filename}`)).toContain('this release contains no hash');
    expect(refused(folder, '-loadsnapshot=missing', `-snapshothash=${wrong}`)).toContain('ENOENT');
    expect(refused(folder, '-reindex', ...load(dump.filename, dump.hash))).toContain(
      '-loadsnapshot fills a new folder',
    );
    const cut = join(folder, 'cut');
    writeFileSync(cut, readFileSync(dump.filename).subarray(0, -9));
    expect(refused(folder, ...load(cut, dump.hash))).toContain('the file is truncated');
    for (const name of ['chainstate.loading', 'chainstate.loaded'])
      expect(existsSync(join(folder, 'regtest', name))).toBe(false);
  });

  it('is not started with a wallet that needs older blocks, and loads it after the validation', async () => {
    const dataDir = group.folder();
    // The wallet is older than all blocks of the chain.
    const old = await group.start({ dataDir, args: ['-mocktime=1400000000'] });
    const address = await old.rpc('getnewaddress');
    await old.stop();
    group.nodes.splice(group.nodes.indexOf(old), 1);
    for (const name of ['chainstate', 'blocks']) rmSync(join(dataDir, 'regtest', name), { recursive: true });
    const args = load(dump.filename, dump.hash);
    expect(refused(dataDir, ...args)).toContain(
      'Start the node with -nowallet, and load the wallet by loadwallet',
    );
    const node = await group.start({ dataDir, args: [...args, '-nowallet'] });
    await expect(node.rpc('loadwallet', [''])).rejects.toThrow('The wallet needs blocks from height 1 on');
    await connect(node, source);
    await until('the validation', () => isValidated(node));
    await node.rpc('loadwallet', ['']);
    expect(await node.rpc('getaddressinfo', [address])).toMatchObject({ ismine: true });
  });

  it('of a lower block is written after invalidateblock, with the same bytes', async () => {
    const node = await group.start({ args: ['-claimindex'] });
    await connect(node, source);
    await untilSameTip([node, source]);
    await node.rpc('setnetworkactive', [false]);
    const next = await node.rpc('getblockhash', [HEIGHT + 1]);
    await node.rpc('invalidateblock', [next]);
    expect(await node.rpc('dumpsnapshot', ['lower'])).toMatchObject({ height: HEIGHT, hash: dump.hash });
    await node.rpc('reconsiderblock', [next]);
    expect(await node.rpc('getblockcount')).toBe(await source.rpc('getblockcount'));
    // The error of a call advises to repeat the call, because the node continues.
    await expect(node.rpc('verifysnapshot', ['missing'])).rejects.toThrow(/\(ENOENT\)\. Check the path\.$/);
  });

  it('keeps an existing chain', async () => {
    const busy = group.folder();
    const node = await group.start({ dataDir: busy });
    await node.rpc('generatetoaddress', [3, ADDRESS]);
    await node.stop();
    group.nodes.splice(group.nodes.indexOf(node), 1);
    expect(refused(busy, ...load(dump.filename, dump.hash))).toContain('already contains a chain');
    for (const option of ['-reindex', '-reindex-chainstate'])
      expect(refused(busy, option, ...load(dump.filename, dump.hash))).toContain('Use only one of them');
    // The refused starts deleted nothing. Without the database the node would read its blocks again.
    expect(existsSync(join(busy, 'regtest', 'chainstate'))).toBe(true);
    const again = await group.start({ dataDir: busy });
    expect(await again.rpc('getblockcount')).toBe(3);
  });

  it('stops if the blocks give another state, and reports what to do', async () => {
    const folder = group.folder();
    const forged = join(folder, 'forged');
    const hash = await forge(dump.filename, forged);
    const node = await group.start({ dataDir: folder, args: load(forged, hash) });
    expect((await infoOf(node)).blocks).toBe(HEIGHT);
    await connect(node, source);
    await node.exited;
    group.nodes.splice(group.nodes.indexOf(node), 1);
    const advice = `The snapshot of block ${HEIGHT} (${dump.blockhash}, file hash ${hash})`;
    expect(node.output()).toContain(advice);
    expect(node.output()).toContain('its coins differ from the result of its blocks');
    expect(refused(folder)).toContain('Restart with -reindex and without -loadsnapshot');
    const mended = await group.start({ dataDir: folder, args: ['-reindex', '-claimindex'] });
    await connect(mended, source);
    await untilSameTip([mended, source]);
    expect(await isValidated(mended)).toBe(true);
    expect(await mended.rpc('gettxoutsetinfo')).toMatchObject({
      hash_serialized_2: (await source.rpc<{ hash_serialized_2: string }>('gettxoutsetinfo'))
        .hash_serialized_2,
    });
  });

  it('validates the claim index without -claimindex, and continues when the option is added', async () => {
    const plain = (path: string, hash: string): string[] => load(path, hash).slice(0, -1);
    const dataDir = group.folder();
    const blocks = join(dataDir, 'blocks.dat');
    writeFileSync(blocks, await firstBlocks(source, 60));
    const args = [...plain(dump.filename, dump.hash), `-loadblock=${blocks}`];
    let node = await group.start({ dataDir, args });
    await until('60 validated blocks', async () => (await infoOf(node)).snapshot?.validated_height === 60);
    group.nodes.splice(group.nodes.indexOf(node), 1);
    await node.stop();
    node = await group.start({ dataDir, args: ['-claimindex'] });
    expect((await infoOf(node)).snapshot?.validated_height).toBe(60);
    await connect(node, source);
    await until('the validation', () => isValidated(node));
    expect((await node.rpc<Dump>('dumpsnapshot', ['again', HEIGHT])).hash).toBe(dump.hash);

    const forged = join(dataDir, 'forged');
    const hash = await forge(dump.filename, forged, 'claimindex');
    const fooled = await group.start({ args: plain(forged, hash) });
    await connect(fooled, source);
    await fooled.exited;
    group.nodes.splice(group.nodes.indexOf(fooled), 1);
    expect(fooled.output()).toContain('its claimindex differ from the result of its blocks');
  });

  it('continues after kills at each step of loading and validation', async () => {
    const folder = group.folder();
    const file = join(folder, 'chain.snapshot');
    copyFileSync(dump.filename, file);
    const args = load(file, dump.hash);
    for (const point of ['snapshot:filled', 'snapshot:loaded'])
      expect(runToEnd(folder, args, { LBCNODE_CRASH_AT: point }).signal, point).toBe('SIGKILL');
    for (const point of ['validation:connected@40', 'validation:before-compare', 'validation:passed']) {
      const node = await group.start({ dataDir: folder, args, env: { LBCNODE_CRASH_AT: point } });
      await connect(node, source).catch(() => undefined);
      await node.exited;
      group.nodes.splice(group.nodes.indexOf(node), 1);
    }
    const node = await group.start({ dataDir: folder, args: ['-claimindex'] });
    await connect(node, source);
    await untilSameTip([node, source]);
    await until('the validation', () => isValidated(node));
    expect((await node.rpc<Dump>('dumpsnapshot', ['again', HEIGHT])).hash).toBe(dump.hash);
  });
});

/** The blocks of the node up to a height, in the format of block files. */
async function firstBlocks(node: RegtestNode, last: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let height = 0; height <= last; height++) {
    const hash = await node.rpc<string>('getblockhash', [height]);
    const block = Buffer.from(await node.rpc<string>('getblock', [hash, 0]), 'hex');
    const head = Buffer.alloc(8);
    head.set(regtestParams.magic);
    head.writeUInt32LE(block.length, 4);
    parts.push(head, block);
  }
  return Buffer.concat(parts);
}

/** Copies a snapshot with one changed row of a section and correct checksums. Returns the hash of the copy. */
async function forge(from: string, to: string, section = 'coins'): Promise<string> {
  const { bytes, hash } = await changedSnapshot(readFileSync(from), {
    row: (name, value, n) => {
      if (name !== section || n > 0) return;
      // Adds one satoshi to the first coin, or changes the last byte of the first row of another section.
      if (name === 'coins') value.writeBigInt64LE(value.readBigInt64LE(4) + 1n, 4);
      else value[value.length - 1]! ^= 1;
    },
  });
  writeFileSync(to, bytes);
  return hash;
}
