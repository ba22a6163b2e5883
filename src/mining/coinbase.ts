/**
 * The coinbase of a block that we assemble: height, extra nonce, reward, witness commitment.
 * Source: lbrycrd miner.cpp `CreateNewBlock`, `IncrementExtraNonce`; validation.cpp `GenerateCoinbaseCommitment`.
 */
import { witnessCommitmentScript, witnessMerkleRoot } from '../consensus/witnessCommitment.js';
import { loadNative } from '../native/binding.js';
import { NULL_HASH, NULL_INDEX, SEQUENCE_FINAL, type Transaction } from '../primitives/transaction.js';
import { OP } from '../script/opcodes.js';
import { pushData, pushNumber } from '../script/script.js';
import { encodeScriptNumber } from '../script/scriptNumber.js';
import { concatBytes, type Bytes } from '../util/bytes.js';

/** The reserved value that is hashed with the witness root, and the coinbase's only witness item (BIP141). */
export const WITNESS_RESERVED_VALUE: Bytes = new Uint8Array(32);
const HASH_SIZE_BYTES = 32;

/** Script with the height (BIP34) and the extra nonce. Miners replace an extra nonce of 0. */
export function coinbaseScriptSig(height: number, extraNonce: number): Buffer {
  const nonce = extraNonce === 0 ? Buffer.of(OP.OP_0) : pushData(encodeScriptNumber(extraNonce));
  return concatBytes(pushNumber(height), nonce);
}

/** The output script that commits to the witnesses of the transactions after the coinbase. */
export function commitmentScript(transactions: readonly { readonly wtxKey: string }[]): Buffer {
  const leaves = Buffer.alloc((transactions.length + 1) * HASH_SIZE_BYTES);
  transactions.forEach(({ wtxKey }, i) => leaves.write(wtxKey, (i + 1) * HASH_SIZE_BYTES, 'latin1'));
  const root = loadNative()?.merkleRoot(leaves).root ?? witnessMerkleRoot(splitHashes(leaves));
  return witnessCommitmentScript(root, WITNESS_RESERVED_VALUE);
}

function splitHashes(flat: Buffer): Buffer[] {
  const count = flat.length / HASH_SIZE_BYTES;
  return Array.from({ length: count }, (_, i) =>
    flat.subarray(i * HASH_SIZE_BYTES, (i + 1) * HASH_SIZE_BYTES),
  );
}

export interface CoinbaseParts {
  height: number;
  outputScript: Bytes;
  /** Subsidy and fees. */
  valueSat: bigint;
  /** See `commitmentScript`. */
  commitment: Bytes;
  /** Whether segwit is active for the block; the commitment is always created, the coinbase's witness only if active. */
  segwitActive: boolean;
}

/** The coinbase with extra nonce 0. */
export function buildCoinbase(parts: CoinbaseParts): Transaction {
  return {
    version: 2,
    inputs: [
      {
        prevout: { hash: NULL_HASH, index: NULL_INDEX },
        scriptSig: coinbaseScriptSig(parts.height, 0),
        sequence: SEQUENCE_FINAL,
        witness: parts.segwitActive ? [WITNESS_RESERVED_VALUE] : [],
      },
    ],
    outputs: [
      { value: parts.valueSat, script: parts.outputScript },
      { value: 0n, script: parts.commitment },
    ],
    lockTime: 0,
  };
}
