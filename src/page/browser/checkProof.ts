/** Verifies the proof of a name page in the browser, so that the visitor need not trust the server. */
import {
  headerHash,
  nodeSteps,
  proofSteps,
  type ShownProofNode,
  type ProofPair,
  type ProvenClaim,
  type ProvenHeader,
} from '../proof.js';

interface Given {
  readonly claim: ProvenClaim | null;
  readonly pairs?: readonly ProofPair[];
  readonly nodes?: readonly ShownProofNode[];
  readonly header: ProvenHeader;
  /** Hash of the header in display order. */
  readonly hash: string;
}

export async function checkProof(): Promise<void> {
  const place = document.querySelector<HTMLElement>('[data-proof]');
  const shown = document.querySelector('#proof-check');
  if (place === null || shown === null) return;
  if (!globalThis.crypto?.subtle) {
    shown.textContent = 'This browser checks proofs only on secure pages (HTTPS or localhost).';
    return;
  }
  const { claim, pairs, nodes, header, hash } = JSON.parse(place.dataset['proof']!) as Given;
  const steps = pairs && claim ? await proofSteps(claim, pairs) : (await nodeSteps(claim, nodes ?? [])).steps;
  const found =
    steps.at(-1) !== header.nameclaimroot
      ? '⚠ Checked in this browser: the steps do not lead to the root in the header.'
      : (await headerHash(header)) !== hash
        ? '⚠ Checked in this browser: the header does not have the hash of the block.'
        : '✓ Checked in this browser: the steps lead to the root in the header, and the header has the hash of the block.';
  // The text of a live region is announced when it changes.
  if (shown.textContent !== found) shown.textContent = found;
}
