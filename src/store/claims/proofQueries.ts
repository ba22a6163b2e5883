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
import { pointKey } from '../../claimtrie/item.js';
import { hashesAllClaims } from '../../claimtrie/rules.js';
import { NO_SLOTS, slotEdges, slotHashes, unpackSlots, type Slot } from '../../claimtrie/slots.js';
import { lastOfOldForm } from './hashFork.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import type { Soon } from '../../util/soon.js';
import { u32Key } from '../keys.js';
import type { RowReader } from '../rows.js';
import { readAtHand, type RowsAtHand } from '../rowsAtHand.js';
import { nameKey, nodeKey, readU32, versionsKey, type Generation } from './claimKeys.js';
import { filedName, readName } from './claimQueries.js';
import { parseNameRow } from './nameRow.js';
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
  const name = provenKey(rules, query);
  const path = await readPath(rows, rules, window, name, query, generationAt(rules, height));
  // What was there at first may have been dropped before it was read.
  await requireProvable(rows, window, query);
  return buildProof(rules, path, name, query);
}

/**
 * The same after the latest block, from the nodes and names as they are; at once where they are in memory. Who waits for it
 * holds the outcome for nothing when a block came or went meanwhile.
 */
export function readPresentProof(rows: RowReader, rules: ClaimRules, query: ProofQuery): Soon<NameProof> {
  return readAtHand(rows, (atHand) => presentProof(atHand, rules, query));
}

function presentProof(rows: RowsAtHand, rules: ClaimRules, query: ProofQuery): NameProof {
  const generation = generationAt(rules, query.height);
  const name = provenKey(rules, query);
  const nodes: PathNode[] = [];
  for (let path: string | null = ''; path !== null;) {
    const [nodeRow, nameRow] = rows.getMany([nodeKey(generation, path), nameKey(path)]);
    const slots = nodeRow ? parseNodeRow(nodeRow).slots : NO_SLOTS;
    const edges = slotEdges(slots);
    const { claims, takeover } = nameRow ? parseNameRow(nameRow) : NO_CLAIMS;
    if (path !== '' || edges.length > 0 || claims.length > 0)
      nodes.push({ path, edges, hashes: slotHashes(slots), claims, takeover });
    path = stepTowards(name, path, edges);
  }
  return buildProof(rules, nodes, name, query);
}

const NO_CLAIMS = { claims: [], takeover: 0 } as const;

function generationAt(rules: ClaimRules, height: number): Generation {
  return hashesAllClaims(rules, height) ? '1' : '0';
}

/** The name whose way is proven. */
function provenKey(rules: ClaimRules, { name, height }: ProofQuery): string {
  return hashesAllClaims(rules, height) ? toLatin1(name) : filedName(rules, name, height);
}

function buildProof(
  rules: ClaimRules,
  path: readonly PathNode[],
  name: string,
  { height, selects }: ProofQuery,
): NameProof {
  if (!hashesAllClaims(rules, height)) return buildNodesProof(path, name);
  return buildAllClaimsProof(path, name, selects);
}

/** Path of the next node on the way to the name, or null where it ends. */
function stepTowards(name: string, path: string, edges: readonly string[]): string | null {
  const step = edges.find((edge) => name.startsWith(edge, path.length));
  return step === undefined ? null : path + step;
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
  for (let path: string | null = ''; path !== null;) {
    const slots: Slot[] = await slotsAt(rows, window, generation, path, height, last);
    const edges = slots.map(({ edge }) => edge);
    const hashes = Buffer.concat(slots.map(({ hash }) => hash));
    const node: PathNode = { path, edges, hashes, ...(await claimsAt(rows, rules, path, height)) };
    if (path !== '' || edges.length > 0 || node.claims.length > 0) nodes.push(node);
    path = stepTowards(name, path, edges);
  }
  return nodes;
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
  const active = claims.filter((claim) => claim.active);
  return {
    claims: active.map(({ txid, n, claimId }) => ({ point: pointKey(txid, n), claimId: toLatin1(claimId) })),
    takeover,
  };
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

/** Notes of a node that are read at once. Arbitrary: most nodes have fewer since a block. */
const NOTES_AT_ONCE = 128;

/** For each slot the first note after block `height` among the rows under `prefix`: what it was before. */
async function* firstChanges(
  rows: RowReader,
  prefix: string,
  height: number,
): AsyncGenerator<[firstByte: number, before: Slot | null]> {
  const end = prefix + '\xff'.repeat(6);
  let gte = prefix;
  /** The slot whose first note was found. */
  let settled = -1;
  for (let limit = NOTES_AT_ONCE; ; limit = 1) {
    const found = await rows.getRange({ gte, lt: end, limit });
    for (const [key, row] of found) {
      const firstByte = key.charCodeAt(prefix.length);
      if (firstByte === settled || readU32(key, prefix.length + 1) <= height) continue;
      settled = firstByte;
      yield [firstByte, parseVersionRow(firstByte, row)];
    }
    const last = found.at(-1);
    if (found.length < limit || last === undefined) return;
    // Of a node with many notes those are passed over that do not matter.
    const lastByte = last[0].charCodeAt(prefix.length);
    if (lastByte !== settled) gte = prefix + String.fromCharCode(lastByte) + u32Key(height + 1);
    else if (lastByte === 255) return;
    else gte = prefix + String.fromCharCode(lastByte + 1) + u32Key(0);
  }
}
