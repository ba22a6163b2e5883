/** The mempool of a real node: reorganisations, a clean stop, and a kill. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hash160 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatTransaction, type Transaction } from '../../src/primitives/transaction.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, toHex } from '../../src/util/bytes.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

/** An output that pays to the hash of a script that is always true, so anyone can spend it. */
const OPEN = { type: 'scripthash', hash: hash160(Buffer.of(0x51)) } as const;
const OPEN_ADDRESS = encodeDestination(OPEN, addressPrefixesOf(regtestParams));

interface BlockAnswer {
  tx: string[];
}

describe('the mempool of a node', () => {
  let folder: string;
  let node: RegtestNode;
  const start = async (...args: string[]): Promise<void> => {
    node = await startRegtest({ dataDir: folder, args });
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lbcnode-mempool-'));
    await start();
    await node.rpc('generatetoaddress', [110, OPEN_ADDRESS]);
  });
  afterEach(async () => {
    for (const hash of await node.rpc<string[]>('getrawmempool'))
      await node.rpc('prioritisetransaction', [hash, 0, 1_000_000]);
    // Pays to another address, because otherwise the block would equal the disconnected one.
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    expect(await node.rpc('getrawmempool')).toEqual([]);
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Spends the coinbase of a block. */
  async function spend(height: number, feeSat: bigint): Promise<string> {
    const block = await node.rpc<BlockAnswer>('getblock', [await node.rpc('getblockhash', [height])]);
    const tx: Transaction = {
      version: 2,
      inputs: [
        {
          prevout: { hash: hashFromHex(block.tx[0]!), index: 0 },
          scriptSig: Buffer.of(1, 0x51),
          sequence: 0xffffffff,
          witness: [],
        },
      ],
      outputs: [{ value: 100_000_000n - feeSat, script: scriptForDestination(OPEN) }],
      lockTime: 0,
    };
    return toHex(formatTransaction(tx));
  }
  const send = async (height: number, feeSat = 1000n): Promise<string> =>
    node.rpc<string>('sendrawtransaction', [await spend(height, feeSat)]);
  const ids = (): Promise<string[]> => node.rpc('getrawmempool');

  it('keeps submitted transactions over a stop', async () => {
    const sent = [await send(1), await send(2, 2000n)].sort();
    expect((await ids()).sort()).toEqual(sent);
    expect(await node.rpc('getmempoolinfo')).toMatchObject({ size: 2, bytes: 170 });
    expect(await node.rpc('gettxout', [sent[0], 0])).toMatchObject({ confirmations: 0 });
    await node.stop();
    expect(existsSync(join(folder, 'regtest/mempool.dat'))).toBe(true);
    await start();
    expect((await ids()).sort()).toEqual(sent);
  });

  it('returns transactions of disconnected blocks, and keeps them over a kill', async () => {
    const free = await spend(3, 0n);
    await expect(node.rpc('sendrawtransaction', [free])).rejects.toThrow(
      'min relay fee not met, 0 < 85 (code 66)',
    );
    const { txid } = await node.rpc<{ txid: string }>('decoderawtransaction', [free]);
    await node.rpc('prioritisetransaction', [txid, 0, 5000]);
    await node.rpc('sendrawtransaction', [free]);
    const [block] = await node.rpc<string[]>('generatetoaddress', [1, OPEN_ADDRESS]);
    expect(await ids()).toEqual([]);
    await node.rpc('invalidateblock', [block]);
    expect(await ids()).toEqual([txid]);
    await node.kill();
    await start();
    expect(await ids()).toEqual([txid]);
  });

  it('is written on request', async () => {
    await node.rpc('savemempool');
    const before = readFileSync(join(folder, 'regtest/mempool.dat'));
    await send(4);
    await node.rpc('savemempool');
    expect(readFileSync(join(folder, 'regtest/mempool.dat')).length).toBeGreaterThan(before.length);
    await node.kill();
    await start();
    expect((await ids()).length).toBe(1);
  });

  it('saves its fee estimates, and starts without them if the file is corrupt', async () => {
    const file = join(folder, 'regtest/fee_estimates.dat');
    await node.stop();
    const written = readFileSync(file);
    expect(written.readInt32LE(0)).toBe(149_900);
    expect(written.length).toBeGreaterThan(200_000);
    writeFileSync(file, written.subarray(0, 1000));
    await start();
    expect(node.output()).toContain('unable to read policy estimator data (non-fatal): end of data');
    expect(await node.rpc('estimatesmartfee', [6])).toEqual({
      errors: ['Insufficient data or no feerate found'],
      blocks: 0,
    });
    await node.stop();
    expect(readFileSync(file).length).toBe(written.length);
    expect(existsSync(`${file}.new`)).toBe(false);
    await start();
    expect(node.output()).not.toContain('policy estimator data');
  });

  it('can be discarded', async () => {
    await send(5);
    await node.stop();
    await start('-persistmempool=0');
    expect(await ids()).toEqual([]);
    await send(6);
    await node.stop();
    await start('-minrelaytxfee=0.001', '-acceptnonstdtxn=0');
    expect((await ids()).length).toBe(0);
    await expect(send(5)).rejects.toThrow('min relay fee not met, 1000 < 8500 (code 66)');
  });
});
