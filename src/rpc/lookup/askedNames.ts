/**
 * What callers asked of names with many claims lately. After a block that changed such a name it is read again in the
 * background, so that the first answer after the block finds it in the cache. It changes the speed of answers only. Limited:
 * the names that were not asked for longest are forgotten first.
 */
import type { ClaimChoice } from '../../store/claims/query/oneClaim.js';
import type { OutputStatesQuery } from '../../store/claims/query/outputStates.js';
import type { Form } from './keptNames.js';

/** Maximum number of names. Arbitrary. */
const MOST_NAMES = 64;
/** Maximum number of single claims of a name. Arbitrary. */
const MOST_CHOICES = 16;
/** The same of the states of outputs. */
const MOST_STATES = 32;
/** A name that was not asked for during so many blocks is not read again. Arbitrary: half an hour or so. */
const RECENT_BLOCKS = 16;
/** Maximum number of names that are read again after a block. Arbitrary. */
const MOST_READ_AGAIN = 8;

/** What was asked of a name. */
export interface Asked {
  /** All its claims, in these forms. */
  readonly whole: Set<Form>;
  /** Single claims, by the text of their choice. */
  readonly choices: Map<string, { readonly form: Form; readonly choice: ClaimChoice }>;
  /** The beginning of its row. */
  head: boolean;
  /** Its proof. */
  proof: boolean;
  /** Its forecast. */
  forecast: boolean;
  /** Its latest events from that height on, so many. */
  history: { readonly from: number; readonly count: number } | null;
  /** States of outputs, by the text that names the outputs. */
  readonly states: Map<string, OutputStatesQuery>;
}

interface Entry extends Asked {
  /** The height of the tip at the latest request. */
  height: number;
  /** Whether a block has changed the name since it was read. */
  isChanged: boolean;
}

export class AskedNames {
  /** In order of the latest request. */
  private readonly names = new Map<string, Entry>();

  /** Notes a request at that height of the tip; the caller adds what was asked. */
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

  /** Notes the names that blocks changed. */
  change(names: Iterable<string>): void {
    if (this.names.size === 0) return;
    for (const name of names) {
      const entry = this.names.get(name);
      if (entry !== undefined) entry.isChanged = true;
    }
  }

  /** The changed names to be read again at that height of the tip, the latest requested first. They then count as unchanged. */
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

/** Adds an entry as the last one, and removes the first ones beyond the limit. */
function putLast<T>(entries: Map<string, T>, key: string, value: T, most: number): void {
  entries.delete(key);
  entries.set(key, value);
  for (const [oldest] of entries) {
    if (entries.size <= most) break;
    entries.delete(oldest);
  }
}
