/** Lives of wallets, in full. */
import './listing/runningSums.test.js';
import './longBlocksLife.test.js';
import './walletImage.test.js';
import '../daemon/ledger/store.test.js';
