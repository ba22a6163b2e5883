import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RpcServices } from '../../../../src/interfaces/services.js';
import { txidAt } from '../../../../src/primitives/blockView.js';
import { formatTransaction, txid, type Transaction } from '../../../../src/primitives/transaction.js';
import type { Profile, RpcMethod } from '../../../../src/rpc/declare/method.js';
import { keptTextsOf } from '../../../../src/rpc/lookup/keptTexts.js';
import { getBlockHeader } from '../../../../src/rpc/methods/blockchain/getBlockHeader.js';
import { getTxOut } from '../../../../src/rpc/methods/blockchain/getTxOut.js';
import { getClaimsForName } from '../../../../src/rpc/methods/claimtrie/getClaimsForName.js';
import { getRawTransaction } from '../../../../src/rpc/methods/rawtransactions/getRawTransaction.js';
import { buildClaimPrefix, buildSupportPrefix, claimIdOf } from '../../../../src/script/claimScript.js';
import { concatBytes, hashToHex, toHex, type Bytes } from '../../../../src/util/bytes.js';
import { Writer } from '../../../../src/util/writer.js';
import { ADDRESS_SCRIPT, OPEN_SCRIPT, spend, TestChain, type Answer } from '../../../support/testChain.js';

const NAME = Buffer.from('name');
const claimOf = (value: string): Bytes =>
  concatBytes(buildClaimPrefix(NAME, Buffer.from(value, 'hex')), OPEN_SCRIPT);

/** Number of outputs of the second transaction. */
const OUTPUTS = 3;

describe('cached texts of answers', () => {
  let chain: TestChain;
  let claim: Transaction;
  let outputs: Transaction;
  let calls: [RpcMethod, (string | number | boolean)[], Profile][];

  beforeEach(async () => {
    chain = await TestChain.open();
    await chain.mine(102);
    claim = spend([{ txid: await coinbaseAt(1), n: 0 }], [{ value: 1000n, script: claimOf('beef') }]);
    outputs = spend(
      [{ txid: await coinbaseAt(2), n: 0 }],
      Array.from({ length: OUTPUTS }, (_, n) => ({
        value: BigInt(2000 + n),
        script: n === 0 ? ADDRESS_SCRIPT : OPEN_SCRIPT,
      })),
    );
    chain.pending.push(claim, outputs);
    const [block] = await chain.mine(1, ADDRESS_SCRIPT);
    const ids = [claim, outputs].map((tx) => hashToHex(txid(tx)));
    const coinbase = hashToHex(await coinbaseAt(103));
    const hash = hashToHex(block!);
    calls = [];
    for (const profile of ['documented', 'lbrycrd', 'lbcd'] as const) {
      for (const id of [...ids, coinbase]) {
        for (let n = 0; n < OUTPUTS; n++)
          calls.push([getTxOut, [id, n], profile], [getTxOut, [id, n, false], profile]);
        calls.push([getRawTransaction, [id], profile], [getRawTransaction, [id, true], profile]);
        calls.push([getRawTransaction, [id, true, hash], profile]);
      }
      calls.push([getBlockHeader, [hash], profile], [getBlockHeader, [hash, false], profile]);
      if (profile !== 'lbcd')
        calls.push([getClaimsForName, ['name'], profile], [getClaimsForName, ['other'], profile]);
    }
  });
  afterEach(() => chain.close());

  const coinbaseAt = async (height: number): Promise<Bytes> =>
    txidAt((await chain.blockAt(height)).parsed, 0);

  const answers = async (services: () => RpcServices): Promise<Answer[]> => {
    const all: Answer[] = [];
    for (const [method, params, profile] of calls)
      all.push(await chain.call(method, params, { ...chain.context(profile), services: services() }));
    return all;
  };

  /** Services whose caches are empty. */
  const uncached = (): RpcServices => {
    const { services } = chain;
    const headers: unknown = Object.create(services.chain.headers);
    const reader = Object.create(services.chain, { headers: { value: headers } }) as RpcServices['chain'];
    const claims = { ...services.claims, textOf: () => null };
    return { ...services, chain: reader, claims };
  };

  /** Answers of the node at the first and the second request. Both must equal the answers without caches. */
  const checked = async (): Promise<Answer[]> => {
    const fresh = await answers(uncached);
    expect(await answers(() => chain.services)).toEqual(fresh);
    expect(await answers(() => chain.services)).toEqual(fresh);
    return fresh;
  };

  it('equal the answers without a cache while blocks are connected and disconnected', async () => {
    const states = [await checked()];
    await chain.mine(1);
    states.push(await checked());
    chain.pending.push(spend([{ txid: txid(outputs), n: 1 }], [{ value: 1n, script: OPEN_SCRIPT }]));
    const claimId = claimIdOf(txid(claim), 0);
    const support = concatBytes(buildSupportPrefix(NAME, claimId), OPEN_SCRIPT);
    chain.pending.push(spend([{ txid: txid(outputs), n: 2 }], [{ value: 5n, script: support }]));
    await chain.mine(1);
    states.push(await checked());
    chain.pending.push(spend([{ txid: txid(claim), n: 0 }], [{ value: 10n, script: OPEN_SCRIPT }]));
    await chain.mine(1);
    states.push(await checked());
    const { chain: core } = chain.opened;
    for (let height = 106; height >= 103; height--) {
      expect(core.height).toBe(height);
      await core.invalidateBlock(core.tip);
      states.push(await checked());
    }
    await chain.mine(5);
    states.push(await checked());
    // Each state differs from the one before it, so the comparisons above are not between equal states.
    for (let n = 1; n < states.length; n++) expect(states[n]).not.toEqual(states[n - 1]);
  });

  it('are returned without reading rows or block files', async () => {
    const { services } = chain;
    const first = await answers(() => services);
    const reads = [
      vi.spyOn(services.chain, 'coin'),
      vi.spyOn(services.chain, 'readTransaction'),
      vi.spyOn(services.chain, 'readHeader'),
      vi.spyOn(services.claims, 'nameAt'),
    ];
    const asked: [RpcMethod, (string | number | boolean)[]][] = [
      [getTxOut, [hashToHex(txid(outputs)), 1]],
      [getRawTransaction, [hashToHex(txid(claim))]],
      [getRawTransaction, [hashToHex(txid(claim)), true]],
      [getBlockHeader, [hashToHex((await chain.blockAt(103)).hash)]],
      [getClaimsForName, ['name']],
    ];
    const again: Answer[] = [];
    for (const [method, params] of asked) again.push(await chain.call(method, params));
    for (const read of reads) expect(read).not.toHaveBeenCalled();
    for (const answer of again) expect(first).toContainEqual(answer);
    const { sizeBytes, maxBytes } = keptTextsOf(services.chain);
    expect(sizeBytes).toBeGreaterThan(1000);
    expect(sizeBytes).toBeLessThan(maxBytes);
    const caches = new Map(services.claims.caches().map((cache) => [cache.name, cache]));
    expect([...caches.keys()]).toEqual(['name_texts', 'names', 'proof_nodes', 'proof_claims']);
    const { bytes, maxBytes: most } = caches.get('name_texts')!;
    expect(bytes).toBeGreaterThan(100);
    expect(bytes).toBeLessThan(most!);
  });

  it('do not hide what the mempool spends and contains', async () => {
    const { services } = chain;
    const id = hashToHex(txid(outputs));
    const [shown] = [await chain.call(getTxOut, [id, 0])];
    expect(shown.result).toMatchObject({ confirmations: 1 });
    await chain.call(getRawTransaction, [id, true]);
    const spent = new Writer(36).raw(txid(outputs)).u32(0).finish();
    const pool = {
      ...services.mempool,
      size: 1,
      isSpent: (outPoint: Bytes) => Buffer.compare(outPoint, spent) === 0,
      transaction: () => claim,
    };
    const context = (profile: Profile = 'documented') => ({
      ...chain.context(profile),
      services: { ...services, mempool: pool } as RpcServices,
    });
    expect((await chain.call(getTxOut, [id, 0], context())).result).toBeNull();
    expect(await chain.call(getTxOut, [id, 0, false], context())).toEqual(shown);
    expect((await chain.call(getRawTransaction, [id], context())).result).toBe(
      toHex(formatTransaction(claim)),
    );
  });

  it('do not include an output that was read while a block arrived', async () => {
    const texts = keptTextsOf(chain.services.chain);
    const { mark } = texts;
    await chain.mine(1);
    texts.keepCoin(txid(outputs), 0, 'documented', 103, { a: 1 }, mark);
    expect(texts.coin(txid(outputs), 0, 'documented')).toBeNull();
    texts.keepCoin(txid(outputs), 0, 'documented', 103, { a: 1 }, texts.mark);
    expect(texts.coin(txid(outputs), 0, 'documented')).toMatchObject({ height: 103 });
    expect(texts.coin(txid(outputs), 0, 'lbcd')).toBeNull();
  });
});
