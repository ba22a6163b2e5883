/**
 * Codec of the verack message, which acknowledges the version message. Other messages may be sent afterwards. Source: Core
 * protocol.h `VERACK`.
 */
import { emptyCodec } from './codec.js';

export const verackCodec = emptyCodec('verack');
