import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TX_END, TX_START, TX_STRIDE } from '../../../../src/primitives/blockLayout.js';
import { txidAt } from '../../../../src/primitives/blockView.js';
import {
  emptyInput,
  formatTransaction,
  txid,
  type Transaction,
} from '../../../../src/primitives/transaction.js';
import { getBlock } from '../../../../src/rpc/methods/blockchain/getBlock.js';
import { getClaimById } from '../../../../src/rpc/methods/claimtrie/getClaimById.js';
import { getClaimsForName } from '../../../../src/rpc/methods/claimtrie/getClaimsForName.js';
import { getValueForName } from '../../../../src/rpc/methods/claimtrie/getValueForName.js';
import { getRawTransaction } from '../../../../src/rpc/methods/rawtransactions/getRawTransaction.js';
import { keptTextsOf } from '../../../../src/rpc/lookup/keptTexts.js';
import type { RpcMethod } from '../../../../src/rpc/declare/method.js';
import { buildClaimPrefix, claimIdOf } from '../../../../src/script/claimScript.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import { buildScript } from '../../../../src/script/script.js';
import { BlockFileError } from '../../../../src/store/files/blockFiles.js';
import { concatBytes, hashToHex, toHex, type Bytes } from '../../../../src/util/bytes.js';
import { OPEN_SCRIPT, spend, TestChain } from '../../../support/testChain.js';

const NAME = Buffer.from('name');
const VALUE = Buffer.from('what the claim says');
const HEIGHT = 152;

describe('reading one transaction out of a block file', () => {
  let chain: TestChain;
  /** A transaction with a claim, and one that spends a witness program and has a witness. */
  let claim: Transaction;
  let witnessed: Transaction;
  let blockId: string;
  /** Position of block `HEIGHT` in its file. */
  let blockAt: number;

  beforeAll(async () => {
    chain = await TestChain.open();
    await chain.mine(HEIGHT - 1);
    const coinbase = { txid: txidAt((await chain.blockAt(1)).parsed, 0), n: 0 };
    const program = buildScript(0, sha256(OPEN_SCRIPT));
    claim = spend(
      [coinbase],
      [
        { value: 10n, script: concatBytes(buildClaimPrefix(NAME, VALUE), OPEN_SCRIPT) },
        { value: 20n, script: program },
      ],
    );
    const input = { ...emptyInput({ hash: txid(claim), index: 1 }), witness: [OPEN_SCRIPT] };
    witnessed = { version: 2, inputs: [input], outputs: [{ value: 15n, script: OPEN_SCRIPT }], lockTime: 0 };
    chain.pending.push(claim, witnessed);
    blockId = hashToHex((await chain.mine(1))[0]!);
    await chain.mine(1);
    const { index } = chain.opened.chain;
    blockAt = index.headers.dataPosition(index.active.at(HEIGHT)).offset;
    // Cached texts of transactions are not read again from the file.
    vi.spyOn(keptTextsOf(chain.services.chain), 'transaction').mockReturnValue(null);
  });
  afterAll(() => chain.close());

  const placeOf = async (n: number): Promise<{ from: number; to: number }> => {
    const { txs } = (await chain.blockAt(HEIGHT)).parsed;
    return { from: txs[n * TX_STRIDE + TX_START]!, to: txs[n * TX_STRIDE + TX_END]! };
  };

  /** Runs `use` while one bit of the block file is flipped. */
  async function withFlip(at: number, bit: number, use: () => Promise<void>): Promise<void> {
    const fd = openSync(chain.opened.chain.deps.files.path('blk', 0), 'r+');
    const byte = Buffer.alloc(1);
    try {
      readSync(fd, byte, 0, 1, blockAt + at);
      byte[0]! ^= 1 << bit;
      writeSync(fd, byte, 0, 1, blockAt + at);
      await use();
    } finally {
      byte[0]! ^= 1 << bit;
      writeSync(fd, byte, 0, 1, blockAt + at);
      closeSync(fd);
    }
  }

  /** The answer as text, or 'damaged' if the error names the corrupt file and says what to do. */
  async function ask(method: RpcMethod, params: (string | number)[]): Promise<string> {
    try {
      return JSON.stringify(await chain.call(method, params), (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
    } catch (error) {
      if (!(error instanceof BlockFileError)) throw error;
      expect(error.message).toMatch(/blk00000\.dat.*-reindex/s);
      return 'damaged';
    }
  }

  it('returns the stored one with its ids, and null for another block', async () => {
    const { reader, chain: core } = chain.opened;
    const id = core.index.active.at(HEIGHT);
    for (const [n, tx] of [claim, witnessed].entries()) {
      const { from } = await placeOf(n + 1);
      const wanted = { txid: txid(tx), offset: from, witness: null };
      const stored = (await reader.readTransaction(id, wanted))!;
      expect(toHex(stored.bytes)).toBe(toHex(formatTransaction(tx)));
      expect([toHex(txid(stored.tx)), stored.hasWitness]).toEqual([toHex(txid(tx)), tx === witnessed]);
      expect(await reader.readTransaction(core.index.active.at(HEIGHT - 1), wanted)).toBeNull();
      // A wrong offset in the index is not reported as corruption of the file.
      expect((await reader.readTransaction(id, { ...wanted, offset: from + 1 }))!.txid).toEqual(stored.txid);
    }
  });

  it('returns nothing if a bit of a claim is flipped, and reports the corruption', async () => {
    const claimId = hashToHex(claimIdOf(txid(claim), 0));
    const calls: [RpcMethod, (string | number)[]][] = [
      [getValueForName, ['name']],
      [getClaimsForName, ['name', blockId]],
      [getClaimById, [claimId]],
      [getRawTransaction, [hashToHex(txid(claim)), 1]],
    ];
    const right = await Promise.all(calls.map(([method, params]) => ask(method, params)));
    expect(right[0]).toContain(toHex(VALUE));
    const { from, to } = await placeOf(1);
    for (let at = from; at < to; at++) {
      await withFlip(at, at % 8, async () => {
        for (const [n, [method, params]] of calls.entries()) {
          // The output of a claim may also come from the set of unspent outputs, or from memory; the transaction may not.
          const answers = method === getRawTransaction ? ['damaged'] : ['damaged', right[n]];
          expect(answers, `byte ${at}`).toContain(await ask(method, params));
        }
      });
    }
    expect(await Promise.all(calls.map(([method, params]) => ask(method, params)))).toEqual(right);
  });

  it('returns no changed witness, with the check of the index or of the block', async () => {
    const call = (): Promise<string> => ask(getRawTransaction, [hashToHex(txid(witnessed))]);
    const right = await call();
    expect(right).toContain(toHex(formatTransaction(witnessed)));
    const { from, to } = await placeOf(2);
    const { services } = chain;
    const find = services.txIndex!.find.bind(services.txIndex);
    for (const knows of [true, false]) {
      services.txIndex!.find = async (wanted: Bytes) =>
        (await find(wanted)).map((location) => (knows ? location : { ...location, witness: null }));
      expect(await call()).toBe(right);
      for (let at = from; at < to; at++)
        await withFlip(at, at % 8, async () => expect(await call(), `byte ${at}`).toBe('damaged'));
    }
    services.txIndex!.find = find;
  });

  it('is not affected by corruption elsewhere in the block', async () => {
    const calls = (): Promise<string[]> =>
      Promise.all([
        ask(getValueForName, ['name']),
        ask(getRawTransaction, [hashToHex(txid(witnessed))]),
        ask(getRawTransaction, [hashToHex(txid(claim))]),
      ]);
    const right = await calls();
    for (const at of [-8, -4, 0, 40, 111, 130])
      await withFlip(at, 1, async () => expect(await calls()).toEqual(right));
  });

  it('returns no block with a changed bit', async () => {
    const { raw } = await chain.blockAt(HEIGHT);
    expect(await chain.call(getBlock, [blockId, 0])).toEqual({ result: toHex(raw) });
    for (let at = 0; at < raw.length; at += 3) {
      await withFlip(at, at % 8, async () => {
        for (const verbosity of [0, 1, 2])
          expect(await chain.call(getBlock, [blockId, verbosity]), `byte ${at}`).toEqual({
            error: { code: -1, message: 'Block not found on disk' },
          });
      });
    }
  });
});
