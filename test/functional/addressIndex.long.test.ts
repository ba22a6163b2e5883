/** The address index: the tests of `addressIndex.test.ts` in full. */
import './addressIndex.test.js';
