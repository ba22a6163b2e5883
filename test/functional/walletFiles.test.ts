/** Wallet files of a node: creating, opening, closing, listing, backups, and other objects with their names. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

/** Fields of `getwalletinfo`. */
interface Info {
  hdseedid: string;
  hdmasterkeyid: string;
  txcount: number;
  immature_balance: number;
}

interface Failure {
  code: number;
  message: string;
}

/** A call to one wallet by its path; answers the result or the error. */
async function call<T = unknown>(
  node: RegtestNode,
  wallet: string | null,
  method: string,
  params: unknown[] = [],
): Promise<T> {
  const path = wallet === null ? '/' : `/wallet/${encodeURIComponent(wallet)}`;
  const { text } = await node.post(JSON.stringify({ id: 1, method, params }), path);
  const { result, error } = JSON.parse(text) as { result: unknown; error: Failure | null };
  return (error ?? result) as T;
}

describe('wallets of a node', () => {
  let node: RegtestNode;
  let folder: string;
  const rpc = <T = unknown>(method: string, params?: unknown[]): Promise<T> =>
    call<T>(node, null, method, params);
  const to = <T = unknown>(wallet: string, method: string, params?: unknown[]): Promise<T> =>
    call<T>(node, wallet, method, params);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wallets-'));
    node = await startRegtest();
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const walletDir = (): string => join(node.dataDir, 'regtest', 'wallets');

  it('one exists from the start, readable only by its owner', async () => {
    expect(await rpc('listwallets')).toEqual(['']);
    expect(await rpc('listwalletdir')).toEqual({ wallets: [{ name: '' }] });
    expect(statSync(join(walletDir(), 'wallet.db')).mode & 0o077).toBe(0);
    const info = await rpc<Info>('getwalletinfo');
    expect(info).toMatchObject({
      walletname: '',
      walletversion: 169900,
      balance: 0,
      txcount: 0,
      keypoolsize: 5,
      keypoolsize_hd_internal: 5,
      paytxfee: 0,
      private_keys_enabled: true,
    });
    expect(info).not.toHaveProperty('unlocked_until');
    expect(info.hdseedid).toBe(info.hdmasterkeyid);
  });

  it('addresses of each kind, never the same twice, each with its label', async () => {
    const given = new Set<string>();
    for (const [type, form] of [
      ['legacy', /^[mn]/],
      ['p2sh-segwit', /^2/],
      ['bech32', /^rlbc1q/],
    ] as const) {
      for (const method of ['getnewaddress', 'getrawchangeaddress']) {
        const address = await rpc<string>(method, method === 'getnewaddress' ? ['rent', type] : [type]);
        expect(address).toMatch(form);
        given.add(address);
      }
    }
    expect(await rpc('getnewaddress')).toMatch(/^[mn]/);
    expect(given.size).toBe(6);
    expect(await rpc('getnewaddress', ['*'])).toEqual({ code: -11, message: 'Invalid label name' });
    for (const [method, params] of [
      ['getnewaddress', ['', 'p2wpkh']],
      ['getrawchangeaddress', ['p2wpkh']],
    ] as const)
      expect(await rpc(method, [...params])).toEqual({ code: -5, message: "Unknown address type 'p2wpkh'" });
    expect(await rpc('keypoolrefill', [-1])).toEqual({
      code: -8,
      message: 'Invalid parameter, expected valid size.',
    });
    expect(await rpc('keypoolrefill', [9])).toBeNull();
    expect(await rpc('getwalletinfo')).toMatchObject({ keypoolsize: 9, keypoolsize_hd_internal: 9 });
  });

  it('mined blocks pay it, and what they pay matures', async () => {
    expect(await rpc('generate', [1])).toHaveLength(1);
    expect(await rpc('getwalletinfo')).toMatchObject({ txcount: 1, balance: 0, immature_balance: 1 });
    expect(await rpc('generate', [0])).toEqual([]);
    await rpc('generatetoaddress', [100, ADDRESS]);
    expect(await rpc('getwalletinfo')).toMatchObject({ txcount: 1, balance: 1, immature_balance: 0 });
    const tip = await rpc('getbestblockhash');
    await rpc('invalidateblock', [tip]);
    expect(await rpc('getwalletinfo')).toMatchObject({ balance: 0, immature_balance: 1 });
    await rpc('reconsiderblock', [tip]);
    expect(await rpc('getwalletinfo')).toMatchObject({ balance: 1, immature_balance: 0 });
  });

  it('several at once are selected by the path of calls', async () => {
    expect(await rpc('createwallet', ['second'])).toEqual({ name: 'second', warning: '' });
    expect(await rpc('createwallet', ['watching', true])).toEqual({ name: 'watching', warning: '' });
    expect(await rpc('listwallets')).toEqual(['', 'second', 'watching']);
    // A profile may precede the wallet in the path.
    for (const [path, answer] of [
      ['/lbrycrd/wallet/second', { result: { walletname: 'second' } }],
      ['/lbcd/wallet/second', { result: { walletname: 'second' } }],
      ['/lbrycrd/wallet/', { result: { walletname: '' } }],
      ['/lbcd/wallet/third', { error: { code: -18 } }],
    ] as const) {
      const { text } = await node.post(JSON.stringify({ id: 1, method: 'getwalletinfo' }), path);
      expect(JSON.parse(text), path).toMatchObject(answer);
    }
    expect((await node.post('{}', '/lbcd/x')).status).toBe(404);
    expect(await rpc('getnewaddress')).toEqual({
      code: -19,
      message: 'Wallet file not specified (must request wallet RPC through /wallet/<filename> uri-path).',
    });
    expect(await to('', 'getwalletinfo')).toMatchObject({ walletname: '', balance: 1 });
    expect(await to('second', 'getwalletinfo')).toMatchObject({ walletname: 'second', balance: 0 });
    expect(await to('third', 'getwalletinfo')).toEqual({
      code: -18,
      message: 'Requested wallet does not exist or is not loaded',
    });
    const watching = await to('watching', 'getwalletinfo');
    expect(watching).toMatchObject({ private_keys_enabled: false, keypoolsize: 0 });
    expect(watching).not.toHaveProperty('hdseedid');
    for (const method of ['getnewaddress', 'getrawchangeaddress', 'keypoolrefill']) {
      expect(await to('watching', method)).toEqual({
        code: -4,
        message: 'Error: Private keys are disabled for this wallet',
      });
    }
    expect(await to('watching', 'generate', [1])).toMatchObject({ code: -12 });
    expect(await rpc('createwallet', ['second'])).toEqual({
      code: -4,
      message: 'Wallet second already exists.',
    });
    expect(await rpc('loadwallet', ['second'])).toEqual({
      code: -4,
      message:
        'Wallet file verification failed: Error loading wallet second. Duplicate -wallet filename specified.',
    });
  });

  it('unloading and loading one loses nothing', async () => {
    const address = await to('second', 'getnewaddress');
    await rpc('generatetoaddress', [1, address]);
    expect(await to('second', 'unloadwallet', ['second'])).toEqual({
      code: -8,
      message: 'Cannot unload the requested wallet',
    });
    expect(await to('second', 'unloadwallet')).toBeNull();
    expect(await rpc('unloadwallet', ['second'])).toMatchObject({ code: -18 });
    expect(await rpc('unloadwallet')).toMatchObject({ code: -1 });
    await rpc('generatetoaddress', [1, address]);
    expect(await rpc('listwallets')).toEqual(['', 'watching']);
    expect(await rpc('listwalletdir')).toEqual({
      wallets: [{ name: '' }, { name: 'second' }, { name: 'watching' }],
    });
    expect(await rpc('loadwallet', ['second'])).toEqual({ name: 'second', warning: '' });
    expect(await to('second', 'getwalletinfo')).toMatchObject({ txcount: 2, immature_balance: 2 });
    expect(await rpc('loadwallet', ['nowhere'])).toEqual({ code: -18, message: 'Wallet nowhere not found.' });
    mkdirSync(join(walletDir(), 'empty'));
    expect(await rpc('loadwallet', ['empty'])).toMatchObject({
      code: -18,
      message: expect.stringMatching(/^Directory empty does not contain a wallet/),
    });
    writeFileSync(join(walletDir(), 'empty', 'note.txt'), 'no wallet');
    expect(await rpc('loadwallet', ['empty/note.txt'])).toMatchObject({
      code: -4,
      message: expect.stringMatching(
        /^Wallet file verification failed: Invalid -wallet path 'empty\/note.txt'/,
      ),
    });
    writeFileSync(join(walletDir(), 'note.txt'), 'no wallet');
    expect(await rpc('loadwallet', ['note.txt'])).toMatchObject({
      code: -4,
      message: expect.stringContaining('is not a wallet of this program'),
    });
  });

  it('paths, and links to folders, name wallets elsewhere', async () => {
    const elsewhere = join(folder, 'elsewhere');
    expect(await rpc('createwallet', [elsewhere])).toEqual({ name: elsewhere, warning: '' });
    expect(existsSync(join(elsewhere, 'wallet.db'))).toBe(true);
    expect(await to(elsewhere, 'getwalletinfo')).toMatchObject({ walletname: elsewhere });
    // Another node cannot open the wallet at the same time.
    const other = await startRegtest();
    try {
      expect(await call(other, null, 'loadwallet', [elsewhere])).toMatchObject({
        code: -4,
        message: expect.stringContaining('Cannot obtain a lock on wallet directory'),
      });
      await rpc('unloadwallet', [elsewhere]);
      expect(await call(other, null, 'loadwallet', [elsewhere])).toMatchObject({ name: elsewhere });
      symlinkSync(elsewhere, join(walletDir(), 'linked'));
      // The link is in the wallet folder of this node, but the other node has locked its target.
      expect(await rpc('loadwallet', ['linked'])).toMatchObject({
        code: -4,
        message: expect.stringContaining('Cannot obtain a lock on wallet directory'),
      });
    } finally {
      await other.stop();
    }
    expect(await rpc('loadwallet', ['linked'])).toEqual({ name: 'linked', warning: '' });
    // One file is one wallet under any name, because two wallets that write to it would lose keys of each other.
    mkdirSync(join(folder, 'hard'));
    linkSync(join(elsewhere, 'wallet.db'), join(folder, 'hard', 'wallet.db'));
    for (const same of [elsewhere, join(folder, 'hard')]) {
      expect(await rpc('loadwallet', [same])).toEqual({
        code: -4,
        message: `Wallet file verification failed: Error loading wallet ${same}. Duplicate -wallet filename specified.`,
      });
    }
    expect(await rpc('unloadwallet', ['linked'])).toBeNull();
  });

  it('a backup made while it is in use opens as the same wallet', async () => {
    const backup = join(folder, 'backup.db');
    expect(await to('second', 'backupwallet', [backup])).toBeNull();
    const before = await to<Info>('second', 'getwalletinfo');
    const address = await to('second', 'getnewaddress');
    await rpc('generatetoaddress', [1, address]);
    expect(await to('second', 'backupwallet', [join(folder, 'not', 'there')])).toEqual({
      code: -4,
      message: 'Error: Wallet backup failed!',
    });
    const own = join(walletDir(), 'second', 'wallet.db');
    const link = join(folder, 'own');
    symlinkSync(join(walletDir(), 'second'), link);
    const { ino } = statSync(own);
    const others = [walletDir(), join(walletDir(), 'wallet.db')];
    for (const inUse of [own, link, join(link, 'wallet.db'), ...others, '']) {
      const answer = await to('second', 'backupwallet', [inUse]);
      expect(answer, inUse).toEqual({ code: -4, message: 'Error: Wallet backup failed!' });
    }
    expect(statSync(own).ino).toBe(ino);
    // A backup does not replace a wallet with other contents either, whether or not the wallet is open.
    const elsewhere = join(folder, 'elsewhere', 'wallet.db');
    const kept = readFileSync(elsewhere);
    expect(await to('second', 'backupwallet', [elsewhere])).toEqual({
      code: -4,
      message: `Error: Wallet backup failed! ${elsewhere}: there is already another wallet`,
    });
    expect(readFileSync(elsewhere)).toEqual(kept);
    expect(await to('second', 'backupwallet', [backup])).toBeNull();
    const other = await startRegtest();
    try {
      mkdirSync(join(folder, 'used'));
      const used = join(folder, 'used', 'wallet.db');
      expect(await to('second', 'backupwallet', [used])).toBeNull();
      expect(await call(other, null, 'loadwallet', [join(folder, 'used')])).toMatchObject({ warning: '' });
      expect(await to('second', 'backupwallet', [used])).toEqual({
        code: -4,
        message: `Error: Wallet backup failed! ${used}: another node has loaded wallets from this folder`,
      });
    } finally {
      await other.stop();
    }
    expect(await to('second', 'backupwallet', [join(folder, 'used')])).toBeNull();
    expect(await to('second', 'backupwallet', [folder])).toBeNull();
    expect(existsSync(join(folder, 'wallet.db'))).toBe(true);
    mkdirSync(join(walletDir(), 'restored'));
    writeFileSync(join(walletDir(), 'restored', 'wallet.db'), readFileSync(backup));
    expect(await rpc('loadwallet', ['restored'])).toEqual({
      code: -1,
      message:
        'Error loading wallet restored. It is a copy of the wallet second, which is loaded: both would give out the same addresses. Unload the other wallet first.',
    });
    await rpc('unloadwallet', ['second']);
    await rpc('loadwallet', ['restored']);
    const restored = await to('restored', 'getwalletinfo');
    // The key behind the address was in the pool of the backup, and the block is read again.
    expect(restored).toMatchObject({
      hdseedid: before.hdseedid,
      txcount: before.txcount + 1,
      immature_balance: before.immature_balance + 1,
    });
    expect(await to('restored', 'getnewaddress')).not.toBe(address);
  });

  it('unloading one during a long call ends only that call', async () => {
    for (const [method, params] of [
      ['encryptwallet', ['secret']],
      ['walletpassphrasechange', ['secret', 'other']],
    ] as const) {
      let ended: unknown;
      // Several attempts, because the call may end before the wallet is closed.
      for (let attempt = 0; attempt < 10; attempt++) {
        await rpc('createwallet', ['leaving']);
        if (method !== 'encryptwallet') await to('leaving', 'encryptwallet', ['secret']);
        const running = to('leaving', method, [...params]);
        // The call has started when a later call was answered.
        await to('leaving', 'getwalletinfo');
        expect(await rpc('unloadwallet', ['leaving'])).toBeNull();
        ended = await running;
        if ((ended as { code?: number } | null)?.code === -1) break;
        rmSync(join(walletDir(), 'leaving'), { recursive: true });
      }
      expect(ended, method).toEqual({ code: -1, message: 'The wallet was unloaded during the call.' });
      // The call has not changed anything, not even partly.
      expect(await rpc('loadwallet', ['leaving'])).toMatchObject({ name: 'leaving' });
      const info = await to<Info & { unlocked_until?: number }>('leaving', 'getwalletinfo');
      expect(info.unlocked_until).toBe(method === 'encryptwallet' ? undefined : 0);
      if (method !== 'encryptwallet')
        expect(await to('leaving', 'walletpassphrase', ['secret', 1])).toBeNull();
      await rpc('unloadwallet', ['leaving']);
      rmSync(join(walletDir(), 'leaving'), { recursive: true });
    }
  });

  it('a corrupt one is refused by name and not changed', async () => {
    await rpc('unloadwallet', ['restored']);
    const path = join(walletDir(), 'restored', 'wallet.db');
    const bytes = readFileSync(path);
    bytes[5000] = bytes[5000]! ^ 1;
    writeFileSync(path, bytes);
    expect(await rpc('loadwallet', ['restored'])).toMatchObject({
      code: -4,
      message: expect.stringMatching(
        /wallet\.db is corrupt at byte \d+\. Restore it from a backup.* -salvagewallet/,
      ),
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    rmSync(join(walletDir(), 'restored'), { recursive: true });
  });

  it('acknowledged changes survive a kill, and no address is given out twice', async () => {
    const dataDir = join(folder, 'killed');
    let killed = await startRegtest({ dataDir });
    const given = new Set<string>();
    for (let n = 0; n < 3; n++) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => call<string>(killed, null, 'getnewaddress')),
      );
      for (const address of answers) {
        expect(given.has(address)).toBe(false);
        given.add(address);
      }
      await killed.kill();
      killed = await startRegtest({ dataDir });
    }
    await killed.stop();
    expect(given.size).toBe(60);
  });
});

describe('a node without wallets', () => {
  it('has no wallet methods; missing wallets are created at start', async () => {
    const without = await startRegtest({ args: ['-disablewallet'] });
    try {
      for (const method of ['getwalletinfo', 'listwallets', 'generate', 'createwallet'])
        expect(await call(without, null, method)).toEqual({ code: -32601, message: 'Method not found' });
      expect(await call(without, null, 'help')).not.toContain('getwalletinfo');
      expect(existsSync(join(without.dataDir, 'regtest', 'wallets'))).toBe(false);
    } finally {
      await without.stop();
    }
    const named = await startRegtest({ args: ['-wallet=one', '-wallet=two'] });
    try {
      expect(await call(named, null, 'listwallets')).toEqual(['one', 'two']);
      for (const name of ['one', 'two']) await call(named, null, 'unloadwallet', [name]);
      expect(await call(named, null, 'getnewaddress')).toEqual({
        code: -32601,
        message: 'Method not found (wallet method is disabled because no wallet is loaded)',
      });
    } finally {
      await named.stop();
    }
  });
});
