/** Codec of the filterclear message, which removes the sender's bloom filter (BIP37). Source: Core protocol.h `FILTERCLEAR`. */
import { emptyCodec } from '../codec.js';

export const filterclearCodec = emptyCodec('filterclear');
