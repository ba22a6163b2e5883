/**
 * Codec of the tx message. The transaction is not parsed here; see `parseTxView`. Extra bytes after the transaction are
 * allowed. Source: Core protocol.h `TX`.
 */
import { rawCodec } from './codec.js';

export const txCodec = rawCodec('tx');
