/**
 * Counts signature operations, for the limits of blocks and the mempool. Consensus code adds the counts with weights.
 * Source: Core `CScript::GetSigOpCount`, `CountWitnessSigOps`; lbrycrd consensus/tx_verify.cpp removes claim prefixes from
 * the spent script before.
 */
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';
import { stripClaimPrefix } from './claimScript.js';
import { SCRIPT_VERIFY } from './flags.js';
import { isSmallInteger, OP, smallIntegerOf } from './opcodes.js';
import {
  isPayToScriptHash,
  isWitnessProgram,
  lastPush,
  MAX_PUBKEYS_PER_MULTISIG,
  nextOp,
  witnessVersion,
} from './script.js';

/**
 * Counts the signature operations of a script up to its end or its first malformed push. CHECKMULTISIG counts as 20, unless
 * `accurate` is set and OP_1 to OP_16 directly precedes it.
 */
export function countLegacySigops(script: Bytes, accurate: boolean): number {
  let count = 0;
  let previous: number = OP.OP_INVALIDOPCODE;
  for (let at = 0; at < script.length;) {
    const opcode = script[at]!;
    at = nextOp(script, at);
    if (at < 0) break;
    if (opcode === OP.OP_CHECKSIG || opcode === OP.OP_CHECKSIGVERIFY) count += 1;
    else if (opcode === OP.OP_CHECKMULTISIG || opcode === OP.OP_CHECKMULTISIGVERIFY) {
      count += accurate && isSmallInteger(previous) ? smallIntegerOf(previous) : MAX_PUBKEYS_PER_MULTISIG;
    }
    previous = opcode;
  }
  return count;
}

/** Counts the signature operations in the redeem script of an input; 0 if `prevScript` without its claim prefix is not P2SH. */
export function countP2shSigops(scriptSig: Bytes, prevScript: Bytes): number {
  if (!isPayToScriptHash(stripClaimPrefix(prevScript))) return 0;
  const redeemScript = lastPush(scriptSig);
  return redeemScript === null ? 0 : countLegacySigops(redeemScript, true);
}

function countProgramSigops(program: Bytes, witness: readonly Bytes[]): number {
  if (witnessVersion(program) !== 0) return 0;
  if (program.length === 22) return 1;
  if (program.length === 34 && witness.length > 0) {
    return countLegacySigops(witness[witness.length - 1]!, true);
  }
  return 0;
}

/**
 * Counts the signature operations in the witness of an input, whether the witness program is in the output script or in
 * P2SH; 0 without the flag WITNESS, which needs P2SH.
 */
export function countWitnessSigops(
  scriptSig: Bytes,
  prevScript: Bytes,
  witness: readonly Bytes[],
  flags: number,
): number {
  if ((flags & SCRIPT_VERIFY.WITNESS) === 0) return 0;
  assert((flags & SCRIPT_VERIFY.P2SH) !== 0, 'WITNESS without P2SH');
  const script = stripClaimPrefix(prevScript);
  if (isWitnessProgram(script)) return countProgramSigops(script, witness);
  if (!isPayToScriptHash(script)) return 0;
  const redeemScript = lastPush(scriptSig);
  return redeemScript !== null && isWitnessProgram(redeemScript)
    ? countProgramSigops(redeemScript, witness)
    : 0;
}
