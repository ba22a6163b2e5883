/**
 * Compares keys, addresses, imports and dumps with lbrycrd (`LBRYCRDD`): the same seed, chain and calls. Each side imports dumps
 * of the other one.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { decodeSecret } from '../../src/script/wif.js';
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { fromHex, toHex } from '../../src/util/bytes.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { keyOf, type NamedKey } from './support/walletKeys.js';
import {
  referenceBinary,
  startReference,
  type Call,
  type Envelope,
  type ReferenceNode,
} from './support/reference.js';

const binary = referenceBinary();
const NOW_SEC = 1_600_000_000;
const PREFIXES = addressPrefixesOf(regtestParams);

const SEED = keyOf('a seed').wif;
const FOREIGN_KEY = keyOf('of another').pubkey;
const UNCOMPRESSED_KEY = toHex(ecdsaBackend().publicKeyOf(sha256(Buffer.from('of old')), false));
const OPTIONS = [
  '-keypool=4',
  '-deprecatedrpc=addwitnessaddress',
  '-deprecatedrpc=accounts',
  '-deprecatedrpc=validateaddress',
];

interface Info {
  pubkey: string;
  address: string;
}

describe.skipIf(binary === undefined)('keys beside the reference', () => {
  let ours: RegtestNode;
  let theirs: ReferenceNode;
  let folder: string;
  const ourCall: Call = async (method, params) =>
    JSON.parse((await ours.post(JSON.stringify({ id: 1, method, params }))).text) as Envelope;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keys-'));
    theirs = await startReference(binary!, ['-disablewallet=0', ...OPTIONS]);
    ours = await startRegtest({ args: OPTIONS });
    await both('setmocktime', NOW_SEC);
    await mine(1);
    await both('sethdseed', true, SEED);
  });
  afterAll(async () => {
    await ours.stop();
    await theirs.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const shown = ({ result, error }: Envelope): Envelope => ({ result, error });

  /** Calls both sides. The answers must be equal. */
  async function both<T = unknown>(method: string, ...params: unknown[]): Promise<T> {
    const [our, their] = [await ourCall(method, params), await theirs.call(method, params)];
    expect({ method, params, ...shown(our) }).toEqual({ method, params, ...shown(their) });
    expect(JSON.stringify(our.result)).toBe(JSON.stringify(their.result));
    return our.result as T;
  }

  /** Mines on our node and submits the blocks to lbrycrd. */
  async function mine(count: number, address = ADDRESS): Promise<string[]> {
    const hashes = await ours.rpc<string[]>('generatetoaddress', [count, address]);
    for (const hash of hashes)
      expect(await theirs.rpc('submitblock', [await ours.rpc('getblock', [hash, 0])])).toBe(null);
    return hashes;
  }

  /** Compares the states of the two wallets. */
  async function bothStand(after: unknown = null): Promise<void> {
    const stand = async (call: Call): Promise<unknown> => {
      const { scanning: _, ...info } = (await call('getwalletinfo', [])).result as Record<string, unknown>;
      const unspent = (await call('listunspent', [0, 9_999_999])).result as { txid: string; vout: number }[];
      const listed = (await call('listtransactions', ['*', 1000, 0, true])).result as {
        txid: string;
        vout: number;
      }[];
      const sorted = <T extends { txid: string; vout: number }>(items: T[]): T[] =>
        items.sort((x, y) => (x.txid < y.txid ? -1 : x.txid > y.txid ? 1 : x.vout - y.vout));
      return { info, unspent: sorted(unspent), listed: sorted(listed) };
    };
    expect(await stand(ourCall), String(after)).toEqual(await stand(theirs.call));
  }

  it('derives, describes and exports the same keys, and gives the same signatures', async () => {
    await both('sethdseed', true, 'nonsense');
    await both('sethdseed', true, SEED);
    const addresses: string[] = [ADDRESS];
    for (const type of ['legacy', 'p2sh-segwit', 'bech32', undefined])
      addresses.push(await both('getnewaddress', `label ${type}`, ...(type === undefined ? [] : [type])));
    addresses.push(await both('getrawchangeaddress'), await both('getrawchangeaddress', 'legacy'));
    // Foreign addresses: P2SH, P2WPKH, P2WSH, one of a later witness version, and invalid ones.
    addresses.push(
      encodeDestination({ type: 'scripthash', hash: Buffer.alloc(20, 1) }, PREFIXES),
      encodeDestination({ type: 'witness_v0_keyhash', hash: Buffer.alloc(20, 1) }, PREFIXES),
      encodeDestination({ type: 'witness_v0_scripthash', hash: Buffer.alloc(32, 1) }, PREFIXES),
      encodeDestination({ type: 'witness_unknown', version: 3, program: Buffer.alloc(9, 1) }, PREFIXES),
      'nonsense',
      '',
    );
    for (const address of addresses) {
      await both('getaddressinfo', address);
      await both('dumpprivkey', address);
      await both('signmessage', address, 'a message, größer');
    }
    await both('getaddressinfo', 7);
    await both('dumpprivkey', 7);
    await both('signmessage', 7, '');
    await both('signmessage', '', 7);
  });

  it('makes the same addresses of scripts', async () => {
    const legacy: string[] = [];
    for (let n = 0; n < 3; n++) legacy.push(await both('getnewaddress', '', 'legacy'));
    const nested = await both<string>('getnewaddress', '', 'p2sh-segwit');
    const keys: string[] = [];
    for (const address of legacy) keys.push((await both<Info>('getaddressinfo', address)).pubkey);
    const made: string[] = [];
    for (const type of ['legacy', 'p2sh-segwit', 'bech32', undefined]) {
      const rest = type === undefined ? [] : ['shared', type];
      for (const members of [
        legacy,
        keys,
        [legacy[0], nested],
        [keys[0], FOREIGN_KEY],
        [UNCOMPRESSED_KEY, keys[1]],
      ])
        made.push((await both<Info>('addmultisigaddress', 2, members, ...rest)).address);
      for (const lock of [0, 1, 16, 17, 127, 128, 1000, -1, -300, 499_999_999, NOW_SEC, 2_147_483_647])
        made.push((await both<Info>('addtimelockedaddress', lock, legacy[0], ...rest)).address);
      made.push((await both<Info>('addtimelockedaddress', 200, nested, ...rest)).address);
    }
    for (const address of made) await both('getaddressinfo', address);
    for (const params of [
      [2, [legacy[0]]],
      [0, legacy],
      [1, []],
      [1, Array.from({ length: 17 }, () => keys[0])],
      [1, ['nonsense']],
      [1, [ADDRESS]],
      [1, [made[0]]],
      [1, [`02${'00'.repeat(32)}`]],
      [1, [`02${'0g'.repeat(32)}`]],
      [1, legacy, '*'],
      [1, legacy, '', 'big'],
      ['1', legacy],
      [1, 'x'],
      [1],
    ])
      await refused('addmultisigaddress', params);
    for (const params of [
      [1, 'nonsense'],
      [1, legacy[0], '*'],
      [1, legacy[0], '', 'big'],
      [2_147_483_648, legacy[0]],
      ['1', legacy[0]],
      [1],
    ])
      await refused('addtimelockedaddress', params);
    for (const address of [legacy[1], nested, made[0], made[1], ADDRESS, 'nonsense', made.at(-1)])
      for (const p2sh of [true, false]) await both('addwitnessaddress', address, p2sh);
    await both('addwitnessaddress', legacy[2]);
    for (const address of [...made.slice(0, 3), ...legacy]) await both('getaddressinfo', address);
  });

  /** Calls both sides, which must refuse the call. Help texts for a wrong number of arguments may differ. */
  async function refused(method: string, params: unknown[]): Promise<void> {
    const [our, their] = [await ourCall(method, params), await theirs.call(method, params)];
    const isHelp = their.error?.message.startsWith(method) === true;
    expect({ params, code: our.error?.code }).toEqual({ params, code: their.error?.code });
    if (!isHelp) expect({ params, ...shown(our) }).toEqual({ params, ...shown(their) });
  }

  it('imports the same keys, and finds the same transactions', async () => {
    const [a, b, c, d, e, f] = Array.from({ length: 6 }, (_, n) => keyOf(`key ${n}`)) as [
      NamedKey,
      NamedKey,
      NamedKey,
      NamedKey,
      NamedKey,
      NamedKey,
    ];
    for (const { legacy, nested, bech32 } of [a, b, c, d, e, f])
      for (const address of [legacy, nested, bech32]) await mine(1, address);
    await bothStand();
    for (const params of [
      ['nonsense'],
      [a.wif, 7],
      [a.wif, '', 'x'],
      [a.wif, 'an a', false],
      [a.wif, 'again', true],
      [b.wif, 'a b'],
      [c.uncompressedWif, 'old'],
    ]) {
      await both('importprivkey', ...params);
      await bothStand(JSON.stringify(params));
    }
    for (const { legacy, nested, bech32, bare } of [a, b]) {
      for (const address of [legacy, nested, bech32]) await both('getaddressinfo', address);
      await both('importaddress', bare, '', false);
    }
    const redeemScript = `5121${c.pubkey}51ae`;
    for (const params of [
      [c.legacy, 'watched', false],
      [c.legacy, 'watched twice'],
      [a.legacy, 'own'],
      [c.bare, 'bare', false],
      [redeemScript, 'p2sh', false, true],
      ['6a', 'odd', false],
      ['', '', false],
      ['zz', '', false],
      ['abc', '', false],
      [d.bech32, 'w', false, true],
      [d.bech32, 'w', true, false],
    ]) {
      await both('importaddress', ...params);
      await bothStand(JSON.stringify(params));
    }
    for (const params of [
      ['zz'],
      [''],
      ['02'],
      [`02${'00'.repeat(32)}`],
      [a.pubkey],
      [d.pubkey, 'key of d', false],
      [d.pubkey, 'key of d'],
    ]) {
      await both('importpubkey', ...params);
      await bothStand();
    }
    const hash = encodeDestination({ type: 'scripthash', hash: hash160(fromHex(redeemScript)) }, PREFIXES);
    for (const address of [c.legacy, c.nested, c.bech32, d.legacy, d.nested, d.bech32, hash])
      await both('getaddressinfo', address);
  });

  it('has the same coins after their time lock', async () => {
    await mine(100);
    await bothStand();
  });

  const redeemScriptOf = (key: NamedKey): string => `5121${key.pubkey}51ae`;
  const redeemOf = (hex: string): string =>
    encodeDestination({ type: 'scripthash', hash: hash160(fromHex(hex)) }, PREFIXES);

  /** Entries of `importmulti`: valid ones, and ones with each kind of error. */
  function importRequests(keys: readonly NamedKey[], own: string): Record<string, unknown>[] {
    const [k0, k1, k2, k3, k4, k5, k6] = keys as [
      NamedKey,
      NamedKey,
      NamedKey,
      NamedKey,
      NamedKey,
      NamedKey,
      NamedKey,
    ];
    const script = (key: NamedKey): string =>
      toHex(scriptForDestination({ type: 'pubkeyhash', hash: hash160(fromHex(key.pubkey)) }));
    const redeemscript = redeemScriptOf(k3);
    const timestamp = 'now';
    return [
      { scriptPubKey: { address: k0.legacy }, timestamp },
      { scriptPubKey: { address: k0.legacy }, timestamp: 0, label: 'again' },
      { scriptPubKey: { address: own }, timestamp },
      { scriptPubKey: { address: 'nonsense' }, timestamp },
      { scriptPubKey: { address: 7 }, timestamp },
      { scriptPubKey: { addr: k0.legacy }, timestamp },
      { scriptPubKey: 7, timestamp },
      { scriptPubKey: null, timestamp },
      { timestamp },
      { scriptPubKey: script(k1), timestamp },
      { scriptPubKey: script(k1), timestamp, internal: true },
      { scriptPubKey: script(k1), timestamp, internal: 1 },
      { scriptPubKey: script(k1), timestamp, internal: true, label: 'x' },
      { scriptPubKey: 'zz', timestamp, internal: true },
      { scriptPubKey: '', timestamp, internal: true },
      { scriptPubKey: { address: k2.legacy }, timestamp, pubkeys: [k2.pubkey], label: 'two' },
      { scriptPubKey: { address: k2.legacy }, timestamp, pubkeys: [k3.pubkey] },
      { scriptPubKey: { address: k2.bech32 }, timestamp, pubkeys: [k2.pubkey] },
      { scriptPubKey: { address: k2.legacy }, timestamp, pubkeys: [k2.pubkey, k2.pubkey] },
      { scriptPubKey: { address: k2.legacy }, timestamp, pubkeys: ['zz'] },
      { scriptPubKey: { address: k2.legacy }, timestamp, pubkeys: [''] },
      { scriptPubKey: { address: k2.legacy }, timestamp, pubkeys: [7] },
      { scriptPubKey: { address: k2.legacy }, timestamp, pubkeys: 'x' },
      { scriptPubKey: { address: k2.legacy }, timestamp, pubkeys: [`02${'00'.repeat(32)}`] },
      { scriptPubKey: script(k2), timestamp, pubkeys: [k2.pubkey], internal: true },
      { scriptPubKey: script(k2), timestamp, pubkeys: [k3.pubkey], internal: true },
      { scriptPubKey: '51', timestamp, pubkeys: [k2.pubkey], internal: true },
      { scriptPubKey: { address: k4.legacy }, timestamp: 0, keys: [k4.wif], label: 'four' },
      { scriptPubKey: { address: k4.legacy }, timestamp: 0, keys: [k4.wif], label: 'four again' },
      { scriptPubKey: { address: k5.legacy }, timestamp, keys: [k4.wif] },
      { scriptPubKey: { address: k5.legacy }, timestamp, keys: ['nonsense'] },
      { scriptPubKey: { address: k5.legacy }, timestamp, keys: [7] },
      { scriptPubKey: { address: k5.legacy }, timestamp, keys: [k5.wif], watchonly: true },
      { scriptPubKey: { address: k5.legacy }, timestamp, keys: [k5.wif], watchonly: 'x' },
      { scriptPubKey: { address: k5.legacy }, timestamp, keys: [k5.wif, k4.wif] },
      { scriptPubKey: { address: k5.bech32 }, timestamp, keys: [k5.wif] },
      { scriptPubKey: script(k5), timestamp: NOW_SEC, keys: [k5.wif], internal: true },
      { scriptPubKey: { address: k0.nested }, timestamp, watchonly: true, label: 'nested' },
      { scriptPubKey: { address: redeemOf(redeemscript) }, timestamp, redeemscript, label: 'script' },
      { scriptPubKey: { address: redeemOf(redeemscript) }, timestamp, redeemscript, keys: [k3.wif, k6.wif] },
      { scriptPubKey: { address: redeemOf(redeemscript) }, timestamp, redeemscript, keys: [k3.wif] },
      { scriptPubKey: { address: k0.legacy }, timestamp, redeemscript },
      { scriptPubKey: { address: redeemOf('51') }, timestamp, redeemscript: 'zz' },
      { scriptPubKey: { address: redeemOf('51') }, timestamp, redeemscript: 7 },
      { scriptPubKey: { address: k0.bech32 }, timestamp, label: 7 },
      { scriptPubKey: { address: k6.legacy }, timestamp: NOW_SEC - 1, keys: [k6.wif], pubkeys: [k6.pubkey] },
    ];
  }

  it('imports many keys at once like the reference', async () => {
    const keys = Array.from({ length: 12 }, (_, n) => keyOf(`many ${n}`));
    for (const { legacy } of keys) await mine(1, legacy);
    const own = await both<string>('getnewaddress');
    const requests = importRequests(keys, own);
    for (const request of requests) await both('importmulti', [request], { rescan: false });
    await bothStand();
    await both('importmulti', requests);
    await bothStand();
    for (const [params] of [
      [[[]]],
      [[[{}]]],
      [[[7]]],
      [[[{ scriptPubKey: '51', timestamp: 'then' }]]],
      [[[{ scriptPubKey: '51', timestamp: null }]]],
      [[[{ scriptPubKey: '51', timestamp: {} }]]],
      [[[{ scriptPubKey: '51', timestamp: 1.5 }]]],
      [['x']],
      [[[], null]],
      [[[], []]],
      [[[], { rescan: 1 }]],
    ] as unknown[][][])
      await both('importmulti', ...params!);
    for (const { legacy, nested, bech32 } of keys)
      for (const address of [legacy, nested, bech32]) await both('getaddressinfo', address);
    await both('getaddressinfo', redeemOf(redeemScriptOf(keys[3]!)));
  });

  it('scans the same blocks', async () => {
    const height = await both<number>('getblockcount');
    for (const params of [
      [],
      [3],
      [3, 5],
      [5, 5],
      [5, 3],
      [height],
      [height + 1],
      [0, height + 1],
      [-1],
      [0, -1],
      ['1'],
      [null, 4],
      [1.5],
    ])
      await both('rescanblockchain', ...params);
    await both('abortrescan');
    await bothStand();
  });

  it('imports and removes single transactions', async () => {
    const key = keyOf('pruned');
    const [hash] = await mine(1, key.legacy);
    const { tx } = await both<{ tx: string[] }>('getblock', hash);
    const raw = await ours.rpc<string>('getrawtransaction', [tx[0], 0, hash]);
    const proof = await both<string>('gettxoutproof', [tx[0]], hash);
    const [other] = await mine(1);
    const { tx: others } = await both<{ tx: string[] }>('getblock', other);
    const otherProof = await both<string>('gettxoutproof', [others[0]], other);
    await both('importprunedfunds', raw, proof);
    await both('importaddress', key.legacy, '', false);
    for (const params of [
      [raw, proof],
      [raw, proof],
      ['00', proof],
      [raw, ''],
      [raw, 'zz'],
      [raw, otherProof],
      [raw, proof.slice(0, -2) + '00'],
      [raw, `01${proof.slice(2)}`],
    ]) {
      await both('importprunedfunds', ...params);
      await bothStand();
    }
    for (const id of [tx[0], tx[0], 'zz', others[0]]) {
      await both('removeprunedfunds', id);
      await bothStand();
    }
  });

  it('writes and reads the same dumps', async () => {
    await both('importwallet', join(folder, 'none'));
    /** Compared lines: of keys from the common seed and of scripts, with their content. */
    const linesOf = (name: string): string[] => {
      const lines = readFileSync(join(folder, name), 'utf8').split('\n');
      // Keys that were created before the clock was set have a random seed.
      const others = lines.filter((line) => /^c\w+ (?!2020|19)/.test(line));
      const programs = others.map((line) => {
        const { privateKey } = decodeSecret(line.split(' ')[0]!, PREFIXES)!;
        return `0014${toHex(hash160(ecdsaBackend().publicKeyOf(privateKey, true)))}`;
      });
      expect(others.length).toBe(9);
      return lines.filter(
        (line) =>
          !/^# [W*]|^#   /.test(line) && !others.includes(line) && !programs.includes(line.split(' ')[0]!),
      );
    };
    async function dumpBoth(name: string, path = ''): Promise<void> {
      await to(path, 'dumpwallet', 'ours');
      expect(linesOf(`${name} ours`)).toEqual(linesOf(`${name} theirs`));
      async function to(wallet: string, method: string, _: string): Promise<void> {
        expect(await ourAt(wallet, method, [join(folder, `${name} ours`)])).toMatchObject({ error: null });
        expect(await theirAt(wallet, method, [join(folder, `${name} theirs`)])).toMatchObject({
          error: null,
        });
      }
    }
    await dumpBoth('first');
    await both('dumpwallet', join(folder, 'first ours'));
    await both('dumpwallet', join(folder, 'none', 'none'));
    await both('createwallet', 'second');
    // Each side imports the dump of the other one.
    expect(await ourAt('second', 'importwallet', [join(folder, 'first theirs')])).toMatchObject({
      error: null,
    });
    expect(await theirAt('second', 'importwallet', [join(folder, 'first ours')])).toMatchObject({
      error: null,
    });
    const [our, their] = [
      await ourAt('second', 'getwalletinfo', []),
      await theirAt('second', 'getwalletinfo', []),
    ];
    const sums = ({ result }: Envelope): unknown => {
      const { hdseedid: _, hdmasterkeyid: __, scanning: ___, ...rest } = result as Record<string, unknown>;
      return rest;
    };
    expect(sums(our)).toEqual(sums(their));
    expect((our.result as { txcount: number }).txcount).toBeGreaterThan(5);
    // A file with valid and malformed lines.
    const [wif, other] = [keyOf('odd 1').wif, keyOf('odd 2').wif];
    writeFileSync(
      join(folder, 'odd'),
      [
        '# comment',
        '',
        'word',
        `${wif} 2020-01-01T00:00:00Z label=a%20b%25%zz%c3%bc # addr=x`,
        `${other} nonsense change=1 label= # label=no`,
        `${keyOf('odd 3').wif}  label=x`,
        '51 0 script=1',
        '5151 2019-01-01T00:00:00Z script=1',
        'zz 0 script=1',
      ].join('\n'),
    );
    for (const at of [ourAt, theirAt])
      expect(await at('second', 'importwallet', [join(folder, 'odd')])).toMatchObject({ error: null });
    for (const name of ['odd 1', 'odd 2', 'odd 3']) {
      const params = [keyOf(name).legacy];
      expect(shown(await ourAt('second', 'getaddressinfo', params))).toEqual(
        shown(await theirAt('second', 'getaddressinfo', params)),
      );
    }
  });

  const ourAt = async (wallet: string, method: string, params: unknown[]): Promise<Envelope> =>
    JSON.parse(
      (await ours.post(JSON.stringify({ id: 1, method, params }), `/wallet/${wallet}`)).text,
    ) as Envelope;
  const theirAt = (wallet: string, method: string, params: unknown[]): Promise<Envelope> =>
    theirs.at(`/wallet/${wallet}`)(method, params);
});
