/** Codec of the getdata message, which requests transactions or blocks. Source: Core protocol.h `GETDATA`. */
import { inventoryCodec } from '../inventory.js';

export const getdataCodec = inventoryCodec('getdata');
