/**
 * Name proofs in both forms, built from the nodes on the path to a name. Source: lbrycrd claimtrie.cpp and
 * claimtrieforks.cpp `getProofForName`, rpc/claimtrie.cpp `proofToJSON`.
 */
import { merklePath } from '../crypto/merkle.js';
import { fromLatin1, type Bytes } from '../util/bytes.js';
import { claimLeaves, valueHash } from './claimsHash.js';
import { rootOfLeaves } from './fastHash.js';
import { pointIndex, pointTxid } from './item.js';
import { childrenHash, claimsHalf, completeEdge } from './trieNode.js';

const HASH_BYTES = 32;

/** A claim by its outpoint (`pointKey`) and its id, both as latin1 strings. */
export interface PathClaim {
  readonly point: string;
  readonly claimId: string;
}

/** List of the claims of a node, whatever data structure stores them. */
export interface PathClaims {
  readonly length: number;
  /** Returns the claim at a position, counted from 0. */
  at(place: number): PathClaim | undefined;
  /** Returns the id of the claim at a position, without reading the rest of the claim. */
  idAt(place: number): string;
}

/** Implements `PathClaims` for claims in an array. */
export class ListedClaims implements PathClaims {
  private readonly claims: readonly PathClaim[];

  constructor(claims: readonly PathClaim[]) {
    this.claims = claims;
  }

  get length(): number {
    return this.claims.length;
  }

  at(place: number): PathClaim | undefined {
    return this.claims[place];
  }

  idAt(place: number): string {
    return this.claims[place]!.claimId;
  }
}

export const NO_PATH_CLAIMS: PathClaims = new ListedClaims([]);

/** A node on the path, and its active claims, best first. */
export interface PathNode {
  path: string;
  /** The edges (the bytes from one path to the next) from this node to its children, in byte order. */
  edges: readonly string[];
  /** The concatenated hashes of the children. */
  hashes: Buffer;
  claims: PathClaims;
  takeover: number;
  /** The hashes of the claims (`claimLeaves`) if the caller has them already. */
  leaves?: Buffer;
  /** If the caller proves several names with this node: the pairs that were made for each child, by the child's index. */
  pairs?: Map<number, readonly SiblingHash[]>;
}

/** A sibling hash of the all-claims form. `odd` means that the verifier's own hash is on the right. */
export interface SiblingHash {
  readonly odd: boolean;
  readonly hash: Bytes;
}

/** A node in the proof format that was used before the all-claims fork. */
export interface ProofNode {
  /** Children in byte order. A null hash marks the child on the path, whose hash the verifier computes. */
  children: { character: number; nodeHash: Bytes | null }[];
  /** Value hash of the node's best claim. Null if the node has no claims, and for the node of the proven name. */
  valueHash: Bytes | null;
}

export interface NameProof {
  /** Old form of proofs: the nodes on the path, starting with the root. */
  nodes: ProofNode[];
  /** All-claims form of proofs: the sibling hashes from the name up. */
  pairs: SiblingHash[];
  /** The proven claim; null when the name has no claim. */
  claim: { txid: Bytes; n: number; lastTakeoverHeight: number } | null;
}

function provenClaim({ point }: PathClaim, takeover: number): NameProof['claim'] {
  return { txid: pointTxid(point), n: pointIndex(point), lastTakeoverHeight: takeover };
}

/** Returns the hash of child `i` as a view. */
function hashAt({ hashes }: PathNode, i: number): Buffer {
  return hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES);
}

/** Builds a proof in the old form. `name` is already normalized if the rules require it. */
export function buildNodesProof(path: readonly PathNode[], name: string): NameProof {
  const proof: NameProof = { nodes: [], pairs: [], claim: null };
  for (const node of path) addNodes(proof, node, name);
  return proof;
}

/**
 * QUIRK: each byte of an edge becomes a separate node of the proof. The siblings that follow the child on the path are
 * listed in the last of these nodes instead of the first, where they belong. Test: test/vectors/claimAnswers.test.ts.
 */
function addNodes(proof: NameProof, node: PathNode, name: string): void {
  const { path, edges, claims, takeover } = node;
  const best = claims.at(0);
  let value = best ? valueHash(best.point, takeover) : null;
  let children: ProofNode['children'] = [];
  for (const [i, edge] of edges.entries()) {
    if (!name.startsWith(path + edge)) {
      children.push({ character: edge.charCodeAt(0), nodeHash: completeEdge(edge, hashAt(node, i)) });
      continue;
    }
    for (let i = 0; i + 1 < edge.length; i++) {
      children.push({ character: edge.charCodeAt(i), nodeHash: null });
      proof.nodes.push({ children, valueHash: value });
      children = [];
      value = null;
    }
    children.push({ character: edge.charCodeAt(edge.length - 1), nodeHash: null });
  }
  if (path === name) {
    if (best) proof.claim = provenClaim(best, takeover);
    value = null;
  }
  proof.nodes.push({ children, valueHash: value });
}

/** Builds a proof in the all-claims form. */
export function buildAllClaimsProof(
  path: readonly PathNode[],
  name: string,
  selects?: (claimId: Bytes) => boolean,
): NameProof {
  const proof: NameProof = { nodes: [], pairs: [], claim: null };
  for (const node of path) {
    const { path: at, edges, hashes, claims, takeover } = node;
    if (at === name) {
      const index = selects ? placeOf(claims, selects) : claims.length > 0 ? 0 : -1;
      const claim = index < 0 ? undefined : claims.at(index);
      if (claim) proof.claim = provenClaim(claim, takeover);
      proof.pairs.push({ odd: true, hash: childrenHash(hashes) });
      addPath(proof.pairs, leavesOf(node), Math.max(index, 0));
    } else {
      const next = edges.findIndex((edge) => name.startsWith(edge, at.length));
      for (const pair of pairsTowards(node, Math.max(next, 0))) proof.pairs.push(pair);
    }
  }
  proof.pairs.reverse();
  return proof;
}

function placeOf(claims: PathClaims, selects: (claimId: Bytes) => boolean): number {
  for (let place = 0; place < claims.length; place++)
    if (selects(fromLatin1(claims.idAt(place)))) return place;
  return -1;
}

/** Returns the hashes of the node's claims. */
export function leavesOf({
  claims,
  takeover,
  leaves,
}: Pick<PathNode, 'claims' | 'takeover' | 'leaves'>): Buffer {
  if (leaves !== undefined) return leaves;
  const list = Array.from({ length: claims.length }, (_, place) => claims.at(place)!);
  return claimLeaves(list, takeover);
}

/** The pairs of a node on the way to a child, from the top down. */
function pairsTowards(node: PathNode, child: number): readonly SiblingHash[] {
  const known = node.pairs?.get(child);
  if (known !== undefined) return known;
  const leaves = leavesOf(node);
  const pairs: SiblingHash[] = [
    { odd: false, hash: claimsHalf(leaves.length > 0 ? rootOfLeaves(leaves) : null) },
  ];
  addPath(pairs, node.hashes, child);
  node.pairs?.set(child, pairs);
  return pairs;
}

/** Appends the siblings of leaf `index` in the merkle tree, from the top down. */
function addPath(pairs: SiblingHash[], leaves: Bytes, index: number): void {
  if (leaves.length === 0) return;
  const siblings = merklePath(leaves, index);
  for (let level = siblings.length - 1; level >= 0; level--) {
    pairs.push({ odd: ((index >> level) & 1) === 1, hash: siblings[level]! });
  }
}
