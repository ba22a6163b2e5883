/**
 * Runs the commands of docs/moving-in.md as they are written, on regtest, with folders and files as the other programs leave
 * them. The names of programs lead to the built ones. The environment and the node's configuration file set home, network and
 * ports.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RpcClient } from '../../src/client/rpcClient.js';
import { hash160 } from '../../src/crypto/hash.js';
import { systemClock, systemRandom } from '../../src/daemon/base/clock.js';
import { ledgerParams } from '../../src/daemon/base/ledgerParams.js';
import { formatChannelKey } from '../../src/daemon/wallet/channelKeyPem.js';
import { extendedKeyText } from '../../src/daemon/wallet/keys.js';
import { DaemonWallets } from '../../src/daemon/wallet/wallets.js';
import { encodeDestination } from '../../src/script/address.js';
import { encodeBase58 } from '../../src/script/base58.js';
import { encodeSecret } from '../../src/script/wif.js';
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { formatKeyRecord } from '../../src/wallet/keys/keyRecords.js';
import { recordKey } from '../../src/wallet/store/records.js';
import { JsonObject } from '../../src/util/json/json.js';
import { berkeleyWallet } from '../support/berkeleyFile.js';
import { FakeLedger } from '../support/fakeLedger.js';
import { walletOfSeed } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';
import { blocksOf, ROOT, Started, stepsOf, walk } from './support/readme.js';

const DOCUMENT = 'docs/moving-in.md';
const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
const WORDS = `${'abandon '.repeat(11)}about`;
const PREFIXES = ledgerParams('lbc_regtest').addressPrefixes;
const LBRYCRD_KEY = Buffer.alloc(32, 5);
const LBCWALLET_KEY = Buffer.alloc(32, 6);

interface Account {
  readonly name: string;
  readonly id: string;
  readonly address_type?: string;
}

let home: string;
let env: NodeJS.ProcessEnv;
let node: RpcClient;
let running: Started[];
let nodeLine: string;

const sectionOf = (name: string) => stepsOf(blocksOf(name, DOCUMENT));
const addressOf = (privateKey: Buffer): string =>
  encodeDestination(
    { type: 'pubkeyhash', hash: hash160(ecdsaBackend().publicKeyOf(privateKey, true)) },
    PREFIXES,
  );

/** The address of the key of lbcwallet's kind `p2sh-segwit`. */
const nestedAddressOf = (privateKey: Buffer): string => {
  const program = Buffer.concat([Buffer.of(0, 20), hash160(ecdsaBackend().publicKeyOf(privateKey, true))]);
  return encodeDestination({ type: 'scripthash', hash: hash160(program) }, PREFIXES);
};

async function start(command: string, ready: string): Promise<Started> {
  const program = new Started(command, env);
  running.push(program);
  await program.until(ready);
  return program;
}

async function end(program: Started): Promise<void> {
  running.splice(running.indexOf(program), 1);
  await program.end();
}

/** Installs a script with the name of a program, which runs the built program with arguments for regtest. */
function install(name: string, args: string): void {
  const path = join(home, 'bin', name);
  writeFileSync(
    path,
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'dist', 'bin', `${name}.js`)}" ${args} "$@"\n`,
  );
  chmodSync(path, 0o755);
}

/** Calls a method of lbcnet by the command line. Returns the answer. */
async function ask<Answer>(command: string): Promise<Answer> {
  const program = new Started(`lbcnet ${command}`, env);
  expect(await program.exited, program.output).toBe(0);
  return JSON.parse(program.output) as Answer;
}

async function accounts(): Promise<readonly Account[]> {
  return (await ask<{ items: Account[] }>('account list')).items;
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'moving-in-'));
  running = [];
  const [rpcPort, hubPort, apiPort] = [await freePort(), await freePort(), await freePort()];
  const folder = join(home, 'node');
  for (const name of ['bin', 'node', '.lbrycrd/wallets', '.lbcd', 'share'])
    mkdirSync(join(home, name), { recursive: true });
  const ports = `[regtest]\nrpcport=${rpcPort}\nport=${await freePort()}\nlisten=0\nhub=1\nhubport=${hubPort}\nhubudpport=0\n`;
  writeFileSync(join(folder, 'lbcnode.conf'), ports);
  nodeLine = `-regtest -datadir=${folder}`;
  install('lbcnode', '');
  install('lbcnode-cli', nodeLine);
  install('lbcnet', '');
  env = {
    ...process.env,
    PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    XDG_DATA_HOME: join(home, '.local', 'share'),
    LBRY_API: `127.0.0.1:${apiPort}`,
    LBRY_STREAMING_SERVER: `127.0.0.1:${await freePort()}`,
    LBRY_TCP_PORT: `${await freePort()}`,
    LBRY_UDP_PORT: `${await freePort()}`,
    LBRY_BLOCKCHAIN_NAME: 'lbrycrd_regtest',
    LBRY_LBRYUM_SERVERS: `127.0.0.1:${hubPort}`,
    LBRY_KNOWN_DHT_NODES: '',
    LBRY_USE_UPNP: 'false',
  };
  await start(`lbcnode ${nodeLine}`, 'RPC');
  node = new RpcClient({ url: `http://127.0.0.1:${rpcPort}/`, network: 'regtest', dataDir: folder });
  await until('the node answers', () =>
    node.call('getblockcount').then(
      () => true,
      () => false,
    ),
  );
}, HANG_MS);

afterAll(async () => {
  node?.close();
  for (const program of running.reverse()) await program.end();
  rmSync(home, { recursive: true, force: true });
}, HANG_MS);

describe(DOCUMENT, { timeout: HANG_MS }, () => {
  let daemon: Started;

  it('converts a folder of lbrynet to a wallet', async () => {
    const wallets = join(home, '.local', 'share', 'lbry', 'lbryum', 'wallets');
    mkdirSync(wallets, { recursive: true });
    writeFileSync(join(wallets, 'default_wallet'), walletOfSeed(SEED));
    const steps = sectionOf('From lbrynet');
    expect(steps.map(({ command }) => command)).toContain('lbcnet start');
    const at = steps.findIndex(({ command }) => command === 'lbcnet start');
    await walk(steps.slice(0, at), home, env);
    daemon = await start('lbcnet start', 'All components run');
    await walk(steps.slice(at + 1), home, env);
    expect(await accounts()).toHaveLength(1);
    const backup = join(home, 'lbry-backup', 'lbryum', 'wallets', 'default_wallet');
    expect(readFileSync(backup, 'utf8')).toBe(walletOfSeed(SEED));
    // The seed is unchanged: lbrynet would find its wallet.
    expect(
      (JSON.parse(readFileSync(join(wallets, 'default_wallet'), 'utf8')) as { accounts: { seed: string }[] })
        .accounts[0]!.seed,
    ).toBe(SEED);
  });

  it('converts a wallet that Odysee exported with an empty password to its accounts and channels', async () => {
    const packed = await packedByOther();
    writeFileSync(join(home, 'odysee-wallet.txt'), packed.data);
    writeFileSync(join(home, 'channel.txt'), packed.channel);
    const steps = sectionOf('From Odysee');
    expect(steps[0]!.command).toContain('sync apply "" ');
    await walk(
      steps.map(({ command, prints }) => ({
        command: command.replaceAll('$(cat ', `$(cat ${home}/`),
        prints,
      })),
      home,
      env,
    );
    expect((await accounts()).map(({ id }) => id)).toContain(packed.accountId);
    const added = await ask<{ is_default: boolean }>(
      `account set --account_id=${packed.accountId} --default`,
    );
    expect(added.is_default).toBe(true);
    expect(await ask('preference get')).toEqual({ shared: { following: ['lbry://@a'] } });
    // An empty password does not encrypt the wallet's file.
    expect(await ask<{ is_encrypted: boolean }>('wallet status')).toMatchObject({ is_encrypted: false });
    expect((await ask<{ hash: string }>('sync apply ""')).hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('imports a seed of lbcwallet, and BIP39 words, as accounts of both kinds', async () => {
    writeFileSync(join(home, 'lbcwallet-seed.txt'), '000102030405060708090a0b0c0d0e0f'.repeat(2));
    writeFileSync(join(home, 'words.txt'), WORDS);
    writeFileSync(join(home, 'lbcwallet-key.txt'), encodeSecret(LBCWALLET_KEY, true, PREFIXES));
    const inHome = ({ command, prints }: { command: string; prints: string | null }) => ({
      command: command.replaceAll('$(cat ', `$(cat ${home}/`),
      prints,
    });
    await walk(
      [...sectionOf('From lbcwallet'), ...sectionOf('From a wallet with a BIP39 seed')].map(inHome),
      home,
      env,
    );
    const made = new Map((await accounts()).map((account) => [account.name, account.address_type]));
    const types = ['lbcwallet', 'lbcwallet-witness', 'second', 'second-witness', 'browser'].map((name) => {
      expect(made.has(name)).toBe(true);
      return made.get(name);
    });
    expect(types).toEqual([undefined, 'p2wpkh', undefined, 'p2wpkh', undefined]);
    const { id } = (await accounts()).find(({ name }) => name === 'second')!;
    // The text names this command with a placeholder.
    const set = 'account set --account_id=<id> --receiving_gap=250 --change_gap=250';
    expect(readFileSync(join(ROOT, DOCUMENT), 'utf8')).toContain(set);
    expect(await ask(set.replace('<id>', id))).toMatchObject({
      address_generator: { receiving: { gap: 250 }, change: { gap: 250 } },
    });
    for (const address of [addressOf(LBCWALLET_KEY), nestedAddressOf(LBCWALLET_KEY)]) {
      const { ismine } = (await node.call('getaddressinfo', address)) as { ismine: boolean };
      expect(ismine).toBe(true);
    }
    await end(daemon);
  });

  it('converts wallet, configuration and blocks of lbrycrd', async () => {
    const publicKey = ecdsaBackend().publicKeyOf(LBRYCRD_KEY, true);
    const withLength = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes]);
    const dat = berkeleyWallet([
      [
        Buffer.from(recordKey('key', withLength(publicKey)), 'latin1'),
        formatKeyRecord(LBRYCRD_KEY, publicKey),
      ],
      [Buffer.from(recordKey('version'), 'latin1'), Buffer.from('3f990200', 'hex')],
      [Buffer.from(recordKey('minversion'), 'latin1'), Buffer.from('60ea0000', 'hex')],
    ]);
    const path = join(home, '.lbrycrd', 'wallets', 'wallet.dat');
    writeFileSync(path, dat);
    for (const wrong of [join(home, '.lbrycrd'), join(home, '.lbrycrd', 'wallet.dat')])
      await expect(node.call('migratewallet', wrong)).rejects.toThrow(
        `The file ${join(home, '.lbrycrd', 'wallet.dat')} does not exist. Did you mean ${path}?`,
      );
    await node.call('generatetoaddress', 5, addressOf(LBRYCRD_KEY));
    const steps = sectionOf('From lbrycrd');
    await walk(steps.slice(0, -1), home, env);
    const savings = await node.call('listwallets');
    expect(savings).toContain('savings');

    const { command } = steps.at(-1)!;
    mkdirSync(join(home, '.lbrycrd', 'blocks'));
    writeFileSync(
      join(home, '.lbrycrd', 'blocks', 'blk00000.dat'),
      readFileSync(join(home, 'node', 'regtest', 'blocks', 'blk00000.dat')),
    );
    await answersAt(command, join(home, '.lbrycrd', 'lbrycrd.conf'), '', 5);
  });

  it('converts the configuration of lbcd', async () => {
    const { command } = sectionOf('From lbcd')[0]!;
    await answersAt(command, join(home, '.lbcd', 'lbcd.conf'), '[Application Options]\nnotls=1\n', 0);
  });

  /** Starts the node by the command on a folder of its own, and waits until it has this number of blocks. */
  async function answersAt(
    command: string,
    configuration: string,
    more: string,
    blocks: number,
  ): Promise<void> {
    const [rpcPort, port] = [await freePort(), await freePort()];
    const folder = mkdtempSync(join(home, 'other-'));
    const isLbcd = configuration.endsWith('lbcd.conf');
    writeFileSync(
      configuration,
      isLbcd
        ? `${more}rpcuser=u\nrpcpass=p\nrpclisten=127.0.0.1:${rpcPort}\n`
        : `rpcuser=u\nrpcpassword=p\n[regtest]\nrpcport=${rpcPort}\n`,
    );
    const words = command.replace(
      /^lbcnode /,
      `lbcnode -regtest -datadir=${folder} -port=${port} -listen=0 `,
    );
    const program = new Started(words.replaceAll('$HOME', home), env);
    running.push(program);
    const client = new RpcClient({ url: `http://u:p@127.0.0.1:${rpcPort}/`, network: 'regtest' });
    await until(`${blocks} blocks`, () =>
      client.call('getblockcount').then(
        (count) => count === blocks,
        () => {
          if (program.child.exitCode !== null) throw new Error(program.output);
          return false;
        },
      ),
    );
    client.close();
    await end(program);
  }
});

/** A wallet with one account, a channel key and a preference, in the format of `sync_apply`. */
async function packedByOther(): Promise<{ data: string; accountId: string; channel: string }> {
  const folder = mkdtempSync(join(home, 'packed-'));
  const ledger = new FakeLedger();
  const wallets = await DaemonWallets.open(['w'], {
    folder,
    ledger: ledger.ledger,
    tools: { clock: systemClock, random: systemRandom },
    warn: (text) => expect.unreachable(text),
  });
  await wallets.begin();
  const wallet = wallets.default;
  const account = wallet.account();
  const key = await account.channelKeys.next();
  account.channelKeys.import(key.secret);
  wallet.wallet.setPreference('shared', new JsonObject([['following', ['lbry://@a']]]));
  const { data } = await wallet.syncApply('', null, false);
  const stranger = wallet.wallet.generateAccount(account.account.ledger, 'stranger', new JsonObject([]));
  const holding = stranger.publicKey(0, 7);
  const exported = {
    name: '@exported',
    channel_id: '00'.repeat(20),
    holding_address: account.account.addressOf(holding.publicKey),
    holding_public_key: extendedKeyText(holding, false, account.account.ledger),
    signing_private_key: formatChannelKey(Buffer.from((await account.channelKeys.next()).secret)),
  };
  return { data, accountId: account.id, channel: encodeBase58(Buffer.from(JSON.stringify(exported))) };
}
