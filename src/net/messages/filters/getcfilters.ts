/** Asks for compact filters of blocks (BIP157). */
import { filterRangeCodec } from './filterRange.js';

/** Filters that may be asked for at once. */
export const MAX_FILTERS = 1000;

export const getcfiltersCodec = filterRangeCodec('getcfilters');
