/**
 * Coinbase of a block that this node assembles: height, extra nonce, reward, witness commitment. Source: lbrycrd miner.cpp
 * `CreateNewBlock`, `IncrementExtraNonce`; validation.cpp `GenerateCoinbaseCommitment`.
 */
import { witnessCommitmentScript, witnessMerkleRoot } from '../consensus/witnessCommitment.js';
import { loadNative } from '../native/binding.js';
import { NULL_HASH, NULL_INDEX, SEQUENCE_FINAL, type Transaction } from '../primitives/transaction.js';
import { OP } from '../script/opcodes.js';
import { pushData, pushNumber } from '../script/script.js';
import { encodeScriptNumber } from '../script/scriptNumber.js';
import { concatBytes, type Bytes } from '../util/bytes.js';

/** Reserved value that is hashed with the witness root. It is also the only witness item of the coinbase (BIP141). */
export const WITNESS_RESERVED_VALUE: Bytes = new Uint8Array(32);
const HASH_SIZE_BYTES = 32;

/** ScriptSig of the coinbase: the height (BIP34) and the extra nonce. In a template the extra nonce is 0; miners replace it. */
export function coinbaseScriptSig(height: number, extraNonce: number): Buffer {
  const nonce = extraNonce === 0 ? Buffer.of(OP.OP_0) : pushData(encodeScriptNumber(extraNonce));
  return concatBytes(pushNumber(height), nonce);
}

/** Output script with the witness commitment. `transactions` are the block's transactions without the coinbase. */
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
  /** Value of the coinbase in satoshis: subsidy and fees. */
  valueSat: bigint;
  /** See `commitmentScript`. */
  commitment: Bytes;
  /**
   * Whether segwit is active for the block. The commitment output is always created; the coinbase gets a witness only if
   * segwit is active.
   */
  segwitActive: boolean;
}

/** Returns the coinbase transaction with extra nonce 0. */
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
