/** Blocks of claim operations that a test lists, and a store that connects them. */
import { createHash } from 'node:crypto';
import { claimIdOf } from '../../src/script/claimScript.js';
import type {
  ClaimEntryKind,
  ClaimOutput,
  ClaimRules,
  ClaimSpend,
  ClaimTx,
} from '../../src/store/claims/claimStore.js';
import { ClaimStore, type ProofWindow } from '../../src/store/claims/claimStore.js';
import { readName, type NameInfo } from '../../src/store/claims/query/claimQueries.js';
import { toHex } from '../../src/util/bytes.js';
import { MemoryRows } from './memoryRows.js';

/** An output that later transactions can spend, or whose claim they can support or update. */
export type Made = ClaimSpend;

/** All forks except that of the expiration are active from the second block on. */
export const PAST_FORKS: ClaimRules = {
  originalExpiration: 100_000,
  extendedExpiration: 200_000,
  extendedExpirationForkHeight: 90_000,
  normalizationForkHeight: 1,
  takeoverWorkaroundMin: -1,
  takeoverWorkaroundMax: -1,
  allClaimsForkHeight: 2,
  supportDelay: 'proportional',
};

let serial = 0;

export class HandChain {
  readonly store: ClaimStore;
  readonly rows: MemoryRows = new MemoryRows();
  readonly rules: ClaimRules;
  height: number;
  private txs: ClaimTx[] = [];

  constructor(rules: ClaimRules, height = 0, proofWindow: ProofWindow = 5000) {
    this.rules = rules;
    this.height = height;
    this.store = new ClaimStore({ rules, proofWindow });
  }

  /** Adds a transaction to the current block: spends, then one output for each of `outputs`. */
  tx(spends: readonly Made[], ...outputs: Omit<ClaimOutput, 'n' | 'hasMetadata'>[]): Made[] {
    const txid = createHash('sha256').update(`by hand ${serial++}`).digest();
    const made = outputs.map((output, n): Made => {
      const claimId = output.claimId ?? claimIdOf(txid, n);
      return { ...output, txid, n, claimId, coinHeight: this.height + 1, hasMetadata: false };
    });
    this.txs.push({
      txid,
      txOffset: 120 + 100 * this.txs.length,
      spends: [...spends],
      outputs: outputs.map((output, n) => ({ ...output, n, hasMetadata: false })),
    });
    return made;
  }

  claim(name: string, amount: number): Made {
    return this.tx([], { kind: 'claim', name: Buffer.from(name), amount: BigInt(amount) })[0]!;
  }

  support(of: Made, amount: number, name = of.name): Made {
    const { claimId } = of;
    return this.tx([], { kind: 'support', name, claimId, amount: BigInt(amount) })[0]!;
  }

  update(of: Made, amount: number, kind: ClaimEntryKind = 'update'): Made {
    const { name, claimId } = of;
    return this.tx([of], { kind, name, claimId, amount: BigInt(amount) })[0]!;
  }

  spend(...made: Made[]): void {
    this.tx(made);
  }

  /** Connects the current block. Returns the root. */
  async mine(): Promise<string> {
    const rows = this.rows.begin();
    const block = { height: this.height + 1, transactions: this.txs };
    const { root } = await this.store.connect(rows, block);
    rows.commit();
    this.height++;
    this.txs = [];
    return toHex(root);
  }

  async mineTo(height: number): Promise<void> {
    while (this.height < height) await this.mine();
  }

  async disconnect(): Promise<string> {
    const rows = this.rows.begin();
    const { root } = await this.store.disconnect(rows, this.height);
    rows.commit();
    this.height--;
    return toHex(root);
  }

  name(name: string, height = this.height): Promise<NameInfo> {
    return readName(this.rows, this.rules, { name: Buffer.from(name), height });
  }

  /** Valid heights of a name's claims, active and pending ones. */
  async validHeights(name: string): Promise<number[]> {
    return (await this.name(name)).claims.map((claim) => claim.validAtHeight);
  }
}
