/** A transaction, not parsed; see `parseTxView`. Bytes may follow it. Source: Core protocol.h `TX`. */
import { rawCodec } from './codec.js';

export const txCodec = rawCodec('tx');
