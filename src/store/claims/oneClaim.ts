/**
 * One claim of a name with many, as after the latest block: the name's row, the rows of the claim and of its supports, and what is
 * pending under the name, however many claims and supports there are besides. Owns no rows. What it cannot tell from these, the
 * caller reads from all of the name.
 */
import { compareCreation, compareJoining, pointIndex, type Item } from '../../claimtrie/item.js';
import { fromLatin1, type Bytes } from '../../util/bytes.js';
import type { RowReader } from '../rows.js';
import { standardPlace } from '../../util/standardSort.js';
import { readAtHand, type RowsAtHand } from '../rowsAtHand.js';
import type { Soon } from '../../util/soon.js';
import { dueKey, itemKey, nameKey } from './claimKeys.js';
import { describeClaim, SharedBytes, type ClaimInfo, type NameInfo } from './claimQueries.js';
import { FEW_ITEMS, itemKeys, parseItems } from './itemHistory.js';
import { parseItemRow } from './itemRow.js';
import { ageOf, NamePlaces, referenceOrder, stableOrder, stablePlace } from './namePlaces.js';
import { parseDueRow } from './queueRow.js';
import { repeatPending } from './referenceView.js';
import { countSupportRows, supportPlaces } from './supportRows.js';

/** Which claim of a name is wanted. */
export type ClaimChoice =
  /** Place in the order of bids; 0 is the best. */
  | { readonly bid: number }
  /** Place in the order of heights; 0 is the oldest. */
  | { readonly sequence: number }
  /** In wire order. */
  | { readonly claimId: Bytes }
  /** Lower-case digits with which the printed id begins; of several claims the best. */
  | { readonly digits: string };

/** A claim, and what is shown of its name. */
export interface ClaimOfName extends Pick<NameInfo, 'name' | 'lastTakeoverHeight'> {
  /** Undefined when there is no such claim. */
  readonly claim: ClaimInfo | undefined;
}

export interface OneClaimQuery {
  readonly height: number;
  /** As the reference answers: see `NameQuery`. */
  readonly asReference: boolean;
  readonly choice: ClaimChoice;
}

/** Places that are kept as long as the name does not change. */
export interface KnownPlaces {
  find(name: string): NamePlaces | undefined;
  keep(name: string, places: NamePlaces): void;
}

/** Of a claim with more supports all of the name is read, which is faster. Arbitrary. */
const MOST_SUPPORTS = 1000;
const ID_BYTES = 20;

/** Whether the printed id, which begins with the last of the bytes at that place, begins with the digits. */
export function beginsWith(bytes: Bytes, at: number, digits: string): boolean {
  if (digits.length > 2 * ID_BYTES) return false;
  for (let digit = 0; digit < digits.length; digit++) {
    const byte = bytes[at + ID_BYTES - 1 - (digit >> 1)]!;
    if ((digit & 1 ? byte & 15 : byte >> 4) !== parseInt(digits[digit]!, 16)) return false;
  }
  return true;
}

function hasId(id: Bytes): (bytes: Bytes, at: number) => boolean {
  return (bytes, at) => {
    for (let i = 0; i < ID_BYTES; i++) if (bytes[at + i] !== id[i]) return false;
    return true;
  };
}

/**
 * Null for a name with few items, and where all of the name must be read. `name` is as it is filed, and not empty. Who waits
 * for it holds the outcome for nothing when a block came or went meanwhile.
 */
export function readPresentClaim(
  rows: RowReader,
  name: string,
  query: OneClaimQuery,
  known?: KnownPlaces,
): Soon<ClaimOfName | null> {
  return readAtHand(rows, (atHand) => {
    const places = known?.find(name) ?? readPlaces(atHand, name, known);
    return places && new OneClaim(atHand, name, places, query).read();
  });
}

function readPlaces(rows: RowsAtHand, name: string, known: KnownPlaces | undefined): NamePlaces | null {
  const row = rows.get(nameKey(name));
  if (row === undefined) return null;
  const places = new NamePlaces(row);
  if (places.alive <= FEW_ITEMS) return null;
  known?.keep(name, places);
  return places;
}

/** Where a claim is listed: an active one by its bid, a pending one behind them. The reference may list one several times. */
interface Mention {
  readonly at: number;
  readonly claimId: string;
  /** Null for an active one. */
  readonly pending: Item | null;
}

class OneClaim {
  private readonly rows: RowsAtHand;
  private readonly name: string;
  private readonly places: NamePlaces;
  private readonly query: OneClaimQuery;
  /** In the order in which they are listed. */
  private pendingClaims: readonly Item[] = [];
  private pendingSupports: readonly Item[] = [];
  /** How many of these are listed once. */
  private supportsPending = 0;
  private order: Readonly<Uint32Array> | null = null;

  constructor(rows: RowsAtHand, name: string, places: NamePlaces, query: OneClaimQuery) {
    this.rows = rows;
    this.name = name;
    this.places = places;
    this.query = query;
  }

  read(): ClaimOfName | null {
    const { places, query } = this;
    const { asReference, choice } = query;
    const { alive, count, pending } = places;
    if (alive > count + pending && countSupportRows(this.rows, this.name) === null) return null;
    if (!this.loadPending()) return null;
    const shown = {
      name: fromLatin1(this.name),
      lastTakeoverHeight: count > 0 || asReference ? places.takeover : 0,
    };
    const mention = this.choose();
    if (mention === undefined) return { ...shown, claim: undefined };
    const first = this.firstMention(mention);
    if (first === null) return null;
    const item = this.itemOf(mention);
    const supports = mention.at === first ? this.supportsOf(mention, item) : [];
    if (item === null || supports === null) return null;
    const place =
      'sequence' in choice
        ? { bid: first, sequence: choice.sequence }
        : { bid: mention.at, sequence: this.sequenceOf(first, mention) };
    return { ...shown, claim: describeClaim(item, supports, place, query.height, new SharedBytes()) };
  }

  /** Reads what is pending; false where the rows do not say it. */
  private loadPending(): boolean {
    const { rows, name, places } = this;
    if (places.pending === 0) return true;
    const entries = rows
      .getMany(places.dues.map(dueKey))
      .flatMap((row) => parseDueRow(row).filter((entry) => entry.name === name));
    const items = parseItems(name, entries, rows.getMany(itemKeys(name, entries))).filter(
      ({ removed, activated }) => removed === 0 && activated === 0,
    );
    if (items.length !== places.pending) return false;
    const listed = (isSupport: boolean): Item[] => {
      const some = items.filter(({ kind }) => (kind === 'support') === isSupport).sort(compareCreation);
      return this.query.asReference ? repeatPending(some) : some;
    };
    this.pendingClaims = listed(false);
    this.pendingSupports = listed(true);
    this.supportsPending = items.reduce((sum, { kind }) => sum + Number(kind === 'support'), 0);
    return true;
  }

  private choose(): Mention | undefined {
    const { choice } = this.query;
    if ('bid' in choice) return this.mentionAt(choice.bid);
    if ('sequence' in choice) return this.mentionAt(this.byAge()[choice.sequence] ?? -1);
    const isWanted =
      'claimId' in choice
        ? hasId(choice.claimId)
        : (bytes: Bytes, at: number) => beginsWith(bytes, at, choice.digits);
    const [best] = this.places.withId(isWanted);
    if (best !== undefined) return this.mentionAt(best);
    const at = this.pendingClaims.findIndex(({ claimId }) => isWanted(fromLatin1(claimId), 0));
    return at < 0 ? undefined : this.mentionAt(this.places.count + at);
  }

  private mentionAt(at: number): Mention | undefined {
    const { places, pendingClaims } = this;
    if (at >= 0 && at < places.count) return { at, claimId: places.idAt(at), pending: null };
    const pending = pendingClaims[at - places.count];
    return pending && { at, claimId: pending.claimId, pending };
  }

  /** The first place at which the claim is listed; null when another one has the same id. */
  private firstMention({ claimId, pending }: Mention): number | null {
    const { places, pendingClaims } = this;
    const active = places.withId(hasId(fromLatin1(claimId)));
    const others = pendingClaims.filter((item) => item.claimId === claimId);
    if (active.length + new Set(others).size > 1) return null;
    return pending === null ? active[0]! : places.count + pendingClaims.indexOf(pending);
  }

  private itemOf({ at, claimId, pending }: Mention): Item | null {
    if (pending !== null) return pending;
    const { point, since } = this.places.claim(at);
    const row = this.rows.get(itemKey(this.name, since, point));
    return row === undefined ? null : parseItemRow(this.name, since, point, row, claimId);
  }

  /** Null where the rows do not fit. */
  private supportsOf({ at, claimId, pending }: Mention, claim: Item | null): Item[] | null {
    const { rows, name, places, supportsPending } = this;
    const waiting = this.pendingSupports.filter((item) => item.claimId === claimId);
    const active = places.alive - places.count - places.pending;
    if (active === 0 || claim === null) return waiting;
    if (countSupportRows(rows, name) !== active + supportsPending) return null;
    const found = supportPlaces(rows, name, claimId, MOST_SUPPORTS);
    if (found.length > MOST_SUPPORTS) return null;
    const items = parseItems(name, found, rows.getMany(itemKeys(name, found)));
    const isFitting = items.every(
      (item) => item.kind === 'support' && item.removed === 0 && item.claimId === claimId,
    );
    if (!isFitting || items.length !== found.length) return null;
    const supports = items.filter(({ activated }) => activated !== 0).sort(compareJoining);
    const sum = supports.reduce((amount, item) => amount + item.amount, 0n);
    if (pending === null && sum !== places.claim(at).effective - claim.amount) return null;
    return supports.concat(waiting);
  }

  /** All that is listed, by age. */
  private byAge(): Readonly<Uint32Array> {
    return (this.order ??= this.sortByAge());
  }

  private sortByAge(): Readonly<Uint32Array> {
    const { asReference } = this.query;
    if (asReference && this.pendingClaims.length === 0) return this.places.byReferenceAge;
    const ages = this.ages();
    return asReference ? referenceOrder(ages) : stableOrder(ages);
  }

  private ages(): Float64Array {
    const { places, pendingClaims } = this;
    if (pendingClaims.length === 0) return places.ages;
    const ages = new Float64Array(places.count + pendingClaims.length);
    ages.set(places.ages);
    pendingClaims.forEach((item, i) => (ages[places.count + i] = ageOfItem(item)));
    return ages;
  }

  /** The first place by age at which the claim is listed. */
  private sequenceOf(first: number, { pending }: Mention): number {
    const ages = this.ages();
    if (pending === null || !this.query.asReference) {
      return this.query.asReference ? standardPlace(ages, first) : stablePlace(ages, first);
    }
    const { count } = this.places;
    const isMention = (at: number): boolean => at >= count && this.pendingClaims[at - count] === pending;
    return this.byAge().findIndex(isMention);
  }
}

function ageOfItem({ height, point }: Item): number {
  return ageOf(height, pointIndex(point));
}
