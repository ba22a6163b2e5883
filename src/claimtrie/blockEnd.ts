/**
 * The end of a block: due items are activated, expired items are removed, owners (controlling claims) are decided. Order:
 * claim activations, claim expirations, support activations, support expirations, takeover checks. Source: lbrycrd
 * `CClaimTrieCacheBase::incrementBlock`, `undoIncrement`.
 */
import type { ClaimWork, NameWork, TakeoverCheck } from './claimWork.js';
import { REMOVAL, type Item } from './item.js';
import { setOrder } from './checkOrder.js';
import { normalizeKey } from './nameKey.js';

/**
 * Activates the due items of one type, then expires old items: first for claims, then for supports. Both lists are oldest
 * first. Yields between items, so that the caller can pause.
 */
export function* processDue(
  work: ClaimWork,
  due: readonly Item[],
  expiring: readonly Item[],
): Generator<void> {
  const entering = [...due, ...work.newDue];
  for (const supports of [false, true]) {
    for (const item of entering) {
      if ((item.kind === 'support') === supports && item.removed === 0) work.activate(item);
      yield;
    }
    for (const item of expiring) {
      if ((item.kind === 'support') === supports) expire(work, item);
      yield;
    }
  }
}

/**
 * An item that kept its raw name at the normalization fork is not found under the normalized name. It stays in the trie, as
 * in the reference. A pending item stays in its queue as well.
 */
function expire(work: ClaimWork, created: Item): void {
  const name = work.matchesNormalized ? normalizeKey(created.name) : created.name;
  const item =
    created.removal === REMOVAL.refiled ? work.item(name, created.removed, created.point) : created;
  if (!item || item.name !== name || item.removed !== 0 || item.activated === 0) return;
  work.end(item, REMOVAL.expired);
}

/**
 * First step of the takeover checks: finds the loaded names whose owner (controlling claim) changes or is lost. `order`
 * contains names in the order in which they must be checked, if that order matters.
 */
export function findTakeovers(work: ClaimWork, order: Iterable<string> = []): TakeoverCheck[] {
  const checks: TakeoverCheck[] = [];
  const add = (name: NameWork): void => {
    if (!name.check) return;
    name.check = false;
    checks.push({ work: name, happened: ownerChanged(name) });
  };
  for (const name of order) add(work.name(name));
  for (const name of work.names.values()) add(name);
  return checks;
}

/**
 * Returns the order in which the block's names are checked. Returns an empty list if the order has no visible effect,
 * because computing it takes time.
 */
export function checkingOrder(work: ClaimWork): string[] {
  let waiting = 0;
  for (const name of work.names.values()) {
    if (name.check && name.state.pending.size > 0 && ownerChanged(name)) waiting++;
  }
  return waiting > 1 ? setOrder([...work.checkOrder]) : [];
}

function ownerChanged({ state, base }: NameWork): boolean {
  const best = state.claims[0];
  return best === undefined || !base.hadClaims || best.claimId !== base.ownerId;
}

/**
 * Second step of the takeover checks: activates all pending items (claims and supports) of each name whose owner
 * (controlling claim) changes. Supports of other claims are activated too. `pending` returns the stored pending items of a
 * name, oldest first. Then the takeover heights are set. Yields between names.
 */
export function* settleTakeovers(
  work: ClaimWork,
  checks: readonly TakeoverCheck[],
  pending: (name: string) => readonly Item[],
): Generator<void> {
  for (const { work: name, happened } of checks) {
    if (happened) {
      const waiting = [...pending(name.name), ...name.newPending];
      for (const item of waiting) if (item.kind !== 'support') work.activate(item);
      for (const item of waiting) if (item.kind === 'support') work.activate(item);
    }
    if (!happened && !work.hasTakeoverFlag(name.name)) setTakeover(name, name.base.takeover);
    else setTakeover(name, work.trie.isNode(name.name) ? work.height : 0);
    yield;
  }
  // The decision about a name already included the items (claims and supports) that its takeover activates, so no name is
  // checked twice.
  for (const name of work.names.values()) name.check = false;
}

/** Sets the name's takeover height; 0 if the trie node of the name was removed. */
export function setTakeover(name: NameWork, takeover: number): void {
  if (name.state.takeover === takeover) return;
  name.state.takeover = takeover;
  name.changed = true;
  name.claimsChanged = true;
}
