/**
 * The rules of a block that need only the block, as a whole and as separate functions. The separate functions take numbers
 * and hashes, so that a caller with an offset table need not build objects. The order in `checkBlock` is part of the rule,
 * because it determines the reason. Source: lbrycrd validation.cpp `CheckBlock`.
 */
import { merkleRoot, type MerkleRoot } from '../crypto/merkle.js';
import type { NetworkParams } from '../params/network.js';
import type { Block } from '../primitives/block.js';
import { formatHeader } from '../primitives/header.js';
import { isCoinbase, txid } from '../primitives/transaction.js';
import { equalBytes, hashToHex, type Bytes } from '../util/bytes.js';
import { checkHeader } from './checkHeader.js';
import { checkTransaction } from './checkTransaction.js';
import { MAX_BLOCK_SIGOPS_COST, MAX_BLOCK_WEIGHT, WITNESS_SCALE_FACTOR } from './limits.js';
import { reject, type ValidationError } from './reject.js';
import { legacySigopCount } from './sigopCost.js';
import { blockSizes } from './txSize.js';

/**
 * Checks that the transactions are those to which the header commits, and that none is duplicated (CVE-2012-2459).
 * `computed` is the merkle root of the transactions.
 */
export function checkMerkleRoot(computed: MerkleRoot, expected: Bytes): ValidationError | null {
  if (!equalBytes(computed.root, expected))
    return reject('bad-txnmrklroot', { debug: 'hashMerkleRoot mismatch' });
  if (computed.mutated) return reject('bad-txns-duplicate', { debug: 'duplicate transaction' });
  return null;
}

/** Checks the length of a block. `strippedSizeBytes` is the size of the whole block without witness. */
export function checkBlockLength(txCount: number, strippedSizeBytes: number): ValidationError | null {
  const fits =
    txCount > 0 &&
    txCount * WITNESS_SCALE_FACTOR <= MAX_BLOCK_WEIGHT &&
    strippedSizeBytes * WITNESS_SCALE_FACTOR <= MAX_BLOCK_WEIGHT;
  return fits ? null : reject('bad-blk-length', { debug: 'size limits failed' });
}

/** Checks that the first transaction, and no other, is a coinbase. */
export function checkCoinbasePlace(
  txCount: number,
  isCoinbaseAt: (index: number) => boolean,
): ValidationError | null {
  if (txCount === 0 || !isCoinbaseAt(0))
    return reject('bad-cb-missing', { debug: 'first tx is not coinbase' });
  for (let i = 1; i < txCount; i++) {
    if (isCoinbaseAt(i)) return reject('bad-cb-multiple', { debug: 'more than one coinbase' });
  }
  return null;
}

/**
 * Returns the verdict on a block that contains an invalid transaction. `error` is the result of `checkTransaction`. `id` is
 * in wire order.
 */
export function transactionFailed(error: ValidationError, id: Bytes): ValidationError {
  return { ...error, debug: `Transaction check failed (tx hash ${hashToHex(id)}) ${error.debug ?? ''}` };
}

/** Checks the number of legacy sigops. `count` is the sum of `legacySigopCount` over the block. */
export function checkLegacySigops(count: number): ValidationError | null {
  if (count * WITNESS_SCALE_FACTOR <= MAX_BLOCK_SIGOPS_COST) return null;
  return reject('bad-blk-sigops', { debug: 'out-of-bounds SigOpCount' });
}

export interface CheckBlockOptions {
  /** Whether to check the proof of work; false for a candidate that is not mined yet. */
  readonly proofOfWork?: boolean;
  /** Whether to check the merkle root; false for a candidate whose root is not set yet. */
  readonly merkleRoot?: boolean;
  /** Txids in wire order, if the caller has computed them. */
  readonly txids?: readonly Bytes[];
}

/** Checks all context-free rules for blocks, in the reference's order. The first violation is the verdict. */
export function checkBlock(
  block: Block,
  params: Pick<NetworkParams, 'powLimit'>,
  options: CheckBlockOptions = {},
): ValidationError | null {
  const { header, transactions } = block;
  if (options.proofOfWork ?? true) {
    const error = checkHeader(formatHeader(header), header.bits, params);
    if (error) return error;
  }
  const ids = options.txids ?? transactions.map(txid);
  if (options.merkleRoot ?? true) {
    const error = checkMerkleRoot(merkleRoot(ids), header.merkleRoot);
    if (error) return error;
  }
  const error =
    checkBlockLength(transactions.length, blockSizes(block).strippedSizeBytes) ??
    checkCoinbasePlace(transactions.length, (i) => isCoinbase(transactions[i]!));
  if (error) return error;
  let sigops = 0;
  for (let i = 0; i < transactions.length; i++) {
    const tx = transactions[i]!;
    const failed = checkTransaction(tx);
    if (failed) return transactionFailed(failed, ids[i]!);
    sigops += legacySigopCount(tx);
  }
  return checkLegacySigops(sigops);
}
