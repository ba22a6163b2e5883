/** Verifies the proof of a name page in the browser, so that the visitor need not trust the server. */
import {
  headerHash,
  isPathOf,
  nodeSteps,
  proofSteps,
  type ShownProofNode,
  type ProofPair,
  type ProvenClaim,
  type ProvenHeader,
} from '../proof.js';

interface Given {
  /** The name and, if it differs, its normalized form, in hex. */
  readonly names: readonly string[];
  readonly claim: ProvenClaim | null;
  readonly pairs?: readonly ProofPair[];
  readonly nodes?: readonly ShownProofNode[];
  readonly header: ProvenHeader;
  /** Hash of the header in display order. */
  readonly hash: string;
}

/** Returns what is wrong with a proof; null if it is right. */
async function faultOf({ names, claim, pairs, nodes = [], header, hash }: Given): Promise<string | null> {
  let steps: readonly string[];
  if (pairs && claim) steps = await proofSteps(claim, pairs);
  else {
    const walked = await nodeSteps(claim, nodes);
    if (!names.some((name) => isPathOf(claim, nodes, walked.path, name)))
      return 'the proof is about another name';
    ({ steps } = walked);
  }
  if (steps.at(-1) !== header.nameclaimroot) return 'the steps do not lead to the root in the header';
  if ((await headerHash(header)) !== hash) return 'the header does not have the hash of the block';
  return null;
}

export async function checkProof(): Promise<void> {
  const place = document.querySelector<HTMLElement>('[data-proof]');
  const shown = document.querySelector('#proof-check');
  if (place === null || shown === null) return;
  if (!globalThis.crypto?.subtle) {
    shown.textContent = 'This browser checks proofs only on secure pages (HTTPS or localhost).';
    return;
  }
  const fault = await faultOf(JSON.parse(place.dataset['proof']!) as Given).catch(
    ({ message }: Error) => `the steps cannot be repeated (${message})`,
  );
  const found =
    fault === null
      ? '✓ Checked in this browser: the steps lead to the root in the header, and the header has the hash of the block.'
      : `⚠ Checked in this browser: ${fault}.`;
  // The text of a live region is announced when it changes.
  if (shown.textContent !== found) shown.textContent = found;
}
