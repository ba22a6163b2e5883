/** Mining: the tests of `miner.test.ts` in full. */
import './miner.test.js';
