/** Requests the headers of compact filters (BIP157). */
import { filterRangeCodec } from './filterRange.js';

/** Maximum number of headers in one request. */
export const MAX_FILTER_HEADERS = 2000;

export const getcfheadersCodec = filterRangeCodec('getcfheaders');
