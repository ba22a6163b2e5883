/** A block, not parsed: `loadBlock` does that. Bytes may follow it. Source: Core protocol.h `BLOCK`. */
import { rawCodec } from './codec.js';

export const blockCodec = rawCodec('block');
