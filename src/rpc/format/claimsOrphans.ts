/**
 * Claims and supports that are filed although their output is spent, which the reference shows without value and
 * address: it looks these up among the unspent outputs.
 * QUIRK: near the normalization fork the reference looks for what a block spends under the normalized name already where
 * the item is queued under the other, or the other way round, and does not find it; the item enters the trie all the
 * same. Source: claimtrie.cpp `remove`, `adjustNameForValidHeight`. Test: test/unit/rpc/claimtrie/lbrycrd.test.ts.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import { normalizeName } from '../../claimtrie/normalize.js';
import { MAX_DELAY } from '../../claimtrie/rules.js';
import { INPUT_STRIDE } from '../../primitives/blockLayout.js';
import { prevoutAt } from '../../primitives/blockView.js';
import type { NameInfo, OutputInfo } from '../../store/claims/claimQueries.js';
import { NO_HEADER } from '../../store/headerTable.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import { Writer } from '../../util/writer.js';
import type { ClaimReader } from '../claimReader.js';
import { isCoinNow, type OutputDeps } from './claimsOutput.js';

export interface OrphanDeps extends OutputDeps {
  readonly chain: OutputDeps['chain'] & Pick<ChainReader, 'readBlock'>;
  readonly claims: ClaimReader;
}

/** Whether the reference could have missed a spend of the item. */
function isNearFork({ rules }: ClaimReader, { height, name }: OutputInfo): boolean {
  const fork = rules.normalizationForkHeight;
  return height <= fork && height + MAX_DELAY > fork && !equalBytes(normalizeName(name), name);
}

function isFiled({ claims, supportsWithoutClaim }: NameInfo, { txid, n }: OutputInfo): boolean {
  const filed = [...claims, ...claims.flatMap((claim) => claim.supports), ...supportsWithoutClaim];
  return filed.some((item) => item.n === n && equalBytes(item.txid, txid));
}

/** Whether a block of these heights spends the output, as far as they are on disk. */
async function isSpentWithin({ chain }: OrphanDeps, item: OutputInfo, to: number): Promise<boolean> {
  const outPoint = new Writer(36).raw(item.txid).u32(item.n).finish();
  for (let height = item.height; height <= to; height++) {
    const id = chain.chain.index.active.at(height);
    if (id === NO_HEADER || !chain.hasData(id)) continue;
    const { raw, parsed } = await chain.readBlock(id);
    const inputs = parsed.inputs.length / INPUT_STRIDE;
    for (let input = 0; input < inputs; input++) {
      if (equalBytes(prevoutAt(raw, parsed, input), outPoint)) return true;
    }
  }
  return false;
}

/** Those of a name's items, as they were filed after block `height`, whose output was not unspent then. */
export async function spentItems(
  deps: OrphanDeps,
  name: Bytes,
  items: readonly OutputInfo[],
  height: number,
): Promise<Set<OutputInfo>> {
  const spent = new Set<OutputInfo>();
  const { claims, chain } = deps;
  const fork = claims.rules.normalizationForkHeight;
  for (const item of items) {
    // Rolling back over the fork leaves some of its block's items behind, whose outputs are not there yet.
    if (item.height > height) spent.add(item);
    if (!isNearFork(claims, item) || (await isCoinNow(deps, item))) continue;
    const tipHeight = chain.chain.height;
    // What the trie holds to this day was never found by its spend, which came by the fork.
    const now = height >= fork ? await claims.nameAt({ name, height: tipHeight, exact: true }) : null;
    if ((now !== null && isFiled(now, item)) || (await isSpentWithin(deps, item, Math.min(fork, height)))) {
      spent.add(item);
    }
  }
  return spent;
}
