/** The component `wallet` as the composition root sees it: the ledger and the wallets on it. */
import type { Ledger } from '../ledger/ledger.js';
import type { Wallets } from '../wallet/wallets.js';
import type { Component } from './components.js';

export interface WalletPart extends Component {
  /** Null until it has begun to start. */
  readonly ledger: Ledger | null;
  readonly wallets: Wallets | null;
}
