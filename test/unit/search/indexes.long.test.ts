/** Search indexes in SQLite and in PostgreSQL. */
import './backendSearch.test.js';
import './follow/follower.test.js';
