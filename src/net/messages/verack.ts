/** Acknowledges the version message: other messages may follow. Source: Core protocol.h `VERACK`. */
import { emptyCodec } from './codec.js';

export const verackCodec = emptyCodec('verack');
