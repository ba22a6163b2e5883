/** Branches: the tests of `reorg.test.ts` in full. */
import './reorg.test.js';
