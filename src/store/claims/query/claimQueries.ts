/**
 * Queries of the claim trie by name, id and block, for the state after any block of the active chain. They read item rows
 * and histories, and need no rollback of blocks. Defines the result types. The RPC code formats the results, and reads the
 * value and address of an output from the block files, by `height` and `txOffset`. Source: lbrycrd `getClaimsForName`,
 * rpc/claimtrie.cpp.
 */
import {
  claimIdAtPoint,
  compareCreation,
  compareJoining,
  pointIndex,
  type Item,
} from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import { compareClaims } from '../../../claimtrie/nameState.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import { filesNormalized } from '../../../claimtrie/rules.js';
import { fromLatin1, toLatin1, type Bytes } from '../../../util/bytes.js';
import { inSlices } from '../../../scheduler/slices.js';
import { atOnce, sortedInSlices, type Slices } from '../../../util/slices.js';
import { whenResolved, type MaybePromise } from '../../../util/maybePromise.js';
import { standardSort } from '../../../util/standardSort.js';
import type { RowReader } from '../../rows/rows.js';
import { readAtHand, type RowsAtHand } from '../../rows/rowsAtHand.js';
import { CLAIM_PREFIX, claimIdKey, nameKey, SUMMARY_KEY } from '../rows/claimKeys.js';
import {
  aliveOfFew,
  FEW_ITEMS,
  itemKeys,
  itemsAt,
  itemsByOrdinal,
  itemsInRows,
  type ItemSource,
  keptItems,
  parseItems,
  presentItems,
  rangeOfFew,
  renewItems,
  type KeptItems,
} from './itemHistory.js';
import { parseNameHead, parseNameRow } from '../rows/nameRow.js';
import { readLog, type ItemRef, type LogEvent } from '../rows/logRow.js';
import { readOwnership } from './ownership.js';
import { compareRestored, leavingOrder, leftBehind, repeatPending, staleTakeover } from './referenceView.js';
import { parseSummaryRow, type ClaimTotals } from '../rows/summaryRow.js';

/** An output (claim or support) that is stored in the trie, pending or active. Ids and hashes are in wire order. */
export interface OutputInfo {
  claimId: Bytes;
  txid: Bytes;
  n: number;
  amount: bigint;
  /** Height of the block that contains the output. */
  height: number;
  /** Byte offset of the transaction in its block. */
  txOffset: number;
  /** Height at which the output becomes active or became active. */
  validAtHeight: number;
  active: boolean;
  /** The name as spelled in the script of the output. */
  name: Bytes;
}

export interface ClaimInfo extends OutputInfo {
  /** Amount of the claim if it is active, plus the amounts of its active supports. */
  effectiveAmount: bigint;
  /** Amount of the claim plus all its supports, including pending ones. */
  fullAmount: bigint;
  supports: OutputInfo[];
  /** Position in the order of bids: first active claims, the best first, then pending claims. */
  bid: number;
  /** Position in the order of age (height). */
  sequence: number;
}

export interface NameInfo {
  /** The name that was looked up. It is normalized if the rules require it at this height. */
  name: Bytes;
  lastTakeoverHeight: number;
  claims: ClaimInfo[];
  supportsWithoutClaim: OutputInfo[];
}

/** Orders of the claims for a name: by effective amount, pending claims last, or by age. */
export type BidOrder = 'bid' | 'oldest' | 'newest';

export interface NameQuery {
  name: Bytes;
  /** Height of the block after which the state is queried. */
  height: number;
  /** Whether to look up the name without normalization, as the reference does for `getclaimsfortx`. */
  exact?: boolean;
  /**
   * If set, returns the result that the reference gives when its tip is at `tipHeight`, including its quirks
   * (`referenceView.ts`).
   */
  asReference?: { tipHeight: number };
}

/** A query whose name is passed separately. */
type PlacedQuery = Pick<NameQuery, 'height' | 'asReference'>;

/** Number of claims that are processed between two yields to the event loop. Arbitrary: each claim takes microseconds. */
const CLAIMS_A_STEP = 64;

/**
 * Maximum number of shared byte strings per item (claim or support) that are kept for later results. An unspent item has
 * three. Arbitrary.
 */
const SHARED_AN_ITEM = 4;

const TXID_BYTES = 32;
const ID_BYTES = 20;

const NO_PLACES: ReadonlyMap<Item, number> = new Map();

/** The name under which claims for `name` are stored after block `height`. */
export function filedName(rules: ClaimRules, name: Bytes, height: number): string {
  const key = toLatin1(name);
  return filesNormalized(rules, height) ? normalizeKey(key) : key;
}

/**
 * Cache of byte strings that several items (claims and supports) of a result share: ids of one transaction, names, ids of
 * supported claims.
 */
export class SharedBytes {
  private readonly known = new Map<string, Bytes>();

  get size(): number {
    return this.known.size;
  }

  of(text: string): Bytes {
    let bytes = this.known.get(text);
    if (bytes === undefined) this.known.set(text, (bytes = fromLatin1(text)));
    return bytes;
  }
}

/** The result data of an item (claim or support). */
export function outputOf(
  item: Item,
  active: boolean,
  validAtHeight: number,
  shared = new SharedBytes(),
): OutputInfo {
  return {
    claimId: shared.of(item.claimId),
    txid: shared.of(item.point.slice(0, TXID_BYTES)),
    n: pointIndex(item.point),
    amount: item.amount,
    height: item.height,
    txOffset: item.txOffset,
    validAtHeight,
    active,
    name: shared.of(item.rawName),
  };
}

function describe(item: Item, height: number, shared: SharedBytes): OutputInfo {
  const active = wasActive(item, height);
  return outputOf(item, active, active ? item.activated : item.dueHeight, shared);
}

/**
 * Reads all data of one name after the latest or an earlier block. Blocks may be connected during the call. `source` returns the
 * items of the name, if the caller has them in memory.
 */
export async function readName(
  rows: RowReader,
  rules: ClaimRules,
  query: NameQuery,
  source?: ItemSource,
): Promise<NameInfo> {
  const { height, asReference } = query;
  const name = query.exact ? toLatin1(query.name) : filedName(rules, query.name, height);
  const ownership = await readOwnership(rows, name, height);
  let items = await (source ?? itemsInRows(rows, name)).aliveAt(height);
  let takeover = ownership.hasClaims ? ownership.takeover : 0;
  if (!asReference) return inSlices(describeInSlices(name, takeover, items, query));
  const { tipHeight } = asReference;
  const places = await leavingOrder(rows, items, { height, tipHeight });
  items = items.concat(await leftBehind(rows, rules, name, height, tipHeight));
  if (!ownership.hasClaims) takeover = await staleTakeover(rows, name, ownership, height, tipHeight);
  return inSlices(describeInSlices(name, takeover, items, query, places));
}

/**
 * Reads all data of one name after the latest block. Faster than `readName`, because fewer rows are read, by key.
 * Synchronous if the rows are in memory. `name` is the name as stored (`filedName`). It must not be empty, because the
 * result for a root without claims depends on other names. The result is invalid if a block is connected or disconnected
 * during the call, because it may then mix rows of two blocks.
 */
export function readPresentName(
  rows: RowReader,
  name: string,
  query: PlacedQuery,
  known?: KnownItems,
): MaybePromise<NameInfo> {
  return whenResolved(
    readAtHand(rows, (atHand) => presentName(atHand, name, query)),
    (info) => info ?? readManyItems(rows, name, query, known),
  );
}

/** Cache for names with many items (claims and supports). Only items that later blocks changed are read again. */
export interface KnownItems {
  find(name: string): DescribedItems | undefined;
  keep(name: string, items: DescribedItems): void;
}

/** Items (claims and supports) of a name, and the byte strings of their last description. */
export interface DescribedItems extends KeptItems {
  readonly shared: SharedBytes;
}

/** Reads a name from its current rows. Returns null if the name has many claims or supports. */
function presentName(rows: RowsAtHand, name: string, query: PlacedQuery): NameInfo | null {
  const row = rows.get(nameKey(name));
  if (row === undefined) return describeName(name, 0, [], query);
  const { claims, alive, takeover } = parseNameRow(row);
  if (alive > FEW_ITEMS) return null;
  const items =
    alive === claims.length
      ? parseItems(name, claims, rows.getMany(itemKeys(name, claims)))
      : aliveOfFew(name, rows.getRange(rangeOfFew(name, query.height)), query.height);
  if (items === null) return null;
  return describeName(name, claims.length > 0 || query.asReference ? takeover : 0, items, query);
}

async function readManyItems(
  rows: RowReader,
  name: string,
  query: PlacedQuery,
  known: KnownItems | undefined,
): Promise<NameInfo> {
  const row = await rows.get(nameKey(name));
  if (row === undefined) return describeName(name, 0, [], query);
  const { claims, alive, takeover } = parseNameHead(row);
  const { height } = query;
  const before = known?.find(name);
  const renewed = before && (await renewItems(rows, name, before, height));
  const isRenewed = renewed?.items.size === alive;
  const kept = isRenewed ? renewed : keptItems(await readItems(rows, name, row, height), height);
  // The shared strings also include those of removed items (claims and supports), so they are discarded when there are too
  // many.
  const isSmall = before !== undefined && before.shared.size < SHARED_AN_ITEM * alive;
  const shared = isRenewed && isSmall ? before.shared : new SharedBytes();
  known?.keep(name, { ...kept, shared });
  const shown = claims > 0 || query.asReference ? takeover : 0;
  const items = [...kept.items.values()];
  return inSlices(describeInSlices(name, shown, items, query, NO_PLACES, shared));
}

/** Reads all items (claims and supports) of a name after the latest block. `row` is the row of the name. */
function readItems(rows: RowReader, name: string, row: Bytes, height: number): Promise<Item[]> {
  const { claims, alive } = parseNameRow(row);
  if (alive === claims.length) return itemsAt(rows, name, claims);
  return presentItems(rows, name, height, new Map(claims.map(({ point, claimId }) => [point, claimId])));
}

function describeName(name: string, takeover: number, items: readonly Item[], query: PlacedQuery): NameInfo {
  return atOnce(describeInSlices(name, takeover, items, query));
}

function* describeInSlices(
  name: string,
  takeover: number,
  items: readonly Item[],
  { height, asReference }: PlacedQuery,
  places: ReadonlyMap<Item, number> = NO_PLACES,
  shared = new SharedBytes(),
): Slices<NameInfo> {
  const { claims, supports } = yield* arrange(
    items,
    height,
    asReference ? compareRestored(height, places) : null,
  );

  yield;
  const { matched, unmatched } = matchSupports(claims, supports);
  yield;
  const sequences = yield* sequenceOf(claims, asReference !== undefined);
  yield;
  const infos: ClaimInfo[] = [];
  for (let bid = 0; bid < claims.length; bid++) {
    if (bid % CLAIMS_A_STEP === CLAIMS_A_STEP - 1) yield;
    const claim = claims[bid]!;
    const place = { bid, sequence: sequences.get(claim.claimId)! };
    infos.push(describeClaim(claim, matched[bid]!, place, height, shared));
  }
  return {
    name: fromLatin1(name),
    lastTakeoverHeight: takeover,
    claims: infos,
    supportsWithoutClaim: unmatched.map((support) => describe(support, height, shared)),
  };
}

/** The result data of a claim with its supports, in display order. */
export function describeClaim(
  claim: Item,
  supports: readonly Item[],
  { bid, sequence }: Pick<ClaimInfo, 'bid' | 'sequence'>,
  height: number,
  shared: SharedBytes,
): ClaimInfo {
  const active = wasActive(claim, height);
  let effectiveAmount = active ? claim.amount : 0n;
  let fullAmount = claim.amount;
  for (const support of supports) {
    if (wasActive(support, height)) effectiveAmount += support.amount;
    fullAmount += support.amount;
  }
  // The members are listed explicitly, because object spread is several times slower.
  return {
    claimId: shared.of(claim.claimId),
    txid: shared.of(claim.point.slice(0, TXID_BYTES)),
    n: pointIndex(claim.point),
    amount: claim.amount,
    height: claim.height,
    txOffset: claim.txOffset,
    validAtHeight: active ? claim.activated : claim.dueHeight,
    active,
    name: shared.of(claim.rawName),
    effectiveAmount,
    fullAmount,
    supports: supports.map((support) => describe(support, height, shared)),
    bid,
    sequence,
  };
}

/**
 * Assigns the supports to the claims. If several claims have the same id, the first gets all supports. Supports of other
 * claims are returned separately.
 */
export function matchSupports<T extends { claimId: string }>(
  claims: readonly { claimId: string }[],
  supports: readonly T[],
): { matched: T[][]; unmatched: T[] } {
  if (supports.length === 0) return { matched: claims.map(() => []), unmatched: [] };
  const groups = new Map<string, T[]>();
  for (const claim of claims) groups.set(claim.claimId, []);
  const unmatched: T[] = [];
  for (const support of supports) (groups.get(support.claimId) ?? unmatched).push(support);
  const matched = claims.map(({ claimId }) => {
    const mine = groups.get(claimId) ?? [];
    groups.delete(claimId);
    return mine;
  });
  return { matched, unmatched };
}

export function wasActive(item: Item, height: number): boolean {
  return item.activated !== 0 && item.activated <= height;
}

/**
 * Sorts claims in the order of bids, and supports in the order in which they became active. Pending claims and supports
 * follow, in the order of the queue. `restored`, if set, is the order of items that later blocks changed.
 */
function* arrange(
  items: readonly Item[],
  height: number,
  restored: ((a: Item, b: Item) => number) | null,
): Slices<{ claims: Item[]; supports: Item[] }> {
  if (items.length === 1) {
    return items[0]!.kind === 'support'
      ? { claims: [], supports: [...items] }
      : { claims: [...items], supports: [] };
  }
  const of = (support: boolean, active: boolean): Item[] =>
    items.filter((item) => (item.kind === 'support') === support && wasActive(item, height) === active);
  const sorted = function* (some: readonly Item[], compare: (a: Item, b: Item) => number): Slices<Item[]> {
    const found = yield* sortedInSlices(some, compare);
    return restored === null ? found : yield* sortedInSlices(found, restored);
  };
  const queued = function* (support: boolean): Slices<Item[]> {
    const pending = yield* sorted(of(support, false), compareCreation);
    return restored === null ? pending : repeatPending(pending);
  };
  const active = yield* sorted(of(true, true), compareJoining);
  const claims = yield* orderClaims(of(false, true), active);
  return {
    claims: claims.concat(yield* queued(false)),
    supports: active.concat(yield* queued(true)),
  };
}

/** Sorts active claims by effective amount, which includes the active supports. The best claim is the first. */
function* orderClaims(claims: readonly Item[], supports: readonly Item[]): Slices<Item[]> {
  const sums = new Map<string, bigint>();
  for (const support of supports) {
    sums.set(support.claimId, (sums.get(support.claimId) ?? 0n) + support.amount);
  }
  const bids = claims.map((item) => ({
    item,
    effective: item.amount + (sums.get(item.claimId) ?? 0n),
    height: item.height,
    point: item.point,
  }));
  yield;
  return (yield* sortedInSlices(bids, compareClaims)).map(({ item }) => item);
}

interface Age {
  readonly height: number;
  readonly n: number;
}

const compareAge = (a: Age, b: Age): number => a.height - b.height || a.n - b.n;

/**
 * Sorts claims by height and output number. Claims with equal height and output number (of several transactions) keep their
 * order. With the reference's order they get the order that its sort produces. Source: `seqSort`.
 */
export function byAge<T extends { height: number; n: number }>(
  claims: readonly T[],
  asReference: boolean,
): T[] {
  if (!asReference) return [...claims].sort(compareAge);
  return standardSort([...claims], (a, b) => a.height < b.height || (a.height === b.height && a.n < b.n));
}

/**
 * The position of each claim id in the order of age. If a claim is listed twice, its first position counts. Source:
 * `indexOf`.
 */
function* sequenceOf(claims: readonly Item[], asReference: boolean): Slices<Map<string, number>> {
  const places = claims.map(({ height, point, claimId }) => ({ height, n: pointIndex(point), claimId }));
  const order = asReference ? byAge(places, true) : yield* sortedInSlices(places, compareAge);
  const numbers = new Map<string, number>();
  order.forEach(({ claimId }, i) => {
    if (!numbers.has(claimId)) numbers.set(claimId, i);
  });
  return numbers;
}

/** Totals of the claim trie after the latest block. */
export async function readTotals(rows: RowReader): Promise<ClaimTotals> {
  return parseSummaryRow(await rows.get(SUMMARY_KEY)).totals;
}

export interface ClaimLocation {
  /** Wire order. */
  claimId: Bytes;
  /** Name with the spelling of the claim's latest output. */
  name: Bytes;
}

/**
 * The claim, pending or active at the tip, whose printed id begins with `text` (lower-case digits). If several match,
 * returns the claim whose id is the first in wire order, as in the index of the reference. Source: `getClaimById`.
 */
export function findClaimById(rows: RowReader, text: string): MaybePromise<ClaimLocation | null> {
  if (!/^[0-9a-f]{1,40}$/.test(text)) return null;
  return text.length === 2 * ID_BYTES ? findWholeId(rows, text) : findByBeginning(rows, text);
}

function findWholeId(rows: RowReader, text: string): MaybePromise<ClaimLocation | null> {
  const claimId = Buffer.from(text, 'hex').reverse();
  const key = claimIdKey(toLatin1(claimId));
  return readAtHand(rows, (atHand) => {
    const name = atHand.get(key);
    return name === undefined ? null : { claimId, name };
  });
}

async function findByBeginning(rows: RowReader, text: string): Promise<ClaimLocation | null> {
  const gte = CLAIM_PREFIX.claimId + fromHexDigits(text, '0');
  const lt = CLAIM_PREFIX.claimId + fromHexDigits(text, 'f') + '\xff'.repeat(21);
  let found: ClaimLocation | null = null;
  for await (const [key, row] of rows.range({ gte, lt })) {
    const claimId = fromLatin1(key.slice(1)).reverse();
    if (found === null || Buffer.compare(claimId, found.claimId) < 0) found = { claimId, name: row };
  }
  return found;
}

/** Converts hex digits as printed to bytes (latin1). If the number of digits is odd, `fill` is appended. */
function fromHexDigits(text: string, fill: string): string {
  return toLatin1(Buffer.from(text.length % 2 === 0 ? text : text + fill, 'hex'));
}

export { readNames } from './ownership.js';

/**
 * Items (claims and supports) that entered and left the trie in a block. Each id is computed as if the output had created a
 * claim.
 */
export interface BlockChanges {
  claimsAddedOrUpdated: Bytes[];
  claimsRemoved: Bytes[];
  supportsAddedOrUpdated: Bytes[];
  supportsRemoved: Bytes[];
  /** Every changed name, including names with changes of pending items (claims and supports) only. */
  names: Bytes[];
}

/**
 * Reads the changes of a block. As in the reference, which reads the undo data, these are activations and expirations. In
 * the normalization fork's block, moved items (claims and supports) count both as added and as removed. Spent items are not
 * included. Source: rpc/claimtrie.cpp `getchangesinblock`.
 */
export async function readChanges(rows: RowReader, height: number): Promise<BlockChanges> {
  const log = await readLog(rows, height);
  const changes: BlockChanges = {
    claimsAddedOrUpdated: [],
    claimsRemoved: [],
    supportsAddedOrUpdated: [],
    supportsRemoved: [],
    names: [],
  };
  const names = new Set<string>();
  const known = new Map<string, Map<number, Item>>();
  const idOf = async ({ name, since, ordinal }: ItemRef): Promise<Bytes> => {
    const group = `${since}:${name}`;
    let items = known.get(group);
    if (!items) known.set(group, (items = await itemsByOrdinal(rows, name, since)));
    return fromLatin1(claimIdAtPoint(items.get(ordinal)!.point));
  };
  for (const [i, event] of log.entries()) {
    names.add('ref' in event ? event.ref.name : event.name);
    if (event.op === 'refile') names.add(event.to.name);
    if (!('ref' in event) || event.op === 'spend') continue;
    if (event.op === 'create' && !event.active) continue;
    // An item (claim or support) that moves to another name when it becomes active counts only as added.
    if (event.op === 'refile' && activates(log[i + 1], event.to)) continue;
    const id = await idOf(event.ref);
    const added = event.isSupport ? changes.supportsAddedOrUpdated : changes.claimsAddedOrUpdated;
    const removed = event.isSupport ? changes.supportsRemoved : changes.claimsRemoved;
    if (event.op !== 'expire') added.push(id);
    if (event.op === 'expire' || event.op === 'refile') removed.push(id);
  }
  changes.names = [...names].map(fromLatin1);
  return changes;
}

function activates(event: LogEvent | undefined, ref: ItemRef): boolean {
  return (
    event?.op === 'activate' &&
    event.ref.name === ref.name &&
    event.ref.since === ref.since &&
    event.ref.ordinal === ref.ordinal
  );
}
