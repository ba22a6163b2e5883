/** Ending a shortage of keys by itself: once a wallet is unlocked, and while it follows the chain. */
import { WalletClosedError } from '../store/walletFileErrors.js';
import type { Wallet } from '../wallet.js';
import { beginOwedScan } from './rescan.js';
import { endShortage } from './shortage.js';

/**
 * Must be called when a wallet was unlocked. Where blocks were looked through while it was locked and keys were missing (a
 * restored copy of a wallet that was in use elsewhere), the keys are made and those blocks looked through again.
 * Resolves when that has begun.
 */
export async function afterUnlock(wallet: Wallet): Promise<void> {
  if ((await endShortage(wallet)) !== null) beginOwedScan(wallet);
}

/** Does the same in the background for a wallet that follows the chain. */
export class ShortageEnder {
  private readonly wallet: Wallet;
  private isBusy = false;

  constructor(wallet: Wallet) {
    this.wallet = wallet;
  }

  /** Must be called after whatever may have used many keys. */
  begin(): void {
    if (this.isBusy || this.wallet.scans.lockedFrom === null || this.wallet.isLocked) return;
    this.isBusy = true;
    this.end().catch((error: unknown) => {
      // What was owed stays so in its file.
      if (!(error instanceof WalletClosedError)) this.wallet.node.onFatal(error);
    });
  }

  private async end(): Promise<void> {
    try {
      await this.wallet.events.use(async () => {
        while ((await endShortage(this.wallet)) !== null);
      });
    } finally {
      this.isBusy = false;
    }
    beginOwedScan(this.wallet);
  }
}
