/**
 * Name proofs after any block within the proof window: the nodes on the way to a name as they were, from the present
 * ones and the history of their slots, and the claims from the items. Owns the reading; the shapes are in
 * `claimtrie/proof.ts`.
 */
import {
  buildAllClaimsProof,
  buildNodesProof,
  type NameProof,
  type PathNode,
} from '../../claimtrie/proof.js';
import { hashesAllClaims } from '../../claimtrie/rules.js';
import { unpackSlots, type Slot } from '../../claimtrie/slots.js';
import { lastOfOldForm } from './hashFork.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { u32Key } from '../keys.js';
import type { RowReader } from '../rows.js';
import { nodeKey, readU32, versionsKey, type Generation } from './claimKeys.js';
import { filedName, readName } from './claimQueries.js';
import { parseNodeRow, parseVersionRow } from './nodeRow.js';
import { readOwnership } from './ownership.js';
import { epochOf, oldestProvable, type ProofWindow } from './versions.js';

/** The nodes of so old a block are not kept. */
export class ProofUnavailableError extends Error {
  override readonly name = 'ProofUnavailableError';
  readonly oldestHeight: number;

  constructor(height: number, oldestHeight: number) {
    super(`name proofs reach back to block ${oldestHeight}; block ${height} is older`);
    this.oldestHeight = oldestHeight;
  }
}

export interface ProofQuery {
  name: Bytes;
  /** After which block. */
  height: number;
  /** Asked again and again, since blocks are connected meanwhile; of ones taken back the caller must know by himself. */
  tipHeight: () => number;
  /** Which claim of the name is proven (form with all claims only); the controlling one by default. */
  selects?: (claimId: Bytes) => boolean;
}

/** Source: `getProofForName`. */
export async function readProof(
  rows: RowReader,
  rules: ClaimRules,
  window: ProofWindow,
  query: ProofQuery,
): Promise<NameProof> {
  const { height } = query;
  await requireProvable(rows, window, query);
  const allClaims = hashesAllClaims(rules, height);
  const name = allClaims ? toLatin1(query.name) : filedName(rules, query.name, height);
  const path = await readPath(rows, rules, window, name, query, allClaims ? '1' : '0');
  // What was there at first may have been dropped before it was read.
  await requireProvable(rows, window, query);
  if (!allClaims) return buildNodesProof(path, name);
  return buildAllClaimsProof(path, name, query.selects);
}

async function requireProvable(
  rows: RowReader,
  window: ProofWindow,
  { height, tipHeight }: ProofQuery,
): Promise<void> {
  const oldest = await oldestProvable(rows, window, tipHeight());
  if (height < oldest) throw new ProofUnavailableError(height, oldest);
}

/** The nodes whose path leads to the name, the root first; none of an empty trie. */
async function readPath(
  rows: RowReader,
  rules: ClaimRules,
  window: ProofWindow,
  name: string,
  { height, tipHeight }: ProofQuery,
  generation: Generation,
): Promise<PathNode[]> {
  const last = (): number => (generation === '0' ? Math.min(tipHeight(), lastOfOldForm(rules)) : tipHeight());
  const nodes: PathNode[] = [];
  for (let path = ''; ;) {
    const slots = await slotsAt(rows, window, generation, path, height, last);
    const node = { path, slots, ...(await claimsAt(rows, rules, path, height)) };
    if (path !== '' || slots.length > 0 || node.claims.length > 0) nodes.push(node);
    const { length } = path;
    const slot = slots.find(({ edge }) => name.startsWith(edge, length));
    if (slot === undefined) return nodes;
    path += slot.edge;
  }
}

async function claimsAt(
  rows: RowReader,
  rules: ClaimRules,
  path: string,
  height: number,
): Promise<Pick<PathNode, 'claims' | 'takeover'>> {
  const { hasClaims, takeover } = await readOwnership(rows, path, height);
  if (!hasClaims) return { claims: [], takeover };
  const { claims } = await readName(rows, rules, { name: fromLatin1(path), height, exact: true });
  return { claims: claims.filter((claim) => claim.active), takeover };
}

/**
 * Slots of a node after block `height`. The present ones are of a block that is not later than what `last` answers once
 * they are read; what that one and those before it changed is noted, so that the outcome is of `height` in any case.
 */
async function slotsAt(
  rows: RowReader,
  window: ProofWindow,
  generation: Generation,
  path: string,
  height: number,
  last: () => number,
): Promise<Slot[]> {
  const row = await rows.get(nodeKey(generation, path));
  const newest = last();
  const slots = new Map<number, Slot>();
  for (const slot of row ? unpackSlots(parseNodeRow(row).slots) : [])
    slots.set(slot.edge.charCodeAt(0), slot);
  // From the newest epoch to the oldest: an older note tells of an earlier time.
  const oldestEpoch = height < newest ? epochOf(window, height + 1) : Infinity;
  for (let epoch = epochOf(window, newest); epoch >= oldestEpoch; epoch--) {
    const prefix = versionsKey(epoch, generation, path);
    for await (const [firstByte, before] of firstChanges(rows, prefix, height)) {
      if (before === null) slots.delete(firstByte);
      else slots.set(firstByte, before);
    }
  }
  return [...slots.keys()].sort((a, b) => a - b).map((firstByte) => slots.get(firstByte)!);
}

/** For each slot the first note after block `height` among the rows under `prefix`: what it was before. */
async function* firstChanges(
  rows: RowReader,
  prefix: string,
  height: number,
): AsyncGenerator<[firstByte: number, before: Slot | null]> {
  const end = prefix + '\xff'.repeat(6);
  for (let gte = prefix; ;) {
    let found: [string, Bytes] | null = null;
    for await (const entry of rows.range({ gte, lt: end, limit: 1 })) found = entry;
    if (found === null) return;
    const [key, row] = found;
    const firstByte = key.charCodeAt(prefix.length);
    if (readU32(key, prefix.length + 1) <= height) {
      gte = prefix + String.fromCharCode(firstByte) + u32Key(height + 1);
      continue;
    }
    yield [firstByte, parseVersionRow(firstByte, row)];
    if (firstByte === 255) return;
    gte = prefix + String.fromCharCode(firstByte + 1);
  }
}
