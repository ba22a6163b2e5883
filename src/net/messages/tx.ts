/**
 * Codec of the tx message. The transaction stays serialized; `parseTxView` parses it. Extra bytes after the transaction are
 * allowed. Source: Core protocol.h `TX`.
 */
import { rawCodec } from './codec.js';

export const txCodec = rawCodec('tx');
