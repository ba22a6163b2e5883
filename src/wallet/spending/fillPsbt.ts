/**
 * Adds the wallet's data to a PSBT: spent transactions, scripts, signatures and derivation paths of keys. Source: lbrycrd
 * wallet/rpcwallet.cpp `FillPSBT`.
 */
import { hash160 } from '../../crypto/hash.js';
import { PrecomputedSighash } from '../../script/sighash.js';
import {
  isInputFinal,
  isInputSane,
  ownMap,
  type KeyPath,
  type Psbt,
  type PsbtOutput,
} from '../../signing/psbt.js';
import { signPsbtInput, updatePsbtOutput } from '../../signing/psbtRoles.js';
import { publicOnly } from '../../signing/signingProvider.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { inSlices } from '../../scheduler/slices.js';
import { HARDENED } from '../../signing/extendedKey.js';
import { rootOfSeed } from '../keys/hdKeys.js';
import type { Wallet } from '../wallet.js';
import { SPEND_ERROR, SpendError } from './spendError.js';

export interface FillRequest {
  readonly hashType: number;
  readonly signs: boolean;
  /** Whether derivation paths of keys (BIP32) are added. */
  readonly tellsPaths: boolean;
}

/**
 * Adds the wallet's data to the PSBT. Returns whether every input is final. Throws `SpendError`. If the wallet is locked, no
 * signatures are added.
 */
export async function fillPsbt(wallet: Wallet, psbt: Psbt, request: FillRequest): Promise<boolean> {
  const paths = request.tellsPaths ? new KeyPaths(wallet) : null;
  const signer = request.signs ? wallet.keyring : publicOnly(wallet.keyring);
  const shared = new PrecomputedSighash(psbt.tx);
  await inSlices(shared.prepareInSlices());
  let isComplete = true;
  let since = performance.now();
  for (const [index, input] of psbt.inputs.entries()) {
    since = await yieldIfDue(since);
    if (isInputFinal(input)) continue;
    if (!isInputSane(input)) throw invalid('PSBT input is not sane.');
    if (input.nonWitnessUtxo === null && input.witnessUtxo === null) {
      const entry = wallet.ledger.find(psbt.tx.inputs[index]!.prevout.hash);
      if (entry !== undefined) input.nonWitnessUtxo = wallet.ledger.transaction(entry);
    }
    if (request.signs && input.sighashType > 0 && input.sighashType !== request.hashType)
      throw invalid('Specified Sighash and sighash in PSBT do not match.');
    const { complete, data } = signPsbtInput(psbt, index, signer, request.hashType, shared);
    if (!complete) isComplete = false;
    paths?.addTo(input, data.publicKeys.keys());
  }
  const known = publicOnly(wallet.keyring);
  for (const [index, output] of psbt.outputs.entries()) {
    since = await yieldIfDue(since);
    // Scripts of outputs are always added, because they show other signers which outputs are change.
    const { publicKeys } = updatePsbtOutput(psbt, index, known);
    paths?.addTo(output, publicKeys.keys());
  }
  return isComplete;
}

const invalid = (message: string): SpendError => new SpendError(message, SPEND_ERROR.deserialization);

/** Derivation paths of the wallet's keys in the PSBT format. Source: `AddKeypathToMap`. */
class KeyPaths {
  private readonly wallet: Wallet;
  private readonly fingerprints = new Map<string, number | null>();

  constructor(wallet: Wallet) {
    this.wallet = wallet;
  }

  /**
   * Adds the derivation paths of keys to an input or output. Ids are latin1. Keys of others, and keys whose seed is locked,
   * are left out.
   */
  addTo(part: Pick<PsbtOutput, 'keyPaths'>, keyIds: Iterable<string>): void {
    for (const id of keyIds) {
      const keyId = fromLatin1(id);
      const publicKey = this.wallet.keyring.publicKey(keyId);
      const path = publicKey === null ? null : this.pathOf(keyId);
      if (publicKey === null || path === null) continue;
      const name = toLatin1(publicKey);
      if (!part.keyPaths.has(name)) ownMap(part, 'keyPaths').set(name, path);
    }
  }

  private pathOf(keyId: Bytes): KeyPath | null {
    const metadata = this.wallet.keyring.metadata(keyId);
    const numbers = metadata === null ? null : parsePath(metadata.path);
    // A key that was not derived counts as its own master key.
    if (metadata === null || numbers === null) return [fingerprintOf(keyId)];
    const fingerprint = this.seedFingerprint(metadata.seedId);
    return fingerprint === null ? null : [fingerprint, ...numbers];
  }

  private seedFingerprint(seedId: Bytes): number | null {
    const name = toLatin1(seedId);
    let fingerprint = this.fingerprints.get(name);
    if (fingerprint === undefined) {
      const seed = this.wallet.keyring.signingKey(seedId);
      fingerprint = null;
      if (seed !== null) {
        const root = rootOfSeed(seed.privateKey);
        root.privateKey?.fill(0);
        fingerprint = fingerprintOf(hash160(root.publicKey));
      }
      this.fingerprints.set(name, fingerprint);
    }
    return fingerprint;
  }
}

const fingerprintOf = (keyId: Bytes): number => Buffer.from(keyId).readUInt32LE(0);

/** Child numbers in a path such as `m/0'/1'/7'`; null for a key that was not derived. */
function parsePath(path: string): number[] | null {
  if (!path.startsWith('m/')) return null;
  return path
    .slice(2)
    .split('/')
    .map((item) => Number.parseInt(item, 10) + (item.endsWith("'") ? HARDENED : 0));
}
