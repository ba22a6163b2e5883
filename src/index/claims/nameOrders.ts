/**
 * Lists of the live claims of a name, ordered by age. The order decides which claim the beginning of an id resolves to, and
 * how many digits a short URL needs. Caches the lists of one tip, up to a limit, because names with many claims are queried
 * often.
 */
import type { RowReader } from '../../store/rows/rows.js';
import { prefixEnd } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { asBuffer } from '../../util/bytes.js';
import { ID_LENGTH, nameOrderPrefix } from './claimIndexKeys.js';

/**
 * Number of claims that are read in the first call. The remaining claims of a longer list are read row by row, with yields
 * to the event loop.
 */
const CLAIMS_AT_ONCE = 64;
/** Maximum size of the cached lists in bytes. Arbitrary: bounds the memory. */
const KEPT_BYTES = 16 << 20;
/**
 * Estimated memory in bytes of a cached list besides its ids and its name. The length of the name counts separately, because
 * normalized names may be long.
 */
const LIST_BYTES = 200;
/** Maximum number of digits in a short URL; a claim that needs more gets all digits. Source: lbryio/hub hub/db/common.py. */
const MOST_SHORT_DIGITS = 10;
const ALL_DIGITS = 40;

/**
 * Ids of live claims in printed order, 20 bytes each. The oldest claim comes first, or in a list by amount the claim with
 * the largest amount.
 */
export type ClaimOrder = Buffer;

export class NameOrders {
  private readonly lists = new Map<string, ClaimOrder>();
  private bytes = 0;

  async of(rows: RowReader, group: string): Promise<ClaimOrder> {
    return this.kept(`age ${group}`, () => readOrder(rows, nameOrderPrefix(group)));
  }

  /**
   * Claims whose row keys start with `prefix`, in the order of the rows. The values of the rows are claim ids. The list is
   * cached.
   */
  async behind(rows: RowReader, prefix: string): Promise<ClaimOrder> {
    return this.kept(`rows ${prefix}`, () => readOrder(rows, prefix));
  }

  /**
   * Returns the claims of a name group (all spellings with one normalized form) ordered by amount. `make` computes the order
   * if the cache does not have it.
   */
  async byAmount(group: string, make: () => Promise<ClaimOrder>): Promise<ClaimOrder> {
    return this.kept(`amount ${group}`, make);
  }

  private async kept(key: string, make: () => Promise<ClaimOrder>): Promise<ClaimOrder> {
    const kept = this.lists.get(key);
    if (kept) return kept;
    const list = await make();
    this.keep(key, list);
    return list;
  }

  private keep(key: string, list: ClaimOrder): void {
    if (this.lists.has(key)) return;
    this.lists.set(key, list);
    this.bytes += key.length + list.length + LIST_BYTES;
    for (const [oldest, { length }] of this.lists) {
      if (this.bytes <= KEPT_BYTES) return;
      this.lists.delete(oldest);
      this.bytes -= oldest.length + length + LIST_BYTES;
    }
  }
}

async function readOrder(rows: RowReader, prefix: string): Promise<ClaimOrder> {
  const range = { gte: prefix, lt: prefixEnd(prefix) };
  const first = await rows.getRange({ ...range, limit: CLAIMS_AT_ONCE });
  const ids = first.map(([, id]) => asBuffer(id));
  if (first.length === CLAIMS_AT_ONCE) {
    let since = performance.now();
    for await (const [, id] of rows.range({ ...range, gte: `${first.at(-1)![0]}\0` })) {
      ids.push(asBuffer(id));
      since = await yieldIfDue(since);
    }
  }
  const order = Buffer.allocUnsafe(ids.length * ID_LENGTH);
  ids.forEach((id, i) => {
    for (let at = 0; at < ID_LENGTH; at++) order[i * ID_LENGTH + at] = id[ID_LENGTH - 1 - at]!;
  });
  return order;
}

/** Ids of the claims in the list, in wire order. */
export function idsOf(order: ClaimOrder): Buffer[] {
  const ids: Buffer[] = [];
  for (let at = 0; at < order.length; at += ID_LENGTH)
    ids.push(Buffer.from(order.subarray(at, at + ID_LENGTH)).reverse());
  return ids;
}

/** Id (wire order) of the oldest claim in `order` whose printed id starts with `digits`; null if there is none. */
export function oldestWith(order: ClaimOrder, digits: string): Buffer | null {
  const whole = Buffer.from(digits.slice(0, digits.length & ~1), 'hex');
  const half = digits.length % 2 === 1 ? parseInt(digits.at(-1)!, 16) : -1;
  for (let at = 0; at < order.length; at += ID_LENGTH) {
    let i = 0;
    while (i < whole.length && order[at + i] === whole[i]) i++;
    if (i < whole.length || (half >= 0 && order[at + i]! >>> 4 !== half)) continue;
    return Buffer.from(order.subarray(at, at + ID_LENGTH)).reverse();
  }
  return null;
}

/** Number of leading digits that the id at offset `at` of the list shares with `printed`. */
function commonDigits(order: ClaimOrder, at: number, printed: Buffer): number {
  for (let i = 0; i < ID_LENGTH; i++) {
    const difference = order[at + i]! ^ printed[i]!;
    if (difference !== 0) return 2 * i + (difference < 16 ? 1 : 0);
  }
  return ALL_DIGITS;
}

/**
 * Digits of the claim id in a short URL: as few that this claim is the oldest in the list with these digits.
 */
export function shortDigits(order: ClaimOrder, claimId: Buffer): string {
  const printed = Buffer.from(claimId).reverse();
  let needed = 1;
  for (let at = 0; at < order.length; at += ID_LENGTH) {
    const common = commonDigits(order, at, printed);
    if (common === ALL_DIGITS) break;
    if (common >= needed) needed = common + 1;
  }
  return printed.toString('hex').slice(0, needed > MOST_SHORT_DIGITS ? ALL_DIGITS : needed);
}
