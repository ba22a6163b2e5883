/**
 * An unchanged lbcwallet with our node, over lbcd's WebSocket protocol and TLS: it follows the chain and a reorganisation,
 * receives, sends and claims. `LBCWALLET` names the binary. With `LBCNODE_RECORD`, a proxy writes the session to that file
 * (`test/vectors/lbcwalletSession.json.gz`), for a test without lbcwallet.
 */
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { formatTransaction, type Transaction } from '../../src/primitives/transaction.js';
import { networkPrefixes } from '../../src/client/claimOutputs.js';
import { decodeDestination } from '../../src/script/address.js';
import { buildClaimPrefix } from '../../src/script/claimScript.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, toHex } from '../../src/util/bytes.js';
import { until } from './support/network.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';
import { runReference, type RunningReference } from './support/reference.js';

const lbcwallet = process.env['LBCWALLET'];
const recordTo = process.env['LBCNODE_RECORD'];
if (!lbcwallet) console.log('skipped: LBCWALLET names no reference binary');
const HEIGHT = 160;
const PASSPHRASE = 'passphrase';
/** Accepts the user u with the password p. */
const RPC_AUTH = `-rpcauth=u:salt$${createHmac('sha256', 'salt').update('p').digest('hex')}`;

interface Coin {
  txid: string;
  vout: number;
  amount: number;
  address: string;
}

/** One step of a recorded session: a block that the node receives, a call with its answer, or a notification. */
type Step =
  { block: string } | { call: { method: string; params: unknown }; answer?: unknown } | { note: unknown };

describe.runIf(lbcwallet)('lbcwallet over our node', () => {
  let node: RegtestNode;
  let wallet: RunningReference;
  let folder: string;
  let walletPort: number;
  let args: string[];
  let relay: WebSocketServer | null = null;
  const steps: Step[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lbcwallet-over-node-'));
    walletPort = await freePort();
    node = await startRegtest({
      args: ['-compat=lbcd', '-fallbackfee=0.001', RPC_AUTH],
    });
    const ca = join(node.dataDir, 'regtest', 'rpc.cert');
    const connection = recordTo
      ? [`--rpcconnect=127.0.0.1:${await record()}`, '--noclienttls']
      : [`--rpcconnect=127.0.0.1:${node.rpcPort}`, `--cafile=${ca}`];
    args = [
      '--regtest',
      `--appdata=${folder}`,
      `--logdir=${join(folder, 'logs')}`,
      '--noservertls',
      '--rpcuser=u',
      '--rpcpass=p',
      ...connection,
      `--rpclisten=127.0.0.1:${walletPort}`,
      `--passphrase=${PASSPHRASE}`,
    ];
    createFromSeed(args);
    await mine(HEIGHT);
    wallet = await runReference(lbcwallet!, args, folder, walletPort);
  });
  afterAll(async () => {
    await wallet?.end('SIGKILL');
    relay?.close();
    await node?.stop();
    rmSync(folder, { recursive: true, force: true });
    if (recordTo) writeFileSync(recordTo, gzipSync(JSON.stringify(steps), { level: 9 }));
  });

  /** Creates the wallet of the test's seed in the folder that the arguments name. */
  function createFromSeed(given: readonly string[]): void {
    const made = spawnSync(lbcwallet!, [...given, '--create'], {
      input: `yes\n${'07'.repeat(32)}\n0\n`,
      encoding: 'utf8',
      env: { ...process.env, HOME: folder },
    });
    if (made.status !== 0) throw new Error(`${made.stdout}${made.stderr}`);
  }

  /** A proxy between wallet and node that stores the messages. Resolves to its port. */
  async function record(): Promise<number> {
    const port = await freePort();
    const server = new WebSocketServer({ host: '127.0.0.1', port });
    relay = server;
    server.on('connection', (near, request) => {
      const headers = { authorization: request.headers.authorization! };
      const far = new WebSocket(`ws://127.0.0.1:${node.rpcPort}/ws`, { headers });
      const early: Buffer[] = [];
      const calls = new Map<unknown, { call: { method: string; params: unknown }; answer?: unknown }>();
      near.on('message', (data: Buffer) => {
        const { id, method, params } = JSON.parse(data.toString()) as {
          id: unknown;
          method: string;
          params: unknown;
        };
        const step = { call: { method, params } };
        calls.set(id, step);
        steps.push(step);
        if (far.readyState === WebSocket.OPEN) far.send(data.toString());
        else early.push(data);
      });
      far.on('open', () => early.splice(0).forEach((data) => far.send(data.toString())));
      far.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as { id: unknown; method?: string };
        const step = calls.get(message.id);
        if (message.method !== undefined || !step) steps.push({ note: message });
        else step.answer = message;
        near.send(data.toString());
      });
      far.on('close', () => near.close());
      near.on('close', () => far.close());
    });
    return port;
  }

  async function mine(blocks = 1, to = ADDRESS): Promise<void> {
    for (let i = 0; i < blocks; i++) {
      const [hash] = await node.rpc<string[]>('generatetoaddress', [1, to]);
      if (recordTo) steps.push({ block: await node.rpc<string>('getblock', [hash, 0]) });
    }
  }

  /** Waits until the wallet is at the tip of the node. */
  const followed = (): Promise<void> =>
    until(
      'lbcwallet follows',
      async () => (await wallet.rpc('getbestblockhash')) === (await node.rpc('getbestblockhash')),
    );
  const balance = (): Promise<number> => wallet.rpc<number>('getbalance');

  it('follows the chain, and finds coinbases to its addresses', async () => {
    await followed();
    const address = await wallet.rpc<string>('getnewaddress');
    await mine(3, address);
    await mine(100);
    await followed();
    await until('lbcwallet sees it', async () => (await balance()) === 3);
    expect(await wallet.rpc('getinfo')).toMatchObject({ blocks: HEIGHT + 103, balance: 3, errors: '' });
  });

  it('sends a transaction and is notified of its confirmation', async () => {
    const txid = await wallet.rpc<string>('sendtoaddress', ADDRESS, 1.5);
    expect(await node.rpc('getrawmempool')).toEqual([txid]);
    await mine();
    await followed();
    await until(
      'lbcwallet sees it',
      async () => (await wallet.rpc<{ confirmations: number }>('gettransaction', txid)).confirmations === 1,
    );
    expect(await balance()).toBeCloseTo(1.5, 2);
  });

  it('receives a payment, unconfirmed and confirmed', async () => {
    const address = await wallet.rpc<string>('getnewaddress', 'default', 'bech32');
    const before = await wallet.rpc<number>('getbalance', '*', 0);
    const own = await node.rpc<string>('getnewaddress');
    await mine(101, own);
    await node.rpc('sendtoaddress', [address, 0.25]);
    await until(
      'lbcwallet sees it',
      async () => (await wallet.rpc<number>('getbalance', '*', 0)) > before + 0.2,
    );
    await mine();
    await followed();
    await until(
      'lbcwallet sees it',
      async () => (await wallet.rpc<number>('getreceivedbyaddress', address)) === 0.25,
    );
  });

  it('claims a name: signs, sends, and the node has the claim', async () => {
    const coins = await wallet.rpc<Coin[]>('listunspent');
    const coin = coins.find(({ address }) => /^[mn]/.test(address))!;
    const address = await wallet.rpc<string>('getnewaddress');
    const script = scriptForDestination(decodeDestination(address, networkPrefixes('regtest'))!);
    const prefix = buildClaimPrefix(Buffer.from('by-lbcwallet'), Buffer.from('value'));
    const value = BigInt(Math.round(coin.amount * 1e8)) - 100_000n;
    const tx: Transaction = {
      version: 1,
      lockTime: 0,
      inputs: [
        {
          prevout: { hash: hashFromHex(coin.txid), index: coin.vout },
          scriptSig: Buffer.alloc(0),
          sequence: 0xffffffff,
          witness: [],
        },
      ],
      outputs: [{ value, script: Buffer.concat([prefix, script]) }],
    };
    const signed = await wallet.rpc<{ hex: string; complete: boolean }>(
      'signrawtransaction',
      toHex(formatTransaction(tx)),
    );
    expect(signed.complete).toBe(true);
    const txid = await wallet.rpc<string>('sendrawtransaction', signed.hex);
    await mine();
    await followed();
    // lbcwallet forwards unknown methods to the node.
    const { claims } = await wallet.rpc<{ claims: { txid: string }[] }>('getclaimsforname', 'by-lbcwallet');
    expect(claims).toMatchObject([{ txid }]);
    await until(
      'lbcwallet sees it',
      async () => (await wallet.rpc<{ staked: number }>('getinfo')).staked > 0,
    );
  });

  it.skipIf(recordTo)('restores the wallet from its seed, and finds its payments and its claim', async () => {
    const expected = await wallet.rpc<{ balance: number; staked: number }>('getinfo');
    await wallet.end('SIGINT');
    const again = args.map((word) =>
      word.replace(`--appdata=${folder}`, `--appdata=${join(folder, 'restored')}`),
    );
    createFromSeed(again);
    wallet = await runReference(lbcwallet!, again, folder, walletPort);
    await followed();
    // lbcwallet searches the chain by block filters, also over lbcd only when it is asked to.
    await wallet.rpc('rescanblockchain');
    const { balance: found, staked } = await wallet.rpc<{ balance: number; staked: number }>('getinfo');
    expect({ balance: found, staked }).toEqual({ balance: expected.balance, staked: expected.staked });
    expect(staked).toBeGreaterThan(0);
    await wallet.end('SIGINT');
    wallet = await runReference(lbcwallet!, args, folder, walletPort);
    await followed();
  });

  it.skipIf(recordTo)('follows a reorganisation, and reconnects after a stop of either', async () => {
    const tip = await node.rpc<string>('getbestblockhash');
    await node.rpc('invalidateblock', [tip]);
    await mine(2);
    await followed();
    await wallet.end('SIGINT');
    await mine(2);
    wallet = await runReference(lbcwallet!, args, folder, walletPort);
    await followed();
  });
});
