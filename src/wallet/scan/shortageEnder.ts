/** Ends a shortage of keys (`shortage.ts`) automatically: when a wallet is unlocked, and while it follows the chain. */
import { WalletClosedError } from '../store/walletFileErrors.js';
import type { Wallet } from '../wallet.js';
import { beginOwedScan } from './rescan.js';
import { endShortage } from './shortage.js';

/**
 * Must be called after a wallet was unlocked. If blocks were scanned without enough keys while the wallet was locked (for
 * example in a restored copy of a wallet that was used elsewhere), creates the keys and starts a rescan of these blocks.
 * Resolves when the rescan has started.
 */
export async function afterUnlock(wallet: Wallet): Promise<void> {
  if ((await endShortage(wallet)) !== null) beginOwedScan(wallet);
}

/** Ends a shortage of keys in the background, for a wallet that follows the chain. */
export class ShortageEnder {
  private readonly wallet: Wallet;
  private isBusy = false;

  constructor(wallet: Wallet) {
    this.wallet = wallet;
  }

  /** Must be called after each operation that may have used many keys. Does nothing without a shortage. */
  begin(): void {
    if (this.isBusy || this.wallet.scans.lockedFrom === null || this.wallet.isLocked) return;
    this.isBusy = true;
    this.end().catch((error: unknown) => {
      // After an error the rescan stays recorded in the wallet file as a task for a later start.
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
