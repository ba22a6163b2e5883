/** Codec of the getcfheaders message, which requests headers of compact filters (BIP157). */
import { filterRangeCodec } from './filterRange.js';

/** Maximum number of filter headers that one request may ask for. */
export const MAX_FILTER_HEADERS = 2000;

export const getcfheadersCodec = filterRangeCodec('getcfheaders');
