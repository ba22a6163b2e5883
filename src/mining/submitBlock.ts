/**
 * A block from a miner: mends its coinbase, hands it to the chain, and puts the verdict in BIP22's words.
 * Source: lbrycrd rpc/mining.cpp `submitblock`, validation.cpp `UpdateUncommittedBlockStructures`.
 */
import type { Chain } from '../chain/chain.js';
import { loadBlock, type LoadedBlock } from '../chain/loadedBlock.js';
import { findWitnessCommitment } from '../consensus/witnessCommitment.js';
import { formatBlock, parseBlockBytes } from '../primitives/block.js';
import { TX_FLAGS, TX_HAS_WITNESS, TX_IS_COINBASE, TX_OUTPUT_COUNT } from '../primitives/blockLayout.js';
import { outputScriptAt } from '../primitives/blockView.js';
import { NO_HEADER, STATUS } from '../store/headerTable.js';
import { WITNESS_RESERVED_VALUE } from './coinbase.js';

/** Whether the block begins with a coinbase, without which it is not even looked at. */
export function startsWithCoinbase({ parsed }: LoadedBlock): boolean {
  return parsed.txCount > 0 && (parsed.txs[TX_FLAGS]! & TX_IS_COINBASE) !== 0;
}

/**
 * The block with the reserved witness value in its coinbase, where that commits to witnesses but carries none: miners
 * that do not know segwit leave it out.
 */
function withReservedValue(block: LoadedBlock): LoadedBlock {
  const { raw, parsed } = block;
  if ((parsed.txs[TX_FLAGS]! & TX_HAS_WITNESS) !== 0) return block;
  const outputs = Array.from({ length: parsed.txs[TX_OUTPUT_COUNT]! }, (_, n) => ({
    script: outputScriptAt(raw, parsed, n),
  }));
  if (findWitnessCommitment(outputs) < 0) return block;
  const whole = parseBlockBytes(raw);
  whole.transactions[0]!.inputs[0]!.witness = [WITNESS_RESERVED_VALUE];
  return loadBlock(formatBlock(whole));
}

/**
 * Null when the block is right and on the active chain, else `duplicate`, `duplicate-invalid`, `inconclusive` (stored
 * on a side branch), `invalid` (refused before it was stored) or the reason for which it could not be connected.
 * The block must start with a coinbase.
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
  const result = await chain.processBlock(mend ? withReservedValue(block) : block, true);
  if (!result.isNew) return result.error === null ? 'duplicate' : 'invalid';
  if (!result.checked) return 'inconclusive';
  return result.error?.reason ?? null;
}
