/** Asks for the headers of compact filters (BIP157). */
import { filterRangeCodec } from './filterRange.js';

/** Headers that may be asked for at once. */
export const MAX_FILTER_HEADERS = 2000;

export const getcfheadersCodec = filterRangeCodec('getcfheaders');
