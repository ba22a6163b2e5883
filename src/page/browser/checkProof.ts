/** Verifies the proof of a name page in the browser, so that the visitor need not trust the server. */
import { nodeSteps, proofSteps, type ProofNode, type ProofPair, type ProvenClaim } from '../proof.js';

interface Given {
  readonly claim: ProvenClaim | null;
  readonly pairs?: readonly ProofPair[];
  readonly nodes?: readonly ProofNode[];
  readonly root: string;
}

export async function checkProof(): Promise<void> {
  const place = document.querySelector<HTMLElement>('[data-proof]');
  const shown = document.querySelector('#proof-check');
  if (place === null || shown === null) return;
  if (!globalThis.crypto?.subtle) {
    shown.textContent = 'This browser checks proofs only on secure pages (HTTPS or localhost).';
    return;
  }
  const { claim, pairs, nodes, root } = JSON.parse(place.dataset['proof']!) as Given;
  const steps = pairs && claim ? await proofSteps(claim, pairs) : (await nodeSteps(claim, nodes ?? [])).steps;
  shown.textContent =
    steps.at(-1) === root
      ? '✓ Checked in this browser: the steps lead to the root in the header.'
      : '⚠ Checked in this browser: the steps do not lead to the root in the header.';
}
