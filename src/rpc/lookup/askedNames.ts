/**
 * Records which data of names with many claims callers requested recently. After a block that changed such a name, the data
 * is read again in the background, so that the next call finds it in the cache. Results do not change by this, only their
 * speed. The size is limited: the names that were not requested for the longest time are removed first.
 */
import type { ClaimChoice } from '../../store/claims/query/oneClaim.js';
import type { OutputStatesQuery } from '../../store/claims/query/outputStates.js';
import type { Form } from './keptNames.js';

/** Maximum number of recorded names. Arbitrary. */
const MOST_NAMES = 64;
/** Maximum number of cached single claims per name. Arbitrary. */
const MOST_CHOICES = 16;
/** Maximum number of recorded requests for states of outputs. Arbitrary. */
const MOST_STATES = 32;
/** Number of blocks without a request after which a name is not read again. Arbitrary: about half an hour. */
const RECENT_BLOCKS = 16;
/** Maximum number of names that are read again after a block. Arbitrary. */
const MOST_READ_AGAIN = 8;

/** The data of one name that callers requested. */
export interface Asked {
  /** Forms in which all claims of the name were requested. */
  readonly whole: Set<Form>;
  /** Requested single claims, by the text of the query that selects the claim. */
  readonly choices: Map<string, { readonly form: Form; readonly choice: ClaimChoice }>;
  /** Whether the beginning of the name's row (the controlling claim) was requested. */
  head: boolean;
  /** Whether the proof of the name was requested. */
  proof: boolean;
  /** Whether the forecast of the name was requested. */
  forecast: boolean;
  /** The latest events from this height on, and their number. */
  history: { readonly from: number; readonly count: number } | null;
  /** States of outputs, by the text that lists the outputs. */
  readonly states: Map<string, OutputStatesQuery>;
}

interface Entry extends Asked {
  /** Height of the tip at the last request. */
  height: number;
  /** Whether a block has changed the name since its data was last read. */
  isChanged: boolean;
}

export class AskedNames {
  /** Recorded names in the order of their latest request. */
  private readonly names = new Map<string, Entry>();

  /**
   * Records a request for a name while the tip is at `height`. Returns the record, to which the caller adds what was
   * requested.
   */
  note(name: string, height: number): Asked {
    const entry = this.names.get(name) ?? {
      whole: new Set(),
      choices: new Map(),
      states: new Map(),
      head: false,
      proof: false,
      forecast: false,
      history: null,
      height,
      isChanged: false,
    };
    entry.height = height;
    this.names.delete(name);
    this.names.set(name, entry);
    for (const [oldest] of this.names) {
      if (this.names.size <= MOST_NAMES) break;
      this.names.delete(oldest);
    }
    return entry;
  }

  noteChoice(name: string, height: number, key: string, form: Form, choice: ClaimChoice): void {
    const { choices } = this.note(name, height);
    putLast(choices, form + key, { form, choice }, MOST_CHOICES);
  }

  noteStates(name: string, height: number, key: string, query: OutputStatesQuery): void {
    putLast(this.note(name, height).states, key, query, MOST_STATES);
  }

  /** Marks the recorded names that blocks changed. */
  change(names: Iterable<string>): void {
    if (this.names.size === 0) return;
    for (const name of names) {
      const entry = this.names.get(name);
      if (entry !== undefined) entry.isChanged = true;
    }
  }

  /**
   * Returns the changed names whose data must be read again while the tip is at `height`, the latest requested first. The
   * names are then marked as unchanged.
   */
  takeChanged(height: number): [name: string, asked: Asked][] {
    const found: [string, Asked][] = [];
    for (const [name, entry] of [...this.names].reverse()) {
      if (!entry.isChanged) continue;
      entry.isChanged = false;
      if (height - entry.height > RECENT_BLOCKS) this.names.delete(name);
      else if (found.length < MOST_READ_AGAIN) found.push([name, entry]);
    }
    return found;
  }
}

/** Moves or adds an entry to the end of a map, and removes the first entries above the limit. */
function putLast<T>(entries: Map<string, T>, key: string, value: T, most: number): void {
  entries.delete(key);
  entries.set(key, value);
  for (const [oldest] of entries) {
    if (entries.size <= most) break;
    entries.delete(oldest);
  }
}
