/**
 * The commitment of a coinbase to the witnesses of its block (BIP141): finding, creating and checking it.
 * Source: lbrycrd validation.cpp `GetWitnessCommitmentIndex`, `GenerateCoinbaseCommitment`, `ContextualCheckBlock`.
 */
import { sha256dPair } from '../crypto/hash.js';
import { merkleRoot } from '../crypto/merkle.js';
import { NULL_HASH, type Transaction } from '../primitives/transaction.js';
import { concatBytes, equalBytes, fromHex, type Bytes } from '../util/bytes.js';
import { reject, type ValidationError } from './reject.js';

/** OP_RETURN, a push of 36 bytes, and the four bytes that mark a commitment. */
const COMMITMENT_HEAD = fromHex('6a24aa21a9ed');
const COMMITMENT_SIZE = 38;
const RESERVED_VALUE_SIZE = 32;

/** Number of the output with the commitment, the last one if there are several; -1 if there is none. */
export function findWitnessCommitment(outputs: readonly { readonly script: Bytes }[]): number {
  for (let i = outputs.length - 1; i >= 0; i--) {
    const { script } = outputs[i]!;
    if (
      script.length >= COMMITMENT_SIZE &&
      equalBytes(script.subarray(0, COMMITMENT_HEAD.length), COMMITMENT_HEAD)
    ) {
      return i;
    }
  }
  return -1;
}

/** The merkle root of the wtxids, in wire order; the first one (the coinbase's) is replaced by zeros. */
export function witnessMerkleRoot(wtxids: readonly Bytes[]): Buffer {
  return merkleRoot([NULL_HASH, ...wtxids.slice(1)]).root;
}

/** The output script that commits to `witnessRoot` with the coinbase's `reservedValue`, 32 bytes each. */
export function witnessCommitmentScript(witnessRoot: Bytes, reservedValue: Bytes): Buffer {
  return concatBytes(COMMITMENT_HEAD, sha256dPair(witnessRoot, reservedValue));
}

/**
 * Checks that a block's witnesses match the commitment of its coinbase, or that a block without a commitment has no
 * witnesses. All three possible verdicts concern bytes that the block id does not cover, so they never make the id invalid.
 * `witnessRoot` and `anyWitness` are called only when needed.
 */
export function checkWitnessCommitment(
  coinbase: Pick<Transaction, 'inputs' | 'outputs'>,
  segwitActive: boolean,
  witnessRoot: () => Bytes,
  anyWitness: () => boolean,
): ValidationError | null {
  const at = segwitActive ? findWitnessCommitment(coinbase.outputs) : -1;
  if (at >= 0) {
    const { witness } = coinbase.inputs[0]!;
    const reservedValue = witness[0];
    if (witness.length !== 1 || reservedValue?.length !== RESERVED_VALUE_SIZE) {
      return reject('bad-witness-nonce-size', {
        debug: 'ContextualCheckBlock : invalid witness reserved value size',
      });
    }
    const committed = coinbase.outputs[at]!.script.subarray(COMMITMENT_HEAD.length, COMMITMENT_SIZE);
    if (!equalBytes(sha256dPair(witnessRoot(), reservedValue), committed)) {
      return reject('bad-witness-merkle-match', {
        debug: 'ContextualCheckBlock : witness merkle commitment mismatch',
      });
    }
    return null;
  }
  if (!anyWitness()) return null;
  return reject('unexpected-witness', { debug: 'ContextualCheckBlock : unexpected witness data found' });
}
