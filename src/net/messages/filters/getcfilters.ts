/** Codec of the getcfilters message, which requests compact filters of blocks (BIP157). */
import { filterRangeCodec } from './filterRange.js';

/** Maximum number of compact filters that one request may ask for. */
export const MAX_FILTERS = 1000;

export const getcfiltersCodec = filterRangeCodec('getcfilters');
