/**
 * The outputs of transactions as `gettxinfo` shows them, and the whole answers, cached until a block spends one of the outputs or
 * changes the state of one of their claims. Of such an answer only the number of confirmations changes. The cache is limited in
 * size.
 */
import type { ChainEvents } from '../../../chain/chainEvents.js';
import type { OutputState, OutputStatesQuery } from '../../../store/claims/query/outputStates.js';
import type { Bytes } from '../../../util/bytes.js';
import { encodedJson, RawJson, type JsonOut } from '../../../util/json/jsonWrite.js';
import { TransactionCache, type ChainMark } from '../../lookup/transactionCache.js';

/** Limit of the cached texts in characters. */
const MOST_CHARS = 4 << 20;
/** Number of characters that each page counts in addition to its texts, for the memory of its objects. */
const PAGE_CHARS = 512;

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

/** JSON text of an answer around its number of confirmations and its outputs. */
interface AnswerFrame {
  readonly before: string;
  readonly between: string;
  readonly after: string;
}

/** Facts for which a cached answer is valid, besides the states of the outputs. */
export interface AnswerFacts {
  /** The block that contains the transaction. Its data must be on disk. */
  readonly block: number;
  readonly height: number;
  /** Whether the index of spenders is complete. */
  readonly spendIndex: boolean;
}

/** An answer about a confirmed transaction. */
export class TxInfoAnswer {
  readonly facts: AnswerFacts;
  private readonly frame: AnswerFrame;
  private readonly outputs: RawJson;

  constructor(facts: AnswerFacts, frame: AnswerFrame, outputs: RawJson) {
    this.facts = facts;
    this.frame = frame;
    this.outputs = outputs;
  }

  get chars(): number {
    const { before, between, after } = this.frame;
    return before.length + between.length + after.length;
  }

  /** The answer with a number of confirmations. */
  at(confirmations: number): RawJson {
    const { before, between, after } = this.frame;
    const { outputs } = this;
    const { pieces } = outputs;
    const start = `${before}${confirmations}${between}`;
    // The text of long outputs is not read, because that would decode their bytes.
    return new RawJson(pieces === null ? `${start}${outputs.text}${after}` : [start, ...pieces, after]);
  }
}

/** Cached pages of one transaction. */
interface Entry {
  /** By the text of the page. */
  readonly pages: Map<string, KeptPage>;
  chars: number;
}

interface KeptPage {
  readonly page: OutputPage;
  answer: TxInfoAnswer | null;
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
    const chars = PAGE_CHARS + text.length;
    entry.chars += chars - (entry.pages.get(name)?.chars ?? 0);
    entry.pages.set(name, { page, answer: null, chars });
    this.entries.set(txid, entry, entry.chars, mark);
    return page.json;
  }

  /** Returns the whole answer that contains the page; null if it is not cached. */
  answerOf(txid: Bytes, name: string): { readonly page: OutputPage; readonly answer: TxInfoAnswer } | null {
    const known = this.entries.get(txid)?.pages.get(name);
    return known === undefined || known.answer === null ? null : { page: known.page, answer: known.answer };
  }

  /** Caches the whole answer that contains `outputs`, if this page is cached. */
  keepAnswer(
    txid: Bytes,
    name: string,
    outputs: JsonOut,
    facts: AnswerFacts,
    frame: AnswerFrame,
    mark: ChainMark,
  ): void {
    const entry = this.entries.get(txid);
    const known = entry?.pages.get(name);
    if (mark !== this.mark || !entry || known?.page.json !== outputs) return;
    const answer = new TxInfoAnswer(facts, frame, known.page.json);
    const more = answer.chars - (known.answer?.chars ?? 0);
    known.answer = answer;
    known.chars += more;
    entry.chars += more;
    this.entries.set(txid, entry, entry.chars, mark);
  }
}
