/**
 * The outputs of transactions as `gettxinfo` shows them, cached until a block spends one of them or changes the state of one of
 * their claims. The cache is limited in size.
 */
import type { ChainEvents } from '../../../chain/chainEvents.js';
import type { OutputState, OutputStatesQuery } from '../../../store/claims/query/outputStates.js';
import type { Bytes } from '../../../util/bytes.js';
import { encodedJson, RawJson } from '../../../util/json/jsonWrite.js';
import { TransactionCache, type ChainMark } from '../../lookup/transactionCache.js';

/** Limit of the cached texts in characters. */
const MOST_CHARS = 4 << 20;

type States = readonly (OutputState | null)[];

/** A page of outputs. */
export interface OutputPage {
  readonly json: RawJson;
  /** Number of outputs in the page. */
  readonly count: number;
  /** Query for the states of the outputs with claim operations; null if the page has none. */
  readonly query: OutputStatesQuery | null;
  /** Result of the query. As long as no block changes the state of an output, the query returns the same object. */
  readonly states: States;
  /** Number of changes of the mempool at the time when none of the outputs was spent in it. */
  unspentAt: number;
}

/** Cached pages of one transaction. */
interface Entry {
  /** By the text of the page. */
  readonly pages: Map<string, { readonly page: OutputPage; readonly chars: number }>;
  chars: number;
}

export class KeptOutputs {
  private readonly entries: TransactionCache<Entry>;

  constructor(events: Pick<ChainEvents, 'on'>) {
    this.entries = new TransactionCache(events, MOST_CHARS);
  }

  get mark(): ChainMark {
    return this.entries.mark;
  }

  /**
   * Returns the cached page of outputs. It is valid if its query still returns its states. Null if the page is not cached.
   * `name` identifies the page.
   */
  find(txid: Bytes, name: string): OutputPage | null {
    return this.entries.get(txid)?.pages.get(name)?.page ?? null;
  }

  /**
   * Returns the JSON of a page of confirmed outputs, and caches it if no block was connected or disconnected since `mark`.
   */
  keep(txid: Bytes, name: string, text: string, facts: Omit<OutputPage, 'json'>, mark: ChainMark): RawJson {
    const page = { json: new RawJson(encodedJson(text)), ...facts };
    if (mark !== this.mark) return page.json;
    const entry = this.entries.get(txid) ?? { pages: new Map(), chars: 0 };
    entry.chars += text.length - (entry.pages.get(name)?.chars ?? 0);
    entry.pages.set(name, { page, chars: text.length });
    this.entries.set(txid, entry, entry.chars, mark);
    return page.json;
  }
}
