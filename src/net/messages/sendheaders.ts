/**
 * Codec of the sendheaders message, which requests that new blocks are announced by headers instead of inv (BIP130). Source:
 * Core protocol.h `SENDHEADERS`.
 */
import { emptyCodec } from './codec.js';

export const sendheadersCodec = emptyCodec('sendheaders');
