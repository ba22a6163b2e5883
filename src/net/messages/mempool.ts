/** Asks for the ids of all transactions in the mempool (BIP35). Source: Core protocol.h `MEMPOOL`. */
import { emptyCodec } from './codec.js';

export const mempoolCodec = emptyCodec('mempool');
