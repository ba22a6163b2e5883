/**
 * Inventory items: identifiers of data that nodes announce and request. Source: Core protocol.h `CInv`, `GetDataMsg`; BIP37,
 * BIP144, BIP152.
 */
import type { Writer } from '../util/writer.js';
import { MAX_PAYLOAD_BYTES, readItems, type MessageCodec } from './messages/codec.js';

export const INV = {
  tx: 1,
  block: 2,
  /** In getdata only: a merkleblock and its transactions. */
  filteredBlock: 3,
  /** In getdata only: a cmpctblock. */
  compactBlock: 4,
  /** In getdata only: with witness. */
  witnessTx: 0x40000001,
  witnessBlock: 0x40000002,
} as const;

/** Maximum number of items in an inv, getdata or notfound; more cost 20 points. */
export const MAX_INV_ITEMS = 50_000;
const ITEM_SIZE = 36;

export interface InvItem {
  /** One of `INV`, or any other value that a peer sends; unsigned 32-bit. */
  readonly type: number;
  /** 32 bytes, wire order. */
  readonly hash: Buffer;
}

export interface InventoryMessage {
  /** Items, at most one more than `MAX_INV_ITEMS`. */
  readonly items: readonly InvItem[];
}

/** The codec shared by inv, getdata and notfound. */
export function inventoryCodec(command: string): MessageCodec<InventoryMessage> {
  return {
    command,
    maxSizeBytes: MAX_PAYLOAD_BYTES,
    parse: (reader) => ({
      items: readItems(reader, ITEM_SIZE, MAX_INV_ITEMS, () => ({ type: reader.u32(), hash: reader.hash() })),
    }),
    format(writer, { items }) {
      writer.compactSize(items.length);
      for (const item of items) writeItem(writer, item);
    },
  };
}

function writeItem(writer: Writer, { type, hash }: InvItem): void {
  writer.u32(type).raw(hash);
}
