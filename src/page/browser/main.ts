/**
 * What pages do beyond plain HTML: they stay up to date, show times in the visitor's zone, copy texts, and check proofs. A page is complete
 * without it.
 */
import { checkProof } from './checkProof.js';
import { addCopyButtons } from './copy.js';
import { keepLive } from './live.js';
import { addKeySwitch, followKeys } from './keys.js';
import { showLocalTimes } from './localTimes.js';

function refreshDetails(): void {
  showLocalTimes();
  addKeySwitch();
  addCopyButtons();
  void checkProof();
}

refreshDetails();
followKeys();
void keepLive(refreshDetails);
