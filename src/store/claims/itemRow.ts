/** The row of one claim or support. Its key says name, `since` and outpoint; the row the rest. */
import { claimIdAtPoint, type Item, type Removal } from '../../claimtrie/item.js';
import type { Bytes } from '../../util/bytes.js';
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

export function parseItemRow(name: string, since: number, point: string, row: Bytes): Item {
  const input = new RowDecoder(row);
  const flags = input.byte();
  const kind = KINDS[flags & KIND_MASK]!;
  const height = flags & FLAG_REFILED ? since - input.number() : since;
  const amount = input.amount();
  const txOffset = input.number();
  const dueHeight = height + input.number();
  const activated = flags & FLAG_ACTIVE ? dueHeight - input.number() : 0;
  const removal = (flags >> REMOVAL_SHIFT) as Removal | 0;
  const removed = removal === 0 ? 0 : since + input.number();
  const ordinal = flags & FLAG_NUMBERED ? input.number() : 0;
  const claimId = kind === 'claim' ? claimIdAtPoint(point) : input.raw(20);
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
