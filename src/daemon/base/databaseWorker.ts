/** Program of the thread that all databases of the daemon share. Returns unused memory while the thread is idle. */
import { serveSharedThread } from '../../threads/serveSharedThread.js';
import { returnIdleMemory } from './idleMemory.js';
import { keepNewSpace } from './engineLoad.js';

keepNewSpace();
serveSharedThread();
returnIdleMemory();
