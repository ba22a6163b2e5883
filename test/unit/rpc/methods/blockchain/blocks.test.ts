import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBestBlockHash } from '../../../../../src/rpc/methods/blockchain/getBestBlockHash.js';
import { getBlock } from '../../../../../src/rpc/methods/blockchain/getBlock.js';
import { getBlockCount } from '../../../../../src/rpc/methods/blockchain/getBlockCount.js';
import { getBlockHash } from '../../../../../src/rpc/methods/blockchain/getBlockHash.js';
import { getBlockHeader } from '../../../../../src/rpc/methods/blockchain/getBlockHeader.js';
import { getDifficulty } from '../../../../../src/rpc/methods/blockchain/getDifficulty.js';
import { regtestParams } from '../../../../../src/params/regtest.js';
import { txidAt } from '../../../../../src/primitives/blockView.js';
import { buildClaimPrefix, buildSupportPrefix } from '../../../../../src/script/claimScript.js';
import { hashToHex, toHex } from '../../../../../src/util/bytes.js';
import { JsonNumber } from '../../../../../src/util/json/json.js';
import { ADDRESS, ADDRESS_SCRIPT, OPEN_SCRIPT, spend, TestChain } from '../../../../support/testChain.js';

const GENESIS = hashToHex(regtestParams.genesisHash);

describe('getblock and related methods', () => {
  let chain: TestChain;
  let hashes: string[];
  beforeAll(async () => {
    chain = await TestChain.open();
    const mined = await chain.mine(101);
    const coinbase = txidAt((await chain.blockAt(1)).parsed, 0);
    const claim = Buffer.concat([
      buildClaimPrefix(Buffer.from('name'), Buffer.from('beef', 'hex')),
      ADDRESS_SCRIPT,
    ]);
    const support = Buffer.concat([
      buildSupportPrefix(Buffer.from('name'), Buffer.alloc(20, 7)),
      ADDRESS_SCRIPT,
    ]);
    chain.pending.push(
      spend(
        [{ txid: coinbase, n: 0 }],
        [
          { value: 60_000_000n, script: claim },
          { value: 30_000_000n, script: support },
          { value: 5_000_000n, script: OPEN_SCRIPT },
        ],
      ),
    );
    hashes = [...mined, ...(await chain.mine(1))].map(hashToHex);
  });
  afterAll(() => chain.close());

  it('return the tip and its height', async () => {
    expect(await chain.call(getBlockCount)).toEqual({ result: 102 });
    expect(await chain.call(getBestBlockHash)).toEqual({ result: hashes[101] });
    expect((await chain.call(getDifficulty)).result).toBeCloseTo(0.00003051711610163642, 15);
  });

  it('return hashes by height', async () => {
    expect(await chain.call(getBlockHash, [0])).toEqual({ result: GENESIS });
    expect(await chain.call(getBlockHash, [102])).toEqual({ result: hashes[101] });
    for (const height of [-1, 103]) {
      expect(await chain.call(getBlockHash, [height])).toEqual({
        error: { code: -8, message: 'Block height out of range' },
      });
    }
    expect(await chain.call(getBlockHash, [new JsonNumber('1.0')])).toEqual({
      error: { code: -1, message: 'JSON integer out of range' },
    });
  });

  it('return a block by verbosity, as a number or a boolean', async () => {
    const hash = hashes[101]!;
    const raw = toHex((await chain.blockAt(102)).raw);
    for (const verbosity of [0, false, -3]) {
      expect(await chain.call(getBlock, [hash, verbosity])).toEqual({ result: raw });
    }
    const { result } = await chain.call(getBlock, [hash]);
    expect(result).toMatchObject({
      hash,
      confirmations: 1,
      height: 102,
      version: 0x20000000,
      versionHex: '20000000',
      bits: '207fffff',
      nTx: 2,
      size: raw.length / 2,
      strippedsize: raw.length / 2,
      weight: raw.length * 2,
      previousblockhash: hashes[100],
      nameclaimroot: hashToHex((await chain.blockAt(102)).header.claimRoot),
    });
    expect(result).not.toHaveProperty('nextblockhash');
    for (const verbosity of [1, true])
      expect((await chain.call(getBlock, [hash, verbosity])).result).toEqual(result);
  });

  it('show claims in the transactions of a block', async () => {
    const { result } = await chain.call(getBlock, [hashes[101]!, 2]);
    const { tx } = result as { tx: { txid: string; hex: string; vout: Record<string, never>[] }[] };
    expect(tx).toHaveLength(2);
    expect(tx[1]!.vout.map((output) => output['scriptPubKey'])).toMatchObject([
      {
        asm: 'OP_CLAIM_NAME 6e616d65 beef OP_2DROP OP_DROP OP_DUP OP_HASH160 0000000000000000000000000000000000000000 OP_EQUALVERIFY OP_CHECKSIG',
        type: 'nonstandard',
        subtype: 'pubkeyhash',
        isclaim: true,
        issupport: false,
        reqSigs: 1,
        addresses: [ADDRESS],
      },
      { type: 'nonstandard', subtype: 'pubkeyhash', isclaim: false, issupport: true },
      { asm: '1', type: 'nonstandard' },
    ]);
    expect(tx[1]!.vout[0]!['value']).toBe(0.6);
    expect(tx[1]!.vout[2]!['scriptPubKey']).not.toHaveProperty('isclaim');
  });

  it('always show the claim fields in the lbcd profile', async () => {
    const { result } = await chain.call(getBlock, [hashes[101]!, 2], chain.context('lbcd'));
    const { tx } = result as { tx: { vout: Record<string, never>[] }[] };
    expect(tx[1]!.vout[2]!['scriptPubKey']).toMatchObject({ isclaim: false, issupport: false, subtype: '' });
  });

  it('return the genesis block without a parent', async () => {
    const { result } = await chain.call(getBlock, [GENESIS]);
    expect(result).toMatchObject({ height: 0, confirmations: 103, nextblockhash: hashes[0] });
    expect(result).not.toHaveProperty('previousblockhash');
  });

  it('accept the same malformed hashes as the reference', async () => {
    expect(await chain.call(getBlock, [` 0x${GENESIS}zz`, 0])).toHaveProperty('result');
    for (const hash of ['zz', '', '00', 'f'.repeat(64)]) {
      expect(await chain.call(getBlock, [hash])).toEqual({ error: { code: -5, message: 'Block not found' } });
      expect(await chain.call(getBlockHeader, [hash])).toEqual({
        error: { code: -5, message: 'Block not found' },
      });
    }
    expect(await chain.call(getBlock, [5])).toEqual({
      error: { code: -1, message: 'JSON value is not a string as expected' },
    });
  });

  it('return a header decoded or as hex', async () => {
    const hash = hashes[50]!;
    const decoded = (await chain.call(getBlockHeader, [hash])).result as Record<string, unknown>;
    const block = (await chain.call(getBlock, [hash])).result as Record<string, unknown>;
    for (const field of ['size', 'strippedsize', 'weight', 'tx']) delete block[field];
    expect(decoded).toEqual(block);
    for (const verbose of [false, 0]) {
      const raw = (await chain.blockAt(51)).raw.subarray(0, 112);
      expect(await chain.call(getBlockHeader, [hash, verbose])).toEqual({ result: toHex(raw) });
    }
  });

  it('mark blocks outside of the active chain', async () => {
    const { chain: core } = chain.opened;
    const tip = core.tip;
    await core.invalidateBlock(tip);
    const answer = await chain.call(getBlock, [hashes[101]!]);
    await core.reconsiderBlock(tip);
    expect(answer.result).toMatchObject({ confirmations: -1, height: 102 });
    expect(answer.result).not.toHaveProperty('nextblockhash');
    expect(await chain.call(getBestBlockHash)).toEqual({ result: hashes[101] });
  });

  it('omit the witness if the option says so', async () => {
    const services = { ...chain.services, options: { ...chain.services.options, serializeWitness: false } };
    await chain.mine(60);
    const hash = hashToHex((await chain.blockAt(160)).hash);
    const whole = (await chain.call(getBlock, [hash, 0])).result as string;
    const stripped = await chain.call(getBlock, [hash, 0], { ...chain.context(), services });
    expect(whole.length - (stripped.result as string).length).toBe(2 * (2 + 34));
  });
});
