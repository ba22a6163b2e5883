/**
 * The address index of a real node: mempool entries, a reorganisation, a kill, and an index that is enabled on an existing chain.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hash160 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatTransaction } from '../../src/primitives/transaction.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, toHex } from '../../src/util/bytes.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { runToEnd } from './support/process.js';
import { longIt } from '../support/long.js';

/** Scripts that are always true. Anyone can spend an output that pays to the hash of one. */
const redeem = (n: number): Buffer => Buffer.of(0x50 + n);
const destination = (n: number) => ({ type: 'scripthash', hash: hash160(redeem(n)) }) as const;
const addressOf = (n: number): string => encodeDestination(destination(n), addressPrefixesOf(regtestParams));
const [FIRST, SECOND] = [addressOf(1), addressOf(2)];
const FEE = 100_000n;

interface Balance {
  balance: number;
  received: number;
  txcount: number;
  unconfirmed: number;
}

describe('-addressindex', () => {
  let folder: string;
  let node: RegtestNode;
  const start = async (...args: string[]): Promise<void> => {
    node = await startRegtest({ dataDir: folder, args });
  };
  const balance = (address: string): Promise<Balance> => node.rpc('getaddressbalance', [address]);
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lbcnode-addresses-'));
    await start('-addressindex');
    await node.rpc('generatetoaddress', [1, FIRST]);
    await node.rpc('generatetoaddress', [105, ADDRESS]);
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Pays the whole output, less the fee, to an address. */
  async function pay(txid: string, n: number, from: number, to: number, valueSat: bigint): Promise<string> {
    const tx = {
      version: 2,
      inputs: [
        {
          prevout: { hash: hashFromHex(txid), index: n },
          scriptSig: Buffer.concat([Buffer.of(1), redeem(from)]),
          sequence: 0xffffffff,
          witness: [],
        },
      ],
      outputs: [{ value: valueSat, script: scriptForDestination(destination(to)) }],
      lockTime: 0,
    };
    return node.rpc('sendrawtransaction', [toHex(formatTransaction(tx)), true]);
  }

  it('reports confirmed and mempool amounts, through a block and its reorganisation', async () => {
    expect(await balance(FIRST)).toEqual({
      balance: 100_000_000,
      received: 100_000_000,
      txcount: 1,
      unconfirmed: 0,
    });
    const [coin] = await node.rpc<{ txid: string }[]>('getaddressutxos', [{ addresses: [FIRST] }]);
    const first = await pay(coin!.txid, 0, 1, 2, 100_000_000n - FEE);
    const second = await pay(first, 0, 2, 1, 100_000_000n - 2n * FEE);

    expect(await balance(FIRST)).toMatchObject({ balance: 100_000_000, unconfirmed: -200_000 });
    expect(await balance(SECOND)).toEqual({ balance: 0, received: 0, txcount: 0, unconfirmed: 0 });
    expect(await node.rpc('getaddressmempool', [{ addresses: [SECOND] }])).toMatchObject([
      { address: SECOND, txid: first, index: 0, satoshis: 99_900_000 },
      { address: SECOND, txid: second, index: 0, satoshis: -99_900_000, prevtxid: first, prevout: 0 },
    ]);
    expect(await node.rpc('getaddresstxids', [{ addresses: [FIRST, SECOND], mempool: true }])).toEqual([
      coin!.txid,
      first,
      second,
    ]);
    expect(await node.rpc('getaddressutxos', [{ addresses: [FIRST, SECOND], mempool: true }])).toMatchObject([
      { address: FIRST, txid: second, satoshis: 99_800_000, height: -1 },
    ]);

    const changes = { addresses: [FIRST], mempool: true, verbose: true, descending: true };
    const moves = [
      { txid: second, received: 99_800_000, spent: 0 },
      { txid: first, received: 0, spent: 100_000_000 },
      { txid: coin!.txid, height: 1, received: 100_000_000, spent: 0 },
    ];
    expect(await node.rpc('getaddresstxids', [changes])).toEqual(moves);

    const [block] = await node.rpc<string[]>('generatetoaddress', [1, ADDRESS]);
    const height = await node.rpc<number>('getblockcount');
    expect(await node.rpc('getaddresstxids', [changes])).toEqual(moves.map((move) => ({ height, ...move })));
    expect(await node.rpc('getaddressmempool', [[FIRST, SECOND]])).toEqual([]);
    expect(await balance(FIRST)).toEqual({
      balance: 99_800_000,
      received: 199_800_000,
      txcount: 3,
      unconfirmed: 0,
    });

    await node.rpc('invalidateblock', [block!]);
    expect(await balance(FIRST)).toMatchObject({ balance: 100_000_000, txcount: 1, unconfirmed: -200_000 });
    await node.rpc('reconsiderblock', [block!]);
    expect(await balance(FIRST)).toMatchObject({ balance: 99_800_000, txcount: 3, unconfirmed: 0 });
  });

  it('pages through mempool entries and confirmed entries alike', async () => {
    const coins = await node.rpc<{ txid: string; outputIndex: number }[]>('getaddressutxos', [[FIRST]]);
    const sent: string[] = [];
    let last = coins[0]!.txid;
    for (let n = 1; n <= 7; n++) {
      // Each transaction spends the previous one, from one address to the other.
      const [from, to] = n % 2 === 1 ? [1, 2] : [2, 1];
      sent.push((last = await pay(last, 0, from, to, 99_800_000n - BigInt(n) * FEE)));
    }
    const addresses = [FIRST, SECOND];
    const pages = async (method: string, list: string, limit: number): Promise<unknown[]> => {
      const entries: unknown[] = [];
      for (let after: object = {}; ;) {
        const query = { addresses, mempool: true, limit, ...after };
        const page = await node.rpc<Record<string, never[]> & { next?: string }>(method, [query]);
        expect(page[list]!.length).toBeLessThanOrEqual(limit);
        entries.push(...page[list]!);
        if (page.next === undefined) return entries;
        after = { after: page.next };
      }
    };
    const whole = await node.rpc<unknown[]>('getaddresstxids', [{ addresses, mempool: true }]);
    expect(whole.slice(-7)).toEqual(sent);
    const moves = await node.rpc<unknown[]>('getaddressmempool', [addresses]);
    expect(moves).toHaveLength(14);
    const unspent = await node.rpc<unknown[]>('getaddressutxos', [{ addresses, mempool: true }]);
    expect(unspent).toMatchObject([{ txid: last, height: -1 }]);
    for (const limit of [1, 2, 3, 5, 100]) {
      expect(await pages('getaddresstxids', 'txids', limit)).toEqual(whole);
      expect(await pages('getaddressmempool', 'moves', limit)).toEqual(moves);
      expect(await pages('getaddressutxos', 'utxos', limit)).toEqual(unspent);
    }
    await expect(
      node.rpc('getaddresstxids', [{ addresses, limit: 1, after: '00'.repeat(9) }]),
    ).rejects.toThrow('"after" is not a cursor');
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    expect(await node.rpc('getaddresstxids', [{ addresses, mempool: true }])).toEqual(whole);
  });

  it('is complete after a kill', async () => {
    const before = await node.rpc('getaddresstxids', [{ addresses: [FIRST, ADDRESS], verbose: true }]);
    await node.kill();
    await start('-addressindex');
    expect(await node.rpc('getaddresstxids', [{ addresses: [FIRST, ADDRESS], verbose: true }])).toEqual(
      before,
    );
    expect(await node.rpc('getindexinfo')).toEqual({
      addressindex: { synced: true, best_block_height: await node.rpc('getblockcount') },
    });
  });

  /** Resolves when all enabled indexes are at the tip. */
  async function filled(): Promise<void> {
    for (;;) {
      const info = await node.rpc<Record<string, { synced: boolean }>>('getindexinfo');
      if (Object.values(info).every(({ synced }) => synced)) return;
    }
  }

  longIt('is turned off and on again, and is built in the background, with kills in between', async () => {
    await node.stop();
    await start();
    await expect(balance(FIRST)).rejects.toThrow('Start with -addressindex');
    await node.rpc('generatetoaddress', [120, FIRST]);
    await node.stop();
    const died = runToEnd(folder, ['-addressindex', '-txindex'], {
      LBCNODE_CRASH_AT: 'fill:block-written@60',
    });
    expect(died.signal).toBe('SIGKILL');
    await start('-addressindex', '-txindex');
    // Wherever it is by now.
    await node.kill();
    await start('-addressindex', '-txindex');
    await node.rpc('generatetoaddress', [3, SECOND]);
    await node.kill();
    await start('-addressindex', '-txindex');
    await filled();
    const height = await node.rpc('getblockcount');
    expect(await node.rpc('getindexinfo')).toEqual({
      txindex: { synced: true, best_block_height: height },
      addressindex: { synced: true, best_block_height: height },
    });
    const query = { addresses: [FIRST, SECOND, ADDRESS], verbose: true };
    const answers = async (): Promise<unknown[]> => [
      await node.rpc('getaddresstxids', [query]),
      await node.rpc('getaddressutxos', [query]),
      await balance(FIRST),
      await balance(SECOND),
    ];
    const whenFilled = await answers();
    const [{ txid } = { txid: '' }] = await node.rpc<{ txid: string }[]>('getaddresstxids', [query]);
    expect(await node.rpc('getrawtransaction', [txid, true])).toMatchObject({ txid });
    await node.stop();
    await start('-reindex-chainstate', '-addressindex', '-txindex');
    expect(await answers()).toEqual(whenFilled);
  });
});
