/**
 * Codec of the block message. The block stays serialized; `loadBlock` parses it. Extra bytes after the block are allowed.
 * Source: Core protocol.h `BLOCK`.
 */
import { rawCodec } from './codec.js';

export const blockCodec = rawCodec('block');
