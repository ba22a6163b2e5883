/**
 * The script of the pages: keeps them up to date, shows times in the visitor's zone, copies texts, and verifies proofs.
 * Pages are complete without it.
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
