/**
 * Mempool claims that name a certain channel as signer. Caches which of these claims the channel's key has signed, because
 * popular channels have thousands of claims.
 */
import { yieldIfDue } from '../../scheduler/yield.js';
import { isSignedBy, type WaitingOutput } from './waitingOutputs.js';

/**
 * Cached result of verifying signatures with one key. `signed`: the claims that the key signed. `unread`: the claims that
 * are not verified yet.
 */
class SignedClaims {
  readonly tag: string;
  readonly unread: Set<WaitingOutput>;
  readonly signed = new Set<WaitingOutput>();

  constructor(tag: string, outputs: Iterable<WaitingOutput>) {
    this.tag = tag;
    this.unread = new Set(outputs);
  }
}

export class ChannelClaims {
  readonly outputs = new Set<WaitingOutput>();
  /** Ids of those claims whose mempool output updates an earlier output. */
  readonly updated = new Set<string>();
  private known: SignedClaims | null = null;

  add(output: WaitingOutput): void {
    this.outputs.add(output);
    if (output.isUpdate) this.updated.add(output.claimId);
    this.known?.unread.add(output);
  }

  delete(output: WaitingOutput): void {
    this.outputs.delete(output);
    this.updated.delete(output.claimId);
    this.known?.unread.delete(output);
    this.known?.signed.delete(output);
  }

  /** Number of claims that the key with this tag has signed. Verifies those that were not verified before. */
  async countSigned(tag: string): Promise<number> {
    if (this.known?.tag !== tag) this.known = new SignedClaims(tag, this.outputs);
    const { unread, signed } = this.known;
    let since = performance.now();
    for (const output of unread) {
      unread.delete(output);
      if (isSignedBy(output, tag)) signed.add(output);
      since = await yieldIfDue(since);
    }
    return signed.size;
  }
}
