/**
 * Name proofs after any block within the proof window. The nodes on the path to the name are restored from the current nodes
 * and the history of their slots. The claims are restored from the item rows. This module reads the rows; the proof formats
 * are in `claimtrie/proof.ts`.
 */
import {
  buildAllClaimsProof,
  buildNodesProof,
  leavesOf,
  ListedClaims,
  NO_PATH_CLAIMS,
  type NameProof,
  type PathNode,
} from '../../../claimtrie/proof.js';
import { intact } from '../../../claimtrie/corruption.js';
import { pointKey } from '../../../claimtrie/item.js';
import { filesNormalized, hashesAllClaims } from '../../../claimtrie/rules.js';
import { NO_SLOTS, SlotCursor, slotEdges, slotHashes } from '../../../claimtrie/slots.js';
import { lastOfOldForm } from '../hashFork.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import { BoundedMap } from '../../../util/boundedMap.js';
import { fromLatin1, toLatin1, type Bytes } from '../../../util/bytes.js';
import type { MaybePromise } from '../../../util/maybePromise.js';
import type { RowReader } from '../../rows/rows.js';
import { readAtHand, type RowsAtHand } from '../../rows/rowsAtHand.js';
import { nameKey, nodeKey, type Generation } from '../rows/claimKeys.js';
import { filedName, readName } from './claimQueries.js';
import type { KeptClaims } from '../keptClaims.js';
import { readHeads, type KnownHeads } from './nameHeads.js';
import { NamePlaces } from '../namePlaces.js';
import { parseNodeRow } from '../rows/nodeRow.js';
import { readOwnership } from './ownership.js';
import { pastSlots, type PastBlock } from './pastNodes.js';
import { oldestProvable, readNotedFrom, type ProofWindow } from '../versions.js';

/** Thrown if the requested block is too old, so that its trie nodes are not stored any more. */
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
  /** Height of the block after which the state is proven. */
  height: number;
  /**
   * Returns the current height of the tip. Called repeatedly, because blocks may be connected during the query. The caller
   * must detect disconnected blocks itself.
   */
  tipHeight: () => number;
  /** Selects the claim that is proven (only for the all-claims form); if absent, the controlling claim. */
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
  const notedFrom = await readNotedFrom(rows);
  const block = { window, generation: generationAt(rules, height), height, notedFrom };
  const path = await readPath(rows, rules, block, name, query.tipHeight);
  // The window is checked a second time, because rows may have been deleted between the first check and their read.
  await requireProvable(rows, window, query);
  return buildProof(rules, path, name, query);
}

/**
 * Creates a name proof for the state after the latest block, from the current rows of nodes and names. Synchronous if the
 * rows are in memory. The result is invalid if a block is connected or disconnected during the call.
 */
export function readPresentProof(
  rows: RowReader,
  rules: ClaimRules,
  query: ProofQuery,
  known: KnownNames = {},
): MaybePromise<NameProof> {
  return readAtHand(rows, (atHand) => presentProof(atHand, rules, query, known));
}

/**
 * Caches for proofs. Proofs of the old form use `heads`; proofs of the all-claims form use `claims`, for names with very many
 * claims, and `nodes`.
 */
export interface KnownNames {
  /** Cache of the heads of name rows. An entry is valid until the tip changes. */
  readonly heads?: KnownHeads;
  readonly claims?: KeptClaims;
  /** Cache of the nodes after the latest block. */
  readonly nodes?: KnownNodes;
}

/** A node of the claim trie with its slots; `node` is null for an empty trie. */
interface ReachedNode {
  readonly node: PathNode | null;
  readonly slots: Buffer;
}

/** Nodes by path. Those near the root are part of the proofs of most names. */
export type KnownNodes = BoundedMap<string, ReachedNode>;

/** Maximum total size of cached nodes, in estimated bytes. */
const MOST_NODES_BYTES = 4 << 20;
/** Estimated memory of the objects of a node, of each byte of its slots with the pairs towards them, and of its claims. */
const NODE_BYTES = 512;
const FOR_SLOT_BYTE = 40;
const FOR_CLAIM_BYTE = 4;

export const noKnownNodes = (): KnownNodes => new BoundedMap(MOST_NODES_BYTES);

function presentProof(rows: RowsAtHand, rules: ClaimRules, query: ProofQuery, known: KnownNames): NameProof {
  const generation = generationAt(rules, query.height);
  const name = provenKey(rules, query);
  const nodes: PathNode[] = [];
  /** Whether the current node must have a row. A leaf has no row. */
  let isInner = false;
  for (let path: string | null = ''; path !== null;) {
    const { node, slots } = nodeAt(rows, generation, path, isInner, known);
    if (node === null) break;
    nodes.push(node);
    const next = stepTowards(name, path, node.edges);
    isInner = next !== null && then.seek(slots, next.charCodeAt(path.length)) && !then.leaf;
    path = next;
  }
  return buildProof(rules, nodes, name, query);
}

function nodeAt(
  rows: RowsAtHand,
  generation: Generation,
  path: string,
  isInner: boolean,
  known: KnownNames,
): ReachedNode {
  const kept = generation === '0' ? undefined : known.nodes?.get(path);
  if (kept !== undefined) return kept;
  const keepsNode = generation !== '0' && known.nodes !== undefined;
  const [foundRow] = rows.getMany([nodeKey(generation, path)]);
  intact(foundRow ?? !isInner, 'a node is missing');
  const nodeRow = foundRow && keepsNode ? ownCopy(foundRow) : foundRow;
  const slots = nodeRow ? parseNodeRow(nodeRow).slots : NO_SLOTS;
  const edges = slotEdges(slots);
  const place = { path, edges, hashes: slotHashes(slots) };
  if (generation === '0') {
    const claims = bestClaim(rows, path, known);
    return { node: isEmptyRoot(place, claims) ? null : { ...place, ...claims }, slots };
  }
  const foundName = rows.get(nameKey(path));
  const nameRow = foundName && keepsNode ? ownCopy(foundName) : foundName;
  const claims = (nameRow && known.claims?.find(path, nameRow)) ?? presentClaims(nameRow);
  if (isEmptyRoot(place, claims)) return { node: null, slots };
  const node: PathNode = { ...place, ...claims };
  if (known.nodes === undefined) return { node, slots };
  node.leaves = leavesOf(node);
  node.pairs = new Map();
  const reached = { node, slots };
  const size = NODE_BYTES + FOR_SLOT_BYTE * slots.length + FOR_CLAIM_BYTE * (nameRow?.length ?? 0);
  known.nodes.set(path, reached, size);
  return reached;
}

/** Copies a row. A row may be a view of a larger buffer, which a cached view would keep in memory. */
function ownCopy(row: Bytes): Buffer {
  const copy = Buffer.allocUnsafeSlow(row.length);
  copy.set(row);
  return copy;
}

/** Whether the root of an empty trie was reached, which is not part of a proof. */
function isEmptyRoot({ path, edges }: Pick<PathNode, 'path' | 'edges'>, { claims }: NodeClaims): boolean {
  return path === '' && edges.length === 0 && claims.length === 0;
}

type NodeClaims = Pick<PathNode, 'claims' | 'takeover' | 'leaves'>;

/** The best claim of a name. Proofs of the old form contain no other claims. */
function bestClaim(rows: RowsAtHand, path: string, { heads }: KnownNames): NodeClaims {
  const head = readHeads(rows, [path], heads).get(path);
  if (head === undefined) return NO_CLAIMS;
  return { claims: new ListedClaims(head.best ? [head.best] : []), takeover: head.takeover };
}

function presentClaims(nameRow: Bytes | undefined): NodeClaims {
  if (nameRow === undefined) return NO_CLAIMS;
  const claims = new NamePlaces(nameRow);
  return { claims, takeover: claims.takeover };
}

const NO_CLAIMS: NodeClaims = { claims: NO_PATH_CLAIMS, takeover: 0 };

function generationAt(rules: ClaimRules, height: number): Generation {
  return hashesAllClaims(rules, height) ? '1' : '0';
}

/** The proven name, in the form in which the trie stores it. */
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

/** Path of the next node on the way to the name; null if no further node exists. */
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

/** Whether the trie has an inner node at `name` after the block. Valid only for blocks within the proof window. */
export async function isNodeAfter(
  rows: RowReader,
  rules: ClaimRules,
  window: ProofWindow,
  { name, height, tipHeight }: { name: string } & Pick<ProofQuery, 'height' | 'tipHeight'>,
): Promise<boolean> {
  const generation = generationAt(rules, height);
  const notedFrom = await readNotedFrom(rows);
  const row = await rows.get(nodeKey(generation, name));
  const present = row ? parseNodeRow(row).slots : NO_SLOTS;
  const newest = newestChange(rules, generation, tipHeight());
  const slots = await pastSlots(rows, { window, generation, height, notedFrom }, name, present, newest);
  return slots.length > 0;
}

/** Height of the last block that may have changed nodes of this generation, if the tip is at `tipHeight`. */
function newestChange(rules: ClaimRules, generation: Generation, tipHeight: number): number {
  return generation === '0' ? Math.min(tipHeight, lastOfOldForm(rules)) : tipHeight;
}

/** The nodes on the path to the name, the root first. Empty for an empty trie. */
async function readPath(
  rows: RowReader,
  rules: ClaimRules,
  block: PastBlock,
  name: string,
  tipHeight: () => number,
): Promise<PathNode[]> {
  const { generation, height } = block;
  const nodes: PathNode[] = [];
  /**
   * If this is the height of the tip: the node and its subtree are the same after the tip as after the requested block,
   * because the slot of the parent has the same hash.
   */
  let unchangedAt: number | null = null;
  for (let path: string | null = ''; path !== null;) {
    const tipBefore = tipHeight();
    const keys =
      unchangedAt === null ? [nodeKey(generation, path)] : [nodeKey(generation, path), nameKey(path)];
    const [nodeRow, nameRow] = await rows.getMany(keys);
    const tip = tipHeight();
    const present = nodeRow ? parseNodeRow(nodeRow).slots : NO_SLOTS;
    const isUnchanged: boolean = unchangedAt === tip;
    const slots: Buffer = isUnchanged
      ? present
      : await pastSlots(rows, block, path, present, newestChange(rules, generation, tip));
    const { claims, takeover } = isUnchanged
      ? presentClaims(nameRow)
      : await claimsAt(rows, rules, path, height);
    const edges = slotEdges(slots);
    if (path !== '' || edges.length > 0 || claims.length > 0)
      nodes.push({ path, edges, hashes: slotHashes(slots), claims, takeover });
    const isOfTip = tip === tipBefore && filesAlike(rules, height, tip);
    unchangedAt = isUnchanged || (isOfTip && isSameWay(name, path, slots, present)) ? tip : null;
    path = stepTowards(name, path, edges);
  }
  return nodes;
}

/** Whether equal node hashes after the two blocks mean that equal claims are stored under equal names. */
function filesAlike(rules: ClaimRules, height: number, tip: number): boolean {
  return (
    generationAt(rules, height) === generationAt(rules, tip) &&
    filesNormalized(rules, height) === filesNormalized(rules, tip)
  );
}

/** Whether the two nodes have equal slots in the direction of the name. */
function isSameWay(name: string, path: string, slots: Buffer, present: Buffer): boolean {
  if (slots === present) return true;
  if (path.length === name.length) return false;
  const code = name.charCodeAt(path.length);
  return then.seek(slots, code) && now.seek(present, code) && then.equals(now);
}

const then = new SlotCursor();
const now = new SlotCursor();

async function claimsAt(
  rows: RowReader,
  rules: ClaimRules,
  path: string,
  height: number,
): Promise<Pick<PathNode, 'claims' | 'takeover'>> {
  const { hasClaims, takeover } = await readOwnership(rows, path, height);
  if (!hasClaims) return { claims: NO_PATH_CLAIMS, takeover };
  const { claims } = await readName(rows, rules, { name: fromLatin1(path), height, exact: true });
  const active = claims.filter((claim) => claim.active);
  return {
    claims: new ListedClaims(
      active.map(({ txid, n, claimId }) => ({ point: pointKey(txid, n), claimId: toLatin1(claimId) })),
    ),
    takeover,
  };
}
