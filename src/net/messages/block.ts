/** A block, not parsed; see `loadBlock`. Bytes may follow it. Source: Core protocol.h `BLOCK`. */
import { rawCodec } from './codec.js';

export const blockCodec = rawCodec('block');
