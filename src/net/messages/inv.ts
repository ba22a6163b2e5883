/** Codec of the inv message, which announces transactions or blocks. Source: Core protocol.h `INV`. */
import { inventoryCodec } from '../inventory.js';

export const invCodec = inventoryCodec('inv');
