/**
 * Cache of names with many claims and supports, as of the latest block. It contains whole names, their items (claims and
 * supports), single claims, the beginning of a name's row, the positions of its claims, and its latest events. Without the
 * cache a whole name would be read, which takes milliseconds. A new block removes the names that it changed from the cache;
 * the items of these names are kept, with a list of the changed items. A disconnected block clears the cache. The size is
 * limited.
 */
import { BoundedMap } from '../../util/boundedMap.js';
import type { ClaimOfName } from '../../store/claims/query/oneClaim.js';
import type { DescribedItems, NameInfo } from '../../store/claims/query/claimQueries.js';
import type { OutputState } from '../../store/claims/query/outputStates.js';
import type { LatestHistoryPage } from '../../store/claims/query/nameHistory.js';
import type { ItemRef } from '../../store/claims/rows/logRow.js';
import type { TouchedNames } from '../../store/claims/touchedNames.js';
import type { NameTimeline } from '../../store/claims/query/nameTimeline.js';
import type { NamePlaces } from '../../store/claims/namePlaces.js';
import type { NameHead } from '../../store/claims/rows/nameRow.js';
import type { CacheUsage } from '../../util/threadMemory.js';
import type { JsonFrame } from '../../util/json/jsonFrame.js';
import { whenResolved, type MaybePromise } from '../../util/maybePromise.js';

/**
 * Minimum number of claims and supports of a name that is cached. The rows of smaller names are in the cache of rows.
 * Arbitrary.
 */
const LEAST_ITEMS = 64;
/** Maximum number of cached claims and supports of all names. Each uses about 250 bytes. */
const MOST_ITEMS = 65_536;
/** Maximum number of cached claims and supports of names as they were before later blocks changed them. */
const MOST_PAST_ITEMS = 32_768;
/** Maximum number of states of one name that are cached from before later blocks. Arbitrary: visitors turn the pages of a few. */
const MOST_PAST_STATES = 4;
/** Maximum number of cached claims and supports in the form of rows. They stay in the cache when a block changes their name. */
const MOST_ROWS = 32_768;
/** Maximum number of items in the cached timelines of all names. A name without a timeline counts as one item. */
const MOST_TIMELINE_ITEMS = 32_768;
/** If more than this share (1/n) of the items of a name has changed, all items of the name are read again. Arbitrary. */
const CHANGED_SHARE = 8;
/** Maximum number of names whose head (the beginning of the stored row) is cached. Arbitrary: bounds the memory. */
const MOST_HEADS = 1024;
/** Maximum total size in bytes of the rows whose item positions are cached. The positions take another fifth of this size. */
const MOST_PLACES_BYTES = 4 << 20;
/**
 * Maximum number of items in cached single claims, over all names and per name. A claim and each of its supports count as
 * one item. Arbitrary.
 */
const MOST_CLAIM_ITEMS = 16_384;
const MOST_CLAIM_ITEMS_OF_NAME = 4096;
/** Maximum number of events in the cached histories of all names, and of one name. Each event uses about 500 bytes. */
const MOST_EVENTS = 16_384;
const MOST_EVENTS_OF_NAME = 2048;
/** Maximum number of cached states of outputs, of all names and of one name. Arbitrary. */
const MOST_STATES = 16_384;
const MOST_STATES_OF_NAME = 8192;
/** Maximum number of characters of the texts of names, including the objects around them. */
const MOST_TEXT_CHARS = 2 << 20;
/** Number of characters added to the length of each text, for the memory of its objects. */
const TEXT_CHARS = 256;
/**
 * Maximum number of blocks by which the tip may advance between two calls. If it advances further, the cache is cleared.
 * Arbitrary: most calls come while the node is at the tip, where blocks arrive one by one.
 */
const MOST_BLOCKS = 64;

/** Identifies the latest block. `disconnects` increases with each disconnected block. */
export interface TipMarks {
  readonly tip: number;
  readonly disconnects: number;
}

/** Returns the names that the blocks between two heights changed, with their changed items. Null if any name may have changed. */
export type Touched = (from: number, to: number) => MaybePromise<TouchedNames | null>;

function itemsOf({ claims, supportsWithoutClaim }: NameInfo): number {
  let items = claims.length + supportsWithoutClaim.length;
  for (const { supports } of claims) items += supports.length;
  return items;
}

/** Profile group for which the claims of a name are read: documented results, or results as in the reference. */
export type Form = 'documented' | 'reference';

/** Identifies an item of a name. */
const keyOfItem = ({ since, ordinal }: Pick<ItemRef, 'since' | 'ordinal'>): string => `${since} ${ordinal}`;

const keyOf = (form: Form, name: string): string => form + name;

/** A cached name, and the height since which no block has changed the name. */
interface KeptInfo {
  readonly info: NameInfo;
  readonly since: number;
}

/** A name as it was after each block from `since` to `until`. */
interface PastInfo extends KeptInfo {
  readonly until: number;
}

/** Cached single claims of one name, by the text of the query that selected them. */
interface FoundClaims {
  readonly byChoice: Map<string, ClaimOfName>;
  /** Number of claims and supports in the cache entry. */
  items: number;
}

/** Cached latest events of one name, by the text of the query that found them. */
interface FoundHistories {
  readonly byChoice: Map<string, LatestHistoryPage>;
  events: number;
}

const eventsOf = ({ blocks }: LatestHistoryPage): number =>
  blocks.reduce((sum, block) => sum + block.events.length, 1);

/** End of the text of a query for the history up to the latest block. */
export const LATEST = ' latest';

/** States of outputs of one transaction. All of them are items of one name. */
export type StatesOfName = readonly OutputState[];

interface KeptStates {
  readonly states: StatesOfName;
  /** Whether a block has changed the name, but none of these items, since the states were read. */
  readonly isAged: boolean;
}

/** States of the outputs of one name by the text that names the outputs. */
interface FoundStates {
  readonly byOutputs: Map<string, KeptStates>;
  outputs: number;
}

/**
 * Whether states are still valid when a block has changed other items of the name. `best` is the outpoint of the claim that
 * now controls the name.
 */
export function areStatesValid(states: StatesOfName, best: string | undefined): boolean {
  return states.every(({ item, controls }) => controls === (item.point === best));
}

/** A limited part of the cache. */
type Part = Pick<BoundedMap<string, unknown>, 'size' | 'most' | 'clear'>;

/** Cache of names. Callers must not modify the returned objects. */
export class KeptNames {
  private readonly infos = new BoundedMap<string, KeptInfo>(MOST_ITEMS);
  /** Documented results from before later blocks, by name, the latest first. */
  private readonly past = new BoundedMap<string, readonly PastInfo[]>(MOST_PAST_ITEMS);
  private readonly items = new BoundedMap<string, DescribedItems>(MOST_ROWS);
  /** Null for a name that has too many items for a timeline. */
  private readonly timelines = new BoundedMap<string, NameTimeline | null>(MOST_TIMELINE_ITEMS);
  private readonly places = new BoundedMap<string, NamePlaces>(MOST_PLACES_BYTES);
  private readonly heads = new BoundedMap<string, NameHead>(MOST_HEADS);
  private readonly claims = new BoundedMap<string, FoundClaims>(MOST_CLAIM_ITEMS);
  private readonly histories = new BoundedMap<string, FoundHistories>(MOST_EVENTS);
  private readonly states = new BoundedMap<string, FoundStates>(MOST_STATES);
  /** Texts of the answers about documented names. */
  private readonly texts = new BoundedMap<string, JsonFrame>(MOST_TEXT_CHARS);
  private tip = -1;
  private height = -1;
  private disconnects = -1;

  /** Number of claims and supports in cached whole names. */
  get size(): number {
    return this.infos.size;
  }

  /** Updates the cache to the latest block. The result must be awaited before any lookup or insertion. */
  follow(active: TipMarks & { readonly height: number }, touched: Touched): MaybePromise<void> {
    if (this.isOf(active)) return undefined;
    const { tip, height, disconnects } = active;
    const since = this.height;
    const isNext = this.disconnects === disconnects && since < height && height - since <= MOST_BLOCKS;
    if (!isNext || this.isEmpty) {
      this.clear();
      this.note(active);
      return undefined;
    }
    return whenResolved(touched(since + 1, height), (names) => {
      const isStill = this.height === since && this.disconnects === disconnects;
      if (!isStill || active.tip !== tip || active.disconnects !== disconnects)
        return this.follow(active, touched);
      if (names === null) this.clear();
      else for (const [name, changed] of names) this.forget(name, changed);
      this.note(active);
    });
  }

  find(form: Form, name: string, marks: TipMarks): NameInfo | undefined {
    return this.isOf(marks) ? this.infos.get(keyOf(form, name))?.info : undefined;
  }

  /** Returns the documented name as of block `height`, which may be before the latest block; undefined if it is not cached. */
  findAt(name: string, height: number, marks: TipMarks): NameInfo | undefined {
    if (!this.isOf(marks) || height > this.height) return undefined;
    const latest = this.infos.get(keyOf('documented', name));
    if (latest && latest.since <= height) return latest.info;
    return this.past.get(name)?.find(({ since, until }) => since <= height && height <= until)?.info;
  }

  /** Caches a documented name as of a block before the latest one. `before` and `now`: see `keep`. */
  keepAt(name: string, height: number, info: NameInfo, before: TipMarks, now: TipMarks): void {
    const isLarge = itemsOf(info) >= LEAST_ITEMS;
    if (isLarge && this.mayKeep(before, now)) this.addPast(name, { info, since: height, until: height });
  }

  private addPast(name: string, state: PastInfo): void {
    const states: PastInfo[] = [];
    let items = 0;
    for (const one of [state, ...(this.past.get(name) ?? [])].slice(0, MOST_PAST_STATES)) {
      const more = itemsOf(one.info);
      if (items + more > MOST_PAST_ITEMS) break;
      states.push(one);
      items += more;
    }
    this.past.set(name, states, items);
  }

  /**
   * Caches a name that was read. `before` identifies the tip at the start of the read; nothing is cached if the tip has
   * changed. Returns whether names of this size are cached.
   */
  keep(form: Form, name: string, info: NameInfo, before: TipMarks, now: TipMarks): boolean {
    const items = itemsOf(info);
    if (items < LEAST_ITEMS || !this.mayKeep(before, now)) return false;
    this.infos.set(keyOf(form, name), { info, since: this.height }, items);
    return true;
  }

  /**
   * Returns the cached items (claims and supports) of a name, and the list of the items that blocks have changed since they
   * were read. Undefined if the name is not cached.
   */
  findItems(name: string, marks: TipMarks): DescribedItems | undefined {
    return this.isOf(marks) ? this.items.get(name) : undefined;
  }

  keepItems(name: string, items: DescribedItems, before: TipMarks, now: TipMarks): void {
    const { size } = items.items;
    if (size >= LEAST_ITEMS && this.mayKeep(before, now)) this.items.set(name, items, size);
  }

  /** Returns the cached timeline of a name; null if the name has too many items for one, undefined if nothing is cached. */
  findTimeline(name: string, marks: TipMarks): NameTimeline | null | undefined {
    return this.isOf(marks) ? this.timelines.get(name) : undefined;
  }

  keepTimeline(name: string, timeline: NameTimeline | null, before: TipMarks, now: TipMarks): void {
    if (this.mayKeep(before, now)) this.timelines.set(name, timeline, timeline?.size ?? 1);
  }

  /** Returns a cached claim of the name; undefined if not cached. `choice` is the text of the query that selects the claim. */
  findClaim(form: Form, name: string, choice: string, marks: TipMarks): ClaimOfName | undefined {
    return this.isOf(marks) ? this.claims.get(keyOf(form, name))?.byChoice.get(choice) : undefined;
  }

  keepClaim(
    form: Form,
    name: string,
    choice: string,
    found: ClaimOfName,
    before: TipMarks,
    now: TipMarks,
  ): void {
    const items = 1 + (found.claim?.supports.length ?? 0);
    if (items > MOST_CLAIM_ITEMS_OF_NAME || !this.mayKeep(before, now)) return;
    const known = this.claims.get(keyOf(form, name));
    const isFull = known !== undefined && known.items + items > MOST_CLAIM_ITEMS_OF_NAME;
    const kept = known === undefined || isFull ? { byChoice: new Map(), items: 0 } : known;
    kept.byChoice.set(choice, found);
    kept.items += items;
    this.claims.set(keyOf(form, name), kept, kept.items);
  }

  /** Estimated sizes of the cached texts, and of all other parts together. */
  caches(): readonly CacheUsage[] {
    let [bytes, maxBytes] = [0, 0];
    for (const [part, unitBytes] of this.parts) {
      bytes += part.size * unitBytes;
      maxBytes += part.most * unitBytes;
    }
    return [
      { name: 'name_texts', bytes: this.texts.size, maxBytes: this.texts.most },
      { name: 'names', bytes: Math.round(bytes), maxBytes: Math.round(maxBytes) },
    ];
  }

  findText(name: string, marks: TipMarks): JsonFrame | undefined {
    return this.isOf(marks) ? this.texts.get(name) : undefined;
  }

  keepText(name: string, frame: JsonFrame, before: TipMarks, now: TipMarks): void {
    if (this.mayKeep(before, now)) this.texts.set(name, frame, TEXT_CHARS + frame.chars);
  }

  findHead(name: string, marks: TipMarks): NameHead | undefined {
    return this.isOf(marks) ? this.heads.get(name) : undefined;
  }

  keepHead(name: string, head: NameHead, before: TipMarks, now: TipMarks): void {
    if (this.mayKeep(before, now)) this.heads.set(name, head, 1);
  }

  findPlaces(name: string, marks: TipMarks): NamePlaces | undefined {
    return this.isOf(marks) ? this.places.get(name) : undefined;
  }

  keepPlaces(name: string, places: NamePlaces, before: TipMarks, now: TipMarks): void {
    if (this.mayKeep(before, now)) this.places.set(name, places, places.sizeBytes);
  }

  findHistory(name: string, choice: string, marks: TipMarks): LatestHistoryPage | undefined {
    return this.isOf(marks) ? this.histories.get(name)?.byChoice.get(choice) : undefined;
  }

  keepHistory(name: string, choice: string, page: LatestHistoryPage, before: TipMarks, now: TipMarks): void {
    if (!this.mayKeep(before, now)) return;
    const events = eventsOf(page);
    const known = this.histories.get(name);
    const isFull = known === undefined || known.events + events > MOST_EVENTS_OF_NAME;
    const found: FoundHistories = isFull ? { byChoice: new Map(), events: 0 } : known;
    found.byChoice.set(choice, page);
    found.events += events;
    this.histories.set(name, found, found.events);
  }

  /** Returns cached states. If `isAged`, the caller must check them with `areStatesValid`, and cache them again. */
  findStates(name: string, outputs: string, marks: TipMarks): KeptStates | undefined {
    return this.isOf(marks) ? this.states.get(name)?.byOutputs.get(outputs) : undefined;
  }

  keepStates(name: string, outputs: string, states: StatesOfName, before: TipMarks, now: TipMarks): boolean {
    if (!this.mayKeep(before, now)) return false;
    const known = this.states.get(name);
    const isFull = known === undefined || known.outputs + states.length > MOST_STATES_OF_NAME;
    const found: FoundStates = isFull ? { byOutputs: new Map(), outputs: 0 } : known;
    if (!found.byOutputs.has(outputs)) found.outputs += states.length;
    found.byOutputs.set(outputs, { states, isAged: false });
    this.states.set(name, found, found.outputs);
    return true;
  }

  private mayKeep(before: TipMarks, now: TipMarks): boolean {
    return before.tip === now.tip && before.disconnects === now.disconnects && this.isOf(now);
  }

  private isOf({ tip, disconnects }: TipMarks): boolean {
    return this.tip === tip && this.disconnects === disconnects;
  }

  /** The parts of the cache besides the texts, and the estimated memory of each unit of their sizes in bytes. */
  private get parts(): readonly (readonly [Part, unitBytes: number])[] {
    return [
      [this.infos, 250],
      [this.past, 250],
      [this.items, 250],
      [this.timelines, 300],
      [this.places, 1.2],
      [this.heads, 300],
      [this.claims, 800],
      [this.histories, 500],
      [this.states, 300],
    ];
  }

  private get all(): readonly Part[] {
    return [this.texts, ...this.parts.map(([part]) => part)];
  }

  private get isEmpty(): boolean {
    return this.all.every(({ size }) => size === 0);
  }

  private note({ tip, height, disconnects }: TipMarks & { readonly height: number }): void {
    this.tip = tip;
    this.height = height;
    this.disconnects = disconnects;
  }

  private forget(name: string, changed: readonly ItemRef[]): void {
    this.noteChanges(name, changed);
    this.noteInTimeline(name, changed);
    const documented = this.infos.get(keyOf('documented', name));
    if (documented) this.addPast(name, { ...documented, until: this.height });
    for (const form of ['documented', 'reference'] as const) {
      this.infos.delete(keyOf(form, name));
      this.claims.delete(keyOf(form, name));
    }
    this.texts.delete(name);
    this.places.delete(name);
    this.heads.delete(name);
    this.forgetLatest(name);
    this.ageStates(name, changed);
  }

  /** Removes the cached states of changed items, and marks the other states of the name. */
  private ageStates(name: string, changed: readonly ItemRef[]): void {
    const known = this.states.get(name);
    if (known === undefined) return;
    this.states.delete(name);
    const refs = new Set(changed.map(keyOfItem));
    const left: FoundStates = { byOutputs: new Map(), outputs: 0 };
    for (const [outputs, { states }] of known.byOutputs) {
      if (states.some(({ item }) => refs.has(keyOfItem(item)))) continue;
      left.byOutputs.set(outputs, { states, isAged: true });
      left.outputs += states.length;
    }
    if (left.outputs > 0) this.states.set(name, left, left.outputs);
  }

  /** Removes the cached histories that end with the latest block. Later blocks add nothing to the others. */
  private forgetLatest(name: string): void {
    const known = this.histories.get(name);
    if (known === undefined) return;
    this.histories.delete(name);
    const left: FoundHistories = { byChoice: new Map(), events: 0 };
    for (const [choice, page] of known.byChoice) {
      if (choice.endsWith(LATEST)) continue;
      left.byChoice.set(choice, page);
      left.events += eventsOf(page);
    }
    if (left.events > 0) this.histories.set(name, left, left.events);
  }

  private noteChanges(name: string, changed: readonly ItemRef[]): void {
    const known = this.items.get(name);
    if (known === undefined) return;
    const { size } = known.items;
    const all = [...known.changed, ...changed];
    if (all.length * CHANGED_SHARE > size) this.items.delete(name);
    else this.items.set(name, { ...known, changed: all }, size);
  }

  private noteInTimeline(name: string, changed: readonly ItemRef[]): void {
    const timeline = this.timelines.get(name);
    if (!timeline) return;
    timeline.note(changed);
    // Each change may add an item.
    if (timeline.isTooLong) this.timelines.set(name, null, 1);
    else this.timelines.set(name, timeline, timeline.size);
  }

  private clear(): void {
    for (const kept of this.all) kept.clear();
  }
}
