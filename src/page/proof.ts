/**
 * Verifies that a proof of a name leads to the claim trie root in a block header. Runs in the browser and on the server,
 * with the hash function of Web Cryptography. Source: lbrycrd claimtrieforks.cpp `getProofForName`; claimtrie.cpp
 * `getValueHash`.
 */

export interface ProofPair {
  /** Whether the computed hash is the right input of the pair; otherwise it is the left input. */
  readonly odd: boolean;
  /** Hash in hex, in display order (as programs print it). */
  readonly hash: string;
}

export interface ProvenClaim {
  /** Hash in hex, in display order (as programs print it). */
  readonly txid: string;
  readonly n: number;
  readonly lastTakeoverHeight: number;
}

const bytesOf = (printed: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(printed.match(/../g) ?? [], (pair) => parseInt(pair, 16)).reverse();

const printedOf = (bytes: Uint8Array): string =>
  [...bytes]
    .reverse()
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');

async function sha256(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', data));
}

async function sha256d(...parts: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return sha256(await sha256(whole));
}

/** Returns the hash of a claim: H(H(txid) ‖ H(decimal text of n) ‖ H(takeover height in 8 bytes, big endian)). */
async function claimHash({ txid, n, lastTakeoverHeight }: ProvenClaim): Promise<Uint8Array<ArrayBuffer>> {
  const height = new DataView(new ArrayBuffer(8));
  height.setUint32(4, lastTakeoverHeight);
  return sha256d(
    await sha256d(bytesOf(txid)),
    await sha256d(new TextEncoder().encode(String(n))),
    await sha256d(new Uint8Array(height.buffer)),
  );
}

/** Fields of a block header as `getblockheader` returns them. */
export interface ProvenHeader {
  readonly version: number;
  /** Absent for the genesis block. */
  readonly previousblockhash?: string;
  readonly merkleroot: string;
  readonly nameclaimroot: string;
  readonly time: number;
  /** Compact target as eight hex digits. */
  readonly bits: string;
  readonly nonce: number;
}

const HEADER_BYTES = 112;
const HASH_BYTES = 32;

/** Returns the hash of a block header in display order. Source: lbrycrd primitives/block.h `CBlockHeader`. */
export async function headerHash(header: ProvenHeader): Promise<string> {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, header.version, true);
  const { previousblockhash = '', merkleroot, nameclaimroot } = header;
  [previousblockhash, merkleroot, nameclaimroot].forEach((hash, index) =>
    bytes.set(bytesOf(hash).subarray(0, HASH_BYTES), 4 + index * HASH_BYTES),
  );
  const numbers = [header.time, parseInt(header.bits, 16), header.nonce];
  numbers.forEach((number, index) => view.setUint32(4 + 3 * HASH_BYTES + index * 4, number, true));
  return printedOf(await sha256d(bytes));
}

/** Root hash of a claim trie without names, in display order. Source: lbrycrd claimtrie.cpp `getMerkleHash`. */
export const EMPTY_TRIE = `${'0'.repeat(63)}1`;

/** A trie node on the path to the name. Used in proofs of the old form, below the all-claims fork. */
export interface ShownProofNode {
  readonly children: readonly {
    readonly child: {
      /** Byte of the name that leads to the child, as the character with that code point. */
      readonly character: string;
      /** Hash of the child in display order. Absent for the child on the path to the name. */
      readonly nodeHash?: string;
    };
  }[];
  /** Hash of the node's claim in display order. Absent for the node of the name itself, and for nodes without a claim. */
  readonly valueHash?: string;
}

/**
 * Returns the hashes of the nodes in display order, from the deepest node to the root. A node hashes the bytes and hashes of
 * its children in order, then the hash of its claim. `claim` belongs to the deepest node; null proves that the name has no
 * claim. Throws `Error` if the nodes are not connected. Source: lbrycrd claimtrie.cpp `recursiveComputeMerkleHash`.
 */
export async function nodeSteps(
  claim: ProvenClaim | null,
  nodes: readonly ShownProofNode[],
): Promise<{ readonly steps: string[]; readonly path: Uint8Array }> {
  const steps: string[] = [];
  const path: number[] = [];
  let below: Uint8Array<ArrayBuffer> | null = null;
  for (const { children, valueHash } of nodes.toReversed()) {
    const parts: Uint8Array[] = [];
    let isJoined = false;
    let last = -1;
    for (const { child } of children) {
      const byte = child.character.codePointAt(0) ?? 256;
      if (byte > 255 || byte <= last) throw new Error('children are out of order');
      last = byte;
      let hash = child.nodeHash === undefined ? null : bytesOf(child.nodeHash);
      if (hash === null) {
        if (below === null || isJoined) throw new Error('a child has no hash');
        hash = below;
        isJoined = true;
        path.unshift(byte);
      }
      parts.push(Uint8Array.of(byte), hash);
    }
    if (below !== null && !isJoined) throw new Error('a node does not lead to the next');
    if (below === null && claim !== null) parts.push(await claimHash(claim));
    else if (valueHash !== undefined) parts.push(bytesOf(valueHash));
    below = parts.length === 0 ? bytesOf(EMPTY_TRIE) : await sha256d(...parts);
    steps.push(printedOf(below));
  }
  return { steps, path: Uint8Array.from(path) };
}

/**
 * Whether a proof of the old form is about this name: its path is the name, or it shows that the name is not in the trie.
 * `name` is in hex. Arguments as for `nodeSteps`, which returns `path`.
 */
export function isPathOf(
  claim: ProvenClaim | null,
  nodes: readonly ShownProofNode[],
  path: Uint8Array,
  name: string,
): boolean {
  const bytes = (name.match(/../g) ?? []).map((pair) => parseInt(pair, 16));
  if (path.length > bytes.length || path.some((byte, at) => byte !== bytes[at])) return false;
  if (path.length === bytes.length) return claim !== null || nodes.at(-1)?.valueHash === undefined;
  const next = bytes[path.length];
  return (
    claim === null && !nodes.at(-1)?.children.some(({ child }) => child.character.codePointAt(0) === next)
  );
}

/** Returns the hashes on the path in display order, from the claim's hash to the root. */
export async function proofSteps(claim: ProvenClaim, pairs: readonly ProofPair[]): Promise<string[]> {
  let hash = await claimHash(claim);
  const steps = [printedOf(hash)];
  for (const pair of pairs) {
    const other = bytesOf(pair.hash);
    hash = pair.odd ? await sha256d(other, hash) : await sha256d(hash, other);
    steps.push(printedOf(hash));
  }
  return steps;
}
