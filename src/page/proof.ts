/**
 * Verifies that a proof of a name leads to the root of the claim trie in a block's header. It runs in the browser and on the
 * server, with the hashes of Web Cryptography. Source: lbrycrd claimtrieforks.cpp `getProofForName`; claimtrie.cpp
 * `getValueHash`.
 */

export interface ProofPair {
  /** The verifier's hash is on the right. */
  readonly odd: boolean;
  /** Id in the hex form that programs print. */
  readonly hash: string;
}

export interface ProvenClaim {
  /** Id in the hex form that programs print. */
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

/** The hash of a claim: H(H(txid) ‖ H(decimal text of n) ‖ H(takeover height in 8 bytes, big endian)). */
async function claimHash({ txid, n, lastTakeoverHeight }: ProvenClaim): Promise<Uint8Array<ArrayBuffer>> {
  const height = new DataView(new ArrayBuffer(8));
  height.setUint32(4, lastTakeoverHeight);
  return sha256d(
    await sha256d(bytesOf(txid)),
    await sha256d(new TextEncoder().encode(String(n))),
    await sha256d(new Uint8Array(height.buffer)),
  );
}

/** The root of a trie without names. Source: lbrycrd claimtrie.cpp `getMerkleHash`. */
export const EMPTY_TRIE = `${'0'.repeat(63)}1`;

/** A node of the trie on the path to the name, in proofs of the old form (below the all-claims fork). */
export interface ProofNode {
  readonly children: readonly {
    readonly child: {
      /** The byte that leads to the child, as the character with that code point. */
      readonly character: string;
      /** As printed; absent for the child on the path to the name. */
      readonly nodeHash?: string;
    };
  }[];
  /** As printed; absent for the name itself, and if a node has no claim. */
  readonly valueHash?: string;
}

/**
 * The hashes of the nodes, as printed: the deepest first, the root last. A node hashes the bytes and hashes of its children
 * in order, then the hash of its value. `claim` belongs to the deepest node; null proves that the name has none. Throws
 * `Error` for nodes that are not connected. Source: lbrycrd claimtrie.cpp `recursiveComputeMerkleHash`.
 */
export async function nodeSteps(
  claim: ProvenClaim | null,
  nodes: readonly ProofNode[],
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

/** The hashes on the path, as printed: that of the claim first, the root last. */
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
