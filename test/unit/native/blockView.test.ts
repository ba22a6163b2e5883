import { describe, expect, it } from 'vitest';
import {
  INPUT_SEQUENCE,
  INPUT_STRIDE,
  OUTPUT_CLAIM_KIND,
  OUTPUT_STRIDE,
  TX_CLAIM_OUTPUTS,
  TX_EMPTY_MARKER,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_HAS_WITNESS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_LEGACY_SIGOPS,
  TX_LOCK_TIME,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
  TX_VERSION,
} from '../../../src/primitives/blockLayout.js';
import { parseBlockFallback } from '../../../src/primitives/blockScan.js';
import {
  inputScriptAt,
  outputAmountAt,
  outputScriptAt,
  parseBlockView,
  parseTxView,
  prevoutAt,
  txBytes,
  txSizeBytes,
  txWeight,
  txidAt,
  witnessAt,
  wtxidAt,
} from '../../../src/primitives/blockView.js';
import { formatBlock, parseBlockBytes } from '../../../src/primitives/block.js';
import {
  formatOutPoint,
  formatTransaction,
  hasWitness,
  isCoinbase,
  parseTransaction,
  transactionWeight,
  txid,
  wtxid,
} from '../../../src/primitives/transaction.js';
import { claimPrefixLength, countLegacySigops, nextOp } from '../../../src/primitives/scriptScan.js';
import { countLegacySigops as scriptSigops } from '../../../src/script/sigops.js';
import {
  decodeClaimScript,
  claimPrefixLength as scriptPrefixLength,
} from '../../../src/script/claimScript.js';
import { Reader, ReadError } from '../../../src/util/reader.js';
import { Random, mutate, randomBlock, randomScript } from '../../differential/support.js';

describe('block view', () => {
  it('returns every transaction like plain parsing', () => {
    const random = new Random(20);
    for (let round = 0; round < 20; round++) {
      const bytes = randomBlock(random, 1 + random.below(12));
      const parsed = parseBlockView(bytes, true);
      const block = parseBlockBytes(bytes);
      expect(parsed.txCount).toBe(block.transactions.length);
      expect(parsed.sizeBytes).toBe(formatBlock(block).length);
      expect(parsed.strippedSizeBytes).toBe(formatBlock(block, false).length);
      expect(parsed.weight).toBe(parsed.strippedSizeBytes * 3 + parsed.sizeBytes);
      block.transactions.forEach((tx, t) => {
        const row = parsed.txs.subarray(t * TX_STRIDE, (t + 1) * TX_STRIDE);
        expect(txidAt(parsed, t).equals(txid(tx))).toBe(true);
        expect(wtxidAt(parsed, t).equals(wtxid(tx))).toBe(true);
        expect(txSizeBytes(parsed, t)).toBe(formatTransaction(tx).length);
        expect(txWeight(parsed, t)).toBe(transactionWeight(tx));
        expect(txBytes(bytes, parsed, t).equals(formatTransaction(tx))).toBe(true);
        expect(row[TX_VERSION]! | 0).toBe(tx.version);
        expect(row[TX_LOCK_TIME]).toBe(tx.lockTime);
        expect((row[TX_FLAGS]! & TX_HAS_WITNESS) !== 0).toBe(hasWitness(tx));
        expect((row[TX_FLAGS]! & TX_IS_COINBASE) !== 0).toBe(isCoinbase(tx));
        expect(row[TX_INPUT_COUNT]).toBe(tx.inputs.length);
        expect(row[TX_OUTPUT_COUNT]).toBe(tx.outputs.length);
        let sigops = 0;
        tx.inputs.forEach((input, i) => {
          const at = row[TX_FIRST_INPUT]! + i;
          expect(prevoutAt(bytes, parsed, at).equals(formatOutPoint(input.prevout))).toBe(true);
          expect(inputScriptAt(bytes, parsed, at).equals(input.scriptSig)).toBe(true);
          expect(parsed.inputs[at * INPUT_STRIDE + INPUT_SEQUENCE]).toBe(input.sequence);
          expect(witnessAt(bytes, parsed, at)).toEqual(input.witness);
          sigops += scriptSigops(input.scriptSig, false);
        });
        let claims = 0;
        tx.outputs.forEach((output, o) => {
          const at = row[TX_FIRST_OUTPUT]! + o;
          expect(outputAmountAt(bytes, parsed, at)).toBe(output.value);
          expect(outputScriptAt(bytes, parsed, at).equals(output.script)).toBe(true);
          const isClaim = decodeClaimScript(output.script) !== null;
          expect(parsed.outputs[at * OUTPUT_STRIDE + OUTPUT_CLAIM_KIND]).toBe(isClaim ? output.script[0] : 0);
          if (isClaim) claims++;
          sigops += scriptSigops(output.script, false);
        });
        expect(row[TX_LEGACY_SIGOPS]).toBe(sigops);
        expect(row[TX_CLAIM_OUTPUTS]).toBe(claims);
      });
    }
  });

  it('accepts and refuses transactions as plain parsing does', () => {
    const random = new Random(21);
    for (let i = 0; i < 2000; i++) {
      const block = parseBlockBytes(randomBlock(random, 2));
      const bytes = mutate(random, formatTransaction(block.transactions[1]!));
      const reader = new Reader(bytes);
      let expected: { id: string; size: number; consumed: number } | null = null;
      try {
        const tx = parseTransaction(reader);
        expected = {
          id: txid(tx).toString('hex'),
          size: formatTransaction(tx).length,
          consumed: reader.offset,
        };
      } catch (error) {
        expect(error).toBeInstanceOf(ReadError);
      }
      if (expected === null) {
        expect(() => parseTxView(bytes)).toThrow(ReadError);
      } else {
        const parsed = parseTxView(bytes);
        expect(txidAt(parsed, 0).toString('hex')).toBe(expected.id);
        expect(parsed.sizeBytes).toBe(expected.size);
        expect(parsed.consumedBytes).toBe(expected.consumed);
      }
    }
  });

  it('refuses trailing bytes only on request', () => {
    const bytes = Buffer.concat([randomBlock(new Random(22), 2), Buffer.alloc(3)]);
    expect(parseBlockView(bytes).consumedBytes).toBe(bytes.length - 3);
    expect(() => parseBlockView(bytes, true)).toThrow(ReadError);
  });

  it('drops a witness marker without witness, like the reference', () => {
    const tx = parseBlockBytes(randomBlock(new Random(23), 2)).transactions[1]!;
    for (const input of tx.inputs) input.witness = [];
    const plain = formatTransaction(tx);
    const stacks = Buffer.alloc(tx.inputs.length);
    const marked = Buffer.concat([
      plain.subarray(0, 4),
      Buffer.of(0, 1),
      plain.subarray(4, -4),
      stacks,
      plain.subarray(-4),
    ]);
    const parsed = parseTxView(marked, true);
    expect(parsed.txs[TX_FLAGS]).toBe(TX_EMPTY_MARKER);
    expect(txidAt(parsed, 0).equals(txid(tx))).toBe(true);
    expect(wtxidAt(parsed, 0).equals(txid(tx))).toBe(true);
    expect(parsed.sizeBytes).toBe(plain.length);
  });

  it('accepts a block without transactions', () => {
    const parsed = parseBlockFallback(Buffer.concat([Buffer.alloc(112), Buffer.of(0)]));
    expect(parsed.txCount).toBe(0);
    expect(parsed.merkleRoot.equals(Buffer.alloc(32))).toBe(true);
    expect(parsed.witnessMerkleRoot.equals(Buffer.alloc(32))).toBe(true);
  });
});

describe('script scan', () => {
  it('counts sigops and finds claim prefixes as the script layer does', () => {
    const random = new Random(24);
    for (let i = 0; i < 5000; i++) {
      const script = random.chance(2) ? randomScript(random) : mutate(random, randomScript(random));
      expect(countLegacySigops(script, 0, script.length)).toBe(scriptSigops(script, false));
      expect(claimPrefixLength(script, 0, script.length)).toBe(scriptPrefixLength(script));
    }
  });

  it('does not read after the end of a script within a longer buffer', () => {
    const bytes = Buffer.of(0x4d, 0x01, 0x00, 0xaa, 0xac);
    expect(nextOp(bytes, 0, 2)).toBe(-1);
    expect(nextOp(bytes, 0, 3)).toBe(-1);
    expect(nextOp(bytes, 0, 4)).toBe(4);
    expect(countLegacySigops(bytes, 0, 5)).toBe(1);
  });
});
