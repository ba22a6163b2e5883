/** Searching in a real node, with the index in SQLite and in PostgreSQL. */
import './channelKeys.test.js';
import './claimSearch.test.js';
