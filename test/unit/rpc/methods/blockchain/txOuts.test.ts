import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { txidAt } from '../../../../../src/primitives/blockView.js';
import { getTxOut } from '../../../../../src/rpc/methods/blockchain/getTxOut.js';
import { getTxOutProof } from '../../../../../src/rpc/methods/blockchain/getTxOutProof.js';
import { scanTxOutSet } from '../../../../../src/rpc/methods/blockchain/scanTxOutSet.js';
import { verifyTxOutProof } from '../../../../../src/rpc/methods/blockchain/verifyTxOutProof.js';
import { hashFromHex, hashToHex, toHex, type Bytes } from '../../../../../src/util/bytes.js';
import { JsonObject } from '../../../../../src/util/json/json.js';
import {
  ADDRESS,
  ADDRESS_SCRIPT,
  OPEN_SCRIPT,
  outPointOf,
  spend,
  TestChain,
} from '../../../../support/testChain.js';

const UNKNOWN = '11'.repeat(32);

describe('methods about outputs and transaction proofs', () => {
  let chain: TestChain;
  let coinbase: Bytes;
  let tip: string;
  beforeAll(async () => {
    chain = await TestChain.open();
    await chain.mine(101);
    coinbase = txidAt((await chain.blockAt(1)).parsed, 0);
    const outputs = Array.from({ length: 300 }, (_, n) => ({
      value: BigInt(1000 + n),
      script: n % 100 === 0 ? ADDRESS_SCRIPT : OPEN_SCRIPT,
    }));
    const first = spend([{ txid: coinbase, n: 0 }], outputs);
    chain.pending.push(first);
    tip = hashToHex((await chain.mine(1))[0]!);
  });
  afterAll(() => chain.close());

  const spenderTxid = async (): Promise<string> => hashToHex(txidAt((await chain.blockAt(102)).parsed, 1));

  it('gettxout returns an unspent output', async () => {
    const txid = await spenderTxid();
    expect((await chain.call(getTxOut, [txid, 100])).result).toEqual({
      bestblock: tip,
      confirmations: 1,
      value: 0.000011,
      scriptPubKey: {
        asm: 'OP_DUP OP_HASH160 0000000000000000000000000000000000000000 OP_EQUALVERIFY OP_CHECKSIG',
        hex: toHex(ADDRESS_SCRIPT),
        reqSigs: 1,
        type: 'pubkeyhash',
        addresses: [ADDRESS],
      },
      coinbase: false,
    });
    const genesis = hashToHex(chain.services.params.genesis.merkleRoot);
    expect((await chain.call(getTxOut, [genesis, 0])).result).toMatchObject({
      confirmations: 103,
      value: 400_000_000,
      coinbase: true,
    });
  });

  it('gettxout returns null for spent, unknown and unspendable outputs', async () => {
    const cases: [string, number][] = [
      [hashToHex(coinbase), 0],
      [hashToHex(coinbase), 1],
      [UNKNOWN, 0],
      [await spenderTxid(), 300],
      ['zz', -1],
    ];
    for (const [txid, n] of cases) expect(await chain.call(getTxOut, [txid, n])).toEqual({ result: null });
  });

  it('gettxout includes the mempool by default', async () => {
    const txid = await spenderTxid();
    const spent = outPointOf(txid, 5).toString('hex');
    const made = outPointOf(UNKNOWN, 2).toString('hex');
    const services = {
      ...chain.services,
      mempool: {
        ...chain.services.mempool,
        size: 1,
        isSpent: (at: Bytes) => toHex(at) === spent,
        output: (at: Bytes) => (toHex(at) === made ? { amountSat: 7n, script: OPEN_SCRIPT } : null),
      },
    };
    const context = { ...chain.context(), services };
    expect(await chain.call(getTxOut, [txid, 5], context)).toEqual({ result: null });
    expect((await chain.call(getTxOut, [txid, 5, false], context)).result).toMatchObject({
      confirmations: 1,
    });
    expect((await chain.call(getTxOut, [UNKNOWN, 2], context)).result).toMatchObject({
      confirmations: 0,
      value: 0.00000007,
      coinbase: false,
    });
    expect(await chain.call(getTxOut, [UNKNOWN, 2, false], context)).toEqual({ result: null });
  });

  it('verifytxoutproof accepts the result of gettxoutproof', async () => {
    const txid = await spenderTxid();
    const all = [txid, hashToHex(txidAt((await chain.blockAt(102)).parsed, 0))];
    for (const txids of [[txid], all]) {
      for (const params of [[txids], [txids, tip]]) {
        const { result } = await chain.call(getTxOutProof, params);
        const { result: proved } = await chain.call(verifyTxOutProof, [result as string]);
        expect([...(proved as string[])].sort()).toEqual([...txids].sort());
      }
    }
  });

  it('gettxoutproof finds the block by unspent outputs without an index', async () => {
    const services = { ...chain.services, txIndex: null };
    const context = { ...chain.context(), services };
    const txid = await spenderTxid();
    expect(await chain.call(getTxOutProof, [[txid]], context)).toEqual(
      await chain.call(getTxOutProof, [[txid], tip]),
    );
    // All spendable outputs of the transaction are spent. So only the index finds it, or the block if it is given.
    const spent = hashToHex(coinbase);
    const notFound = { error: { code: -5, message: 'Transaction not yet in block' } };
    expect(await chain.call(getTxOutProof, [[spent]], context)).toEqual(notFound);
    expect(await chain.call(getTxOutProof, [[spent]])).toHaveProperty('result');
    // The same when the coins are on disk and not in memory.
    await chain.opened.flusher.flush();
    chain.opened.chain.deps.coins.trim(0);
    expect(await chain.call(getTxOutProof, [[txid]], context)).toHaveProperty('result');
    expect(await chain.call(getTxOutProof, [[spent]], context)).toEqual(notFound);
  });

  it('gettxoutproof finds the block of the first of many ids without a flush, on disk or in recent blocks', async () => {
    const services = { ...chain.services, txIndex: null };
    const context = { ...chain.context(), services };
    const { flusher, chain: opened } = chain.opened;
    const { coins } = opened.deps;
    const unknown = Array.from({ length: 2000 }, (_, n) => n.toString(16).padStart(64, '0'));
    const txid = await spenderTxid();
    await flusher.flush();
    chain.pending.push(spend([{ txid: hashFromHex(txid), n: 7 }], [{ value: 900n, script: OPEN_SCRIPT }]));
    const [recentTip] = await chain.mine(1);
    const recent = hashToHex(txidAt((await chain.blockAt(103)).parsed, 1));
    const { flushedTip } = flusher;
    let looks = 0;
    const get = coins.get.bind(coins);
    coins.get = (outPoint) => {
      looks++;
      return get(outPoint);
    };
    const proofOf = async (ids: readonly string[], ...block: string[]): Promise<unknown> =>
      chain.call(getTxOutProof, [[...ids], ...block], context);
    try {
      const notFound = { error: { code: -5, message: 'Transaction not yet in block' } };
      expect(await proofOf(unknown)).toEqual(notFound);
      expect(looks).toBe(0);
      const notAll = 'Not all transactions found in specified or retrieved block';
      expect(await proofOf([...unknown, txid])).toEqual({ error: { code: -5, message: notAll } });
      // Only the outputs of the found transaction were looked up.
      expect(looks).toBe(1);
      expect(await proofOf([...unknown, recent])).toEqual({ error: { code: -5, message: notAll } });
      expect(looks).toBeLessThan(6);
    } finally {
      coins.get = get;
    }
    // The first transaction that is found determines the block, wherever its outputs are.
    const many = unknown.slice(0, 9);
    const reader = chain.services.chain;
    const first = async (ids: readonly string[]): Promise<number | undefined> =>
      (await reader.anyCoinOfAny(ids.map(hashFromHex)))?.heightCode;
    expect(await first([...many, recent, txid])).toBe(103 << 1);
    expect(await first([...many, txid, recent])).toBe(102 << 1);
    expect(await first([...many, recent])).toBe(103 << 1);
    expect(await first(many)).toBeUndefined();
    expect([flusher.flushedTip, opened.tip === flushedTip]).toEqual([flushedTip, false]);
    expect(await proofOf([...unknown, unknown[0]!.toUpperCase()])).toEqual({
      error: { code: -8, message: `Invalid parameter, duplicated txid: ${unknown[0]!}` },
    });
    await opened.invalidateBlock(opened.index.headers.find(recentTip!));
  });

  it('gettxoutproof refuses transactions that it cannot prove', async () => {
    const txid = await spenderTxid();
    const cases: [Parameters<TestChain['call']>[1], number, string][] = [
      [[[]], -5, 'Transaction not yet in block'],
      [[['00']], -8, 'Invalid txid 00'],
      [[[UNKNOWN]], -5, 'Transaction not yet in block'],
      [[[UNKNOWN, UNKNOWN]], -8, `Invalid parameter, duplicated txid: ${UNKNOWN}`],
      [[[UNKNOWN], tip], -5, 'Not all transactions found in specified or retrieved block'],
      [[[txid, UNKNOWN]], -5, 'Not all transactions found in specified or retrieved block'],
      [[[txid], '00'], -5, 'Block not found'],
      [[[1]], -1, 'JSON value is not a string as expected'],
    ];
    for (const [params, code, message] of cases) {
      expect(await chain.call(getTxOutProof, params)).toEqual({ error: { code, message } });
    }
  });

  it('verifytxoutproof returns nothing for corrupt proofs, and refuses proofs of other chains', async () => {
    const proof = (await chain.call(getTxOutProof, [[await spenderTxid()]])).result as string;
    const flipped = `${proof.slice(0, 240)}${proof[240] === '0' ? '1' : '0'}${proof.slice(241)}`;
    expect(await chain.call(verifyTxOutProof, [flipped])).toEqual({ result: [] });
    const otherHeader = '01' + proof.slice(2);
    expect(await chain.call(verifyTxOutProof, [otherHeader])).toEqual({
      error: { code: -5, message: 'Block not found in chain' },
    });
    for (const length of [2, 224, 232]) {
      expect(await chain.call(verifyTxOutProof, [proof.slice(0, length)])).toEqual({
        error: { code: -1, message: 'CDataStream::read(): end of data: iostream error' },
      });
    }
    for (const text of ['', 'zz']) {
      expect(await chain.call(verifyTxOutProof, [text])).toEqual({
        error: { code: -8, message: `proof must be hexadecimal string (not '${text}')` },
      });
    }
  });

  it('scantxoutset finds outputs by descriptors', async () => {
    const txid = await spenderTxid();
    const scan = async (...objects: Parameters<TestChain['call']>[1] & object): Promise<unknown> =>
      (await chain.call(scanTxOutSet, ['start', [...objects]])).result;
    expect(await scan(`addr(${ADDRESS})`)).toEqual({
      success: true,
      // Genesis, 100 unspent coinbases, 300 outputs, and the tip's coinbase; commitments make no coins.
      searched_items: 1 + 100 + 300 + 1,
      unspents: [0, 100, 200].map((vout) => ({
        txid,
        vout,
        scriptPubKey: toHex(ADDRESS_SCRIPT),
        amount: (1000 + vout) / 1e8,
        height: 102,
      })),
      total_amount: 3300 / 1e8,
    });
    const object = new JsonObject([
      ['desc', `raw(${toHex(OPEN_SCRIPT)})`],
      ['range', 5],
    ]);
    expect(await scan(object)).toMatchObject({
      success: true,
      total_amount: 101.0034155,
    });
    expect(await scan()).toMatchObject({ unspents: [], total_amount: 0 });
  });

  it('scantxoutset runs one scan at a time, with status and abort', async () => {
    expect(await chain.call(scanTxOutSet, ['status'])).toEqual({ result: null });
    expect(await chain.call(scanTxOutSet, ['abort'])).toEqual({ result: false });
    const running = chain.call(scanTxOutSet, ['start', [`addr(${ADDRESS})`]]);
    expect(await chain.call(scanTxOutSet, ['status'])).toEqual({ result: { progress: 0 } });
    expect(await chain.call(scanTxOutSet, ['start', []])).toEqual({
      error: { code: -8, message: 'Scan already in progress, use action "abort" or "status"' },
    });
    expect(await chain.call(scanTxOutSet, ['abort'])).toEqual({ result: true });
    expect(await running).toHaveProperty('result');
    expect(await chain.call(scanTxOutSet, ['status'])).toEqual({ result: null });
  });

  it('scantxoutset stops deriving scripts after an abort', async () => {
    const key =
      'tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B';
    const objects = Array.from(
      { length: 50 },
      (_, n) =>
        new JsonObject([
          ['desc', `combo(${key}/${n}/*)`],
          ['range', 1_000_000],
        ]),
    );
    const ended = { success: false, searched_items: 0, unspents: [], total_amount: 0 };
    const running = chain.call(scanTxOutSet, ['start', objects]);
    expect(await chain.call(scanTxOutSet, ['abort'])).toEqual({ result: true });
    expect(await running).toEqual({ result: ended });
    const context = chain.context();
    const gone = AbortSignal.abort();
    expect(await chain.call(scanTxOutSet, ['start', objects], { ...context, signal: gone })).toEqual({
      result: ended,
    });
  });

  it('scantxoutset refuses invalid scans', async () => {
    const cases: [Parameters<TestChain['call']>[1], number, string][] = [
      [['other'], -8, 'Invalid command'],
      [['start'], -1, 'JSON value is not an array as expected'],
      [['start', null], -3, 'Expected type array, got null'],
      [[1], -3, 'Expected type string, got number'],
      [['start', [1]], -8, 'Scan object needs to be either a string or an object'],
      [['start', [new JsonObject()]], -8, 'Descriptor needs to be provided in scan object'],
      [
        [
          'start',
          [
            new JsonObject([
              ['desc', 'x'],
              ['range', 1_000_001],
            ]),
          ],
        ],
        -8,
        'range out of range',
      ],
      [['start', ['addr(x)']], -5, "Invalid descriptor 'addr(x)'"],
    ];
    for (const [params, code, message] of cases) {
      expect(await chain.call(scanTxOutSet, params)).toEqual({ error: { code, message } });
    }
    expect(await chain.call(scanTxOutSet, ['status'])).toEqual({ result: null });
  });
});
