/**
 * The outputs of transactions as `gettxinfo` shows them, cached until a block spends one of them or changes the name of their
 * claims. The cache is limited in size.
 */
import type { ChainEvents, ConnectedBlock } from '../../../chain/chainEvents.js';
import { INPUT_PREVOUT, INPUT_STRIDE } from '../../../primitives/blockLayout.js';
import type { OutputState } from '../../../store/claims/query/outputStates.js';
import { BoundedMap } from '../../../util/boundedMap.js';
import { toLatin1, type Bytes } from '../../../util/bytes.js';

/** Limit of the cached texts in characters. */
const MOST_CHARS = 4 << 20;
/** If no cached text was requested for this number of blocks, all are removed. Arbitrary. */
const MOST_UNUSED_BLOCKS = 16;
const TXID_BYTES = 32;

type States = readonly (OutputState | null)[];

/** Cached texts of one transaction. */
interface Entry {
  /** By the text of the page. */
  readonly pages: Map<string, { readonly text: string; readonly states: States }>;
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
   * Returns the cached text of a page of outputs. `states` are their present states: as long as no block changes the name of
   * the claims, they are the same object.
   */
  find(txid: Bytes, page: string, states: States): string | null {
    const known = this.entries.get(toLatin1(txid))?.pages.get(page);
    if (known === undefined || known.states !== states) return null;
    this.unusedBlocks = 0;
    return known.text;
  }

  /** Caches the text of a page of confirmed outputs, if no block was connected or disconnected since `mark`. */
  keep(txid: Bytes, page: string, states: States, text: string, mark: ChainMark): void {
    if (mark !== this.changes) return;
    const key = toLatin1(txid);
    const entry = this.entries.get(key) ?? { pages: new Map(), chars: 0 };
    entry.chars += text.length - (entry.pages.get(page)?.text.length ?? 0);
    entry.pages.set(page, { text, states });
    this.entries.set(key, entry, entry.chars);
    this.unusedBlocks = 0;
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
