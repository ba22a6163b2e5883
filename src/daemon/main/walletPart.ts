/** The component `wallet` as the composition root sees it: the ledger, the wallets on it, and what works with both. */
import type { DaemonServices } from '../api/context.js';
import type { Component } from './components.js';

/** What methods reach of it. */
export type WalletServices = Pick<DaemonServices, 'ledger' | 'wallets' | 'resolver' | 'maker'>;

export interface WalletPart extends Component {
  /** Null until it runs, and after it was stopped. */
  readonly services: WalletServices | null;
}
