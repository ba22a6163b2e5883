/**
 * Extracts signatures and scripts from an input that may be partly signed. Signers that do not use PSBT exchange such
 * inputs. Source: lbrycrd script/sign.cpp `DataFromTransaction`.
 */
import type { Transaction, TxOutput } from '../primitives/transaction.js';
import { NO_TRANSACTION, TransactionChecker, type SignatureChecker } from '../script/checker.js';
import { stripClaimPrefix } from '../script/claimScript.js';
import { evalScript } from '../script/evalScript.js';
import { SCRIPT_VERIFY, STANDARD_SCRIPT_VERIFY_FLAGS } from '../script/flags.js';
import { verifyScript } from '../script/interpreter.js';
import { SCRIPT_ERROR } from '../script/scriptError.js';
import { SIG_VERSION, type PrecomputedSighash, type SigVersion } from '../script/sighash.js';
import { solveScript, type ScriptTemplate } from '../script/standard.js';
import type { Bytes } from '../util/bytes.js';
import { ecdsaBackend } from '../crypto/ecdsa.js';
import { asPublicKey, emptySignatureData, keyIdOf, type SignatureData } from './signatureData.js';

/**
 * Wraps a checker so that every signature that verifies is stored in `data`. Source: `SignatureExtractorChecker`, which does
 * not check time locks.
 */
function keepSignatures(data: SignatureData, checker: SignatureChecker): SignatureChecker {
  return {
    checkSignature(signature, key, scriptCode, version) {
      if (!checker.checkSignature(signature, key, scriptCode, version)) return false;
      const publicKey = asPublicKey(key);
      const keyId = keyIdOf(publicKey);
      // The values are copied, because a stack element may be a view of a temporary stack.
      if (!data.signatures.has(keyId)) {
        data.signatures.set(keyId, { publicKey: Buffer.from(publicKey), signature: Buffer.from(signature) });
      }
      return true;
    },
    checkLockTime: () => false,
    checkSequence: () => false,
  };
}

function lastOf(stack: readonly Bytes[]): Bytes | null {
  const last = stack[stack.length - 1];
  return last === undefined || last.length === 0 ? null : last;
}

/** `template`: the script to which the signatures belong. `elements`: stack elements that may contain the signatures. */
interface Unwrapped {
  template: ScriptTemplate;
  script: Bytes;
  stack: Bytes[];
  version: SigVersion;
}

/** Unwraps the redeem script and the witness script, and stores them in `data`. */
function unwrap(data: SignatureData, scriptPubKey: Bytes): Unwrapped {
  const stack: Bytes[] = [];
  evalScript(stack, data.scriptSig, SCRIPT_VERIFY.STRICTENC, NO_TRANSACTION, SIG_VERSION.BASE);
  const inner: Unwrapped = {
    template: solveScript(stripClaimPrefix(scriptPubKey)),
    script: scriptPubKey,
    stack,
    version: SIG_VERSION.BASE,
  };
  const redeemScript = lastOf(inner.stack);
  if (inner.template.type === 'scripthash' && redeemScript !== null) {
    data.redeemScript = inner.script = redeemScript;
    inner.template = solveScript(redeemScript);
    inner.stack.pop();
  }
  const witnessScript = lastOf(data.scriptWitness);
  if (inner.template.type === 'witness_v0_scripthash' && witnessScript !== null) {
    data.witnessScript = inner.script = witnessScript;
    inner.template = solveScript(witnessScript);
    inner.stack = data.scriptWitness.slice(0, -1);
    inner.version = SIG_VERSION.WITNESS_V0;
  }
  return inner;
}

/** Matches stack elements to the public keys in order. A key whose signature is already known still consumes an element. */
function matchMultisig(data: SignatureData, checker: SignatureChecker, inner: Unwrapped): void {
  const { template, script, stack, version } = inner;
  if (template.type !== 'multisig') return;
  let next = 0;
  for (const signature of stack) {
    for (let i = next; i < template.publicKeys.length; i++) {
      const key = template.publicKeys[i]!;
      const known = data.signatures.has(keyIdOf(asPublicKey(key)));
      if (known || checker.checkSignature(signature, key, script, version)) {
        next = i + 1;
        break;
      }
    }
  }
}

/**
 * Extracts the signature data of input `inputIndex`, which spends `spent`. `complete` is set if the input satisfies the
 * script of the output.
 */
export function dataFromInput(
  tx: Transaction,
  inputIndex: number,
  spent: TxOutput,
  shared?: PrecomputedSighash,
): SignatureData {
  const { scriptSig, witness } = tx.inputs[inputIndex]!;
  const data = emptySignatureData();
  data.scriptSig = scriptSig;
  data.scriptWitness = witness;
  const plain = new TransactionChecker(tx, inputIndex, spent.value, shared, ecdsaBackend());
  const checker = keepSignatures(data, plain);
  const error = verifyScript(scriptSig, spent.script, witness, STANDARD_SCRIPT_VERIFY_FLAGS, checker);
  data.complete = error === SCRIPT_ERROR.OK;
  if (!data.complete) matchMultisig(data, checker, unwrap(data, spent.script));
  return data;
}
