/** Imports of blocks: the tests of `importing.test.ts` in full. */
import './importing.test.js';
