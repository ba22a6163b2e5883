/**
 * Checks that a proof of a name leads to the root of the claim trie in a block's header. It runs in the browser and on the
 * server, by the hashes of Web Cryptography. Source: lbrycrd claimtrieforks.cpp `getProofForName`; claimtrie.cpp `getValueHash`.
 */

export interface ProofPair {
  /** The reader's hash goes to the right. */
  readonly odd: boolean;
  /** As printed. */
  readonly hash: string;
}

export interface ProvenClaim {
  /** As printed. */
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

/** The hashes on the way, as printed: that of the claim first, the root last. */
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
