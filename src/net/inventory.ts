/**
 * Inventory items: identifiers of data that nodes announce and request. Source: Core protocol.h `CInv`, `GetDataMsg`; BIP37,
 * BIP144, BIP152.
 */
import type { Writer } from '../util/writer.js';
import { MAX_PAYLOAD_BYTES, readItems, type MessageCodec } from './messages/codec.js';

export const INV = {
  tx: 1,
  block: 2,
  /** Requests a block as a merkleblock message together with its matching transactions. Used in getdata only. */
  filteredBlock: 3,
  /** Requests a block as a cmpctblock message. Used in getdata only. */
  compactBlock: 4,
  /** Request a transaction or block with witness data. Used in getdata only. */
  witnessTx: 0x40000001,
  witnessBlock: 0x40000002,
} as const;

/** Maximum number of items in an inv, getdata or notfound message. A peer that sends more gets 20 misbehaviour points. */
export const MAX_INV_ITEMS = 50_000;
const ITEM_SIZE = 36;

export interface InvItem {
  /** Type of the item: a value of `INV` or any other unsigned 32-bit value that a peer sends. */
  readonly type: number;
  /** Id of the transaction or block: 32 bytes, wire order. */
  readonly hash: Buffer;
}

export interface InventoryMessage {
  /** Received items. At most `MAX_INV_ITEMS` + 1 are parsed; the extra item shows that the message was too long. */
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
