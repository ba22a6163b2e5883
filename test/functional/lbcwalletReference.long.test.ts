/**
 * Compares the wallet port with lbcwallet on lbcd: the same operations on two chains, the same calls, the same answers except
 * for values that differ between wallets (addresses, ids, times). `LBCD` and `LBCWALLET` name the binaries.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';
import {
  envelopeFrom,
  runReference,
  startLbcd,
  type Call,
  type ReferenceNode,
  type RunningReference,
} from './support/reference.js';

const lbcd = process.env['LBCD'];
const lbcwallet = process.env['LBCWALLET'];
if (!lbcd || !lbcwallet) console.log('skipped: LBCD and LBCWALLET name no reference binaries');

const PASSPHRASE = 'passphrase';
/** Fields that differ between the wallets: keys, random values, and estimated sizes of signatures. */
const OWN_FIELDS = new Set([
  'hdkeypath',
  'vout',
  'fee',
  'version',
  'protocolversion',
  'walletversion',
  'difficulty',
]);
/** Methods with calls whose answers differ (`docs/wallet.md`). */
const OTHERWISE: Readonly<Record<string, RegExp>> = {
  // lbcwallet counts amounts again for each kind of address.
  listreceivedbyaccount: /./,
  getreceivedbyaccount: /savings/,
  // lbcwallet changes and returns nothing for these arguments.
  createnewaccount: /savings|""|imported/,
  lockunspent: /./,
  // Errors for invalid arguments come from the node's own methods.
  signmessage: /./,
  verifymessage: /nope/,
  dumpprivkey: /./,
  addmultisigaddress: /nope|2,/,
  createmultisig: /nope/,
  signrawtransaction: /zz/,
  rescanblockchain: /1000|-1|5,2/,
};

interface Side {
  readonly call: Call;
  readonly mine: (blocks: number, address?: string) => Promise<unknown>;
  /** Placeholders for the values of this side. */
  readonly names: Map<string, string>;
}

/**
 * An answer without values that differ between the sides: addresses, ids, hashes and times; the order of lists (in lbcwallet,
 * that of a hash table); and amounts as far as fees differ.
 */
function plain(side: Side, value: unknown, field = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((one) => plain(side, one, field)).filter((one) => !isUnused(one));
    return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !OWN_FIELDS.has(key))
        .map(([key, one]) => [side.names.get(key) ?? key, plain(side, one, key)]),
    );
  if (typeof value === 'string') {
    const known = side.names.get(value);
    if (known !== undefined) return known;
    if (/^[0-9a-f]{64}$/.test(value)) return '<hash>';
    if (/^[0-9a-f]{40,}$/.test(value)) return `<hex>`;
    if (/^(m|n|2|rlbc1|r|y)[1-9A-HJ-NP-Za-z0-9]{25,}$/.test(value)) return '<address>';
    return value;
  }
  if (typeof value === 'number') return /time/.test(field) ? '<time>' : Math.round(value * 1e4) / 1e4;
  return value;
}

/** lbcwallet lists addresses for change that it has made, too. */
function isUnused(item: unknown): boolean {
  const { address, amount } = (item ?? {}) as { address?: unknown; amount?: unknown };
  return address === '<address>' && amount === 0;
}

/** Calls after all others: mostly errors, and calls of a locked wallet. */
const LAST_CALLS: readonly [string, ...unknown[]][] = [
  ['sendfrom', 'journeys', ADDRESS, 1],
  ['sendfrom', 'none', ADDRESS, 1],
  ['sendfrom', 'savings', ADDRESS, 1, -1],
  ['sendfrom', 'savings', ADDRESS, -1],
  ['sendfrom', 'savings', ADDRESS, 1, 1, 'legacy', 'a note'],
  ['sendtoaddress', ADDRESS, 1e6],
  ['sendtoaddress', ADDRESS, 0.00000001],
  ['sendtoaddress', ADDRESS, 0],
  ['sendtoaddress', ADDRESS, -1],
  ['sendtoaddress', 'nope', 1],
  ['sendtoaddress', ADDRESS, 1, '*', 'for beer'],
  ['sendtoaddress', ADDRESS, 'much'],
  ['sendtoaddress'],
  ['sendmany', 'default', { nope: 1 }],
  ['sendmany', 'default', { [ADDRESS]: -1 }],
  ['sendmany', 'none', { [ADDRESS]: 1 }],
  ['settxfee', -1],
  ['settxfee', 0.1],
  ['keypoolrefill'],
  ['keypoolrefill', 100],
  ['lockunspent', true],
  ['lockunspent', false],
  ['lockunspent', false, [{ txid: 'zz', vout: 0 }]],
  ['listlockunspent'],
  ['listunspent', 1, 9, [ADDRESS]],
  ['listunspent', -1],
  ['signmessage', ADDRESS, 'hello'],
  ['signmessage', 'nope', 'hello'],
  ['verifymessage', ADDRESS, 'nope', 'hello'],
  ['verifymessage', 'nope', 'aaaa', 'hello'],
  ['dumpprivkey', ADDRESS],
  ['dumpprivkey', 'nope'],
  ['importprivkey', 'nope'],
  ['importprivkey', 'nope', 'savings'],
  ['addmultisigaddress', 1, ['nope']],
  ['addmultisigaddress', 2, [ADDRESS]],
  ['createmultisig', 1, ['nope']],
  ['createmultisig', 1, ['02' + '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798']],
  ['addmultisigaddress', 1, ['02' + '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798']],
  ['signrawtransaction', 'zz'],
  ['signrawtransaction', '00'],
  ['getbestblock'],
  ['getbestblockhash'],
  ['getblockcount'],
  ['getinfo'],
  ['rescanblockchain'],
  ['rescanblockchain', 100],
  ['rescanblockchain', 1000],
  ['rescanblockchain', -1],
  ['rescanblockchain', 5, 2],
  ['backupwallet', 'x'],
  ['getwalletinfo'],
  ['encryptwallet', 'x'],
  ['nosuchmethod'],
  ['walletpassphrasechange', 'wrong', 'new'],
  ['walletpassphrase'],
  ['walletlock'],
  ['walletislocked'],
  ['sendtoaddress', ADDRESS, 0.1],
  ['createnewaccount', 'more'],
  ['dumpprivkey', '<saved legacy>'],
  ['signmessage', '<saved legacy>', 'x'],
  ['importprivkey', 'cMzLdeGd5vEqxB8B6VFQoRopQ3sLAAvEzDAoQgvX54xwofSWj1fx'],
  ['getnewaddress'],
  ['getaccountaddress', 'savings'],
];

describe.runIf(lbcd && lbcwallet)('the wallet port beside lbcwallet', () => {
  let folder: string;
  let node: RegtestNode;
  let chain: ReferenceNode;
  let wallet: RunningReference;
  let ours: Side;
  let theirs: Side;
  const differences: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lbcwallet-'));
    chain = await startLbcd(lbcd!, ['--txindex']);
    const walletPort = await freePort();
    const args = [
      '--regtest',
      `--appdata=${folder}`,
      '--noservertls',
      '--noclienttls',
      '--rpcuser=u',
      '--rpcpass=p',
      `--rpcconnect=127.0.0.1:${chain.rpcPort}`,
      `--rpclisten=127.0.0.1:${walletPort}`,
      `--passphrase=${PASSPHRASE}`,
    ];
    const made = spawnSync(lbcwallet!, [...args, '--create'], {
      input: `yes\n${'07'.repeat(32)}\n0\n`,
      encoding: 'utf8',
      env: { ...process.env, HOME: folder },
    });
    if (made.status !== 0) throw new Error(`${made.stdout}${made.stderr}`);
    wallet = await runReference(lbcwallet!, args, folder, walletPort);
    const port = await freePort();
    node = await startRegtest({ args: [`-walletrpcport=${port}`, '-changetype=bech32'] });
    const url = new URL(node.url);
    url.port = String(port);
    const credentials = `${url.username}:${url.password}`;
    url.username = url.password = '';
    ours = {
      call: envelopeFrom(url.href, credentials),
      mine: (blocks, address = ADDRESS) => node.rpc('generatetoaddress', [blocks, address]),
      names: new Map(),
    };
    theirs = {
      call: wallet.call,
      mine: async (blocks, address = ADDRESS) => {
        await chain.rpc('generatetoaddress', [blocks, address]);
        const height = await chain.rpc<number>('getblockcount');
        for (let tries = 0; tries < 600; tries++) {
          if ((await wallet.rpc<number>('getblockcount')) === height) return;
          await sleep(50);
        }
        throw new Error('lbcwallet does not follow');
      },
      names: new Map(),
    };
  }, 120_000);
  afterAll(async () => {
    await node?.stop();
    await wallet?.end('SIGKILL');
    await chain?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const sides = (): Side[] => [ours, theirs];
  /** Calls a method on both sides. From then on, `name` stands for the results. */
  async function make(name: string, method: string, ...params: unknown[]): Promise<void> {
    const answers = await both(method, ...params);
    for (const [at, side] of sides().entries()) {
      if (typeof answers[at] !== 'string') throw new Error(`${name}: ${JSON.stringify(answers[at])}`);
      side.names.set(answers[at], name);
    }
  }
  /** A parameter with the value of this side in place of a placeholder. */
  function own(side: Side, value: unknown): unknown {
    if (typeof value === 'string' && value.startsWith('<'))
      return [...side.names].find(([, name]) => name === value)?.[0] ?? value;
    if (Array.isArray(value)) return value.map((one) => own(side, one));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [own(side, key) as string, own(side, one)]),
      );
    return value;
  }
  /** Calls both and compares. */
  async function both(method: string, ...params: unknown[]): Promise<unknown[]> {
    const [one, two] = await Promise.all(
      sides().map((side) =>
        side.call(method, own(side, params) as unknown[]).catch((error: unknown) => ({
          result: null,
          error: { code: 0, message: `${String(error)}` },
        })),
      ),
    );
    const mineOwn = JSON.stringify(plain(ours, one!.error ?? one!.result ?? null), null, 1);
    const other = JSON.stringify(plain(theirs, two!.error ?? two!.result ?? null), null, 1);
    if (mineOwn !== other && OTHERWISE[method]?.test(JSON.stringify(params)) !== true)
      differences.push(`${method} ${JSON.stringify(params)}\n  ours: ${mineOwn}\n  lbcwallet: ${other}`);
    return [one!.error ?? one!.result, two!.error ?? two!.result];
  }
  const mine = async (blocks: number, address?: string): Promise<void> => {
    for (const side of sides())
      await side.mine(blocks, address === undefined ? undefined : (own(side, address) as string));
  };

  async function startAndNameAccounts(): Promise<void> {
    for (const side of sides()) side.names.set(ADDRESS, '<elsewhere>');
    await node.rpc('encryptwallet', [PASSPHRASE]);
    // lbcwallet was started with the passphrase, so it is unlocked.
    await wallet.rpc('walletlock');
    await both('walletislocked');
    await both('getbalance');
    await both('createnewaccount', 'savings');
    await both('walletpassphrase', 'wrong', 60);
    await both('walletpassphrase', PASSPHRASE, 0);
    await both('walletislocked');
    await make('<mined>', 'getnewaddress');
    // All coins have the same value and are needed, so that coin selection is not random.
    await mine(4, '<mined>');
    // lbcwallet's change goes to a witness program, which is valid from this height on.
    await mine(440);
    await both('createnewaccount', 'savings');
    await both('createnewaccount', 'savings');
    await both('createnewaccount', '');
    await both('createnewaccount', '*');
    await both('createnewaccount', 'imported');
    await both('createnewaccount', 'travel');
    await both('renameaccount', 'travel', 'journeys');
    await both('renameaccount', 'none', 'x');
    await both('renameaccount', 'imported', 'x');
    await both('renameaccount', 'savings', 'journeys');
    await both('renameaccount', 'savings', '*');
    await both('listaccounts');
    await both('listaccounts', 0);
  }

  async function askAboutAddresses(): Promise<void> {
    for (const type of ['legacy', 'p2sh-segwit', 'bech32']) {
      await make(`<saved ${type}>`, 'getnewaddress', 'savings', type);
      await both('getaddressinfo', `<saved ${type}>`);
      await both('validateaddress', `<saved ${type}>`);
      await both('getaddressesbyaccount', 'savings', type);
    }
    await both('getnewaddress', 'none');
    await both('getnewaddress', 'default', 'nested');
    await both('getnewaddress', 'imported');
    await both('getaccountaddress', 'savings');
    await both('getaccount', '<saved legacy>');
    await both('getaccount', ADDRESS);
    await both('getaccount', 'nope');
    await both('getaddressesbyaccount', 'savings');
    await both('getaddressesbyaccount', 'none');
    await both('getrawchangeaddress');
    await both('getrawchangeaddress', 'savings', 'bech32');
    await both('validateaddress', ADDRESS);
    await both('validateaddress', 'nope');
    await both('getaddressinfo', ADDRESS);
    await both('getaddressinfo', 'nope');
    for (const params of [
      [],
      ['*'],
      ['default'],
      ['savings'],
      ['none'],
      ['default', 0],
      ['default', 1, 'legacy'],
      ['*', -1],
      ['default', 'x'],
    ])
      await both('getbalance', ...params);
  }

  async function payAndMine(): Promise<void> {
    await both('getunconfirmedbalance');
    await both('getunconfirmedbalance', 'none');
    await make('<first>', 'sendtoaddress', '<saved legacy>', 3);
    await both('gettransaction', '<first>');
    await both('listtransactions');
    await both('getbalance', 'savings', 0);
    await both('getunconfirmedbalance', 'savings');
    await mine(1);
    await both('gettransaction', '<first>');
    await both('listtransactions', '*', 3);
    await both('listunspent');
    await both('listaccounts');
    await make('<second>', 'sendfrom', 'savings', ADDRESS, 1);
    await both('listunspent', 0, 9999999);
    await mine(1);
    await make('<third>', 'sendmany', 'default', { [ADDRESS]: 0.1, '<saved bech32>': 0.2 }, 1);
    await mine(1);
    await both('gettransaction', '<second>');
    await both('gettransaction', '<third>');
    await both('gettransaction', '<third>', true);
    await both('gettransaction', '00'.repeat(32));
    await both('gettransaction', 'zz');
  }

  async function listAll(): Promise<void> {
    for (const params of [
      ['*', 100],
      ['*', 2, 1],
      ['savings', 10],
      ['default', 5],
      ['*', 0],
      ['*', 5, -1],
    ])
      await both('listtransactions', ...params);
    await both('listalltransactions');
    await both('listalltransactions', 'savings');
    await both('listaddresstransactions', ['<saved legacy>']);
    await both('listaddresstransactions', ['<saved legacy>'], 'default');
    await both('listaddresstransactions', ['nope']);
    await both('listsinceblock');
    await both('listsinceblock', '00'.repeat(32));
    await both('listsinceblock', 'zz');
    for (const params of [[], [0], [1, true], [100]]) {
      await both('listreceivedbyaccount', ...params);
      await both('listreceivedbyaddress', ...params);
    }
    await both('getreceivedbyaccount', 'savings');
    await both('getreceivedbyaccount', 'none');
    await both('getreceivedbyaddress', '<saved legacy>');
    await both('getreceivedbyaddress', '<saved legacy>', 100);
    await both('getreceivedbyaddress', ADDRESS);
    await both('getreceivedbyaddress', 'nope');
  }

  it('gives the same answers to the same sequence of calls', async () => {
    await startAndNameAccounts();
    await askAboutAddresses();
    await payAndMine();
    await listAll();
    for (const params of LAST_CALLS) await both(params[0], ...params.slice(1));
    expect(differences.join('\n')).toBe('');
  }, 600_000);
});
