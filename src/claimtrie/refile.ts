/**
 * Moves one name's claims and supports to its normalized form, in the block of the normalization fork.
 * Source: lbrycrd `normalizeAllNamesInTrieIfNecessary`.
 */
import { setTakeover } from './blockEnd.js';
import type { ClaimWork } from './claimWork.js';
import { intact } from './corruption.js';
import type { Item } from './item.js';
import { normalizeKey } from './nameKey.js';
import { expirationTerm } from './rules.js';

/**
 * Moves the items (claims and supports) of one name. `supports` are the active supports stored under the name. Items that
 * expire in this block are not moved.
 */
export function refileName(work: ClaimWork, name: string, supports: readonly Item[]): void {
  const from = work.name(name);
  const target = normalizeKey(name);
  const term = expirationTerm(work.rules, work.height);
  const moves = (item: Item): boolean => item.height + term > work.height;
  for (const support of supports) {
    if (!moves(support)) continue;
    work.noteSupport(target, false);
    work.leave(support, false);
    work.enter(work.refile(support, target));
  }
  work.requestCheck(work.name(target));
  for (const claim of from.state.claims.slice()) {
    const item = work.item(name, claim.since, claim.point);
    intact(item, 'an active claim has no item');
    if (!moves(item)) continue;
    work.leave(item, false);
    work.enter(work.refile(item, target));
  }
  if (from.state.claims.length === 0 && from.base.hadClaims) setTakeover(from, 0);
}
