/**
 * Script of all pages: updates them, shows times in the visitor's time zone, copies texts, and verifies proofs. Without the
 * script the pages are complete, too.
 */
import { checkProof } from './checkProof.js';
import { addCopyButtons } from './copy.js';
import { keepLive } from './live.js';
import { addKeySwitch, followKeys } from './keys.js';
import { keepAges, showLocalTimes } from './localTimes.js';

function refreshDetails(): void {
  showLocalTimes();
  addKeySwitch();
  addCopyButtons();
  void checkProof();
}

function start(): void {
  refreshDetails();
  followKeys();
  keepAges();
  void keepLive(refreshDetails);
}

// The page is complete without the script, so it is painted first. A hidden tab starts when it is seen.
requestAnimationFrame(() => setTimeout(start));
