/** Calls about keys, addresses and scripts: answers, imports, exports, and errors. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';
import { keyOf, type NamedKey } from './support/walletKeys.js';

const NOW_SEC = 1_600_000_000;
const KEYS = 30;

interface Failure {
  readonly code: number;
  readonly message: string;
}

interface AddressInfo {
  readonly pubkey: string;
  readonly hdkeypath: string;
  readonly ismine: boolean;
  readonly iswatchonly: boolean;
}

const LOCKED = {
  code: -13,
  message: 'Error: Please enter the wallet passphrase with walletpassphrase first.',
};
const SCANNING = {
  code: -4,
  message: 'Wallet is currently rescanning. Abort existing rescan or wait.',
};

describe('keys of wallets', () => {
  let node: RegtestNode;
  let folder: string;
  /** A call to one wallet; answers the result, or the error. */
  async function at<T = unknown>(wallet: string, method: string, ...params: unknown[]): Promise<T> {
    const { text } = await node.post(JSON.stringify({ id: 1, method, params }), `/wallet/${wallet}`);
    const { result, error } = JSON.parse(text) as { result: unknown; error: Failure | null };
    return (error ?? result) as T;
  }
  const rpc = <T = unknown>(method: string, ...params: unknown[]): Promise<T> => at('', method, ...params);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keys-'));
    node = await startRegtest({ args: ['-addressindex', '-deprecatedrpc=addwitnessaddress'] });
    expect(await rpc('sethdseed')).toMatchObject({ code: -10 });
    await rpc('setmocktime', NOW_SEC);
    await rpc('generatetoaddress', 1, ADDRESS);
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are described by address, each with its own path', async () => {
    const legacy = await rpc<string>('getnewaddress', 'mine', 'legacy');
    const nested = await rpc<string>('getnewaddress', 'mine', 'p2sh-segwit');
    const info = await rpc<AddressInfo>('getaddressinfo', legacy);
    expect(info).toMatchObject({
      address: legacy,
      ismine: true,
      iswatchonly: false,
      isscript: false,
      iswitness: false,
      iscompressed: true,
      label: 'mine',
      hdkeypath: expect.stringMatching(/^m\/0'\/0'\/\d+'$/) as string,
      labels: [{ name: 'mine', purpose: 'receive' }],
    });
    expect(await rpc('getaddressinfo', nested)).toMatchObject({
      ismine: true,
      isscript: true,
      script: 'witness_v0_keyhash',
      embedded: { isscript: false, iswitness: true, witness_version: 0 },
    });
    expect(await rpc('getaddressinfo', 'x')).toEqual({ code: -5, message: 'Invalid address' });
    const wif = await rpc<string>('dumpprivkey', nested);
    expect(await at('', 'dumpprivkey', 'x')).toEqual({ code: -5, message: 'Invalid Bitcoin address' });
    // Zeros count as no key.
    expect(await rpc('dumpprivkey', ADDRESS)).toEqual({
      code: -3,
      message: 'Address does not refer to a key',
    });
    const other = keyOf('other');
    expect(await rpc('dumpprivkey', other.legacy)).toMatchObject({ code: -4 });
    const message = 'm'.repeat(200_000);
    const signature = await rpc<string>('signmessage', legacy, message);
    expect(await rpc('verifymessage', legacy, signature, message)).toBe(true);
    for (const [address, failure] of [
      ['x', { code: -3, message: 'Invalid address' }],
      [nested, { code: -3, message: 'Address does not refer to key' }],
      [other.legacy, { code: -4, message: 'Private key not available' }],
    ] as const)
      expect(await rpc('signmessage', address, '')).toEqual(failure);
    await rpc('createwallet', 'taker');
    expect(await at('taker', 'importprivkey', wif, 'from another')).toBe(null);
    expect(await at('taker', 'getaddressinfo', nested)).toMatchObject({ ismine: true, timestamp: 1 });
  });

  it('make addresses with scripts', async () => {
    const [a, b] = [await rpc<string>('getnewaddress'), await rpc<string>('getnewaddress')];
    const multi = await rpc<{ address: string; redeemScript: string }>(
      'addmultisigaddress',
      2,
      [a, b],
      'both',
    );
    expect(await rpc('getaddressinfo', multi.address)).toMatchObject({
      ismine: true,
      script: 'multisig',
      hex: multi.redeemScript,
      sigsrequired: 2,
      labels: [{ name: 'both', purpose: 'send' }],
    });
    expect(await rpc('addmultisigaddress', 1, [a], '*')).toEqual({
      code: -11,
      message: 'Invalid label name',
    });
    expect(await rpc('addmultisigaddress', 3, [a])).toMatchObject({ code: -8 });
    expect(await rpc('addmultisigaddress', 1, [keyOf('x').legacy])).toMatchObject({ code: -5 });
    const locked = await rpc<{ address: string; redeemScript: string }>(
      'addtimelockedaddress',
      5,
      a,
      'later',
    );
    expect(locked.redeemScript.startsWith('0105b17576a914')).toBe(true);
    expect(await rpc('getaddressinfo', locked.address)).toMatchObject({
      ismine: false,
      script: 'nonstandard',
      labels: [{ name: 'later', purpose: 'timelock' }],
    });
    expect(await rpc('addtimelockedaddress', 5, 'x')).toEqual({
      code: -5,
      message: 'Invalid LBRY address: x',
    });
    const witness = await rpc<string>('addwitnessaddress', a);
    expect(await rpc('getaddressinfo', witness)).toMatchObject({
      ismine: true,
      script: 'witness_v0_keyhash',
    });
    expect(await rpc('addwitnessaddress', witness, false)).toMatchObject({ code: -4 });
    expect(await rpc('addwitnessaddress', keyOf('x').legacy)).toMatchObject({ code: -4 });
  });

  it('are imported in many ways, with their transactions', async () => {
    const keys = Array.from({ length: 8 }, (_, n) => keyOf(`import ${n}`));
    const [k0, k1, k2, k3, k4, k5] = keys as [NamedKey, NamedKey, NamedKey, NamedKey, NamedKey, NamedKey];
    for (const { legacy: address, nested, bech32 } of keys)
      for (const paid of [address, nested, bech32]) await rpc('generatetoaddress', 1, paid);
    const count = async (): Promise<number> => (await at<{ txcount: number }>('in', 'getwalletinfo')).txcount;
    await rpc('createwallet', 'in');
    expect(await at('in', 'importprivkey', 'x')).toEqual({
      code: -5,
      message: 'Invalid private key encoding',
    });
    expect(await at('in', 'importprivkey', k0.wif, '', false)).toBe(null);
    expect(await count()).toBe(0);
    expect(await at('in', 'rescanblockchain')).toEqual({ start_height: 0, stop_height: 25 });
    expect(await count()).toBe(3);
    expect(await at('in', 'importaddress', k1.bech32)).toBe(null);
    expect(await count()).toBe(4);
    expect(await at('in', 'importpubkey', k2.pubkey, 'watched')).toBe(null);
    expect(await count()).toBe(7);
    for (const address of [k2.legacy, k2.nested, k2.bech32])
      expect(await at('in', 'getaddressinfo', address)).toMatchObject({
        iswatchonly: true,
        label: 'watched',
      });
    expect(
      await at('in', 'importmulti', [
        { scriptPubKey: { address: k3.legacy }, timestamp: 0, keys: [k3.wif], label: 'three' },
        { scriptPubKey: { address: k4.nested }, timestamp: 'now', watchonly: true },
        { scriptPubKey: { address: k0.legacy }, timestamp: 0 },
        { scriptPubKey: 'zz', timestamp: 0, internal: true },
        { scriptPubKey: { address: k5.legacy }, timestamp: 0, keys: [k4.wif] },
        { scriptPubKey: { address: k5.legacy }, timestamp: 0, keys: [k5.wif], watchonly: true },
        { timestamp: 0 },
        { scriptPubKey: { address: 1 }, timestamp: 0 },
      ]),
    ).toEqual([
      { success: true },
      { success: true },
      {
        success: false,
        error: {
          code: -4,
          message: 'The wallet already contains the private key for this address or script',
        },
      },
      { success: false, error: { code: -5, message: 'Invalid scriptPubKey' } },
      { success: false, error: { code: -5, message: 'Consistency check failed' } },
      { success: false, error: { code: -8, message: 'Incompatibility found between watchonly and keys' } },
      { success: false, error: { code: -8, message: 'Invalid scriptPubKey' } },
      { success: false, error: { code: -1, message: 'Missing required fields' } },
    ]);
    // All outputs of the key, including watch-only outputs.
    expect(await count()).toBe(11);
    for (const [requests, code] of [
      [[{ scriptPubKey: '51' }], -3],
      [[{ scriptPubKey: '51', timestamp: 'then' }], -3],
      ['x', -3],
    ] as const)
      expect(await at('in', 'importmulti', requests)).toMatchObject({ code });
    expect(await at('in', 'importaddress', k0.legacy)).toMatchObject({ code: -4 });
    expect(await at('in', 'importaddress', k1.legacy, '', true, true)).toMatchObject({ code: -5 });
    expect(await at('in', 'importaddress', 'x')).toEqual({
      code: -5,
      message: 'Invalid Bitcoin address or script',
    });
    expect(await at('in', 'importpubkey', 'x')).toMatchObject({ code: -5 });
    for (const [params, failure] of [
      [[99], 'Invalid start_height'],
      [[0, 99], 'Invalid stop_height'],
      [[5, 4], 'stop_height must be greater than start_height'],
    ] as const)
      expect(await at('in', 'rescanblockchain', ...params)).toEqual({ code: -8, message: failure });
    expect(await at('in', 'abortrescan')).toBe(false);
    await rpc('createwallet', 'watching', true);
    expect(await at('watching', 'importprivkey', k0.wif)).toMatchObject({ code: -4 });
    expect(await at('watching', 'importpubkey', k0.pubkey)).toBe(null);
    expect(await at('watching', 'getwalletinfo')).toMatchObject({ txcount: 3 });
  });

  it('are imported without a rescan, with the proof of a transaction', async () => {
    const key = keyOf('pruned');
    const [block] = await rpc<string[]>('generatetoaddress', 1, key.legacy);
    const { tx } = await rpc<{ tx: [string] }>('getblock', block);
    const raw = await rpc<string>('getrawtransaction', tx[0], false, block);
    const proof = await rpc<string>('gettxoutproof', tx, block);
    expect(await at('in', 'importprunedfunds', raw, proof)).toMatchObject({ code: -5 });
    await at('in', 'importaddress', key.legacy, '', false);
    expect(await at('in', 'importprunedfunds', '00', proof)).toMatchObject({ code: -22 });
    expect(await at('in', 'importprunedfunds', raw, 'zz')).toMatchObject({ code: -8 });
    expect(await at('in', 'importprunedfunds', raw, `01${proof.slice(2)}`)).toMatchObject({ code: -5 });
    expect(await at('in', 'importprunedfunds', raw, proof)).toBe(null);
    expect(await at('in', 'gettransaction', tx[0], true)).toMatchObject({
      confirmations: 1,
      blockhash: block,
    });
    expect(await at('in', 'removeprunedfunds', tx[0])).toBe(null);
    expect(await at('in', 'removeprunedfunds', tx[0])).toEqual({
      code: -8,
      message: 'Transaction does not exist in wallet.',
    });
  });

  it('are exported to a text file and imported from it', async () => {
    const path = join(folder, 'dump');
    expect(await at('in', 'dumpwallet', path)).toEqual({ filename: path });
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(await at('in', 'dumpwallet', path)).toMatchObject({ code: -8 });
    expect(await at('in', 'dumpwallet', join(folder, 'no', 'dump'))).toMatchObject({ code: -8 });
    expect(await at('in', 'importwallet', join(folder, 'no dump'))).toEqual({
      code: -8,
      message: 'Cannot open wallet dump file',
    });
    expect(readFileSync(path, 'utf8')).toMatch(/ hdseed=1 # addr=.* hdkeypath=s\n/);
    await rpc('createwallet', 'again');
    expect(await at('again', 'importwallet', path)).toBe(null);
    // The dump has all keys and scripts except watch-only ones.
    const [own, again] = [keyOf('import 0'), keyOf('import 1')];
    expect(await at('again', 'getaddressinfo', own.nested)).toMatchObject({ ismine: true });
    expect(await at('again', 'getaddressinfo', again.bech32)).toMatchObject({ iswatchonly: false });
    expect(await at('again', 'getwalletinfo')).toMatchObject({ txcount: 6 });
    // Malformed lines are skipped.
    writeFileSync(path, `\n# x\n${own.wif}\n${own.wif} x\nzz 0\n51 0 script=1\n\u0000 \ufffd`);
    expect(await at('again', 'importwallet', path)).toBe(null);
  });

  it('come from the new seed after sethdseed', async () => {
    const { wif } = keyOf('new seed');
    await rpc('createwallet', 'seeded');
    const before = await at<string>('seeded', 'getnewaddress', '', 'legacy');
    expect(await at('seeded', 'sethdseed', true, 'x')).toEqual({ code: -5, message: 'Invalid private key' });
    expect(await at('seeded', 'sethdseed', false, wif)).toBe(null);
    const { hdkeypath } = await at<AddressInfo>(
      'seeded',
      'getaddressinfo',
      await at('seeded', 'getnewaddress', '', 'legacy'),
    );
    expect(hdkeypath).toBe("m/0'/0'/1'");
    expect(await at('seeded', 'sethdseed', true, wif)).toMatchObject({ code: -5 });
    expect(await at('seeded', 'sethdseed', true)).toBe(null);
    const after = await at<string>('seeded', 'getnewaddress', '', 'legacy');
    expect(await at('seeded', 'getaddressinfo', after)).toMatchObject({ hdkeypath: "m/0'/0'/0'" });
    expect(await at('seeded', 'getaddressinfo', before)).toMatchObject({ ismine: true });
    expect(await at('watching', 'sethdseed')).toMatchObject({ code: -4 });
  });

  it('are not available while the wallet is locked', async () => {
    await rpc('createwallet', 'locked');
    const address = await at<string>('locked', 'getnewaddress', '', 'legacy');
    await at('locked', 'encryptwallet', 'pass');
    const { wif } = keyOf('locked');
    for (const [method, ...params] of [
      ['dumpprivkey', address],
      ['dumpwallet', join(folder, 'locked')],
      ['importprivkey', wif],
      ['importwallet', join(folder, 'dump')],
      ['importmulti', []],
      ['sethdseed'],
      ['signmessage', address, ''],
    ] as const)
      expect({ method, answer: await at('locked', method, ...params) }).toEqual({ method, answer: LOCKED });
    expect(existsSync(join(folder, 'locked'))).toBe(false);
    expect(await at('locked', 'importaddress', keyOf('import 1').legacy)).toBe(null);
    await at('locked', 'walletpassphrase', 'pass', 60);
    const signature = await at<string>('locked', 'signmessage', address, 'text');
    const key = await at('locked', 'dumpprivkey', address);
    expect(await at('locked', 'signmessage', address, 'text')).toBe(signature);
    expect(await at('locked', 'dumpprivkey', address)).toBe(key);
    expect(await rpc('verifymessage', address, signature, 'text')).toBe(true);
    expect(await at('locked', 'dumpwallet', join(folder, 'locked'))).toEqual({
      filename: join(folder, 'locked'),
    });
    expect(readFileSync(join(folder, 'locked'), 'utf8')).toContain(`${key as string} `);
    await at('locked', 'walletlock');
    for (const secret of [key, wif, keyOf('import 0').wif])
      expect(readFileSync(join(node.dataDir, 'regtest', 'debug.log'), 'utf8')).not.toContain(secret);
  });

  it('are rescanned when an older copy is unlocked', async () => {
    const copy = join(folder, 'copy');
    await at('locked', 'backupwallet', copy);
    await at('locked', 'walletpassphrase', 'pass', 60);
    const addresses: string[] = [];
    for (let n = 0; n < KEYS; n++) addresses.push(await at('locked', 'getnewaddress', '', 'bech32'));
    for (const address of addresses.reverse()) await rpc('generatetoaddress', 1, address);
    const { txcount } = await at<{ txcount: number }>('locked', 'getwalletinfo');
    expect(txcount).toBeGreaterThanOrEqual(KEYS);
    await at('locked', 'unloadwallet');
    await rpc('loadwallet', copy);
    const at2 = <T = unknown>(method: string, ...params: unknown[]): Promise<T> =>
      at(encodeURIComponent(copy), method, ...params);
    expect((await at2<{ txcount: number }>('getwalletinfo')).txcount).toBeLessThan(txcount);
    await at2('walletpassphrase', 'pass', 60);
    await expect
      .poll(async () => (await at2<{ scanning: unknown }>('getwalletinfo')).scanning, { timeout: HANG_MS })
      .toBe(false);
    expect(await at2('getwalletinfo')).toMatchObject({ txcount });
  });

  it('are rescanned once at a time, until that is aborted', async () => {
    // With an address index, only blocks that concern the wallet are read. Here all blocks do.
    await rpc('createwallet', 'slow');
    await at('slow', 'importaddress', ADDRESS, '', false);
    let isSeen = false;
    for (let attempt = 0; attempt < 20 && !isSeen; attempt++) {
      // More blocks in each attempt, so that the other calls arrive during the rescan.
      await rpc('generatetoaddress', 300, ADDRESS);
      const scan = at('slow', 'rescanblockchain');
      const [second, info, aborted] = await Promise.all([
        at('slow', 'rescanblockchain'),
        at<{ scanning: unknown }>('slow', 'getwalletinfo'),
        at('slow', 'abortrescan'),
      ]);
      const end = await scan;
      const codes = [end, second].map((answer) => (answer as { code?: number }).code);
      if (aborted !== true || info.scanning === false || !codes.includes(SCANNING.code)) continue;
      isSeen = true;
      expect([end, second]).toContainEqual(SCANNING);
      expect([end, second]).toContainEqual({ code: -1, message: 'Rescan aborted.' });
      expect(info.scanning).toEqual({ duration: expect.any(Number), progress: expect.any(Number) });
    }
    expect(isSeen).toBe(true);
    expect(await at('slow', 'abortrescan')).toBe(false);
  });

  it('cannot be rescanned in pruned blocks', async () => {
    const pruned = await startRegtest({ args: ['-prune=1'] });
    try {
      const call = async (method: string, ...params: unknown[]): Promise<unknown> => {
        const { text } = await pruned.post(JSON.stringify({ id: 1, method, params }));
        const { result, error } = JSON.parse(text) as { result: unknown; error: Failure | null };
        return error ?? result;
      };
      const { wif, legacy: address, pubkey } = keyOf('pruned');
      for (const [method, argument] of [
        ['importprivkey', wif],
        ['importaddress', address],
        ['importpubkey', pubkey],
      ]) {
        expect(await call(method!, argument)).toEqual({
          code: -4,
          message: 'Rescan is disabled in pruned mode',
        });
        expect(await call(method!, argument, '', false)).toEqual(
          method === 'importprivkey' ? null : expect.objectContaining({ code: -4 }),
        );
      }
      expect(await call('importwallet', 'x')).toEqual({
        code: -4,
        message: 'Importing wallets is disabled in pruned mode',
      });
      expect(await call('rescanblockchain')).toEqual({ start_height: 0, stop_height: 0 });
    } finally {
      await pruned.stop();
    }
  });
});
