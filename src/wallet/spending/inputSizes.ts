/**
 * Computes the size of signed inputs with dummy signatures of the right size. Source: lbrycrd
 * wallet/wallet.cpp `DummySignInput`, `CalculateMaximumSignedInputSize`, `CalculateMaximumSignedTxSize`.
 */
import { COMPRESSED_KEY_SIZE } from '../../crypto/ecdsaEncoding.js';
import { compactSizeLength } from '../../consensus/txSize.js';
import { WITNESS_SCALE_FACTOR } from '../../consensus/limits.js';
import type { TxOutput } from '../../primitives/transaction.js';
import { stripClaimPrefix } from '../../script/claimScript.js';
import { solveScript } from '../../script/standard.js';
import { produceSignature } from '../../signing/produceSignature.js';
import { DUMMY_CREATOR, DUMMY_MAXIMUM_CREATOR } from '../../signing/signatureCreator.js';
import { emptySignatureData } from '../../signing/signatureData.js';
import type { SigningProvider } from '../../signing/signingProvider.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';

/**
 * Size in bytes of a signed input's scriptSig and witness, including their length fields. `witnessBytes` is 0 without a
 * witness.
 */
export interface InputSize {
  readonly scriptSigBytes: number;
  readonly witnessBytes: number;
}

/** Size in bytes of an input's outpoint and sequence. */
const INPUT_FIXED_BYTES = 36 + 4;
/** Size in bytes of a transaction's version and lock time. */
const TX_FIXED_BYTES = 8;
/** Size in bytes of marker and flag (BIP144). */
const WITNESS_MARKER_BYTES = 2;

const inVirtualBytes = (weight: number): number => Math.ceil(weight / WITNESS_SCALE_FACTOR);

/** Virtual size of a signed input. It includes the count of an empty witness. Source: `GetVirtualTransactionInputSize`. */
export function virtualInputSize({ scriptSigBytes, witnessBytes }: InputSize): number {
  return inVirtualBytes(
    (INPUT_FIXED_BYTES + scriptSigBytes) * WITNESS_SCALE_FACTOR + Math.max(witnessBytes, 1),
  );
}

export const outputSize = ({ script }: Pick<TxOutput, 'script'>): number =>
  8 + compactSizeLength(script.length) + script.length;

/** Virtual size of the whole signed transaction in bytes. */
export function virtualTxSize(inputs: readonly InputSize[], outputs: readonly TxOutput[]): number {
  let stripped = TX_FIXED_BYTES + compactSizeLength(inputs.length) + compactSizeLength(outputs.length);
  let witness = 0;
  let hasWitness = false;
  for (const { scriptSigBytes, witnessBytes } of inputs) {
    stripped += INPUT_FIXED_BYTES + scriptSigBytes;
    witness += Math.max(witnessBytes, 1);
    hasWitness ||= witnessBytes > 0;
  }
  for (const output of outputs) stripped += outputSize(output);
  return inVirtualBytes(stripped * WITNESS_SCALE_FACTOR + (hasWitness ? witness + WITNESS_MARKER_BYTES : 0));
}

/**
 * Size of a signed input that spends an output with this script; null if keys or scripts are unknown. Source:
 * `DummySignInput`.
 */
function measure(provider: SigningProvider, script: Bytes, isMaximum: boolean): InputSize | null {
  const data = emptySignatureData();
  if (!produceSignature(provider, isMaximum ? DUMMY_MAXIMUM_CREATOR : DUMMY_CREATOR, script, data))
    return null;
  const { scriptSig, scriptWitness } = data;
  let witnessBytes = 0;
  if (scriptWitness.length > 0) {
    witnessBytes = compactSizeLength(scriptWitness.length);
    for (const item of scriptWitness) witnessBytes += compactSizeLength(item.length) + item.length;
  }
  return { scriptSigBytes: compactSizeLength(scriptSig.length) + scriptSig.length, witnessBytes };
}

/**
 * Computes and caches input sizes for the scripts that a provider can sign. Inputs of the same script type and public key
 * form have equal sizes. Other inputs are measured once for each script. A null result is not cached.
 */
export class InputSizes {
  private readonly provider: SigningProvider;
  private readonly sizes = new Map<string, InputSize>();

  constructor(provider: SigningProvider) {
    this.provider = provider;
  }

  /**
   * Size of a signed input that spends an output with this script. Null if the script cannot be solved with the known keys
   * and scripts. `isMaximum`: assume the largest signatures, because others may sign.
   */
  of(script: Bytes, isMaximum = false): InputSize | null {
    const kind = this.kindOf(script);
    if (kind === null) return null;
    const name = (isMaximum ? 'max ' : '') + kind;
    const known = this.sizes.get(name);
    if (known !== undefined) return known;
    const size = measure(this.provider, script, isMaximum);
    if (size !== null) this.sizes.set(name, size);
    return size;
  }

  /** Cache key of a script. Scripts whose inputs have the same size share a key. Null if the public key is unknown. */
  private kindOf(script: Bytes): string | null {
    const inner = stripClaimPrefix(script);
    const template = solveScript(inner);
    switch (template.type) {
      case 'pubkeyhash':
        return this.keyKind('pkh', template.hash);
      case 'witness_v0_keyhash':
        return this.keyKind('wpkh', template.hash);
      case 'scripthash': {
        const redeemScript = this.provider.script(template.hash);
        if (redeemScript === null) return null;
        const program = solveScript(redeemScript);
        if (program.type === 'witness_v0_keyhash') return this.keyKind('sh-wpkh', program.hash);
        return toLatin1(inner);
      }
      default:
        return toLatin1(inner);
    }
  }

  private keyKind(kind: string, keyId: Bytes): string | null {
    const key = this.provider.publicKey(keyId);
    if (key === null || (kind !== 'pkh' && key.length !== COMPRESSED_KEY_SIZE)) return null;
    return `${kind} ${key.length}`;
  }
}

/**
 * Virtual size in bytes of a P2SH-P2WPKH input. Assumed for change whose script the wallet does not know. Source:
 * `DUMMY_NESTED_P2WPKH_INPUT_SIZE`.
 */
export const NESTED_INPUT_SIZE = 91;
