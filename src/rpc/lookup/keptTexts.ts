/**
 * Cache of the JSON text of answers about confirmed data: headers, transactions and unspent outputs. In contrast to the
 * answers of `-rpccache`, such a text stays valid when blocks are connected, except for the values in the holes of its frame
 * (number of confirmations, hash of the tip). It corresponds to the coins that the reference keeps in memory after a read
 * (`CCoinsViewCache::GetCoin`). The cache is limited in size.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { BoundedMap } from '../../util/boundedMap.js';
import { hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { JsonFrame } from '../../util/json/jsonFrame.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { Profile } from '../declare/method.js';
import { TransactionCache, type ChainMark } from './transactionCache.js';

/** Maximum number of characters of all texts of one kind. */
const MOST_CHARS = 2 << 20;
/** Maximum number of characters of one text. Arbitrary: texts of nearly all transactions and outputs are shorter. */
const MOST_CHARS_OF_ONE = 16_384;
/** Number of characters added to the length of each text, for the memory of its objects. */
const TEXT_CHARS = 256;
/** Number of kinds of texts. */
const KINDS = 3;

const PROFILES: readonly Profile[] = ['documented', 'lbrycrd', 'lbcd'];

/** A header with a hole for the number of confirmations. `next` and `txCount` are those with which it was formatted. */
export interface HeaderText {
  readonly frame: JsonFrame;
  readonly next: number;
  readonly txCount: number;
}

/** A transaction of an active block. A decoded transaction has a hole for the number of confirmations. */
export interface TransactionText {
  readonly frame: JsonFrame;
  readonly block: number;
}

/** An unspent output, with holes for the hash of the tip and the number of confirmations. */
export interface CoinText {
  readonly frame: JsonFrame;
  readonly height: number;
}

/** Texts of outputs of one transaction, and the size of the cache entry. */
interface TextsOfCoins {
  readonly texts: Map<number, CoinText>;
  chars: number;
}

export class KeptTexts {
  private readonly chain: ChainReader;
  private readonly headers = new BoundedMap<number, HeaderText>(MOST_CHARS);
  private readonly transactions = new BoundedMap<string, TransactionText>(MOST_CHARS);
  /** Unspent outputs by transaction, and then by output number and profile. */
  private readonly coins: TransactionCache<TextsOfCoins>;
  /** The block of `tipHash`. */
  private tip = NO_HEADER;
  private tipHash = '';

  constructor(chain: ChainReader) {
    this.chain = chain;
    this.coins = new TransactionCache(chain.chain.events, MOST_CHARS);
  }

  get sizeBytes(): number {
    return this.headers.size + this.transactions.size + this.coins.size;
  }

  get maxBytes(): number {
    return KINDS * MOST_CHARS;
  }

  /** Returns the text of a header; null if it is not cached or has changed. */
  header(id: number, profile: Profile): HeaderText | null {
    const known = this.headers.get(keyOfHeader(id, profile));
    if (known === undefined) return null;
    const { chain, headers } = this.chain;
    const isValid = known.next === chain.index.active.next(id) && known.txCount === headers.txCount(id);
    return isValid ? known : null;
  }

  keepHeader(id: number, profile: Profile, answer: JsonOut): void {
    const frame = JsonFrame.of(answer, MOST_CHARS_OF_ONE);
    if (frame === null) return;
    const { chain, headers } = this.chain;
    const text = { frame, next: chain.index.active.next(id), txCount: headers.txCount(id) };
    this.headers.set(keyOfHeader(id, profile), text, TEXT_CHARS + frame.chars);
  }

  /** Returns the text of a transaction; null if it is not cached, or if its block is not active or not on disk any more. */
  transaction(txid: Bytes, form: string): TransactionText | null {
    const known = this.transactions.get(form + toLatin1(txid));
    return known !== undefined && this.isPresent(known.block) ? known : null;
  }

  /** Caches a transaction of a block. `form` identifies the form of the answer. */
  keepTransaction(txid: Bytes, form: string, block: number, answer: JsonOut): void {
    if (!this.isPresent(block)) return;
    const frame = JsonFrame.of(answer, MOST_CHARS_OF_ONE);
    if (frame !== null)
      this.transactions.set(form + toLatin1(txid), { frame, block }, TEXT_CHARS + frame.chars);
  }

  /** Hash of the tip, formatted as a JSON string. */
  get tipText(): string {
    const { tip } = this.chain.chain;
    if (tip !== this.tip) {
      this.tip = tip;
      this.tipHash = `"${hashToHex(this.chain.headers.hash(tip))}"`;
    }
    return this.tipHash;
  }

  /** State of the chain at the start of a read, for `keepCoin`. */
  get mark(): ChainMark {
    return this.coins.mark;
  }

  /** Returns the text of an output that is unspent at the tip; null if it is not cached. */
  coin(txid: Bytes, n: number, profile: Profile): CoinText | null {
    return this.coins.get(txid)?.texts.get(keyOfCoin(n, profile)) ?? null;
  }

  /** Caches an output that is unspent at the tip, unless a block was connected or disconnected since `mark`. */
  keepCoin(txid: Bytes, n: number, profile: Profile, height: number, answer: JsonOut, mark: ChainMark): void {
    const frame = JsonFrame.of(answer, MOST_CHARS_OF_ONE);
    if (frame === null || mark !== this.coins.mark) return;
    const entry: TextsOfCoins = this.coins.get(txid) ?? { texts: new Map(), chars: 0 };
    const key = keyOfCoin(n, profile);
    if (!entry.texts.has(key)) entry.chars += TEXT_CHARS + frame.chars;
    entry.texts.set(key, { frame, height });
    this.coins.set(txid, entry, entry.chars, mark);
  }

  private isPresent(block: number): boolean {
    const { chain } = this;
    return block !== NO_HEADER && chain.chain.index.active.contains(block) && chain.hasData(block);
  }
}

const keyOfHeader = (id: number, profile: Profile): number =>
  id * PROFILES.length + PROFILES.indexOf(profile);
const keyOfCoin = keyOfHeader;

/** Caches of each node, by its list of headers, an object that exists as long as the node. */
const textsOfNode = new WeakMap<object, KeptTexts>();

export function keptTextsOf(chain: ChainReader): KeptTexts {
  const { headers } = chain;
  let texts = textsOfNode.get(headers);
  if (texts === undefined) textsOfNode.set(headers, (texts = new KeptTexts(chain)));
  return texts;
}
