/** Bounds and background work, in full. */
import './daemon/dht/node.test.js';
import './index/backgroundFill.test.js';
import './rpc/call/answerCache.test.js';
import './rpc/call/dispatch.test.js';
import './store/claims/claimHistory.test.js';
import './wallet/store/walletFile.test.js';
