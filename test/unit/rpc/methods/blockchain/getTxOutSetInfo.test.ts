import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { txidAt } from '../../../../../src/primitives/blockView.js';
import { getTxOutSetInfo } from '../../../../../src/rpc/methods/blockchain/getTxOutSetInfo.js';
import { hashToHex } from '../../../../../src/util/bytes.js';
import { Writer } from '../../../../../src/util/writer.js';
import { OPEN_SCRIPT, spend, TestChain } from '../../../../support/testChain.js';

describe('gettxoutsetinfo', () => {
  it('hashes the unspent outputs as the reference does', async () => {
    const chain = await TestChain.open();
    try {
      await chain.mine(101);
      const coinbase = txidAt((await chain.blockAt(1)).parsed, 0);
      const outputs = Array.from({ length: 300 }, (_, n) => ({ value: BigInt(n + 1), script: OPEN_SCRIPT }));
      chain.pending.push(spend([{ txid: coinbase, n: 0 }], outputs));
      await chain.mine(1);
      const tip = (await chain.blockAt(102)).hash;

      const transactions: { txid: Buffer; outputs: [number, bigint, Buffer][] }[] = [];
      for (let height = 0; height <= 102; height++) {
        const { parsed } = await chain.blockAt(height);
        if (height === 1) continue;
        const value = height === 0 ? 400_000_000n * 100_000_000n : 100_000_000n;
        const script =
          height === 0 ? Buffer.from(chain.services.params.genesis.block.subarray(-29, -4)) : OPEN_SCRIPT;
        transactions.push({ txid: txidAt(parsed, 0), outputs: [[0, value, script]] });
        if (height === 102) {
          transactions.push({
            txid: txidAt(parsed, 1),
            outputs: outputs.map(({ value: amount }, n) => [n, amount, OPEN_SCRIPT]),
          });
        }
      }
      const writer = new Writer().raw(tip);
      for (const { txid, outputs: unspent } of transactions.sort((a, b) => Buffer.compare(a.txid, b.txid))) {
        // Height and coinbase collapse to 1.
        writer.raw(txid).varInt(1);
        for (const [n, amount, script] of unspent)
          writer
            .varInt(n + 1)
            .varBytes(script)
            .varBigInt(amount);
        writer.varInt(0);
      }
      const once = createHash('sha256').update(writer.finish()).digest();
      const expected = createHash('sha256').update(once).digest();

      const answer = { height: 102, bestblock: hashToHex(tip), transactions: 103, txouts: 402 };
      const { result } = await chain.call(getTxOutSetInfo);
      expect(result).toMatchObject({
        ...answer,
        hash_serialized_2: hashToHex(expected),
        bogosize: 50 * 402 + 25 + 401,
        total_amount: 400_000_000 + 101 + 45_150 / 1e8,
      });
      const gone = new AbortController();
      gone.abort();
      expect(await chain.call(getTxOutSetInfo, [], chain.context('documented', gone.signal))).toEqual({
        error: { code: -9, message: 'Shutting down' },
      });
    } finally {
      await chain.close();
    }
  });
});
