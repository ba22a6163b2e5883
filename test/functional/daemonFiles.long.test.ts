/** Files of the daemon: the tests of `daemonFiles.test.ts` in full. */
import './daemonFiles.test.js';
