/**
 * The node's relay and mining policy beyond the consensus rules: types of outputs and inputs, sizes, dust. Fees,
 * replacement and packages are in separate files. Source: lbrycrd policy/policy.cpp, policy/policy.h.
 */
import { MAX_BLOCK_SIGOPS_COST, WITNESS_SCALE_FACTOR } from '../consensus/limits.js';
import { reject, type ValidationError } from '../consensus/reject.js';
import { compactSizeLength, transactionWeight } from '../consensus/txSize.js';
import type { Transaction, TxOutput } from '../primitives/transaction.js';
import { NO_TRANSACTION } from '../script/checker.js';
import { stripClaimPrefix } from '../script/claimScript.js';
import { evalScript } from '../script/evalScript.js';
import { SCRIPT_VERIFY } from '../script/flags.js';
import {
  isPayToScriptHash,
  isPushOnly,
  isUnspendable,
  isWitnessProgram,
  witnessVersion,
} from '../script/script.js';
import { SCRIPT_ERROR } from '../script/scriptError.js';
import { SIG_VERSION } from '../script/sighash.js';
import { countLegacySigops } from '../script/sigops.js';
import { solveScript } from '../script/standard.js';
import type { Bytes } from '../util/bytes.js';
import { feeAtRate } from './feeRate.js';

/** Maximum transaction version that is relayed. Source: `MAX_STANDARD_VERSION`. */
const MAX_STANDARD_VERSION = 2;
export const MAX_STANDARD_TX_WEIGHT = 400_000;
/** Maximum size of a scriptSig in bytes: 15 signatures and keys of a P2SH multisig, rounded up. */
const MAX_STANDARD_SCRIPTSIG_SIZE = 1650;
/** Maximum number of keys of a bare multisig output. */
const MAX_BARE_MULTISIG_KEYS = 3;
/** Maximum number of signature operations in a redeem script. */
const MAX_P2SH_SIGOPS = 15;
/** Maximum cost of the signature operations of a standard transaction: a fifth of the limit of a block. */
export const MAX_STANDARD_TX_SIGOPS_COST = MAX_BLOCK_SIGOPS_COST / 5;
const MAX_STANDARD_P2WSH_STACK_ITEMS = 100;
const MAX_STANDARD_P2WSH_STACK_ITEM_SIZE = 80;
const MAX_STANDARD_P2WSH_SCRIPT_SIZE = 3600;
/** Size in bytes of a typical scriptSig with one signature. */
const TYPICAL_SCRIPTSIG_SIZE = 107;
/** Size in bytes of an input without its script. */
const BARE_INPUT_SIZE = 32 + 4 + 1 + 4;

export interface StandardRules {
  /**
   * Maximum size in bytes of the script of a data output (`-datacarrier`, `-datacarriersize`); null if data outputs are not
   * relayed.
   */
  readonly maxDataCarrierBytes: number | null;
  /** `-permitbaremultisig`. */
  readonly permitBareMultisig: boolean;
  /** Fee rate for the dust limit, in satoshis per 1,000 bytes (`-dustrelayfee`). */
  readonly dustFeeRatePerKb: bigint;
}

/**
 * Size on which fees are based: the virtual size of BIP141, or more for transactions with many signature operations. Source:
 * `GetVirtualTransactionSize`.
 */
export function virtualSize(weight: number, sigopsCost: number, bytesPerSigop: number): number {
  const counted = Math.max(weight, sigopsCost * bytesPerSigop);
  return Math.floor((counted + WITNESS_SCALE_FACTOR - 1) / WITNESS_SCALE_FACTOR);
}

/**
 * Amount below which an output is dust: the fee for creating and spending it at the dust rate; 0 for an unspendable output.
 * Source: `GetDustThreshold`.
 */
export function dustThreshold(output: TxOutput, dustFeeRatePerKb: bigint): bigint {
  const { script } = output;
  if (isUnspendable(script)) return 0n;
  const outputSize = 8 + compactSizeLength(script.length) + script.length;
  const scriptSize = isWitnessProgram(script)
    ? Math.floor(TYPICAL_SCRIPTSIG_SIZE / WITNESS_SCALE_FACTOR)
    : TYPICAL_SCRIPTSIG_SIZE;
  return feeAtRate(dustFeeRatePerKb, outputSize + BARE_INPUT_SIZE + scriptSize);
}

type OutputKind = 'payment' | 'data' | 'multisig';

/** Type of the output script; null for a type that nodes do not relay. Source: `IsStandard`. */
function outputKind(script: Bytes, rules: StandardRules): OutputKind | null {
  const bare = stripClaimPrefix(script);
  const template = solveScript(bare);
  switch (template.type) {
    case 'nonstandard':
    case 'witness_unknown':
      return null;
    case 'nulldata':
      return rules.maxDataCarrierBytes !== null && bare.length <= rules.maxDataCarrierBytes ? 'data' : null;
    case 'multisig': {
      const keys = template.publicKeys.length;
      const isSmall = keys >= 1 && keys <= MAX_BARE_MULTISIG_KEYS;
      return isSmall && template.required >= 1 && template.required <= keys ? 'multisig' : null;
    }
    default:
      return 'payment';
  }
}

/**
 * Checks whether the transaction itself is standard. The coins of its inputs are not checked. Returns null if it is
 * standard. Source: `IsStandardTx`.
 */
export function checkStandard(tx: Transaction, rules: StandardRules): ValidationError | null {
  if (tx.version > MAX_STANDARD_VERSION || tx.version < 1) return reject('version');
  if (transactionWeight(tx) > MAX_STANDARD_TX_WEIGHT) return reject('tx-size');
  for (const { scriptSig } of tx.inputs) {
    if (scriptSig.length > MAX_STANDARD_SCRIPTSIG_SIZE) return reject('scriptsig-size');
    if (!isPushOnly(scriptSig)) return reject('scriptsig-not-pushonly');
  }
  let dataOutputs = 0;
  for (const output of tx.outputs) {
    const kind = outputKind(output.script, rules);
    if (kind === null) return reject('scriptpubkey');
    if (kind === 'data') dataOutputs++;
    else if (kind === 'multisig' && !rules.permitBareMultisig) return reject('bare-multisig');
    else if (output.value < dustThreshold(output, rules.dustFeeRatePerKb)) return reject('dust');
  }
  return dataOutputs > 1 ? reject('multi-op-return') : null;
}

/**
 * Redeem script of a P2SH input: the last stack element after running the scriptSig without verification flags. Null if the
 * scriptSig fails or leaves the stack empty.
 */
function redeemScriptOf(scriptSig: Bytes): Bytes | null {
  const stack: Bytes[] = [];
  const error = evalScript(stack, scriptSig, SCRIPT_VERIFY.NONE, NO_TRANSACTION, SIG_VERSION.BASE);
  return error === SCRIPT_ERROR.OK ? (stack.at(-1) ?? null) : null;
}

/**
 * Whether the spent outputs are of standard types, and redeem scripts do not have too many signature operations. Source:
 * `AreInputsStandard`.
 */
export function areInputsStandard(tx: Transaction, spentScripts: readonly Bytes[]): boolean {
  return tx.inputs.every(({ scriptSig }, i) => {
    const template = solveScript(stripClaimPrefix(spentScripts[i]!));
    if (template.type === 'nonstandard') return false;
    if (template.type !== 'scripthash') return true;
    const redeemScript = redeemScriptOf(scriptSig);
    return redeemScript !== null && countLegacySigops(redeemScript, true) <= MAX_P2SH_SIGOPS;
  });
}

/**
 * Whether the witness of every input is within the standard limits, and no input without a witness program has a witness.
 * Source: `IsWitnessStandard`.
 */
export function isWitnessStandard(tx: Transaction, spentScripts: readonly Bytes[]): boolean {
  return tx.inputs.every(({ scriptSig, witness }, i) => {
    if (witness.length === 0) return true;
    let program: Bytes | null = stripClaimPrefix(spentScripts[i]!);
    if (isPayToScriptHash(program)) program = redeemScriptOf(scriptSig);
    if (program === null || !isWitnessProgram(program)) return false;
    const isScriptHash = witnessVersion(program) === 0 && program.length === 34;
    if (!isScriptHash) return true;
    const items = witness.slice(0, -1);
    return (
      witness.at(-1)!.length <= MAX_STANDARD_P2WSH_SCRIPT_SIZE &&
      items.length <= MAX_STANDARD_P2WSH_STACK_ITEMS &&
      items.every((item) => item.length <= MAX_STANDARD_P2WSH_STACK_ITEM_SIZE)
    );
  });
}
