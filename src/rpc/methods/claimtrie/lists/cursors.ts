/**
 * Cursors of paged lists that describe one block. A cursor contains the block of the first page, the number of the sort
 * order, the position after which the next page begins, and the tag of the list. Clients must treat a cursor as opaque.
 */
import { NO_HEADER } from '../../../../store/files/headerTable.js';
import { fromHex, isHex, toHex, type Bytes } from '../../../../util/bytes.js';
import { Writer } from '../../../../util/writer.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { TAG_BYTES, withoutTag } from '../../../lookup/listTag.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import { blockOfHashOrHeight, type QueriedBlock } from '../atBlock.js';

const HASH_BYTES = 32;
const CURSOR_BYTES = HASH_BYTES + 1 + 4 + TAG_BYTES;

export interface Cursor {
  /** Wire order. */
  readonly blockHash: Bytes;
  /** Index of the sort order in the method's list of orders. */
  readonly order: number;
  /** Number of list entries before the page. */
  readonly place: number;
}

/** `tag`: see `listTag`. */
export function cursorText({ blockHash, order, place }: Cursor, tag: Bytes): string {
  return toHex(new Writer(CURSOR_BYTES).raw(blockHash).u8(order).u32(place).raw(tag).finish());
}

/**
 * Parses a cursor. Throws if the text is not a cursor of the list with this tag and this number of orders. `field` is the field
 * of an answer that contains such cursors.
 */
export function parseCursor(text: string, tag: Bytes, orders = 1, field = 'next'): Cursor {
  const bytes = Buffer.from(isHex(text) ? fromHex(text) : []);
  if (bytes.length !== CURSOR_BYTES)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `after must be the value "${field}" of the previous page`);
  withoutTag(bytes, tag);
  if (bytes[HASH_BYTES]! >= orders)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `after must be the value "${field}" of the previous page`);
  return {
    blockHash: bytes.subarray(0, HASH_BYTES),
    order: bytes[HASH_BYTES]!,
    place: bytes.readUInt32LE(HASH_BYTES + 1),
  };
}

/**
 * Returns the block of a page: the block in its cursor, otherwise the requested block, otherwise the tip. `parameter` is the
 * parameter for the requested block.
 */
export function blockOfPage(
  services: RpcServices,
  cursor: Cursor | null,
  wanted: number | Bytes | undefined,
  parameter = 'block',
): QueriedBlock {
  if (cursor === null) return blockOfHashOrHeight(services, wanted);
  const { headers, chain } = services.chain;
  const id = headers.find(cursor.blockHash);
  if (id === NO_HEADER || !chain.index.active.contains(id))
    throw rpcError(
      RPC_ERROR.INVALID_PARAMETER,
      'The block of the first page is not in the active chain any more. Begin with the first page',
    );
  if (wanted !== undefined && blockOfHashOrHeight(services, wanted).id !== id)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `${parameter} differs from the block of the previous page`);
  return { id, height: headers.height(id) };
}
