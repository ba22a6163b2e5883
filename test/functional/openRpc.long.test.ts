/** Tests of `rpc.discover`: those of `openRpc.test.ts` for all profiles. */
import './openRpc.test.js';
