/** Wants new blocks announced by headers (BIP130). Source: Core protocol.h `SENDHEADERS`. */
import { emptyCodec } from './codec.js';

export const sendheadersCodec = emptyCodec('sendheaders');
