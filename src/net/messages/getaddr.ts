/** Codec of the getaddr message, which requests addresses of other nodes. Source: Core protocol.h `GETADDR`. */
import { emptyCodec } from './codec.js';

export const getaddrCodec = emptyCodec('getaddr');
