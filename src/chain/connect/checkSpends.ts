/**
 * Checks a block's transactions against the coins they spend: existence, maturity, amounts, sequence locks, signature
 * operations. Also collects their claim operations. Works on the offset table; the rules themselves are those of
 * `consensus`. Source: lbrycrd validation.cpp `ConnectBlock`, tx_verify.cpp `CheckTxInputs`, `GetTransactionSigOpCost`.
 */
import { checkFee, checkMaturity, missingInputs } from '../../consensus/checkTxInputs.js';
import { isMoneyRange, MAX_BLOCK_SIGOPS_COST, WITNESS_SCALE_FACTOR } from '../../consensus/limits.js';
import {
  calculateSequenceLocks,
  sequenceLocksOpen,
  versionHasSequenceLocks,
} from '../../consensus/lockTime.js';
import { reject, type ValidationError } from '../../consensus/reject.js';
import type { ParsedBlock, ResolvedInputs } from '../../native/binding.js';
import {
  INPUT_SEQUENCE,
  INPUT_STRIDE,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_LEGACY_SIGOPS,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
  TX_VERSION,
} from '../../primitives/blockLayout.js';
import { inputScriptAt, outputAmountAt, witnessTopAt } from '../../primitives/blockView.js';
import { SCRIPT_VERIFY } from '../../script/flags.js';
import { OP } from '../../script/opcodes.js';
import { countP2shSigops, countWitnessSigops } from '../../script/sigops.js';
import type { LoadedBlock } from '../blocks/loadedBlock.js';

export interface SpendRules {
  height: number;
  /** Script verification flags of the block. They determine which signature operations count. */
  flags: number;
  /** Whether BIP68 (relative lock times) is active for the block. */
  sequenceLocks: boolean;
  /** Returns the median time past of the block at a height of the branch. */
  medianTimeAt: (height: number) => number;
  parentMedianTimeSec: number;
}

export interface SpendVerdict {
  error: ValidationError | null;
  feesSat: bigint;
}

/** Script of the output that an input spends, as a view. `input` is the number of the input within the block. */
export function spentScript(resolved: ResolvedInputs, input: number): Buffer {
  const at = resolved.scriptOffsets[input]!;
  return resolved.scripts.subarray(at, at + resolved.scriptLengths[input]!);
}

/** Checks all transactions in order. Returns the first verdict. */
export function checkSpends(block: LoadedBlock, resolved: ResolvedInputs, rules: SpendRules): SpendVerdict {
  const { raw, parsed } = block;
  const { txs } = parsed;
  let feesSat = 0n;
  let sigopsCost = 0;
  const failed = (error: ValidationError): SpendVerdict => ({ error, feesSat });
  for (let tx = 0; tx < parsed.txCount; tx++) {
    const row = tx * TX_STRIDE;
    sigopsCost += txs[row + TX_LEGACY_SIGOPS]! * WITNESS_SCALE_FACTOR;
    if ((txs[row + TX_FLAGS]! & TX_IS_COINBASE) === 0) {
      const first = txs[row + TX_FIRST_INPUT]!;
      const end = first + txs[row + TX_INPUT_COUNT]!;
      const valueIn = sumOfCoins(resolved, first, end, rules.height);
      if (typeof valueIn !== 'bigint') return failed(valueIn);
      let valueOut = 0n;
      const firstOutput = txs[row + TX_FIRST_OUTPUT]!;
      for (let i = 0; i < txs[row + TX_OUTPUT_COUNT]!; i++)
        valueOut += outputAmountAt(raw, parsed, firstOutput + i);
      const fee = checkFee(valueIn, valueOut);
      if (fee.error) return failed(fee.error);
      feesSat += fee.feeSat;
      if (!isMoneyRange(feesSat)) {
        return failed(
          reject('bad-txns-accumulated-fee-outofrange', {
            debug: 'accumulated fee in the block out of range.',
          }),
        );
      }
      if (rules.sequenceLocks && versionHasSequenceLocks(txs[row + TX_VERSION]!)) {
        if (!sequencesOpen(parsed, resolved, first, end, txs[row + TX_VERSION]!, rules)) {
          return failed(
            reject('bad-txns-nonfinal', { debug: 'contains a non-BIP68-final transaction', dosScore: 100 }),
          );
        }
      }
      for (let input = first; input < end; input++)
        sigopsCost += inputSigopsCost(raw, parsed, resolved, input, rules.flags);
    }
    if (sigopsCost > MAX_BLOCK_SIGOPS_COST)
      return failed(reject('bad-blk-sigops', { debug: 'too many sigops' }));
  }
  return { error: null, feesSat };
}

/** Sum of the inputs in satoshis; or a verdict if an input may not be spent. */
function sumOfCoins(
  resolved: ResolvedInputs,
  first: number,
  end: number,
  height: number,
): ValidationError | bigint {
  for (let input = first; input < end; input++) if (resolved.status[input] !== 0) return missingInputs();
  let sum = 0n;
  for (let input = first; input < end; input++) {
    const code = resolved.heightCodes[input]!;
    if ((code & 1) !== 0) {
      const immature = checkMaturity({ height: code >>> 1, isCoinbase: true }, height);
      if (immature) return immature;
    }
    const amount = resolved.amounts[input]!;
    sum += amount;
    if (!isMoneyRange(amount) || !isMoneyRange(sum)) return reject('bad-txns-inputvalues-outofrange');
  }
  return sum;
}

function sequencesOpen(
  parsed: ParsedBlock,
  resolved: ResolvedInputs,
  first: number,
  end: number,
  version: number,
  rules: SpendRules,
): boolean {
  const inputs: { sequence: number }[] = [];
  const coinHeights: number[] = [];
  for (let input = first; input < end; input++) {
    inputs.push({ sequence: parsed.inputs[input * INPUT_STRIDE + INPUT_SEQUENCE]! });
    coinHeights.push(resolved.heightCodes[input]! >>> 1);
  }
  const locks = calculateSequenceLocks(
    { version: version | 0, lockTime: 0, inputs },
    coinHeights,
    rules.medianTimeAt,
  );
  return sequenceLocksOpen(locks, rules.height, rules.parentMedianTimeSec);
}

/**
 * P2SH and witness signature operations of one input, weighted as in BIP141. Returns early for ordinary P2PKH and P2WPKH
 * inputs.
 */
function inputSigopsCost(
  raw: Buffer,
  parsed: ParsedBlock,
  resolved: ResolvedInputs,
  input: number,
  flags: number,
): number {
  const at = resolved.scriptOffsets[input]!;
  const length = resolved.scriptLengths[input]!;
  const { scripts } = resolved;
  if (length === 25 && scripts[at] === OP.OP_DUP) return 0;
  if (length === 22 && scripts[at] === OP.OP_0 && scripts[at + 1] === 20) {
    return (flags & SCRIPT_VERIFY.WITNESS) === 0 ? 0 : 1;
  }
  const spent = scripts.subarray(at, at + length);
  const scriptSig = inputScriptAt(raw, parsed, input);
  const p2sh = (flags & SCRIPT_VERIFY.P2SH) === 0 ? 0 : countP2shSigops(scriptSig, spent);
  // Only the last witness item, which is the script, is needed for counting.
  const witness = witnessTopAt(raw, parsed, input, 1);
  return p2sh * WITNESS_SCALE_FACTOR + countWitnessSigops(scriptSig, spent, witness, flags);
}
