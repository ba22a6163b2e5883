import { describe, expect, it } from 'vitest';
import { checkBlock, checkBlockLength, checkCoinbasePlace } from '../../../src/consensus/checkBlock.js';
import {
  checkBlockWeight,
  coinbaseHeightPush,
  contextualCheckBlock,
  lockTimeCutoffSec,
  type BlockContext,
} from '../../../src/consensus/contextualCheckBlock.js';
import {
  findWitnessCommitment,
  witnessCommitmentScript,
  witnessMerkleRoot,
} from '../../../src/consensus/witnessCommitment.js';
import { merkleRoot } from '../../../src/crypto/merkle.js';
import { regtestParams } from '../../../src/params/regtest.js';
import type { Block } from '../../../src/primitives/block.js';
import { formatHeader, powHash } from '../../../src/primitives/header.js';
import { txid, wtxid, type Transaction } from '../../../src/primitives/transaction.js';
import { concatBytes, fromHex, hashToHex, toHex } from '../../../src/util/bytes.js';
import { coinbaseWith, outputOf, spending } from './support/transactions.js';

const CHECKSIG = 0xac;
const coinbase = (...outputs: Transaction['outputs']): Transaction =>
  coinbaseWith(fromHex('025802'), outputs.length ? outputs : [outputOf(1n)]);

/** A block with these transactions, a valid merkle root, and proof of work for regtest. */
function blockOf(...transactions: Transaction[]): Block {
  const header = {
    version: 0x20000000,
    prevHash: new Uint8Array(32),
    merkleRoot: merkleRoot(transactions.map(txid)).root,
    claimRoot: new Uint8Array(32),
    timeSec: 2_000_000_000,
    bits: 0x207fffff,
    nonce: 0,
  };
  while (powHash(formatHeader(header))[31]! > 0x7f) header.nonce++;
  return { header, transactions };
}

const check = (block: Block): string | null => checkBlock(block, regtestParams)?.reason ?? null;

describe('checkBlock', () => {
  it('accepts a block of a coinbase and spends', () => {
    expect(check(blockOf(coinbase(), spending(1), spending(2)))).toBeNull();
  });

  it('requires the proof of work by default', () => {
    const block = blockOf(coinbase());
    block.header.bits = 0x1f00ffff;
    expect(checkBlock(block, regtestParams)).toMatchObject({ reason: 'high-hash', corruption: false });
    expect(checkBlock(block, regtestParams, { proofOfWork: false })).toBeNull();
  });

  it('requires the merkle root by default', () => {
    const block = blockOf(coinbase(), spending(1));
    block.transactions[1] = spending(2);
    expect(checkBlock(block, regtestParams)).toMatchObject({
      reason: 'bad-txnmrklroot',
      corruption: true,
      dosScore: 100,
      debug: 'hashMerkleRoot mismatch',
    });
    expect(checkBlock(block, regtestParams, { merkleRoot: false })).toBeNull();
  });

  it('detects duplicated transactions at the end, which do not change the root (CVE-2012-2459)', () => {
    const block = blockOf(coinbase(), spending(1), spending(2));
    block.transactions.push(spending(2));
    expect(checkBlock(block, regtestParams)).toMatchObject({
      reason: 'bad-txns-duplicate',
      corruption: true,
    });
  });

  it('uses ids passed by the caller', () => {
    const block = blockOf(coinbase(), spending(1));
    const txids = block.transactions.map(txid);
    expect(checkBlock(block, regtestParams, { txids })).toBeNull();
    expect(checkBlock(block, regtestParams, { txids: txids.reverse() })?.reason).toBe('bad-txnmrklroot');
  });

  it.each<[string, Transaction[]]>([
    ['bad-blk-length', []],
    ['bad-blk-length', [coinbase(), { ...spending(1), outputs: [outputOf(1n, new Uint8Array(2_000_000))] }]],
    ['bad-cb-missing', [spending(1)]],
    ['bad-cb-multiple', [coinbase(), spending(1), coinbase(outputOf(2n))]],
    ['bad-blk-sigops', [coinbase(outputOf(1n, new Uint8Array(20_001).fill(CHECKSIG)))]],
  ])('%s', (reason, transactions) => {
    expect(checkBlock(blockOf(...transactions), regtestParams)).toMatchObject({
      reason,
      corruption: false,
      dosScore: 100,
    });
  });

  it('allows 20,000 signature operations in its own scripts, including claims', () => {
    expect(check(blockOf(coinbase(outputOf(1n, new Uint8Array(20_000).fill(CHECKSIG)))))).toBeNull();
    const claim = concatBytes(fromHex('b5016101626d75'), new Uint8Array(20_000).fill(CHECKSIG));
    expect(check(blockOf(coinbase(outputOf(1n, claim))))).toBeNull();
    expect(check(blockOf(coinbase(outputOf(1n, concatBytes(claim, Uint8Array.of(CHECKSIG))))))).toBe(
      'bad-blk-sigops',
    );
  });

  it('names the failed transaction, and checks transactions before the sum of their operations', () => {
    const bad = { ...spending(1), outputs: [outputOf(-1n, new Uint8Array(20_001).fill(CHECKSIG))] };
    expect(checkBlock(blockOf(coinbase(), bad), regtestParams)).toMatchObject({
      reason: 'bad-txns-vout-negative',
      dosScore: 100,
      debug: `Transaction check failed (tx hash ${hashToHex(txid(bad))}) `,
    });
  });

  it('limits the length by the size without witness and by the count', () => {
    expect(checkBlockLength(1, 2_000_000)).toBeNull();
    expect(checkBlockLength(1, 2_000_001)?.reason).toBe('bad-blk-length');
    expect(checkBlockLength(2_000_000, 1)).toBeNull();
    expect(checkBlockLength(2_000_001, 1)?.reason).toBe('bad-blk-length');
    expect(checkCoinbasePlace(0, () => true)?.reason).toBe('bad-cb-missing');
  });
});

const RESERVED = new Uint8Array(32);

/** A block at height 600 that commits to the witness of its second transaction. */
function witnessBlock(): Block {
  const spender = spending(1);
  spender.inputs[0]!.witness = [Uint8Array.of(1, 2, 3)];
  const transactions = [coinbase(), spender];
  const commitment = witnessCommitmentScript(witnessMerkleRoot(transactions.map(wtxid)), RESERVED);
  transactions[0] = coinbase(outputOf(1n), outputOf(0n, commitment));
  transactions[0].inputs[0]!.witness = [RESERVED];
  return blockOf(...transactions);
}

const context: BlockContext = {
  height: 600,
  parentMedianTimeSec: 1_900_000_000,
  csvActive: true,
  segwitActive: true,
};
const contextual = (block: Block, changes: Partial<BlockContext> = {}, bip34Height = 500): string | null =>
  contextualCheckBlock(block, { ...context, ...changes }, { bip34Height })?.reason ?? null;

describe('contextualCheckBlock', () => {
  it('accepts blocks with and without witness', () => {
    expect(contextual(blockOf(coinbase(), spending(1)))).toBeNull();
    expect(contextual(witnessBlock())).toBeNull();
  });

  it('compares lock times with the median time from BIP113 on, before it with the block time', () => {
    const tx = { ...spending(1), lockTime: 1_950_000_000 };
    tx.inputs[0]!.sequence = 0;
    const block = blockOf(coinbase(), tx);
    expect(contextual(block)).toBe('bad-txns-nonfinal');
    expect(contextualCheckBlock(block, context, { bip34Height: 500 })).toMatchObject({
      dosScore: 10,
      corruption: false,
    });
    expect(contextual(block, { csvActive: false })).toBeNull();
    expect(lockTimeCutoffSec(context, 5)).toBe(1_900_000_000);
  });

  it('requires the height at the start of the coinbase from BIP34 on', () => {
    const block = blockOf(coinbase());
    expect(contextual(block, { height: 601 })).toBe('bad-cb-height');
    expect(contextual(block, { height: 601 }, 602)).toBeNull();
    expect(contextual(blockOf(coinbaseWith(fromHex('0258'))))).toBe('bad-cb-height');
    expect(contextual(blockOf(coinbaseWith(fromHex('025802ffff'))))).toBeNull();
  });

  it.each([
    [0, '00'],
    [1, '51'],
    [16, '60'],
    [17, '0111'],
    [127, '017f'],
    [128, '028000'],
    [32_767, '02ff7f'],
    [32_768, '03008000'],
    [1_000_000, '0340420f'],
  ])('height %i is pushed as %s', (height, hex) => {
    expect(toHex(coinbaseHeightPush(height))).toBe(hex);
  });

  it('requires a reserved value of 32 bytes', () => {
    for (const witness of [[], [new Uint8Array(31)], [RESERVED, RESERVED]]) {
      const block = witnessBlock();
      block.transactions[0]!.inputs[0]!.witness = witness;
      expect(contextualCheckBlock(block, context, { bip34Height: 500 })).toMatchObject({
        reason: 'bad-witness-nonce-size',
        corruption: true,
        dosScore: 100,
      });
    }
  });

  it('requires the committed witnesses', () => {
    const block = witnessBlock();
    block.transactions[1]!.inputs[0]!.witness = [Uint8Array.of(9)];
    expect(contextualCheckBlock(block, context, { bip34Height: 500 })).toMatchObject({
      reason: 'bad-witness-merkle-match',
      corruption: true,
    });
    const reserved = witnessBlock();
    reserved.transactions[0]!.inputs[0]!.witness = [new Uint8Array(32).fill(1)];
    expect(contextual(reserved)).toBe('bad-witness-merkle-match');
  });

  it('allows no witness without commitment, or before segwit', () => {
    expect(contextual(witnessBlock(), { segwitActive: false })).toBe('unexpected-witness');
    const block = blockOf(coinbase(), spending(1));
    block.transactions[1]!.inputs[0]!.witness = [Uint8Array.of(1)];
    expect(contextual(block)).toBe('unexpected-witness');
    const lone = blockOf(coinbase());
    lone.transactions[0]!.inputs[0]!.witness = [RESERVED];
    expect(contextual(lone)).toBe('unexpected-witness');
  });

  it('checks the weight last', () => {
    expect(checkBlockWeight(8_000_000)).toBeNull();
    expect(checkBlockWeight(8_000_001)).toMatchObject({ reason: 'bad-blk-weight', corruption: false });
    const block = blockOf(coinbase(), spending(1));
    block.transactions[1]!.inputs[0]!.witness = [new Uint8Array(8_000_000)];
    expect(contextual(block)).toBe('unexpected-witness');
    const root = witnessMerkleRoot(block.transactions.map(wtxid));
    block.transactions[0] = coinbase(outputOf(0n, witnessCommitmentScript(root, RESERVED)));
    block.transactions[0].inputs[0]!.witness = [RESERVED];
    expect(contextual(block)).toBe('bad-blk-weight');
  });
});

describe('findWitnessCommitment', () => {
  const commitment = witnessCommitmentScript(RESERVED, RESERVED);
  const find = (...scripts: Uint8Array[]): number =>
    findWitnessCommitment(scripts.map((script) => ({ script })));

  it('returns the last one, longer ones too', () => {
    expect(toHex(commitment.subarray(0, 6))).toBe('6a24aa21a9ed');
    expect(commitment).toHaveLength(38);
    expect(find()).toBe(-1);
    expect(find(commitment.subarray(0, 37))).toBe(-1);
    expect(find(commitment, concatBytes(commitment, Uint8Array.of(1)), Uint8Array.of(0x51))).toBe(1);
  });
});
