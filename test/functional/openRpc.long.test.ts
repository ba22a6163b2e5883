/** What `rpc.discover` says: the tests of `openRpc.test.ts` for all profiles. */
import './openRpc.test.js';
