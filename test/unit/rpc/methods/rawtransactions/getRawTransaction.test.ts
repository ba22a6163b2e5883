import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { txidAt } from '../../../../../src/primitives/blockView.js';
import { formatTransaction, txid, type Transaction } from '../../../../../src/primitives/transaction.js';
import { getRawTransaction } from '../../../../../src/rpc/methods/rawtransactions/getRawTransaction.js';
import { equalBytes, hashToHex, toHex } from '../../../../../src/util/bytes.js';
import { ADDRESS_SCRIPT, OPEN_SCRIPT, spend, TestChain } from '../../../../support/testChain.js';

const UNKNOWN = '11'.repeat(32);
const HINT = 'Use gettransaction for wallet transactions.';

describe('getrawtransaction', () => {
  let chain: TestChain;
  let tx: Transaction;
  let id: string;
  let block: string;
  beforeAll(async () => {
    chain = await TestChain.open();
    await chain.mine(101);
    const coinbase = txidAt((await chain.blockAt(1)).parsed, 0);
    // The transaction is longer than the first read of a transaction.
    const outputs = Array.from({ length: 700 }, () => ({ value: 10n, script: OPEN_SCRIPT }));
    tx = spend([{ txid: coinbase, n: 0 }], outputs);
    id = hashToHex(txid(tx));
    chain.pending.push(tx);
    block = hashToHex((await chain.mine(1))[0]!);
    await chain.mine(1);
  });
  afterAll(() => chain.close());

  it('returns hex or the decoded transaction', async () => {
    const hex = toHex(formatTransaction(tx));
    for (const verbose of [false, 0])
      expect(await chain.call(getRawTransaction, [id, verbose])).toEqual({ result: hex });
    const timeSec = (await chain.blockAt(102)).header.timeSec;
    for (const verbose of [true, 1, 5]) {
      const { result } = await chain.call(getRawTransaction, [id, verbose]);
      expect(result).toMatchObject({
        txid: id,
        hash: id,
        version: 2,
        size: hex.length / 2,
        vsize: hex.length / 2,
        weight: hex.length * 2,
        locktime: 0,
        hex,
        blockhash: block,
        confirmations: 2,
        time: timeSec,
        blocktime: timeSec,
      });
      expect(result).not.toHaveProperty('in_active_chain');
    }
  });

  it('searches only the given block', async () => {
    expect((await chain.call(getRawTransaction, [id, true, block])).result).toMatchObject({
      in_active_chain: true,
      blockhash: block,
    });
    expect(await chain.call(getRawTransaction, [UNKNOWN, true, block])).toEqual({
      error: { code: -5, message: `No such transaction found in the provided block. ${HINT}` },
    });
    expect(await chain.call(getRawTransaction, [id, true, UNKNOWN])).toEqual({
      error: { code: -5, message: 'Block hash not found' },
    });
    expect(await chain.call(getRawTransaction, [id, true, '00'])).toEqual({
      error: { code: -8, message: 'parameter 3 must be of length 64 (not 2)' },
    });
  });

  it('finds transactions with unspent outputs without an index', async () => {
    const context = { ...chain.context(), services: { ...chain.services, txIndex: null } };
    expect((await chain.call(getRawTransaction, [id, true], context)).result).toMatchObject({
      blockhash: block,
    });
    const spent = hashToHex(txidAt((await chain.blockAt(1)).parsed, 0));
    expect(await chain.call(getRawTransaction, [spent], context)).toEqual({
      error: {
        code: -5,
        message: `No such mempool transaction. Use -txindex to enable blockchain transaction queries. ${HINT}`,
      },
    });
    expect(await chain.call(getRawTransaction, [spent])).toHaveProperty('result');
  });

  it('searches the mempool first', async () => {
    const mempool = {
      ...chain.services.mempool,
      transaction: (wanted: Uint8Array) => (equalBytes(wanted, txid(tx)) ? tx : null),
    };
    const context = { ...chain.context(), services: { ...chain.services, mempool } };
    const { result } = await chain.call(getRawTransaction, [id, true], context);
    expect(result).toMatchObject({ txid: id });
    expect(result).not.toHaveProperty('blockhash');
  });

  it('refuses the coinbase of the genesis block and unknown transactions', async () => {
    const genesis = hashToHex(chain.services.params.genesis.merkleRoot);
    expect(await chain.call(getRawTransaction, [genesis])).toEqual({
      error: {
        code: -5,
        message:
          'The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved',
      },
    });
    expect(await chain.call(getRawTransaction, [UNKNOWN])).toEqual({
      error: { code: -5, message: `No such mempool or blockchain transaction. ${HINT}` },
    });
    expect(await chain.call(getRawTransaction, ['zz'])).toEqual({
      error: { code: -8, message: "parameter 1 must be hexadecimal string (not 'zz')" },
    });
  });

  it('finds transactions of disconnected blocks by the index', async () => {
    const { chain: core } = chain.opened;
    const tip = core.tip;
    const stale = core.index.headers.hash(tip).toString('hex');
    const coinbase = hashToHex(txidAt((await chain.blockAt(103)).parsed, 0));
    await core.invalidateBlock(tip);
    await chain.mine(1, ADDRESS_SCRIPT);
    const { result } = await chain.call(getRawTransaction, [coinbase, true]);
    expect(result).toMatchObject({ confirmations: 0, blockhash: hashToHex(Buffer.from(stale, 'hex')) });
    expect(result).not.toHaveProperty('time');
    await core.reconsiderBlock(tip);
    await core.preciousBlock(tip);
    expect((await chain.call(getRawTransaction, [coinbase, true])).result).toMatchObject({
      confirmations: 1,
    });
  });
});
