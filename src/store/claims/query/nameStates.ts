/**
 * Parsed states of names with many claims. Parsing the row of a name with 5,000 claims, and the index for lookups in it, takes
 * milliseconds, and comparing the row with a cached one microseconds. So a state is reused as long as its row stays equal, also
 * after further blocks.
 */
import type { NameState } from '../../../claimtrie/nameState.js';
import { parseNameRow } from '../rows/nameRow.js';
import { BoundedMap } from '../../../util/boundedMap.js';
import { equalBytes, type Bytes } from '../../../util/bytes.js';

/** Maximum total size of the cached rows in bytes. The objects take about seven times as much. Arbitrary: bounds the memory. */
const KEPT_BYTES = 2 << 20;
/** Minimum size in bytes of the rows that are cached. Shorter rows are parsed in microseconds. */
const LEAST_BYTES = 2048;

export class NameStates {
  private readonly kept = new BoundedMap<string, { readonly row: Bytes; readonly state: NameState }>(
    KEPT_BYTES,
  );

  /** Returns the state that the row of the name contains. The caller must not change it. */
  of(name: string, row: Bytes): NameState {
    if (row.length < LEAST_BYTES) return parseNameRow(row);
    const known = this.kept.get(name);
    if (known !== undefined && equalBytes(known.row, row)) return known.state;
    const state = parseNameRow(row);
    this.kept.set(name, { row: Buffer.from(row), state }, row.length);
    return state;
  }
}
