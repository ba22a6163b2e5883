/**
 * The daemon's ledger with the hub of a real node: received payments, own transactions, blocks, reorganisations, restarts, and
 * hubs that end or lie.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AddressSource } from '../../src/daemon/ledger/addressSource.js';
import { OpenLedger } from '../../src/daemon/ledger/openLedger.js';
import { addressOfKey, childKey } from '../../src/daemon/wallet/keys.js';
import { payKeyHash } from '../../src/daemon/wallet/tx/newOutputs.js';
import { hash160 } from '../../src/crypto/hash.js';
import { formatTransaction, parseTransaction } from '../../src/primitives/transaction.js';
import { encodeSecret } from '../../src/script/wif.js';
import { rootOfSeed, type ExtendedKey } from '../../src/signing/extendedKey.js';
import { fromHex, hashToHex, toHex } from '../../src/util/bytes.js';
import type { HostPort } from '../../src/util/network/hostPort.js';
import { SILENT_LOGGER } from '../../src/util/logging.js';
import { Reader } from '../../src/util/reader.js';
import { regtest, transactionOf } from '../support/ledgerTransactions.js';
import { HubProxy } from './support/hubProxy.js';
import { ADDRESS, freePort, HANG_MS, startRegtest, type RegtestNode } from './support/node.js';

interface TestAccount extends AddressSource {
  key(chain: number, index: number): ExtendedKey;
  address(chain: number, index: number): string;
}

function accountOf(seed: string): TestAccount {
  const root = rootOfSeed(Buffer.from(seed.padEnd(32)));
  const key = (chain: number, index: number): ExtendedKey => childKey(childKey(root, chain), index);
  return {
    accountId: seed,
    chains: [
      { chain: 0, gap: 20, maxUses: 1 },
      { chain: 1, gap: 6, maxUses: 1 },
    ],
    key,
    keyAt: key,
    address: (chain, index) => addressOfKey(key(chain, index).publicKey, regtest),
  };
}

let node: RegtestNode;
let hub: HostPort;
const open = new Set<OpenLedger>();
const proxies: HubProxy[] = [];
const folders: string[] = [];

beforeAll(async () => {
  const port = await freePort();
  hub = { host: '127.0.0.1', port };
  node = await startRegtest({ args: ['-hub', `-hubport=${port}`, '-txindex'] });
  const address = await node.rpc<string>('getnewaddress');
  await node.rpc('generatetoaddress', [110, address]);
});
afterAll(() => node.stop());
afterEach(async () => {
  for (const ledger of open) await ledger.close();
  open.clear();
  for (const proxy of proxies.splice(0)) await proxy.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Opened {
  readonly ledger: OpenLedger;
  readonly folder: string;
  readonly warnings: string[];
}

async function openLedger(
  account: TestAccount,
  servers: readonly HostPort[],
  known?: string,
): Promise<Opened> {
  const folder = known ?? mkdtempSync(join(tmpdir(), 'ledger-'));
  if (known === undefined) folders.push(folder);
  const warnings: string[] = [];
  const ledger = new OpenLedger({
    ledgerId: 'lbc_regtest',
    folder,
    servers,
    // The blocks of the node have valid proof of work.
    checksWork: true,
    times: { pingMs: 50, retryMs: [20, 100] },
    log: { ...SILENT_LOGGER, warn: (message) => void warnings.push(message) },
  });
  open.add(ledger);
  await ledger.start();
  await ledger.add(account);
  await ledger.whenSynced();
  return { ledger, folder, warnings };
}

async function close({ ledger }: Opened): Promise<void> {
  open.delete(ledger);
  await ledger.close();
}

async function startProxy(): Promise<HubProxy> {
  const proxy = await HubProxy.start(hub.port);
  proxies.push(proxy);
  return proxy;
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

const balance = async (ledger: OpenLedger, account: TestAccount, maxHeight?: number): Promise<bigint> =>
  (await ledger.database.balance([account.accountId], maxHeight)).total;

const mine = (count: number): Promise<string[]> => node.rpc('generatetoaddress', [count, ADDRESS]);

const COIN = 100_000_000n;

describe('the daemon’s ledger on a hub', { timeout: HANG_MS }, () => {
  it('processes received and sent payments, also when their blocks are connected and disconnected', async () => {
    const account = accountOf('alice');
    const opened = await openLedger(account, [hub]);
    const { ledger } = opened;
    await node.rpc('sendtoaddress', [account.address(0, 3), 2]);
    await until(async () => (await balance(ledger, account)) === 2n * COIN);
    expect(await balance(ledger, account, ledger.height)).toBe(0n);
    const [paid] = await mine(1);
    await until(async () => (await balance(ledger, account, ledger.height)) === 2n * COIN);
    expect(hashToHex(ledger.headers.hashAt(ledger.height)!)).toBe(paid);
    const [coin] = await ledger.database.txos({ accountIds: ['alice'] });
    expect(coin).toMatchObject({ isVerified: true, height: ledger.height });

    const outputs = [payKeyHash(150_000_000n, hash160(account.key(1, 0).publicKey))];
    const plain = transactionOf([{ hash: coin!.txid, index: coin!.nout }], outputs);
    const wif = encodeSecret(account.key(0, 3).privateKey!, true, regtest.addressPrefixes);
    const signed = await node.rpc<{ hex: string; complete: boolean }>('signrawtransactionwithkey', [
      toHex(formatTransaction(plain)),
      [wif],
    ]);
    const tx = parseTransaction(new Reader(fromHex(signed.hex)));
    await ledger.broadcast(tx);
    expect(await balance(ledger, account)).toBe(150_000_000n);
    const [change] = await ledger.database.txos({ accountIds: ['alice'], isSpent: false });
    expect(await ledger.taken(change!.txid, HANG_MS)).toBe(true);
    // Broadcasting a known transaction again succeeds.
    await ledger.broadcast(tx);
    await expect(ledger.broadcast(plain)).rejects.toMatchObject({ name: 'RPCError' });

    // The block with the payment is disconnected, so both transactions are unconfirmed again.
    await mine(1);
    const height = ledger.height;
    await until(
      async () => ledger.height === height + 1 || (await balance(ledger, account, 1e9)) === 150_000_000n,
    );
    await node.rpc('invalidateblock', [paid]);
    await mine(4);
    await until(async () => {
      const [row] = await ledger.database.txos({ accountIds: ['alice'], txids: [change!.txid] });
      return row!.height > 0 && ledger.headers.height === Number(await node.rpc('getblockcount'));
    });
    await ledger.whenSynced();
    expect(hashToHex(ledger.headers.hashAt(ledger.height)!)).toBe(await node.rpc('getbestblockhash'));
    expect(await balance(ledger, account, ledger.height)).toBe(150_000_000n);

    // After a restart, the ledger has all transactions, and those that arrived meanwhile.
    await close(opened);
    await node.rpc('sendtoaddress', [account.address(0, 20), 1]);
    const again = await openLedger(account, [hub], opened.folder);
    expect(await balance(again.ledger, account)).toBe(250_000_000n);
    expect(await again.ledger.database.addressCount({ accountIds: ['alice'], chain: 0 })).toBe(41);
  });

  it('continues with another hub when one disconnects', async () => {
    const account = accountOf('bob');
    const [first, second] = [await startProxy(), await startProxy()];
    const { ledger } = await openLedger(account, [first.server, second.server]);
    expect([first.connections, second.connections]).toEqual([1, 0]);
    proxies.splice(proxies.indexOf(first), 1);
    await first.stop();
    await node.rpc('sendtoaddress', [account.address(0, 0), 3]);
    await until(async () => (await balance(ledger, account)) === 3n * COIN);
    expect(second.connections).toBe(1);
  });

  it('rejects all false answers of a hub, logs its name, and uses another one', async () => {
    const account = accountOf('carol');
    const txid = await node.rpc<string>('sendtoaddress', [account.address(0, 0), 5]);
    await mine(1);
    const lies: Readonly<Record<string, (method: string, result: unknown) => unknown>> = {
      'a wrong merkle branch': (method, result) => {
        if (method !== 'blockchain.transaction.get_batch') return result;
        const [raw, proof] = (result as Record<string, [string, { merkle: string[] }]>)[txid]!;
        return { [txid]: [raw, { ...proof, merkle: proof.merkle.map(() => '11'.repeat(32)) }] };
      },
      'sent invalid data: the header at height': (method, result) =>
        method === 'blockchain.block.headers' ? changed(result as { base64: string }) : result,
    };
    for (const [words, change] of Object.entries(lies)) {
      const [liar, honest] = [await startProxy(), await startProxy()];
      liar.change = change;
      const opened = await openLedger(account, [liar.server, honest.server]);
      expect(await balance(opened.ledger, account), words).toBe(5n * COIN);
      expect(opened.warnings.join('\n')).toContain(words);
      expect(opened.warnings.join('\n')).toContain(`127.0.0.1:${liar.server.port}`);
      expect([liar.connections, honest.connections]).toEqual([0, 1]);
      await close(opened);
    }
  });
});

/** The headers with one byte changed. */
function changed({ base64 }: { base64: string }): { base64: string } {
  const headers = inflateRawSync(Buffer.from(base64, 'base64'));
  if (headers.length <= 112) return { base64 };
  headers[headers.length - 5]! ^= 1;
  return { base64: deflateRawSync(headers).toString('base64') };
}
