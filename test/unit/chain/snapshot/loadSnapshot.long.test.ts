/** The long tests of `loadSnapshot.test.ts`. */
import './loadSnapshot.test.js';
