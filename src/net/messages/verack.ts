/** The version message is acknowledged: the connection is open for the rest. Source: Core protocol.h `VERACK`. */
import { emptyCodec } from './codec.js';

export const verackCodec = emptyCodec('verack');
