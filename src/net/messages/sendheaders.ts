/** Requests that new blocks are announced by headers (BIP130). Source: Core protocol.h `SENDHEADERS`. */
import { emptyCodec } from './codec.js';

export const sendheadersCodec = emptyCodec('sendheaders');
