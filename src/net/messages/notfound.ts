/** What was asked for and is not there. Source: Core protocol.h `NOTFOUND`. */
import { inventoryCodec } from '../inventory.js';

export const notfoundCodec = inventoryCodec('notfound');
