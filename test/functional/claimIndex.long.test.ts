/** The claim index: the tests of `claimIndex.test.ts` in full. */
import './claimIndex.test.js';
