/** Methods of explorers: the tests of `explorerMethods.test.ts` in full. */
import './explorerMethods.test.js';
