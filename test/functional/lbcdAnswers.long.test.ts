/** Compares the lbcd profile with lbcd: random claim operations across both forks, and the answers of both about them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { normalizeName } from '../../src/claimtrie/normalize.js';
import { buildClaimPrefix, buildSupportPrefix, claimIdOf } from '../../src/script/claimScript.js';
import { hashToHex, type Bytes } from '../../src/util/bytes.js';
import { abandonStake, ClaimSource, NAMES, type Shares } from './support/claimSource.js';
import { OPEN_ADDRESS, peersOf, startPeer, until } from './support/network.js';
import type { RegtestNode } from './support/node.js';
import {
  envelopeFrom,
  referenceBinary,
  startLbcd,
  type Envelope,
  type ReferenceNode,
} from './support/reference.js';

const lbcd = referenceBinary('LBCD');

const KEPT = buildClaimPrefix(Buffer.from('kept'), Buffer.from('value'));

/** Heights at which all names are compared: before and after the forks, and around expirations. */
const HEIGHTS = [131, 200, 247, 248, 249, 250, 251, 300, 347, 348, 349, 350, 500, 640, 799, 800, 801, 930];
const LAST_HEIGHT = 1000;
const PREMINED = 130;
/** A claim of this block expires in lbcd in the block that extends terms. In lbrycrd and here it does not expire. */
const EXTENSION_DUE = 300;
/** lbcd refuses the block of the hash fork if no claim is active, so a claim is made before it. */
const HASH_FORK = 349;
/** A claim of this block with a name that is not normalized has another delay in lbcd than in lbrycrd and here. */
const FORK = 250;
const isNormalized = (name: Buffer): boolean => Buffer.compare(normalizeName(name), name) === 0;
/** Seeds from 101 on abandon more, so that names lose their claims while they still have supports. */
const SEEDS = (process.env['LBCD_SEEDS'] ?? '1,6,106').split(',').map(Number);
const MUCH_ABANDONED = { claims: 3, supports: 3, updates: 1 };
/** Seeds from 201 on spend many outputs in the block that creates them. Seeds from 301 on do both. */
const SHORT_LIVED = { claims: 4, supports: 3, updates: 2, followed: 6 };

function sharesOf(seed: number): Shares | undefined {
  if (seed > 300) return { ...MUCH_ABANDONED, followed: 6 };
  if (seed > 200) return SHORT_LIVED;
  return seed > 100 ? MUCH_ABANDONED : undefined;
}

interface Both {
  readonly us: (method: string, params: readonly unknown[]) => Promise<Envelope>;
  readonly them: (method: string, params: readonly unknown[]) => Promise<Envelope>;
}

/** Differences by method, each with one example. */
class Differences {
  calls = 0;
  readonly found = new Map<string, { count: number; example: unknown }>();

  note(method: string, params: readonly unknown[], us: unknown, them: unknown): void {
    this.calls++;
    if (JSON.stringify(us) === JSON.stringify(them)) return;
    const seen = this.found.get(method);
    if (seen) seen.count++;
    else this.found.set(method, { count: 1, example: { params, us, them } });
  }
}

/**
 * For a name without claims, lbcd returns the last block in which it read the name, while it has the name in memory: a row of
 * its own in docs/architecture.md. Our answer is the one that lbcd reads from its disk, which is never later.
 */
function hideLaterLook(us: unknown, them: unknown): void {
  const [ours, theirs] = [us, them] as { lasttakeoverheight: number }[];
  if (ours?.lasttakeoverheight !== undefined && ours.lasttakeoverheight < theirs!.lasttakeoverheight)
    for (const answer of [us, them]) hide(answer, 'lasttakeoverheight');
}

/** The result with sorted keys, or the code of the error. Error texts differ between the programs. */
const shape = ({ result, error }: Envelope): unknown => (error ? { code: error.code } : sorted(result));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, sorted(entry)]));
}

async function ask(
  both: Both,
  differences: Differences,
  method: string,
  params: readonly unknown[],
  isEmpty = false,
): Promise<unknown> {
  const [us, them] = await Promise.all([both.us(method, params), both.them(method, params)]);
  const [ours, theirs] = [shape(us), shape(them)];
  const { claims } = (them.result ?? {}) as Partial<NameAnswer>;
  if (isEmpty || (method === 'getclaimsforname' && claims === null)) hideLaterLook(ours, theirs);
  differences.note(method, params, ours, theirs);
  return them.result;
}

interface NameAnswer {
  claims: { claimid: string; sequence: number }[] | null;
}

async function compareName(both: Both, differences: Differences, name: string, block: string): Promise<void> {
  const answer = (await ask(both, differences, 'getclaimsforname', [name, block, true])) as NameAnswer | null;
  const claims = answer?.claims ?? [];
  const ids = claims.map(({ claimid }) => claimid.slice(0, 7));
  const more = (method: string, ...params: unknown[]): Promise<unknown> =>
    ask(both, differences, method, params, claims.length === 0);
  await more('getclaimsfornamebyid', name, ids.slice(0, 2), block);
  await more('getclaimsfornamebybid', name, [1, 0, 3, -1], block, false);
  await more('getclaimsfornamebyseq', name, [0, 2, 3, 5], block);
}

function credentialsOf({ url }: RegtestNode): string {
  const { username, password } = new URL(url);
  return `${username}:${password}`;
}

/** Our answer without members that lbcd's does not have. */
function within(us: unknown, them: unknown): unknown {
  if (Array.isArray(us) && Array.isArray(them) && us.length === them.length)
    return us.map((item, i) => within(item, them[i]));
  if (us === null || them === null || typeof us !== 'object' || typeof them !== 'object') return us;
  const ours = us as Record<string, unknown>;
  const shown = Object.entries(them).map(([key, value]) => [key, within(ours[key], value)]);
  return Object.fromEntries(shown);
}

/** Members that depend on the node and not on the chain. */
const OWN_MATTERS: Readonly<Record<string, readonly string[]>> = {
  getmininginfo: ['errors', 'networkhashps', 'pooledtx'],
  getblocktemplate: ['curtime', 'maxtime', 'longpollid', 'version'],
};

/** Methods whose answers have no members that lbcd's answers do not have. */
const EXACT: ReadonlySet<string> = new Set(['getblocktemplate', 'gettxout', 'setgenerate', 'node']);

function hide(answer: unknown, key: string): void {
  if (answer !== null && typeof answer === 'object' && key in answer)
    (answer as Record<string, unknown>)[key] = 'its own';
}

async function askForAll(
  both: Both,
  differences: Differences,
  method: string,
  params: readonly unknown[],
): Promise<void> {
  const [us, them] = [shape(await both.us(method, params)), shape(await both.them(method, params))];
  for (const answer of [us, them]) {
    for (const key of OWN_MATTERS[method] ?? []) hide(answer, key);
    // A transaction may reach the second mempool a second later.
    if (method === 'getrawmempool') for (const entry of Object.values(answer as object)) hide(entry, 'time');
  }
  differences.note(method, params, EXACT.has(method) ? us : sorted(within(us, them)), them);
}

/** A transaction whose input contains a signature and a key, and whose output has every opcode that pushes no data. */
function signedTransaction(): string {
  const half = '02' + '20' + '31'.repeat(32);
  const signature = '30' + '44' + half + half + '01';
  const scriptSig = '47' + signature + '21' + '02' + '11'.repeat(32);
  const input = 'ab'.repeat(32) + '00000000' + (scriptSig.length / 2).toString(16) + scriptSig + 'ffffffff';
  const opcodes = Buffer.from(Array.from({ length: 0x100 - 0x4f }, (_, at) => at + 0x4f));
  const script = opcodes.toString('hex');
  const output = '40420f0000000000' + opcodes.length.toString(16) + script;
  return '01000000' + '01' + input + '01' + output + '00000000';
}

/** Calls that write scripts as text. */
function scriptCalls(): [method: string, params: unknown[]][] {
  const scripts = [
    '51',
    '0011',
    '02ffff',
    '0500000000ff',
    '6a04deadbeef',
    '76a914' + '22'.repeat(20) + '88ac',
    // Claim, support and update.
    'b50161016f6d7576a914' + '22'.repeat(20) + '88ac',
    'b6016114' + '33'.repeat(20) + '6d75a914' + '22'.repeat(20) + '87',
    'b7016114' + '33'.repeat(20) + '016f6d6d51',
    '151',
    'zz',
  ];
  return [
    ['decoderawtransaction', [signedTransaction()]],
    ...scripts.map((script): [string, unknown[]] => ['decodescript', [script]]),
  ];
}

/** Calls that do not concern claims and have the same parameters on each chain. */
const FIXED_CALLS: readonly [method: string, params: unknown[]][] = [
  ['getbestblock', []],
  ['getcurrentnet', []],
  ['version', []],
  ['getgenerate', []],
  ['gethashespersec', []],
  ['getdifficulty', []],
  ['getblockhash', [LAST_HEIGHT + 1]],
  ['getblockhash', ['1']],
  ['getblockhash', []],
  ['getaddednodeinfo', [true]],
  ['getaddednodeinfo', [false, '1.2.3.4']],
  ['debuglevel', ['show']],
  ['debuglevel', ['no']],
  ['getblock', ['zz']],
  ['getblock', ['0']],
  ['getblock', ['00'.repeat(33)]],
  ['getblock', [[]]],
  ['getblockheader', ['zz']],
  ['getcfilter', ['zz', 0]],
  ['getcfilter', ['ab'.repeat(32), 0]],
  ['getcfilterheader', ['ab'.repeat(32), 0]],
  ['getrawtransaction', ['zz']],
  ['getrawtransaction', ['ab']],
  ['gettxout', ['zz', 0]],
  ['getmininginfo', []],
  ['getblockchaininfo', []],
  ['setgenerate', [false]],
  ['setgenerate', [true]],
  ['setgenerate', [true, 0]],
  ['setgenerate', ['x']],
  ['generate', [-1]],
  ['generate', [0]],
  ['generate', ['x']],
  ['generate', []],
  ['generate', [1, 2]],
  ['node', ['disconnect', '999']],
  ['node', ['remove', '127.0.0.1:1']],
  ['node', ['disconnect', 'x']],
  ['node', ['connect', '127.0.0.1:1', 'x']],
  ['node', ['x', 'y']],
  ['node', ['connect']],
  ['createrawtransaction', [[{ txid: 'ab'.repeat(32), vout: 1 }], {}]],
  ['createrawtransaction', [[{ txid: 'ab'.repeat(32), vout: 1 }], {}, 5]],
  ['createrawtransaction', [[{ txid: 'ab', sequence: 5 }], { data: '51' }]],
  ['createrawtransaction', [[{ txid: 'zz', vout: 1 }], {}]],
  ['createrawtransaction', [[], { [OPEN_ADDRESS]: 0 }]],
  ['createrawtransaction', [null, null]],
  ['gettxout', ['ab'.repeat(32), -1]],
  ['node', ['connect', '']],
  ['node', ['connect', '127.0.0.1:y']],
  ['getclaimsforname', ['a', 5]],
  ['getclaimsfornamebyid', ['a', ['ab'], 5]],
  ['getclaimsfornamebybid', ['a', [0], 5]],
  ['getclaimsfornamebyseq', ['a', [0], 5]],
  ['getchangesinblock', [5]],
  ['getclaimsforname', []],
  ['getclaimsforname', ['a', []]],
  ['getclaimsforname', ['a', true]],
  ['getclaimsfornamebyid', ['a', ['ab'], {}]],
  ['getclaimsfornamebybid', ['a', [0], []]],
  ['getclaimsfornamebyseq', ['a', [0], []]],
  ['getchangesinblock', [[]]],
  ['getclaimsforname', [1]],
  ['getclaimsfornamebybid', ['a', ['x']]],
  ['searchrawtransactions', [OPEN_ADDRESS]],
  ['searchrawtransactions', [OPEN_ADDRESS, 0, 700, 20]],
  ['searchrawtransactions', [OPEN_ADDRESS, 1, 3, 5, 1, true]],
  ['searchrawtransactions', [OPEN_ADDRESS, 1, 103, 50, 1, false, [OPEN_ADDRESS]]],
  ['searchrawtransactions', ['x']],
];

/** Calls that do not concern claims. */
async function otherCalls({ them }: Both): Promise<[method: string, params: unknown[]][]> {
  const hashes: unknown[] = [];
  for (const height of [0, 1, 500, 600, LAST_HEIGHT])
    hashes.push((await them('getblockhash', [height])).result);
  const perBlock = hashes.flatMap((hash): [string, unknown[]][] => [
    ['getblock', [hash, 1]],
    ['getblock', [hash, 2]],
    ['getblockheader', [hash, true]],
    ['getheaders', [[hash], '']],
    ['getheaders', [[], hash]],
    ['getcfilter', [hash, 0]],
    ['getcfilterheader', [hash, 0]],
  ]);
  return [...perBlock, ['getcfilter', [hashes[1], 1]], ...FIXED_CALLS, ...scriptCalls()];
}

/** Calls about a transaction in both mempools: a claim, and the output that it spends. */
async function mempoolCalls(
  node: RegtestNode,
  { them }: Both,
): Promise<[method: string, params: unknown[]][]> {
  const source = new ClaimSource(node, 1, undefined, LAST_HEIGHT - 200);
  const prefix = buildClaimPrefix(Buffer.from('waiting'), Buffer.from('value'));
  const { hex, hash, coin } = await source.stake(prefix, 1_000_000n);
  const txid = hashToHex(hash);
  expect((await them('sendrawtransaction', [hex])).result).toBe(txid);
  await node.rpc('sendrawtransaction', [hex]);
  return [
    ['getrawtransaction', [txid, 1]],
    ['decoderawtransaction', [hex]],
    ['gettxout', [txid, 0]],
    ['gettxout', [txid, 9]],
    ['gettxout', [txid, 9, false]],
    ['gettxout', [hashToHex(coin), 0]],
    ['gettxout', [hashToHex(coin), 0, false]],
    ['getrawmempool', [true]],
    // lbcd reuses a template for a minute, so no template was requested before.
    ['getblocktemplate', []],
    ['getblocktemplate', [{ rules: ['segwit'], capabilities: ['workid'] }]],
  ];
}

/** A chain that both nodes have, with claims in nearly every block. */
async function grow(us: RegtestNode, lbcdNode: ReferenceNode, seed: number): Promise<void> {
  const them = lbcdNode.call;
  await us.rpc('generatetoaddress', [PREMINED, OPEN_ADDRESS]);
  const source = new ClaimSource(us, seed, sharesOf(seed));
  for (let height = PREMINED; height < LAST_HEIGHT; height++) {
    if (height !== EXTENSION_DUE - 1 && (height < 700 || height % 5 === 0))
      for (const hex of await source.take(height % 3, height === FORK - 1 ? isNormalized : undefined))
        await us.rpc('sendrawtransaction', [hex]);
    if (height === HASH_FORK - 2)
      await us.rpc('sendrawtransaction', [(await source.stake(KEPT, 1_000_000n)).hex]);
    await us.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
  }
  const isSame = async (): Promise<boolean> =>
    (await them('getbestblockhash', [])).result === (await us.rpc('getbestblockhash'));
  try {
    await until('the same tip', isSame, 120_000);
  } catch (cause) {
    // Reports why lbcd refuses the next block.
    const next = Number((await them('getblockcount', [])).result) + 1;
    const raw = await us.rpc<string>('getblock', [await us.rpc('getblockhash', [next]), 0]);
    const { result, error } = await them('submitblock', [raw]);
    const log = readFileSync(join(lbcdNode.folder, 'regtest', 'lbcd.log'), 'utf8').split('\n');
    const lines = log.filter((line) => /\[(WRN|ERR)\]|reject/i.test(line)).slice(0, 5);
    throw new Error(`lbcd refuses block ${next}: ${[JSON.stringify(error ?? result), ...lines].join('\n')}`, {
      cause,
    });
  }
}

describe.runIf(lbcd)('the lbcd profile beside lbcd', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  const start = async (): Promise<{ node: RegtestNode; both: Both; lbcdNode: ReferenceNode }> => {
    const them = await startLbcd(lbcd!, ['--txindex', '--addrindex']);
    closers.push(() => them.stop());
    const node = await startPeer({
      args: [
        '-supportdelay=proportional',
        '-txindex',
        '-addressindex',
        '-blockfilterindex',
        `-connect=127.0.0.1:${them.p2pPort}`,
      ],
    });
    closers.push(() => node.stop());
    await until('the handshake', async () => (await peersOf(node)).some(({ version }) => version > 0));
    const ours = envelopeFrom(`http://127.0.0.1:${node.rpcPort}/lbcd`, credentialsOf(node));
    return { node, both: { us: ours, them: them.call }, lbcdNode: them };
  };

  it.each(SEEDS)('answers as lbcd does about the claims of chain %i', async (seed) => {
    const { node, both, lbcdNode } = await start();
    await grow(node, lbcdNode, seed);
    const differences = new Differences();
    for (const height of HEIGHTS) {
      for (const name of [...NAMES, 'nobody']) await compareName(both, differences, name, String(height));
    }
    for (let height = 1; height <= LAST_HEIGHT; height++)
      await ask(both, differences, 'getchangesinblock', [String(height)]);
    for (const [method, params] of await otherCalls(both)) await askForAll(both, differences, method, params);
    for (const [method, params] of await mempoolCalls(node, both))
      await askForAll(both, differences, method, params);
    console.log(`${differences.calls} calls`);
    expect(Object.fromEntries(differences.found)).toEqual({});
  });

  it('returns the same data about an unconfirmed transaction as lbcd', async () => {
    const { node, both } = await start();
    await node.rpc('generatetoaddress', [PREMINED, OPEN_ADDRESS]);
    await until('the same tip', async () => (await both.them('getblockcount', [])).result === PREMINED);
    const { hex, hash } = await new ClaimSource(node).stake(KEPT, 1_000_000n);
    await both.them('sendrawtransaction', [hex]);
    await node.rpc('sendrawtransaction', [hex]);
    // QUIRK: lbcd may return the entry of another transaction than the requested one. Here the mempool has only one.
    const theirs = await both.them('getmempoolentry', ['ab'.repeat(32)]);
    const ours = await both.us('getmempoolentry', [hashToHex(hash)]);
    for (const answer of [ours.result, theirs.result]) hide(answer, 'time');
    expect(sorted(ours.result)).toEqual(sorted(theirs.result));
    expect(theirs.result).toMatchObject({ weight: 2 * hex.length, fee: 0.0002, ancestorfees: 0.0002 });
  });

  it('connects to and disconnects from nodes like lbcd', async () => {
    const other = await startPeer();
    closers.push(() => other.stop());
    const { both } = await start();
    const target = `127.0.0.1:${other.p2pPort}`;
    const walk = async (call: Both['us']): Promise<unknown[]> => {
      const answers: unknown[] = [];
      const say = async (...params: string[]): Promise<void> => {
        const { result, error } = await call('node', params);
        answers.push([...params, result, error?.code, error?.message]);
      };
      const peer = async (): Promise<{ id: number } | undefined> =>
        ((await call('getpeerinfo', [])).result as { id: number; addr: string; version: number }[]).find(
          ({ addr, version }) => addr === target && version > 0,
        );
      const comes = (): Promise<void> => until('the peer', async () => (await peer()) !== undefined);
      const goes = (): Promise<void> =>
        until('the end of the peer', async () => (await peer()) === undefined);
      await say('connect', target, 'perm');
      await comes();
      await say('disconnect', target);
      await say('remove', target);
      await goes();
      await say('connect', target, 'temp');
      await comes();
      await say('remove', target);
      await say('disconnect', target);
      await goes();
      await say('connect', target);
      await comes();
      const { result } = await call('node', ['disconnect', String((await peer())!.id)]);
      answers.push(result);
      await goes();
      return answers.map((answer) => JSON.stringify(answer).replaceAll(target, 'target'));
    };
    expect(await walk(both.us)).toEqual(await walk(both.them));
  });

  it('accepts the block of the hash fork while no claim is active, which lbcd refuses', async () => {
    const { node, both } = await start();
    await node.rpc('generatetoaddress', [PREMINED, OPEN_ADDRESS]);
    const { hex, hash } = await new ClaimSource(node).stake(KEPT, 1_000_000n);
    await node.rpc('sendrawtransaction', [hex]);
    await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
    await node.rpc('sendrawtransaction', [abandonStake(hash, 1_000_000n)]);
    await node.rpc('generatetoaddress', [HASH_FORK - 1 - (PREMINED + 1), OPEN_ADDRESS]);
    const countOf = async (): Promise<unknown> => (await both.them('getblockcount', [])).result;
    await until('the block before the fork', async () => (await countOf()) === HASH_FORK - 1);
    const [block] = await node.rpc<string[]>('generatetoaddress', [1, OPEN_ADDRESS]);
    const raw = await node.rpc<string>('getblock', [block, 0]);
    expect((await both.them('submitblock', [raw])).result).toContain('rejected');
    expect(await countOf()).toBe(HASH_FORK - 1);
  });

  it.each([
    ['moves what lbrycrd leaves behind', 'a support before it'],
    ['counts delays by normalized names', 'a claim in it'],
  ])('%s at the normalization fork, and may refuse its block afterwards', async (_, decisive) => {
    const { node, both } = await start();
    const mine = (count: number): Promise<string[]> =>
      node.rpc<string[]>('generatetoaddress', [count, OPEN_ADDRESS]);
    await mine(PREMINED);
    const source = new ClaimSource(node);
    const stake = async (prefix: Buffer, value: bigint): Promise<Bytes> => {
      const { hex, hash } = await source.stake(prefix, value);
      await node.rpc('sendrawtransaction', [hex]);
      return hash;
    };
    const claimOf = (name: string): Buffer => buildClaimPrefix(Buffer.from(name), Buffer.from('value'));
    await stake(claimOf('name'), 2_000_000n);
    const lesser = claimIdOf(await stake(claimOf('name'), 1_000_000n), 0);
    await mine(1);
    if (decisive === 'a support before it')
      await stake(buildSupportPrefix(Buffer.from('NAME'), lesser), 5_000_000n);
    await mine(FORK - 1 - (PREMINED + 1));
    const countOf = async (): Promise<unknown> => (await both.them('getblockcount', [])).result;
    await until('the block before the fork', async () => (await countOf()) === FORK - 1);
    if (decisive === 'a claim in it') await stake(claimOf('NAME'), 5_000_000n);
    const raw = await node.rpc<string>('getblock', [(await mine(1))[0], 0]);
    expect((await both.them('submitblock', [raw])).result).toContain('rejected');
    expect(await countOf()).toBe(FORK - 1);
  });
});
