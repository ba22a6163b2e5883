import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateToAddress } from '../../../../../src/rpc/methods/generating/generateToAddress.js';
import { getMiningInfo } from '../../../../../src/rpc/methods/mining/getMiningInfo.js';
import { getNetworkHashPs } from '../../../../../src/rpc/methods/mining/getNetworkHashPs.js';
import { submitBlock } from '../../../../../src/rpc/methods/mining/submitBlock.js';
import { loadBlock, type LoadedBlock } from '../../../../../src/chain/blocks/loadedBlock.js';
import { decodeCompact } from '../../../../../src/primitives/compactTarget.js';
import { merkleRoot } from '../../../../../src/crypto/merkle.js';
import { grindFallback } from '../../../../../src/mining/grind.js';
import { formatBlock, parseBlockBytes, type Block } from '../../../../../src/primitives/block.js';
import { formatHeader } from '../../../../../src/primitives/header.js';
import { txid } from '../../../../../src/primitives/transaction.js';
import { hashToHex, toHex } from '../../../../../src/util/bytes.js';
import { ADDRESS, ADDRESS_SCRIPT, spend, OPEN_SCRIPT, TestChain } from '../../../../support/testChain.js';

const flip = (bytes: Uint8Array): Buffer => {
  const copy = Buffer.from(bytes);
  copy[5]! ^= 1;
  return copy;
};

/** The changed block as hex, with a new merkle root (unless `keepRoot`) and proof of work. */
function change(block: LoadedBlock, edit: (block: Block) => void, keepRoot = false): string {
  const copy = parseBlockBytes(Buffer.from(block.raw));
  copy.header = { ...copy.header };
  edit(copy);
  if (!keepRoot) copy.header.merkleRoot = merkleRoot(copy.transactions.map(txid)).root;
  copy.header.nonce = 0;
  const { target } = decodeCompact(copy.header.bits);
  copy.header.nonce = grindFallback(formatHeader(copy.header), target, 0, 10_000);
  return toHex(formatBlock(copy));
}

describe('methods of mining', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open();
    await chain.mine(160);
  });
  afterAll(() => chain.close());

  const submit = (hex: string): ReturnType<TestChain['call']> => chain.call(submitBlock, [hex]);

  it('generatetoaddress creates blocks that pay to an address', async () => {
    const height = chain.opened.chain.height;
    const { result } = await chain.call(generateToAddress, [3, ADDRESS]);
    expect(result).toHaveLength(3);
    const last = await chain.blockAt(height + 3);
    expect(hashToHex(last.hash)).toBe((result as string[])[2]);
    const coinbase = parseBlockBytes(last.raw).transactions[0]!;
    expect(toHex(coinbase.outputs[0]!.script)).toBe(toHex(ADDRESS_SCRIPT));
    // Height 163 and extra nonce 1.
    expect(toHex(coinbase.inputs[0]!.scriptSig)).toBe('02a3000101');
    expect((await chain.call(getMiningInfo)).result).toMatchObject({
      blocks: height + 3,
      currentblockweight: 4000,
      currentblocktx: 0,
      pooledtx: 0,
      chain: 'regtest',
      warnings: 'a warning',
    });
  });

  it('blocks contain transactions, with the resulting claim root', async () => {
    const coinbase = parseBlockBytes((await chain.blockAt(2)).raw).transactions[0]!;
    chain.pending.push(spend([{ txid: txid(coinbase), n: 0 }], [{ value: 5n, script: OPEN_SCRIPT }]));
    await chain.call(generateToAddress, [1, ADDRESS]);
    expect((await chain.blockAt(chain.opened.chain.height)).parsed.txCount).toBe(2);
    expect((await chain.call(getMiningInfo, [], chain.context('lbcd'))).result).toMatchObject({
      currentblocktx: 2,
      errors: 'a warning',
      testnet: false,
      generate: false,
      hashespersec: 0,
    });
    expect((await chain.call(getMiningInfo)).result).toMatchObject({ currentblocktx: 1 });
  });

  it('generatetoaddress stops after its maximum number of tries', async () => {
    expect(await chain.call(generateToAddress, [5, ADDRESS, 0])).toEqual({ result: [] });
    expect(await chain.call(generateToAddress, [0, ADDRESS])).toEqual({ result: [] });
    expect(await chain.call(generateToAddress, [-1, ADDRESS])).toEqual({ result: [] });
    expect((await chain.call(generateToAddress, [1, ADDRESS, -1])).result).toHaveLength(1);
    const gone = new AbortController();
    gone.abort();
    expect(
      await chain.call(generateToAddress, [1, ADDRESS], chain.context('documented', gone.signal)),
    ).toEqual({
      result: [],
    });
  });

  it('addresses of other networks are refused', async () => {
    expect(await chain.call(generateToAddress, [1, 'bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR'])).toEqual({
      error: { code: -5, message: 'Error: Invalid address' },
    });
  });

  it('getnetworkhashps estimates hashes per second', async () => {
    const { headers, chain: core } = chain.opened.reader;
    const { active } = core.index;
    const rate = (from: number, to: number): number => {
      const times = Array.from({ length: to - from + 1 }, (_, i) => headers.timeSec(active.at(from + i)));
      const work = Number(headers.work(active.at(to)) - headers.work(active.at(from)));
      return work / (Math.max(...times) - Math.min(...times));
    };
    expect((await chain.call(getNetworkHashPs, [10, 50])).result).toBeCloseTo(rate(40, 50), 10);
    expect((await chain.call(getNetworkHashPs)).result).toBeCloseTo(rate(core.height - 120, core.height), 10);
    expect((await chain.call(getNetworkHashPs, [-1, 50])).result).toBeCloseTo(rate(49, 50), 10);
    expect((await chain.call(getNetworkHashPs, [99_999, 50])).result).toBeCloseTo(rate(0, 50), 10);
    expect(await chain.call(getNetworkHashPs, [120, 0])).toEqual({ result: 0 });
  });

  it('getnetworkhashps and getmininginfo return whole numbers in the lbcd profile', async () => {
    const lbcd = chain.context('lbcd');
    chain.timeSec += 1000;
    await chain.call(generateToAddress, [1, ADDRESS]);
    expect((await chain.call(getNetworkHashPs, [1])).result).toBeLessThan(0.1);
    expect(await chain.call(getNetworkHashPs, [1], lbcd)).toEqual({ result: 0 });
    const above = chain.opened.reader.chain.height + 1;
    expect((await chain.call(getNetworkHashPs, [120, above])).result).toBeGreaterThan(0);
    expect(await chain.call(getNetworkHashPs, [120, above], lbcd)).toEqual({ result: 0 });
    const { networkhashps } = (await chain.call(getMiningInfo)).result as { networkhashps: number };
    expect((await chain.call(getMiningInfo, [], lbcd)).result).toMatchObject({
      networkhashps: Math.floor(networkhashps),
    });
  });

  it('submitblock accepts a valid block once', async () => {
    const block = await chain.makeBlock();
    chain.timeSec += 1;
    const good = change(block, (copy) => (copy.header.timeSec += 100));
    expect(await submit(`${good}00ff`)).toEqual({ result: null });
    expect(await submit(good)).toEqual({ result: 'duplicate' });
    const sibling = change(block, (copy) => (copy.header.timeSec += 101));
    expect(await submit(sibling)).toEqual({ result: 'inconclusive' });
    expect(await submit(sibling)).toEqual({ result: 'duplicate' });
  });

  it('submitblock returns other texts in the lbcd profile', async () => {
    const block = await chain.makeBlock();
    const submitLbcd = (hex: string): ReturnType<TestChain['call']> =>
      chain.call(submitBlock, [hex], chain.context('lbcd'));
    const good = change(block, (copy) => (copy.header.timeSec += 110));
    expect(await submitLbcd(good)).toEqual({ result: null });
    expect(await submitLbcd(good)).toEqual({ result: 'rejected: duplicate' });
    expect(await submitLbcd(change(block, (copy) => (copy.header.timeSec += 111)))).toEqual({ result: null });
  });

  it('submitblock completes a coinbase without its reserved witness value', async () => {
    const block = await chain.makeBlock();
    const bare = change(block, (copy) => {
      copy.header.timeSec += 200;
      copy.transactions[0]!.inputs[0]!.witness = [];
    });
    expect(loadBlock(Buffer.from(bare, 'hex')).raw).toHaveLength(bare.length / 2);
    expect(await submit(bare)).toEqual({ result: null });
    const stored = await chain.blockAt(chain.opened.chain.height);
    expect(stored.raw.length).toBe(bare.length / 2 + 2 + 34);
  });

  it('submitblock returns the verdicts of BIP22', async () => {
    const block = await chain.makeBlock();
    const time = (copy: Block): void => void (copy.header.timeSec += 300);
    const cases: [string, string, string, string][] = [
      [
        'claim root',
        change(block, (copy) => void (copy.header.claimRoot = flip(copy.header.claimRoot))),
        'bad-claim-merkle-hash',
        'duplicate-invalid',
      ],
      [
        'too much pay',
        change(block, (copy) => {
          time(copy);
          copy.transactions[0]!.outputs[0]!.value += 1n;
        }),
        'bad-cb-amount',
        'duplicate-invalid',
      ],
      [
        'merkle root',
        change(block, (copy) => void (copy.header.merkleRoot = flip(copy.header.merkleRoot)), true),
        'invalid',
        'invalid',
      ],
      [
        'parent',
        change(block, (copy) => void (copy.header.prevHash = flip(copy.header.prevHash))),
        'invalid',
        'invalid',
      ],
      ['bits', change(block, (copy) => void (copy.header.bits -= 1)), 'invalid', 'invalid'],
      [
        'lock time',
        change(block, (copy) => {
          const late = spend([{ txid: Buffer.alloc(32, 9), n: 0 }], [{ value: 1n, script: OPEN_SCRIPT }]);
          late.lockTime = 400_000_000;
          late.inputs[0]!.sequence = 0;
          copy.transactions.push(late);
        }),
        'invalid',
        'duplicate-invalid',
      ],
    ];
    for (const [what, hex, first, second] of cases) {
      expect(await submit(hex), what).toEqual({ result: first });
      expect(await submit(hex), what).toEqual({ result: second });
    }
  });

  it('submitblock refuses bytes that are not a block', async () => {
    const decode = { error: { code: -22, message: 'Block decode failed' } };
    for (const hex of ['', '00', 'zz', '0', `${'00'.repeat(112)}01`])
      expect(await submit(hex)).toEqual(decode);
    const coinbase = { error: { code: -22, message: 'Block does not start with a coinbase' } };
    expect(await submit('00'.repeat(113))).toEqual(coinbase);
    const block = await chain.makeBlock();
    const foreign = change(
      block,
      (copy) => void (copy.transactions[0]!.inputs[0]!.prevout = { hash: Buffer.alloc(32, 1), index: 0 }),
    );
    expect(await submit(foreign)).toEqual(coinbase);
    expect(await chain.call(submitBlock, [[]])).toEqual({
      error: { code: -1, message: 'JSON value is not a string as expected' },
    });
  });
});
