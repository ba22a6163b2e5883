/**
 * Reads one claim of a name with many claims, after the latest block. Reads the name's row, the rows of the claim and its
 * supports, and the pending items of the name, but not the other claims and supports. If these rows are not sufficient, the
 * caller must read the whole name.
 */
import { compareCreation, compareJoining, pointIndex, type Item } from '../../../claimtrie/item.js';
import { equalBytes, fromLatin1, type Bytes } from '../../../util/bytes.js';
import type { RowReader } from '../../rows/rows.js';
import { readAtHand, type RowsAtHand } from '../../rows/rowsAtHand.js';
import type { MaybePromise } from '../../../util/maybePromise.js';
import { dueKey, itemKey, nameKey } from '../rows/claimKeys.js';
import { describeClaim, SharedBytes, type ClaimInfo, type NameInfo } from './claimQueries.js';
import { FEW_ITEMS, itemKeys, parseItems } from './itemHistory.js';
import { parseItemRow } from '../rows/itemRow.js';
import {
  ageOf,
  NamePlaces,
  referenceOrder,
  referencePlace,
  stableOrder,
  stablePlace,
} from '../namePlaces.js';
import { parseDueRow } from '../rows/queueRow.js';
import { repeatPending } from './referenceView.js';
import { countSupportRows, supportPlaces } from '../rows/supportRows.js';

/** Selects one claim of a name. */
export type ClaimChoice =
  /** Position in the order of bids; 0 for the best claim. */
  | { readonly bid: number }
  /** Position in the order of age (height); 0 for the oldest claim. */
  | { readonly sequence: number }
  /** Claim id in wire order. */
  | { readonly claimId: Bytes }
  /** First digits of the claim id as printed, in lower case. If several claims match, the best is selected. */
  | { readonly digits: string };

/** A claim, and the data of its name that responses show. */
export interface ClaimOfName extends Pick<NameInfo, 'name' | 'lastTakeoverHeight'> {
  /** The claim; undefined if it does not exist. */
  readonly claim: ClaimInfo | undefined;
}

export interface OneClaimQuery {
  readonly height: number;
  /** Whether to return the result of the reference, including its quirks (`NameQuery`). */
  readonly asReference: boolean;
  readonly choice: ClaimChoice;
}

/** Cache of claim positions by name. An entry is valid until the name changes. */
export interface KnownPlaces {
  find(name: string): NamePlaces | undefined;
  keep(name: string, places: NamePlaces): void;
}

/**
 * Maximum number of supports that are read one by one. For a claim with more supports the whole name is read, which is
 * faster. Arbitrary.
 */
const MOST_SUPPORTS = 1000;
const ID_BYTES = 20;

/** Whether the printed form of the id at offset `at` (its bytes in reverse order) begins with `digits`. */
export function beginsWith(bytes: Bytes, at: number, digits: string): boolean {
  if (digits.length > 2 * ID_BYTES) return false;
  for (let digit = 0; digit < digits.length; digit++) {
    const byte = bytes[at + ID_BYTES - 1 - (digit >> 1)]!;
    if ((digit & 1 ? byte & 15 : byte >> 4) !== parseInt(digits[digit]!, 16)) return false;
  }
  return true;
}

/**
 * Reads one claim after the latest block. Null if the name has few items, or if the whole name must be read. `name` must be
 * normalized and not empty. The caller must discard the result if the tip changes during the call.
 */
export function readPresentClaim(
  rows: RowReader,
  name: string,
  query: OneClaimQuery,
  known?: KnownPlaces,
): MaybePromise<ClaimOfName | null> {
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

/**
 * A list position of a claim. Active claims are listed in the order of bids, then pending claims. The reference may list a
 * claim several times.
 */
interface Mention {
  readonly at: number;
  readonly claimId: string;
  /** The item of a claim that is not active yet (before its valid height); null for an active claim. */
  readonly pending: Item | null;
}

class OneClaim {
  private readonly rows: RowsAtHand;
  private readonly name: string;
  private readonly places: NamePlaces;
  private readonly query: OneClaimQuery;
  /** Pending claims and pending supports, in the order in which they are listed. */
  private pendingClaims: readonly Item[] = [];
  private pendingSupports: readonly Item[] = [];
  /** Number of pending supports. Each support counts once, even if it is listed several times. */
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

  /** Reads the pending items (claims and supports) of the name. Returns false if the rows are not sufficient. */
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
    const { places } = this;
    const isWanted =
      'claimId' in choice
        ? (bytes: Bytes): boolean => equalBytes(bytes, choice.claimId)
        : (bytes: Bytes, at: number) => beginsWith(bytes, at, choice.digits);
    const [best] = 'claimId' in choice ? places.withClaimId(choice.claimId) : places.withId(isWanted);
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

  /** The first list position of the claim; null if another claim has the same id. */
  private firstMention({ claimId, pending }: Mention): number | null {
    const { places, pendingClaims } = this;
    const active = places.withClaimId(fromLatin1(claimId));
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

  /** Reads the supports of a claim; null if the rows contradict each other. */
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

  /** Positions of all claims in the list, sorted by age. */
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

  /** Position in the order of age of the claim whose first position in the list is `first`. */
  private sequenceOf(first: number, { pending }: Mention): number {
    const ages = this.ages();
    if (pending === null || !this.query.asReference) {
      return this.query.asReference ? referencePlace(ages, first) : stablePlace(ages, first);
    }
    const { count } = this.places;
    const isMention = (at: number): boolean => at >= count && this.pendingClaims[at - count] === pending;
    return this.byAge().findIndex(isMention);
  }
}

function ageOfItem({ height, point }: Item): number {
  return ageOf(height, pointIndex(point));
}
