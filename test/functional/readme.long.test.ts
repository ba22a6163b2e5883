/** The walks of README.md and docs/mining.md, in full. */
import './readme.test.js';
