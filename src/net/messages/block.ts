/**
 * Codec of the block message. The block is not parsed here; see `loadBlock`. Extra bytes after the block are allowed.
 * Source: Core protocol.h `BLOCK`.
 */
import { rawCodec } from './codec.js';

export const blockCodec = rawCodec('block');
