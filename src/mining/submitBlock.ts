/**
 * Accepts a block from a miner: completes its coinbase, passes it to the chain, and returns the verdict in the terms of
 * BIP22. Source: lbrycrd rpc/mining.cpp `submitblock`, validation.cpp `UpdateUncommittedBlockStructures`.
 */
import type { Chain } from '../chain/chain.js';
import { loadLargeBlock, type LoadedBlock } from '../chain/blocks/loadedBlock.js';
import { checkBlockLength } from '../consensus/checkBlock.js';
import { findWitnessCommitment } from '../consensus/witnessCommitment.js';
import {
  TX_END,
  TX_FLAGS,
  TX_HAS_WITNESS,
  TX_IS_COINBASE,
  TX_OUTPUT_COUNT,
  TX_START,
} from '../primitives/blockLayout.js';
import { outputScriptAt, txBytes } from '../primitives/blockView.js';
import { formatTransaction, parseTransaction } from '../primitives/transaction.js';
import { NO_HEADER, STATUS } from '../store/files/headerTable.js';
import { concatBytes } from '../util/bytes.js';
import { Reader } from '../util/reader.js';
import { WITNESS_RESERVED_VALUE } from './coinbase.js';

/** Whether the first transaction of the block is a coinbase. Other blocks are rejected immediately. */
export function startsWithCoinbase({ parsed }: LoadedBlock): boolean {
  return parsed.txCount > 0 && (parsed.txs[TX_FLAGS]! & TX_IS_COINBASE) !== 0;
}

/**
 * Adds the reserved witness value to the coinbase if the coinbase commits to witnesses but lacks this value, because miners
 * without segwit support omit it. A block that is too long is not changed, because it is rejected before the value is
 * needed.
 */
async function withReservedValue(block: LoadedBlock): Promise<LoadedBlock> {
  const { raw, parsed } = block;
  if ((parsed.txs[TX_FLAGS]! & TX_HAS_WITNESS) !== 0) return block;
  if (checkBlockLength(parsed.txCount, parsed.strippedSizeBytes)) return block;
  const outputs = Array.from({ length: parsed.txs[TX_OUTPUT_COUNT]! }, (_, n) => ({
    script: outputScriptAt(raw, parsed, n),
  }));
  if (findWitnessCommitment(outputs) < 0) return block;
  const coinbase = parseTransaction(new Reader(txBytes(raw, parsed, 0)));
  coinbase.inputs[0]!.witness = [WITNESS_RESERVED_VALUE];
  const before = raw.subarray(0, parsed.txs[TX_START]);
  return loadLargeBlock(concatBytes(before, formatTransaction(coinbase), raw.subarray(parsed.txs[TX_END])));
}

/**
 * Submits a mined block. Resolves to null if the block is valid and on the active chain. Otherwise to `duplicate`,
 * `duplicate-invalid`, `inconclusive` (stored on a side branch), `invalid` (rejected before it was stored) or the reason why
 * it could not be connected. The block must start with a coinbase.
 */
export async function submitBlock(chain: Chain, block: LoadedBlock): Promise<string | null> {
  const { headers, versionBits } = chain.index;
  const known = headers.find(block.hash);
  if (known !== NO_HEADER) {
    if (headers.isFailed(known)) return 'duplicate-invalid';
    if (headers.hasStatus(known, STATUS.validScripts)) return 'duplicate';
  }
  const parent = headers.find(block.header.prevHash);
  const mend = parent !== NO_HEADER && versionBits.isActive('segwit', parent);
  const result = await chain.processBlock(mend ? await withReservedValue(block) : block, true);
  if (!result.isNew) return result.error === null ? 'duplicate' : 'invalid';
  if (!result.checked) return 'inconclusive';
  return result.error?.reason ?? null;
}
