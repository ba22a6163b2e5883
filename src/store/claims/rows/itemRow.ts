/** The row of one claim or support. The key contains the name, `since` and the outpoint; the row contains the other fields. */
import { claimIdAtPoint, type Item, type Removal } from '../../../claimtrie/item.js';
import type { Bytes } from '../../../util/bytes.js';
import { itemKey } from './claimKeys.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

const KINDS = ['claim', 'update', 'support'] as const;
const KIND_MASK = 3;
const FLAG_OTHER_NAME = 4;
const FLAG_REFILED = 8;
const FLAG_NUMBERED = 16;
const FLAG_ACTIVE = 32;
const REMOVAL_SHIFT = 6;

const encoder = new RowEncoder();

export function itemRowKey(item: Item): string {
  return itemKey(item.name, item.since, item.point);
}

export function formatItemRow(item: Item): Buffer {
  const { kind, since, height, dueHeight, activated } = item;
  encoder.byte(
    KINDS.indexOf(kind) |
      (item.rawName === item.name ? 0 : FLAG_OTHER_NAME) |
      (since === height ? 0 : FLAG_REFILED) |
      (item.ordinal === 0 ? 0 : FLAG_NUMBERED) |
      (activated === 0 ? 0 : FLAG_ACTIVE) |
      (item.removal << REMOVAL_SHIFT),
  );
  if (since !== height) encoder.number(since - height);
  encoder
    .amount(item.amount)
    .number(item.txOffset)
    .number(dueHeight - height);
  if (activated !== 0) encoder.number(dueHeight - activated);
  if (item.removal !== 0) encoder.number(item.removed - since);
  if (item.ordinal !== 0) encoder.number(item.ordinal);
  if (kind !== 'claim') encoder.raw(item.claimId);
  if (item.rawName !== item.name) encoder.raw(item.rawName);
  return encoder.finish();
}

/** Whether the row says that the item (claim or support) was removed from its name. */
export function isRemovedRow(row: Bytes): boolean {
  return row[0]! >> REMOVAL_SHIFT !== 0;
}

/** State of a claim or support that can be read from its row alone. */
export interface ItemStanding {
  /** Height at which the item (claim or support) is or was due in the queue of pending items. */
  readonly dueHeight: number;
  /** Height of the block in which the item (claim or support) became active; 0 while it is pending. */
  readonly activated: number;
}

/** Parses only the state; null if the item (claim or support) was removed from its name. */
export function parseItemStanding(since: number, row: Bytes): ItemStanding | null {
  if (isRemovedRow(row)) return null;
  const { dueHeight, activated } = readStart(new RowDecoder(row), since);
  return { dueHeight, activated };
}

/** Reads the fields with which every item row begins. */
function readStart(input: RowDecoder, since: number) {
  const flags = input.byte();
  const height = flags & FLAG_REFILED ? since - input.number() : since;
  const amount = input.amount();
  const txOffset = input.number();
  const dueHeight = height + input.number();
  const activated = flags & FLAG_ACTIVE ? dueHeight - input.number() : 0;
  return { flags, height, amount, txOffset, dueHeight, activated };
}

/**
 * Parses the row of an item (claim or support). `id` is the claim id, if the caller knows it. Otherwise the id of a claim
 * that was never updated must be hashed.
 */
export function parseItemRow(name: string, since: number, point: string, row: Bytes, id?: string): Item {
  const input = new RowDecoder(row);
  const { flags, height, amount, txOffset, dueHeight, activated } = readStart(input, since);
  const kind = KINDS[flags & KIND_MASK]!;
  const removal = (flags >> REMOVAL_SHIFT) as Removal | 0;
  const removed = removal === 0 ? 0 : since + input.number();
  const ordinal = flags & FLAG_NUMBERED ? input.number() : 0;
  const claimId = kind === 'claim' ? (id ?? claimIdAtPoint(point)) : input.raw(20);
  const rawName = flags & FLAG_OTHER_NAME ? input.raw(row.length - input.position) : name;
  return {
    name,
    since,
    point,
    kind,
    claimId,
    amount,
    height,
    txOffset,
    dueHeight,
    activated,
    removed,
    removal,
    rawName,
    ordinal,
    isNew: false,
  };
}
