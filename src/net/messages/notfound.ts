/** Codec of the notfound message: requested items that the sender does not have. Source: Core protocol.h `NOTFOUND`. */
import { inventoryCodec } from '../inventory.js';

export const notfoundCodec = inventoryCodec('notfound');
