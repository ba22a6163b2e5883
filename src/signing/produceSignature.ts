/**
 * Creates the scriptSig and witness that satisfy an output, as far as the available keys, scripts and signatures allow. A
 * claim prefix or time lock before a script is skipped when the script is solved; signatures still cover the whole script.
 * Independent of chain and wallet. Source: lbrycrd script/sign.cpp `SignStep`, `ProduceSignature`, `IsSolvable`.
 */
import { hash160, ripemd160 } from '../crypto/hash.js';
import { stripClaimPrefix } from '../script/claimScript.js';
import { STANDARD_SCRIPT_VERIFY_FLAGS } from '../script/flags.js';
import { verifyScript } from '../script/interpreter.js';
import { smallIntegerOpcode } from '../script/opcodes.js';
import { pushData } from '../script/script.js';
import { SCRIPT_ERROR } from '../script/scriptError.js';
import { SIG_VERSION, type SigVersion } from '../script/sighash.js';
import {
  scriptForDestination,
  solveScript,
  stripTimelockPrefix,
  type ScriptType,
} from '../script/standard.js';
import { EMPTY_BYTES, equalBytes, fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import type { SignatureCreator } from './signatureCreator.js';
import { DUMMY_CREATOR } from './signatureCreator.js';
import { emptySignatureData, keyIdOf, type SignatureData } from './signatureData.js';
import type { SigningProvider } from './signingProvider.js';

/** State that is shared by the steps of signing one output. */
interface Signing {
  readonly provider: SigningProvider;
  readonly creator: SignatureCreator;
  readonly data: SignatureData;
}

/** Stack elements that one script needs as its input. If `solved` is false, elements are missing. */
interface Step {
  solved: boolean;
  type: ScriptType;
  elements: Bytes[];
}

/** Finds a script by its hash. As in the reference, a script that is absent in `data` counts as empty. Source: `GetCScript`. */
function findScript({ provider, data }: Signing, scriptId: Bytes): Bytes | null {
  const known = provider.script(scriptId);
  if (known !== null) return known;
  for (const script of [data.redeemScript, data.witnessScript]) {
    if (equalBytes(hash160(script), scriptId)) return script;
  }
  return null;
}

/** Finds a public key by its hash; empty if the key is unknown. Source: `GetPubKey`. */
function findPublicKey({ provider, data }: Signing, hash: Bytes): Bytes {
  const keyId = toLatin1(hash);
  const known = provider.publicKey(hash);
  if (known !== null) {
    if (!data.publicKeys.has(keyId)) data.publicKeys.set(keyId, known);
    return known;
  }
  return data.signatures.get(keyId)?.publicKey ?? data.publicKeys.get(keyId) ?? EMPTY_BYTES;
}

/** Returns the existing signature of a key, or creates one. Source: `CreateSig`. */
function signatureOf(signing: Signing, publicKey: Bytes, script: Bytes, version: SigVersion): Bytes | null {
  const { provider, creator, data } = signing;
  const keyId = keyIdOf(publicKey);
  const present = data.signatures.get(keyId);
  if (present !== undefined) return present.signature;
  if (!data.publicKeys.has(keyId)) data.publicKeys.set(keyId, publicKey);
  const signature = creator.createSignature(provider, fromLatin1(keyId), script, version);
  if (signature !== null) data.signatures.set(keyId, { publicKey, signature });
  return signature;
}

function signMultisig(
  signing: Signing,
  script: Bytes,
  version: SigVersion,
  required: number,
  publicKeys: readonly Bytes[],
): Step {
  // CHECKMULTISIG consumes one more stack element than it uses, so an empty element comes first.
  const elements: Bytes[] = [EMPTY_BYTES];
  for (const publicKey of publicKeys) {
    if (elements.length === required + 1) break;
    const signature = signatureOf(signing, publicKey, script, version);
    if (signature !== null) elements.push(signature);
  }
  const solved = elements.length === required + 1;
  // QUIRK: only half of the missing signatures get a placeholder, because the loop of the reference increments both sides
  // of its comparison. So a partly signed transaction has the same bytes as in the reference. Test:
  // test/unit/signing/produceSignature.test.ts.
  for (let i = 0; i + elements.length < required + 1; i++) elements.push(EMPTY_BYTES);
  return { solved, type: 'multisig', elements };
}

/** Signs one script. Returns signatures, or the script hash or key hash in the script. */
function signStep(signing: Signing, script: Bytes, version: SigVersion): Step {
  const template = solveScript(stripTimelockPrefix(stripClaimPrefix(script)));
  const { type } = template;
  const found = (...elements: Bytes[]): Step => ({ solved: true, type, elements });
  const failed: Step = { solved: false, type, elements: [] };
  switch (template.type) {
    case 'nonstandard':
    case 'nulldata':
    case 'witness_unknown':
      return failed;
    case 'pubkey': {
      const signature = signatureOf(signing, template.publicKey, script, version);
      return signature === null ? failed : found(signature);
    }
    case 'pubkeyhash': {
      const publicKey = findPublicKey(signing, template.hash);
      const signature = signatureOf(signing, publicKey, script, version);
      return signature === null ? failed : found(signature, publicKey);
    }
    case 'scripthash': {
      const inner = findScript(signing, template.hash);
      return inner === null ? failed : found(inner);
    }
    case 'multisig':
      return signMultisig(signing, script, version, template.required, template.publicKeys);
    case 'witness_v0_keyhash':
      return found(template.hash);
    case 'witness_v0_scripthash': {
      const inner = findScript(signing, ripemd160(template.hash));
      return inner === null ? failed : found(inner);
    }
  }
}

/** Source: `PushAll`. */
function pushAll(elements: readonly Bytes[]): Buffer {
  return Buffer.concat(
    elements.map((element) => {
      const first = element[0];
      return element.length === 1 && first! >= 1 && first! <= 16
        ? Buffer.of(smallIntegerOpcode(first!))
        : pushData(element);
    }),
  );
}

/** Signs the script of the witness program that `step` contains. The scriptSig stays empty. */
function signWitness(signing: Signing, step: Step): void {
  const { data } = signing;
  const inner = step.elements[0]!;
  if (step.type === 'witness_v0_keyhash') {
    const script = scriptForDestination({ type: 'pubkeyhash', hash: inner });
    const { solved, elements } = signStep(signing, script, SIG_VERSION.WITNESS_V0);
    step.solved = solved;
    data.scriptWitness = elements;
  } else {
    data.witnessScript = inner;
    const { solved, type, elements } = signStep(signing, inner, SIG_VERSION.WITNESS_V0);
    const isNested =
      type === 'scripthash' || type === 'witness_v0_scripthash' || type === 'witness_v0_keyhash';
    step.solved = solved && !isNested;
    data.scriptWitness = [...elements, inner];
  }
  data.witness = true;
  step.elements = [];
}

/**
 * Fills `data` with the scriptSig and witness for an output. Returns true if they satisfy the output under the standard
 * flags. Signatures, scripts and keys that are already in `data` are used. If `data` is already complete, it is not changed.
 */
export function produceSignature(
  provider: SigningProvider,
  creator: SignatureCreator,
  scriptPubKey: Bytes,
  data: SignatureData,
): boolean {
  if (data.complete) return true;
  const signing = { provider, creator, data };
  data.scriptWitness = [];
  let step = signStep(signing, scriptPubKey, SIG_VERSION.BASE);
  let redeemScript: Bytes | null = null;
  if (step.solved && step.type === 'scripthash') {
    redeemScript = step.elements[0]!;
    data.redeemScript = redeemScript;
    step = signStep(signing, redeemScript, SIG_VERSION.BASE);
    if (step.type === 'scripthash') step.solved = false;
  }
  if (step.solved && (step.type === 'witness_v0_keyhash' || step.type === 'witness_v0_scripthash')) {
    signWitness(signing, step);
  }
  data.scriptSig = pushAll(redeemScript === null ? step.elements : [...step.elements, redeemScript]);
  data.complete = step.solved && satisfies(data, scriptPubKey, creator);
  return data.complete;
}

function satisfies(data: SignatureData, scriptPubKey: Bytes, creator: SignatureCreator): boolean {
  const { scriptSig, scriptWitness } = data;
  const flags = STANDARD_SCRIPT_VERIFY_FLAGS;
  return verifyScript(scriptSig, scriptPubKey, scriptWitness, flags, creator.checker) === SCRIPT_ERROR.OK;
}

/** Whether an output could be spent with the known scripts and public keys, if all private keys were available. */
export function isSolvable(provider: SigningProvider, scriptPubKey: Bytes): boolean {
  return produceSignature(provider, DUMMY_CREATOR, scriptPubKey, emptySignatureData());
}
