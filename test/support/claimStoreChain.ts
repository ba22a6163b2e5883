/** A claim store over rows in memory whose blocks are connected and disconnected one by one. */
import { ClaimStore, type ClaimRules, type ClaimTx } from '../../src/store/claims/claimStore.js';
import { MemoryRows } from './memoryRows.js';

export class ClaimStoreChain {
  readonly rows = new MemoryRows();
  readonly store: ClaimStore;
  height = 0;

  constructor(rules: ClaimRules) {
    this.store = new ClaimStore({ rules, proofWindow: 'all' });
  }

  async connect(...transactions: ClaimTx[]): Promise<void> {
    const work = this.rows.begin();
    await this.store.connect(work, { height: ++this.height, transactions });
    work.commit();
  }

  async disconnect(): Promise<void> {
    const work = this.rows.begin();
    await this.store.disconnect(work, this.height--);
    work.commit();
  }
}
