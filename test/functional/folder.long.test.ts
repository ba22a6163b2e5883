/** Data folders: the tests of `folder.test.ts` in full. */
import './folder.test.js';
