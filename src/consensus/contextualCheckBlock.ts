/**
 * The rules of a block that need its ancestors' headers, as a whole and as separate functions; without coins and claims.
 * Source: lbrycrd validation.cpp `ContextualCheckBlock`.
 */
import type { NetworkParams } from '../params/network.js';
import type { Block } from '../primitives/block.js';
import { hasWitness, wtxid } from '../primitives/transaction.js';
import { pushNumber } from '../script/script.js';
import { equalBytes, type Bytes } from '../util/bytes.js';
import { MAX_BLOCK_WEIGHT } from './limits.js';
import { isFinalTransaction, type LockedTransaction } from './lockTime.js';
import { reject, type ValidationError } from './reject.js';
import { blockSizes } from './txSize.js';
import { checkWitnessCommitment, witnessMerkleRoot } from './witnessCommitment.js';

export interface BlockContext {
  /** Height of the block that is checked. */
  readonly height: number;
  /** Median time past of the parent in seconds; 0 for the genesis block. */
  readonly parentMedianTimeSec: number;
  /** Whether the deployments CSV (BIP68, BIP112, BIP113) and segwit are active for this block. */
  readonly csvActive: boolean;
  readonly segwitActive: boolean;
}

/** Time with which lock times are compared: from BIP113 on the parent's median time past, before it the block's own time. */
export function lockTimeCutoffSec(
  context: Pick<BlockContext, 'csvActive' | 'parentMedianTimeSec'>,
  blockTimeSec: number,
): number {
  return context.csvActive ? context.parentMedianTimeSec : blockTimeSec;
}

function checkFinality(
  transactions: Iterable<LockedTransaction>,
  height: number,
  cutoffTimeSec: number,
): ValidationError | null {
  for (const tx of transactions) {
    if (!isFinalTransaction(tx, height, cutoffTimeSec)) {
      return reject('bad-txns-nonfinal', { debug: 'non-final transaction' });
    }
  }
  return null;
}

/** The required beginning of a coinbase script from `bip34Height` on: the shortest push of the height. Source: BIP34. */
export function coinbaseHeightPush(height: number): Buffer {
  return pushNumber(height);
}

/** Checks BIP34: the coinbase script begins with the push of the height. Any bytes may follow. */
export function checkCoinbaseHeight(
  coinbaseScript: Bytes,
  height: number,
  params: Pick<NetworkParams, 'bip34Height'>,
): ValidationError | null {
  if (height < params.bip34Height) return null;
  const expected = coinbaseHeightPush(height);
  if (equalBytes(coinbaseScript.subarray(0, expected.length), expected)) return null;
  return reject('bad-cb-height', { debug: 'block height mismatch in coinbase' });
}

/**
 * Checks the block weight (BIP141). Must be called after the check of the commitment, because the block id does not cover
 * the coinbase's witness.
 */
export function checkBlockWeight(weight: number): ValidationError | null {
  if (weight <= MAX_BLOCK_WEIGHT) return null;
  return reject('bad-blk-weight', { debug: 'ContextualCheckBlock : weight limit failed' });
}

/** Checks all contextual rules of a block that passed `checkBlock`, in the order in which the reference checks them. */
export function contextualCheckBlock(
  block: Block,
  context: BlockContext,
  params: Pick<NetworkParams, 'bip34Height'>,
): ValidationError | null {
  const { header, transactions } = block;
  const coinbase = transactions[0]!;
  return (
    checkFinality(transactions, context.height, lockTimeCutoffSec(context, header.timeSec)) ??
    checkCoinbaseHeight(coinbase.inputs[0]!.scriptSig, context.height, params) ??
    checkWitnessCommitment(
      coinbase,
      context.segwitActive,
      () => witnessMerkleRoot(transactions.map(wtxid)),
      () => transactions.some(hasWitness),
    ) ??
    checkBlockWeight(blockSizes(block).weight)
  );
}
