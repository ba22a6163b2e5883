/**
 * Checks a miner's block proposal against every rule except proof of work (BIP23). The block is not stored. Source: lbrycrd
 * rpc/mining.cpp `getblocktemplate`.
 */
import type { Chain } from '../chain/chain.js';
import type { LoadedBlock } from '../chain/blocks/loadedBlock.js';
import { NO_HEADER, STATUS } from '../store/files/headerTable.js';
import { equalBytes } from '../util/bytes.js';

/**
 * Checks a block that is not mined yet (BIP22 proposal). Resolves to null if the block would be valid. Otherwise to
 * `duplicate`, `duplicate-invalid`, `duplicate-inconclusive` (known but not validated yet), `inconclusive-not-best-prevblk`
 * or the reason for the rejection.
 */
export async function checkProposal(chain: Chain, block: LoadedBlock): Promise<string | null> {
  const { headers } = chain.index;
  const known = headers.find(block.hash);
  if (known !== NO_HEADER) {
    if (headers.isFailed(known)) return 'duplicate-invalid';
    return headers.hasStatus(known, STATUS.validScripts) ? 'duplicate' : 'duplicate-inconclusive';
  }
  if (!equalBytes(block.header.prevHash, headers.hash(chain.tip))) return 'inconclusive-not-best-prevblk';
  return (await chain.testBlock(block, false))?.reason ?? null;
}
