import { describe, expect, it } from 'vitest';
import { parseTxFallback } from '../../src/primitives/blockScan.js';
import { formatTransaction } from '../../src/primitives/transaction.js';
import { nextOp } from '../../src/primitives/scriptScan.js';
import { SIG_VERSION, signatureHash } from '../../src/script/sighash.js';
import { Random, addon, native, randomOutPoint, randomScript, randomTx } from './support.js';

const OP_CODESEPARATOR = 0xab;

/**
 * Whether the script code can be parsed to its end and has no OP_CODESEPARATOR. The addon only receives such codes; the
 * interpreter handles all others.
 */
function isPlainCode(script: Buffer): boolean {
  let at = 0;
  while (at >= 0 && at < script.length) {
    if (script[at] === OP_CODESEPARATOR) return false;
    at = nextOp(script, at, script.length);
  }
  return at === script.length;
}

describe.skipIf(!native)('native signature hashes against the script layer', () => {
  it('agree for every hash type, with missing outputs too', () => {
    const random = new Random(110);
    let compared = 0;
    for (let i = 0; i < 3000; i++) {
      const tx = randomTx(random, {
        inputs: Array.from({ length: 1 + random.below(random.chance(50) ? 300 : 4) }, () =>
          randomOutPoint(random),
        ),
        outputs: random.below(4),
        witness: random.chance(2),
      });
      const bytes = formatTransaction(tx);
      const input = random.below(tx.inputs.length);
      const code = randomScript(random);
      if (!isPlainCode(code)) continue;
      const hashType = random.chance(2) ? random.pick([1, 2, 3, 0x81, 0x82, 0x83, 0]) : random.u32() | 0;
      const amount = random.amount();
      const parsed = parseTxFallback(bytes);
      for (const version of [SIG_VERSION.BASE, SIG_VERSION.WITNESS_V0]) {
        const expected = signatureHash(code, tx, input, hashType, amount, version);
        const witness = version === SIG_VERSION.WITNESS_V0;
        expect(addon().signatureHash(bytes, parsed, input, code, hashType, amount, witness)).toEqual(
          expected,
        );
      }
      compared++;
    }
    expect(compared).toBeGreaterThan(1500);
  });
});
