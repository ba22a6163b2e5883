/**
 * Changes of names that the claim trie does not store: outputs that are created and spent within a block, and spends of
 * outputs that have expired or never were in the trie. lbcd logs both as changes of the name, so its responses depend on
 * them. The rows of this module do not affect the trie. The lbcd profile and the claim index read them. Source: lbcd
 * blockchain/claimtrie.go `ParseClaimScripts`, claimtrie/node/node.go `ApplyChange`.
 */
import type { ClaimWork } from '../../../claimtrie/claimWork.js';
import { REMOVAL, type Item, type ItemKind } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import { filesNormalized } from '../../../claimtrie/rules.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import { toLatin1, type Bytes } from '../../../util/bytes.js';
import { prefixEnd, walkInSteps, type RowReader, type RowTransaction } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import { fleetingAtKey, fleetingKey, fleetingNameKey, parseFleetingKey, readU32 } from '../rows/claimKeys.js';
import { readPoint, writePoint } from '../rows/nameRow.js';
import { RowDecoder, RowEncoder } from '../rows/rowCodec.js';

/** Number of names that are read in one call. Arbitrary: few blocks have more. */
const NAMES_AT_ONCE = 50;
/** Stands for an unknown due height: rows that an older version wrote have no due height. */
export const NOT_NOTED = -1;

/** A claim or update that a block created and spent, and the key of its row. */
export interface FleetingClaim {
  readonly claimId: string;
  /** Name in the key of the row. */
  readonly name: string;
  /** Height of the block. */
  readonly since: number;
  readonly point: string;
}

/** Fleeting changes of one name in one block. */
export interface Fleeting {
  readonly height: number;
  /** The outputs that were created and spent within the block. */
  readonly items: readonly Item[];
}

const KINDS: readonly ItemKind[] = ['claim', 'update', 'support'];
const KIND_MASK = 3;
/**
 * Flag of a row entry: the activation delay follows the type of the item (claim or support). Entries of older versions have
 * no delay.
 */
const FLAG_DELAY = 4;

/**
 * Records the fleeting changes of a block whose transactions have just been processed. Returns the claims and updates that the
 * block created and spent, in the order of the spends.
 */
export function noteFleeting(rows: RowTransaction, work: ClaimWork): readonly FleetingClaim[] {
  const { height, rules } = work;
  const claims: FleetingClaim[] = [];
  const byName = new Map<string, Item[]>();
  const under = (rawName: string): Item[] => {
    const name = lbcdNameOf(rules, rawName, height);
    let items = byName.get(name);
    if (!items) byName.set(name, (items = []));
    return items;
  };
  for (const { item, spentBy } of work.operations) {
    if (!item.isNew || spentBy === null) continue;
    under(item.rawName).push(item);
    if (item.kind !== 'support')
      claims.push({ ...item, name: lbcdNameOf(rules, item.rawName, height), since: height });
  }
  for (const spend of work.unknownSpends) under(toLatin1(spend.name));
  for (const [name, items] of byName) {
    rows.put(fleetingKey(name, height), formatRow(items));
    rows.put(fleetingAtKey(height, name), Buffer.alloc(0));
  }
  return claims;
}

/** The name under which lbcd logs a change in block `height`. Source: `NormalizeIfNecessary`. */
function lbcdNameOf(rules: ClaimRules, rawName: string, height: number): string {
  return filesNormalized(rules, height) ? normalizeKey(rawName) : rawName;
}

/** Deletes the recorded changes of a block that have no lasting effect in lbcd. */
export async function undoFleeting(rows: RowTransaction, height: number): Promise<void> {
  for (const name of await readFleetingNames(rows, height)) {
    rows.del(fleetingKey(name, height));
    rows.del(fleetingAtKey(height, name));
  }
}

/** Names with fleeting changes in a block, in byte order. */
export async function readFleetingNames(rows: RowReader, height: number): Promise<string[]> {
  const prefix = fleetingAtKey(height, '');
  const names: string[] = [];
  const yieldTimer = new YieldTimer();
  for await (const [key] of walkInSteps(rows, { gte: prefix, lt: prefixEnd(prefix) }, NAMES_AT_ONCE)) {
    if (yieldTimer.isDue) await yieldTimer.pause();
    names.push(key.slice(prefix.length));
  }
  return names;
}

/**
 * Fleeting changes of a name in blocks up to `height`, in the order of blocks. `name` is the name that lbcd used at that
 * time.
 */
export async function readFleeting(rows: RowReader, name: string, height: number): Promise<Fleeting[]> {
  const found: Fleeting[] = [];
  const yieldTimer = new YieldTimer();
  const range = { gte: fleetingKey(name, 0), lt: fleetingKey(name, height + 1) };
  for await (const [key, row] of rows.range(range)) {
    if (yieldTimer.isDue) await yieldTimer.pause();
    const at = readU32(key, fleetingNameKey(name).length);
    found.push({ height: at, items: parseRow(name, at, row) });
  }
  return found;
}

/** The outputs of all names that a block created and that were spent in the same block. */
export async function readFleetingItems(rows: RowReader, height: number): Promise<Item[]> {
  const names = await readFleetingNames(rows, height);
  const items: Item[] = [];
  const yieldTimer = new YieldTimer();
  for (const name of names) {
    const row = await rows.get(fleetingKey(name, height));
    if (row !== undefined) items.push(...parseRow(name, height, row));
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
  return items;
}

/** The outputs of one row, by its key. */
export function parseFleeting(key: string, row: Bytes): Item[] {
  const { name, height } = parseFleetingKey(key);
  return parseRow(name, height, row);
}

/** A claim or update that a block created and spent, by the key of its row; undefined if there is none. */
export async function readFleetingClaim(
  rows: RowReader,
  { name, since, point }: Omit<FleetingClaim, 'claimId'>,
): Promise<Item | undefined> {
  const row = await rows.get(fleetingKey(name, since));
  return row && parseRow(name, since, row).find((item) => item.point === point);
}

function formatRow(items: readonly Item[]): Buffer {
  const out = new RowEncoder();
  for (const { kind, claimId, point, amount, txOffset, rawName, dueHeight, height } of items) {
    out.byte(KINDS.indexOf(kind) | FLAG_DELAY).number(dueHeight - height);
    out.raw(claimId).amount(amount).number(txOffset).string(rawName);
    writePoint(out, point);
  }
  return out.finish();
}

function parseRow(name: string, height: number, row: Bytes): Item[] {
  const input = new RowDecoder(row);
  const items: Item[] = [];
  while (!input.done) {
    const head = input.byte();
    const dueHeight = (head & FLAG_DELAY) === 0 ? NOT_NOTED : height + input.number();
    items.push({
      kind: KINDS[head & KIND_MASK]!,
      claimId: input.raw(20),
      amount: input.amount(),
      txOffset: input.number(),
      rawName: input.string(),
      point: readPoint(input),
      name,
      since: height,
      height,
      dueHeight,
      activated: 0,
      removed: height,
      removal: REMOVAL.spent,
      ordinal: 0,
      isNew: false,
    });
  }
  return items;
}
