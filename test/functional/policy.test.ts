/** Limits of the mempool in a real process: its size, the age of unconfirmed transactions, and fee estimation. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hash160 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatTransaction, type TxOutput } from '../../src/primitives/transaction.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, toHex } from '../../src/util/bytes.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

/** Anyone can spend it: the hash of a script that says yes. */
const OPEN = { type: 'scripthash', hash: hash160(Buffer.of(0x51)) } as const;
const OPEN_ADDRESS = encodeDestination(OPEN, addressPrefixesOf(regtestParams));
const OPEN_SCRIPT = scriptForDestination(OPEN);
const COIN_SAT = 100_000_000n;

interface MempoolInfo {
  size: number;
  bytes: number;
  usage: number;
  maxmempool: number;
  mempoolminfee: number;
}

describe('the limits of the mempool', () => {
  let folder: string;
  let node: RegtestNode;
  /** Ids of coinbases that may be spent. */
  let coins: string[];

  async function start(mature: number, ...args: string[]): Promise<void> {
    node = await startRegtest({ dataDir: folder, args });
    const hashes = await node.rpc<string[]>('generatetoaddress', [mature, OPEN_ADDRESS]);
    await node.rpc('generatetoaddress', [100, ADDRESS]);
    coins = [];
    for (const hash of hashes) {
      const block = await node.rpc<{ tx: string[] }>('getblock', [hash]);
      coins.push(block.tx[0]!);
    }
  }
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lbcnode-policy-'));
  });
  afterEach(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Spends the first output of a transaction for `count` equal outputs and a fee. */
  function spending(txid: string, valueSat: bigint, count: number, feeSat: bigint): string {
    const each = (valueSat - feeSat) / BigInt(count);
    const outputs: TxOutput[] = Array.from({ length: count }, () => ({ value: each, script: OPEN_SCRIPT }));
    // Adds the remainder of the division, which would otherwise be a fee.
    outputs[0]!.value += valueSat - feeSat - each * BigInt(count);
    const input = {
      prevout: { hash: hashFromHex(txid), index: 0 },
      scriptSig: Buffer.of(1, 0x51),
      sequence: 0xffffffff,
      witness: [],
    };
    return toHex(formatTransaction({ version: 2, inputs: [input], outputs, lockTime: 0 }));
  }
  const send = (hex: string): Promise<string> => node.rpc('sendrawtransaction', [hex, true]);
  const info = (): Promise<MempoolInfo> => node.rpc('getmempoolinfo');

  it('evicts the transactions with the lowest fee rate when it is full, and raises its minimum fee rate', async () => {
    await start(70, '-maxmempool=5');
    const sent: string[] = [];
    // Transactions of about 93 kB, each with a higher fee than the previous one.
    for (const [n, coin] of coins.entries()) {
      if (n === coins.length - 1) break;
      sent.push(await send(spending(coin, COIN_SAT, 2900, 1_000_000n + BigInt(n) * 100_000n)));
    }
    const full = await info();
    expect(full.maxmempool).toBe(5_000_000);
    expect(full.usage).toBeLessThanOrEqual(5_000_000);
    expect(full.usage).toBeGreaterThan(4_000_000);
    expect(full.mempoolminfee).toBeGreaterThan(0.00001);
    const waiting = await node.rpc<string[]>('getrawmempool');
    expect(waiting).toHaveLength(full.size);
    // The transactions with the lowest fee rates were removed, and all others are present.
    expect(new Set(waiting)).toEqual(new Set(sent.slice(-full.size)));
    const cheap = spending(coins.at(-1)!, COIN_SAT, 1, 1000n);
    await expect(send(cheap)).rejects.toMatchObject({
      code: -26,
      message: expect.stringContaining('mempool min fee not met') as string,
    });
    expect(await send(spending(coins.at(-1)!, COIN_SAT, 1, 1_000_000n))).toMatch(/^[0-9a-f]{64}$/);
  });

  it('expires old transactions, with their descendants', async () => {
    await start(3, '-mempoolexpiry=2');
    const now = Math.floor(Date.now() / 1000);
    await node.rpc('setmocktime', [now]);
    const old = await send(spending(coins[0]!, COIN_SAT, 1, 10_000n));
    await node.rpc('setmocktime', [now + 3600]);
    await send(spending(old, COIN_SAT - 10_000n, 1, 10_000n));
    const young = await send(spending(coins[1]!, COIN_SAT, 1, 10_000n));
    await node.rpc('setmocktime', [now + 2 * 3600 + 1]);
    expect((await info()).size).toBe(3);
    // Expiry is checked when the next transaction arrives.
    const last = await send(spending(coins[2]!, COIN_SAT, 1, 10_000n));
    expect(new Set(await node.rpc<string[]>('getrawmempool'))).toEqual(new Set([young, last]));
    // It may come again.
    expect(await send(spending(coins[0]!, COIN_SAT, 1, 20_000n))).not.toBe(old);
  });

  it('estimates fees from confirmed transactions, and keeps the estimates over a restart', async () => {
    await start(60);
    const before = await node.rpc<{ errors?: string[] }>('estimatesmartfee', [2]);
    expect(before.errors).toEqual(['Insufficient data or no feerate found']);
    // Twenty blocks with three transactions each, which each next block confirms. The fee rate is at least 0.0001 per kB.
    for (let n = 0; n < 60; n++) {
      await send(spending(coins[n]!, COIN_SAT, 1, 20_000n));
      if (n % 3 === 2) await node.rpc('generatetoaddress', [1, ADDRESS]);
    }
    const learned = await node.rpc<{ feerate: number; blocks: number }>('estimatesmartfee', [2]);
    expect(learned.blocks).toBe(2);
    expect(learned.feerate).toBeGreaterThan(0.001);
    expect(learned.feerate).toBeLessThan(0.01);
    const raw = await node.rpc<Record<string, { pass?: object }>>('estimaterawfee', [2]);
    expect(Object.keys(raw)).toEqual(['short', 'medium', 'long']);
    await node.stop();
    node = await startRegtest({ dataDir: folder });
    expect(await node.rpc('estimatesmartfee', [2])).toEqual(learned);
    expect(await node.rpc('estimaterawfee', [2])).toEqual(raw);
  });
});
