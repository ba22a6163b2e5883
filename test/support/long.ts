/**
 * Tests and sizes of the long tests. A file `x.long.test.ts` that imports `x.test.js` runs the tests of that file in full size.
 * The fast tests leave out tests that `longIt` defines.
 */
import { it, type TestAPI } from 'vitest';

export const IS_LONG = process.env['LBCNODE_LONG_TESTS'] === '1';

export const longIt: ReturnType<TestAPI['runIf']> = it.runIf(IS_LONG);
