/** Downloads of the daemon: the tests of `daemonDownload.test.ts` in full. */
import './daemonDownload.test.js';
