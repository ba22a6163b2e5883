/**
 * The effects of future blocks without claim transactions on a name: pending items (claims and supports) are activated when
 * they are due or when the name's owner (controlling claim) changes, active ones expire, owners change. Uses the same order
 * of steps as `blockEnd.ts`. Not included: items moved by the normalization fork, and the case that the removal of another
 * name ends this name's node.
 */
import type { Slices } from '../util/slices.js';
import { compareCreation, type Item } from './item.js';
import { normalizeKey } from './nameKey.js';
import {
  addActiveClaim,
  addActiveItems,
  addSupport,
  emptyNameState,
  removeActiveClaims,
  type ActiveClaim,
  type NameState,
} from './nameState.js';
import { expirationHeight, matchesNormalized } from './rules.js';
import type { ClaimRules } from './types.js';

/**
 * A change in a future block. For a takeover, `owner` is null if the name loses its controlling claim, and `formerId` is
 * empty if the name had none.
 */
export type ForecastEvent =
  | { type: 'activation' | 'expiration'; height: number; item: Item }
  | { type: 'takeover'; height: number; owner: NameOwner | null; formerId: string };

/** Fields of the claim that controls a name after a block of the forecast. */
export type NameOwner = Pick<ActiveClaim, 'claimId' | 'point' | 'amount' | 'effective'>;

export interface NameToCome {
  name: string;
  /** All items (claims and supports) stored under the name after block `height`. */
  items: readonly Item[];
  height: number;
  /** Height of the last block of the forecast. If `height` is below the normalization fork, `until` must be too. */
  until: number;
  /** Whether other names branch at this name, so that it is a node of the trie even without claims. */
  isParting: boolean;
  /** If set, the forecast ends at the first block at or above `height` after which it has more than `events` events. */
  enough?: { readonly events: number; readonly height: number };
}

/** Number of items (claims and supports) that are processed between two yields to the event loop. */
const ITEMS_AT_ONCE = 256;

export function* forecastName(rules: ClaimRules, coming: NameToCome): Slices<ForecastEvent[]> {
  return (yield* foreseeName(rules, coming)).events;
}

/** Future events, and the owner (controlling claim) of the name after each. */
export interface Foreseen {
  readonly events: readonly ForecastEvent[];
  /** Returns the controlling claim of the name after block `height`; null if the name has none. */
  ownerAt(height: number): NameOwner | null;
}

/** Computes the future events of a name, and its owner (controlling claim) after each block up to `until`. */
export function* foreseeName(
  rules: ClaimRules,
  coming: NameToCome,
): Slices<Foreseen & { readonly events: ForecastEvent[] }> {
  const { items, height, until, enough } = coming;
  const future = new NameFuture(rules, coming);
  const due = new Map<number, Item[]>();
  const old = new Map<number, Item[]>();
  const present: Item[] = [];
  const pending: Item[] = [];
  for (const item of items) {
    const expires = expirationHeight(rules, item.height);
    if (item.activated !== 0 && item.activated <= height) present.push(item);
    else pending.push(item);
    if (expires <= until) addTo(old, expires, item);
  }
  yield;
  future.begin(present);
  yield;
  for (const [i, item] of pending.sort(compareCreation).entries()) {
    if (i % ITEMS_AT_ONCE === ITEMS_AT_ONCE - 1) yield;
    future.pending.add(item);
    addTo(due, item.dueHeight, item);
  }
  const owners: { readonly height: number; readonly owner: NameOwner | null }[] = [
    { height, owner: future.owner },
  ];
  const heights = new Set([...due.keys(), ...old.keys()]);
  for (const at of [...heights].sort((a, b) => a - b)) {
    if (at <= height || at > until) continue;
    // Most items expire after the end of the forecast, so only the items of its blocks are sorted.
    const expiring = (old.get(at) ?? []).sort(compareCreation);
    yield* future.block(at, due.get(at) ?? [], expiring);
    owners.push({ height: at, owner: future.owner });
    if (enough !== undefined && at >= enough.height && future.events.length > enough.events) break;
  }
  return {
    events: future.events,
    ownerAt: (at) => owners.findLast((one) => one.height <= at)?.owner ?? null,
  };
}

function addTo(map: Map<number, Item[]>, height: number, item: Item): void {
  const items = map.get(height);
  if (items) items.push(item);
  else map.set(height, [item]);
}

/** The controlling claim of the name in the current state of the forecast; null if the name has none. */
export function ownerOf({ claims }: NameState): NameOwner | null {
  const best = claims[0];
  if (best === undefined) return null;
  const { claimId, point, amount, effective } = best;
  return { claimId, point, amount, effective };
}

class NameFuture {
  readonly events: ForecastEvent[] = [];
  readonly pending = new Set<Item>();
  private readonly active = new Set<Item>();
  private readonly state: NameState = emptyNameState();
  private readonly rules: ClaimRules;
  private readonly name: string;
  private readonly isParting: boolean;
  /** Claims that expire in the present block. */
  private readonly leaving: Item[] = [];
  /** Whether the owner (controlling claim) must be decided at the end of the block. */
  private check = false;

  constructor(rules: ClaimRules, { name, isParting }: NameToCome) {
    this.rules = rules;
    this.name = name;
    this.isParting = isParting;
  }

  /** Enters the items that are active at the start. */
  begin(items: readonly Item[]): void {
    for (const item of items) this.active.add(item);
    addActiveItems(this.state, items);
  }

  private enter(item: Item): void {
    this.active.add(item);
    this.change(item);
    if (item.kind === 'support') addSupport(this.state, item.claimId, item.amount);
    else addActiveClaim(this.state, item);
  }

  /** The controlling claim of the name after the last block of the forecast; null if the name has none. */
  get owner(): NameOwner | null {
    return ownerOf(this.state);
  }

  private change(item: Item): void {
    if (item.kind !== 'support' || this.state.claims.length > 0 || this.isParting) this.check = true;
  }

  private activate(height: number, item: Item): void {
    if (!this.pending.delete(item)) return;
    this.enter(item);
    this.events.push({ type: 'activation', height, item });
  }

  private expire(height: number, item: Item): void {
    // An item (claim or support) that kept its raw name at the normalization fork is not found under the normalized name,
    // so it does not expire.
    if (matchesNormalized(this.rules, height) && normalizeKey(this.name) !== this.name) return;
    if (!this.active.delete(item)) return;
    this.change(item);
    if (item.kind === 'support') addSupport(this.state, item.claimId, -item.amount);
    else this.leaving.push(item);
    this.events.push({ type: 'expiration', height, item });
  }

  /** Source: the same as for `processDue` and `settleTakeovers`. */
  *block(height: number, due: readonly Item[], old: readonly Item[]): Slices<void> {
    const { claims } = this.state;
    const formerId = claims[0]?.claimId ?? '';
    this.check = false;
    for (const isSupport of [false, true]) {
      yield* this.each(due, isSupport, (item) => this.activate(height, item));
      yield* this.each(old, isSupport, (item) => this.expire(height, item));
      removeActiveClaims(this.state, this.leaving.splice(0));
    }
    if (this.check && (formerId === '' || claims[0]?.claimId !== formerId)) {
      const waiting = [...this.pending];
      for (const isSupport of [false, true])
        yield* this.each(waiting, isSupport, (item) => this.activate(height, item));
    }
    const owner = ownerOf(this.state);
    if ((owner?.claimId ?? '') !== formerId) this.events.push({ type: 'takeover', height, owner, formerId });
  }

  private *each(items: readonly Item[], isSupport: boolean, handle: (item: Item) => void): Slices<void> {
    for (const [i, item] of items.entries()) {
      if ((item.kind === 'support') === isSupport) handle(item);
      if (i % ITEMS_AT_ONCE === ITEMS_AT_ONCE - 1) yield;
    }
  }
}
