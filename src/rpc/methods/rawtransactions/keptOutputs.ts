/**
 * The outputs of transactions as `gettxinfo` shows them, cached until a block spends one of them or changes the name of their
 * claims. The cache is limited in size.
 */
import type { ChainEvents, ConnectedBlock } from '../../../chain/chainEvents.js';
import { INPUT_PREVOUT, INPUT_STRIDE } from '../../../primitives/blockLayout.js';
import type { OutputState, OutputStatesQuery } from '../../../store/claims/query/outputStates.js';
import { BoundedMap } from '../../../util/boundedMap.js';
import { toLatin1, type Bytes } from '../../../util/bytes.js';
import { encodedJson, RawJson } from '../../../util/json/jsonWrite.js';

/** Limit of the cached texts in characters. */
const MOST_CHARS = 4 << 20;
/** If no cached text was requested for this number of blocks, all are removed. Arbitrary. */
const MOST_UNUSED_BLOCKS = 16;
const TXID_BYTES = 32;

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

/** State of the chain at the start of a read, see `KeptOutputs.keep`. */
export type ChainMark = number;

export class KeptOutputs {
  private readonly entries = new BoundedMap<string, Entry>(MOST_CHARS);
  private changes = 0;
  private unusedBlocks = 0;

  constructor(events: Pick<ChainEvents, 'on'>) {
    events.on('blockConnected', (block) => this.connected(block));
    events.on('blockDisconnected', () => {
      this.changes++;
      this.entries.clear();
    });
  }

  get mark(): ChainMark {
    return this.changes;
  }

  /**
   * Returns the cached page of outputs. It is valid if its query still returns its states. Null if the page is not cached.
   * `name` identifies the page.
   */
  find(txid: Bytes, name: string): OutputPage | null {
    const known = this.entries.get(toLatin1(txid))?.pages.get(name);
    if (known === undefined) return null;
    this.unusedBlocks = 0;
    return known.page;
  }

  /**
   * Returns the JSON of a page of confirmed outputs, and caches it if no block was connected or disconnected since `mark`.
   */
  keep(txid: Bytes, name: string, text: string, facts: Omit<OutputPage, 'json'>, mark: ChainMark): RawJson {
    const page = { json: new RawJson(encodedJson(text)), ...facts };
    if (mark !== this.changes) return page.json;
    const key = toLatin1(txid);
    const entry = this.entries.get(key) ?? { pages: new Map(), chars: 0 };
    entry.chars += text.length - (entry.pages.get(name)?.chars ?? 0);
    entry.pages.set(name, { page, chars: text.length });
    this.entries.set(key, entry, entry.chars);
    this.unusedBlocks = 0;
    return page.json;
  }

  private connected({ raw, parsed }: ConnectedBlock): void {
    this.changes++;
    if (this.entries.size === 0) return;
    if (++this.unusedBlocks > MOST_UNUSED_BLOCKS) return this.entries.clear();
    const { inputs } = parsed;
    for (let at = INPUT_PREVOUT; at < inputs.length; at += INPUT_STRIDE) {
      const spent = inputs[at]!;
      this.entries.delete(raw.toString('latin1', spent, spent + TXID_BYTES));
    }
  }
}
