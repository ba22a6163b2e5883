/**
 * Sends 50,000 signed transactions by RPC while blocks are mined. None may be lost, and the times of the calls are printed.
 * `LOAD_TRANSACTIONS` sets another number.
 */
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ecdsaBackend, generatePrivateKey, signHash } from '../../src/crypto/ecdsa.js';
import { hash160 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatTransaction, txid, type Transaction } from '../../src/primitives/transaction.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { pushData } from '../../src/script/script.js';
import { PrecomputedSighash, SIGHASH, SIG_VERSION, signatureHash } from '../../src/script/sighash.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { concatBytes, hashFromHex, hashToHex, toHex } from '../../src/util/bytes.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

const COUNT = Number(process.env['LOAD_TRANSACTIONS'] ?? 50_000);
/** Outputs of a transaction that makes coins. */
const FAN = 2000;
/** Number of parallel callers, each with its own connection. */
const CALLERS = 8;
/** A block is mined after each of this number of transactions. */
const BLOCK_EVERY = 5000;

const KEY = generatePrivateKey();
const PUBLIC_KEY = ecdsaBackend().publicKeyOf(KEY, true);
const OWN = { type: 'pubkeyhash', hash: hash160(PUBLIC_KEY) } as const;
const SCRIPT = scriptForDestination(OWN);
const OWN_ADDRESS = encodeDestination(OWN, addressPrefixesOf(regtestParams));

interface Coin {
  hash: Uint8Array;
  index: number;
  value: bigint;
}

function spend(coin: Coin, feeSat: bigint, outputs: number): Transaction {
  const each = (coin.value - feeSat) / BigInt(outputs);
  const tx: Transaction = {
    version: 2,
    inputs: [{ prevout: coin, scriptSig: new Uint8Array(0), sequence: 0xffffffff, witness: [] }],
    outputs: Array.from({ length: outputs }, () => ({ value: each, script: SCRIPT })),
    lockTime: 0,
  };
  const shared = new PrecomputedSighash(tx);
  const hash = signatureHash(SCRIPT, tx, 0, SIGHASH.ALL, coin.value, SIG_VERSION.BASE, shared);
  const signature = concatBytes(signHash(hash, KEY), Buffer.of(SIGHASH.ALL));
  tx.inputs[0]!.scriptSig = concatBytes(pushData(signature), pushData(PUBLIC_KEY));
  return tx;
}

const hexOf = (tx: Transaction): string => toHex(formatTransaction(tx));

function percentile(sorted: readonly number[], share: number): string {
  return `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(2)} ms`;
}

describe('a node under load', () => {
  let node: RegtestNode;
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  beforeAll(async () => {
    node = await startRegtest({ args: ['-debug=0'] });
  });
  afterAll(async () => {
    agent.destroy();
    await node?.stop();
  });

  /** Sends a call over a kept connection. */
  function call(method: string, params: readonly unknown[]): Promise<unknown> {
    const { hostname, port, username, password } = new URL(node.url);
    const body = JSON.stringify({ id: 1, method, params });
    return new Promise((resolve, reject) => {
      const sent = request(
        { agent, hostname, port, method: 'POST', auth: `${username}:${password}` },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('error', reject);
          response.on('end', () => {
            const { result, error } = JSON.parse(text) as {
              result: unknown;
              error: { message: string } | null;
            };
            if (error) reject(new Error(error.message));
            else resolve(result);
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  async function blockTransactions(hash: string): Promise<string[]> {
    return (await node.rpc<{ tx: string[] }>('getblock', [hash])).tx.slice(1);
  }

  it(`takes ${COUNT} transactions while blocks are mined, and loses none`, async () => {
    const fans = Math.ceil(COUNT / FAN);
    const blocks = await node.rpc<string[]>('generatetoaddress', [100 + fans, OWN_ADDRESS]);
    const coins: Coin[] = [];
    for (const block of blocks.slice(0, fans)) {
      const { tx } = await node.rpc<{ tx: string[] }>('getblock', [block]);
      const { value } = await node.rpc<{ value: number }>('gettxout', [tx[0], 0]);
      const coin = { hash: hashFromHex(tx[0]!), index: 0, value: BigInt(Math.round(value * 1e8)) };
      const fan = spend(coin, 200_000n, FAN);
      await node.rpc('sendrawtransaction', [hexOf(fan)]);
      const hash = txid(fan);
      fan.outputs.forEach((output, index) => coins.push({ hash, index, value: output.value }));
    }
    // Their outputs' signature operations fill several blocks.
    while ((await node.rpc<{ size: number }>('getmempoolinfo')).size > 0) {
      await node.rpc('generatetoaddress', [1, ADDRESS]);
    }
    const transactions = coins.slice(0, COUNT).map((coin, n) => spend(coin, 1000n + BigInt(n % 5000), 2));
    const ids = new Set(transactions.map((tx) => hashToHex(txid(tx))));
    const bodies = transactions.map(hexOf);

    const latencies: number[] = [];
    const mined: string[] = [];
    let next = 0;
    const sendAll = async (): Promise<void> => {
      while (next < bodies.length) {
        const n = next++;
        const began = performance.now();
        const answer = await call('sendrawtransaction', [bodies[n]]);
        latencies.push(performance.now() - began);
        if (!ids.has(String(answer))) throw new Error(`unknown id ${String(answer)}`);
      }
    };
    const mine = async (): Promise<void> => {
      for (let at = BLOCK_EVERY; next < bodies.length;) {
        if (next < at) await new Promise((resolve) => setTimeout(resolve, 5));
        else {
          mined.push(...(await node.rpc<string[]>('generatetoaddress', [1, ADDRESS])));
          at += BLOCK_EVERY;
        }
      }
    };
    const began = performance.now();
    await Promise.all([...Array.from({ length: CALLERS }, sendAll), mine()]);
    const seconds = (performance.now() - began) / 1000;
    latencies.sort((x, y) => x - y);
    console.log(
      `${COUNT} transactions in ${seconds.toFixed(1)} s (${(COUNT / seconds).toFixed(0)} a second), ${mined.length} blocks meanwhile; ` +
        `latency of ${CALLERS} callers: 50 % ${percentile(latencies, 0.5)}, 90 % ${percentile(latencies, 0.9)}, ` +
        `99 % ${percentile(latencies, 0.99)}, 99.9 % ${percentile(latencies, 0.999)}, longest ${percentile(latencies, 1)}`,
    );
    expect(latencies).toHaveLength(COUNT);

    const seen = new Set<string>();
    for (const hash of mined) for (const id of await blockTransactions(hash)) seen.add(id);
    const waiting = await node.rpc<string[]>('getrawmempool');
    expect(new Set([...seen, ...waiting])).toEqual(ids);
    expect(seen.size + waiting.length).toBe(COUNT);
    while ((await node.rpc<{ size: number }>('getmempoolinfo')).size > 0) {
      const [hash] = await node.rpc<string[]>('generatetoaddress', [1, ADDRESS]);
      for (const id of await blockTransactions(hash!)) seen.add(id);
    }
    expect(seen.size).toBe(COUNT);
  });
});
