/** A daemon with a node: the tests of `daemonWithNode.test.ts` in full. */
import './daemonWithNode.test.js';
