/**
 * Claims and supports that are in the trie although their output is spent. The reference returns them without value and
 * address, because it reads both from the unspent outputs. QUIRK: near the normalization fork, the reference looks for a
 * spent item under the normalized name while the item is queued under the raw name, or the reverse. So it does not find the
 * item, and the item still enters the trie. Source: lbrycrd claimtrie.cpp `remove`, `adjustNameForValidHeight`. Test:
 * test/unit/rpc/claimtrie/lbrycrd.test.ts.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import { normalizeName } from '../../claimtrie/normalize.js';
import { pointKey } from '../../claimtrie/item.js';
import { MAX_DELAY } from '../../claimtrie/rules.js';
import { INPUT_STRIDE } from '../../primitives/blockLayout.js';
import { prevoutAt } from '../../primitives/blockView.js';
import type { NameInfo, OutputInfo } from '../../store/claims/query/claimQueries.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { equalBytes, toLatin1, type Bytes } from '../../util/bytes.js';
import { Writer } from '../../util/writer.js';
import type { ClaimReader } from '../../interfaces/claimReader.js';
import type { MaybePromise } from '../../util/maybePromise.js';
import { isCoinNow, type OutputDeps } from '../lookup/outputScripts.js';

export interface OrphanDeps extends OutputDeps {
  readonly chain: OutputDeps['chain'] & Pick<ChainReader, 'readBlock'>;
  readonly claims: ClaimReader;
}

/**
 * Whether the reference may have missed that an item's output was spent, since the item was created near the fork.
 * Comparisons of names are cached, because most items of a name have the same raw name.
 */
class NearFork {
  private readonly fork: number;
  private name: Bytes | null = null;
  private isRenamed = false;

  constructor({ rules }: ClaimReader) {
    this.fork = rules.normalizationForkHeight;
  }

  has({ height, name }: OutputInfo): boolean {
    if (height > this.fork || height + MAX_DELAY <= this.fork) return false;
    if (this.name === null || !equalBytes(this.name, name)) {
      this.name = name;
      this.isRenamed = !equalBytes(normalizeName(name), name);
    }
    return this.isRenamed;
  }
}

const pointOf = ({ txid, n }: OutputInfo): string => pointKey(txid, n);

/** Returns the outpoints of all claims and supports in the claim trie under a name. */
function filedPoints({ claims, supportsWithoutClaim }: NameInfo): Set<string> {
  const points = new Set(supportsWithoutClaim.map(pointOf));
  for (const claim of claims) {
    points.add(pointOf(claim));
    for (const support of claim.supports) points.add(pointOf(support));
  }
  return points;
}

/** Returns the items whose output is spent in a block up to height `to`. Only blocks on disk are searched, each once. */
async function spentWithin(
  { chain }: OrphanDeps,
  items: readonly OutputInfo[],
  to: number,
): Promise<OutputInfo[]> {
  const wanted = new Map<string, OutputInfo[]>();
  let height = Infinity;
  for (const item of items) {
    const point = toLatin1(new Writer(36).raw(item.txid).u32(item.n).finish());
    const same = wanted.get(point);
    if (same) same.push(item);
    else wanted.set(point, [item]);
    height = Math.min(height, item.height);
  }
  const spent: OutputInfo[] = [];
  for (; height <= to; height++) {
    const id = chain.chain.index.active.at(height);
    if (id === NO_HEADER || !chain.hasData(id)) continue;
    const { raw, parsed } = await chain.readBlock(id);
    const inputs = parsed.inputs.length / INPUT_STRIDE;
    for (let input = 0; input < inputs; input++) {
      for (const item of wanted.get(toLatin1(prevoutAt(raw, parsed, input))) ?? []) spent.push(item);
    }
  }
  return spent;
}

/**
 * Returns the items of a name, as stored after block `height`, whose output was already spent at that height. Synchronous if
 * no item was created near the fork.
 */
export function spentItems(
  deps: OrphanDeps,
  name: Bytes,
  items: readonly OutputInfo[],
  height: number,
): MaybePromise<Set<OutputInfo>> {
  const spent = new Set<OutputInfo>();
  const nearFork = new NearFork(deps.claims);
  const near: OutputInfo[] = [];
  for (const item of items) {
    // After the fork block was disconnected, some of its items remain in the trie although their outputs do not exist.
    if (item.height > height) spent.add(item);
    if (nearFork.has(item)) near.push(item);
  }
  return near.length === 0 ? spent : addSpent(deps, name, near, height, spent);
}

/** Adds to `spent` those items created near the fork whose output was spent at `height`. */
async function addSpent(
  deps: OrphanDeps,
  name: Bytes,
  near: readonly OutputInfo[],
  height: number,
  spent: Set<OutputInfo>,
): Promise<Set<OutputInfo>> {
  const { claims, chain } = deps;
  const missed: OutputInfo[] = [];
  for (const item of near) if (!(await isCoinNow(deps, item))) missed.push(item);
  if (missed.length === 0) return spent;
  const fork = claims.rules.normalizationForkHeight;
  // An item that is in the trie although its output is spent is one that the reference failed to remove.
  const now = height >= fork ? await claims.nameAt({ name, height: chain.chain.height, exact: true }) : null;
  const filed = now === null ? new Set<string>() : filedPoints(now);
  const others: OutputInfo[] = [];
  for (const item of missed) {
    if (filed.has(pointOf(item))) spent.add(item);
    else others.push(item);
  }
  for (const item of await spentWithin(deps, others, Math.min(fork, height))) spent.add(item);
  return spent;
}
