/**
 * Codec of the mempool message, which requests the ids of all mempool transactions (BIP35). Source: Core protocol.h
 * `MEMPOOL`.
 */
import { emptyCodec } from './codec.js';

export const mempoolCodec = emptyCodec('mempool');
