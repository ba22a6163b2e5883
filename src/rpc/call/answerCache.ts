/**
 * Cache of RPC results as text. A method declares the data on which its results depend (`MethodDecl.follows`); results of
 * methods without this declaration are not cached. When the data changes, all results that depend on it are dropped. A
 * result is cached only if chain and mempool did not change during the call, so that it describes one state. The size is
 * limited; the least recently used results are evicted first.
 */
import { JsonNumber, JsonObject, type JsonValue } from '../../util/json/json.js';
import { encodedJson, lengthOf } from '../../util/json/jsonWrite.js';
import type { AnswerSource, Profile, RpcMethod } from '../declare/method.js';

/**
 * Counters that identify a state of chain and mempool. A change that affects results changes one of them before other code
 * runs.
 */
export interface StateMarks {
  readonly tip: number;
  readonly disconnects: number;
  /** Number of changes of headers so far: new headers, and new data about known headers. */
  readonly headerChanges: number;
  /** Number of transactions that were added to or removed from the mempool. */
  readonly mempoolChanges: number;
}

/** Maximum length in characters of a cached result. For longer results the serialization takes longer than the computation. */
const MAX_ANSWER_CHARS = 32_768;
/** Maximum length in characters of a cached result of a method with `keepsLong`: a page of 1,000 entries. */
const MAX_LONG_ANSWER_CHARS = 262_144;
const MAX_KEY_CHARS = 1024;
/** Memory in bytes of a cached result besides its text: up to two bytes a character, one in UTF-8. Measured: about 100. */
const ENTRY_BYTES = 128;

/** A cached result: short ones as text, long ones as UTF-8 bytes or as pieces of text and bytes. */
export type KeptAnswer = KeptText | AnswerPieces;
export type KeptText = string | Buffer;
type AnswerPieces = readonly KeptText[];

export const isInPieces = (answer: KeptAnswer): answer is AnswerPieces => Array.isArray(answer);

function bytesOf(key: string, answer: KeptAnswer): number {
  let sizeBytes = ENTRY_BYTES + 2 * key.length;
  for (const piece of isInPieces(answer) ? answer : [answer])
    sizeBytes += typeof piece === 'string' ? 2 * piece.length : piece.length;
  return sizeBytes;
}

/** Cached results of one source, in a newer and an older map. When the newer map is full, the older one is deleted. */
class CachedAnswers {
  private young = new Map<string, KeptAnswer>();
  private old = new Map<string, KeptAnswer>();
  private youngBytes = 0;
  private oldBytes = 0;
  private readonly halfBytes: number;
  /** State of chain and mempool for which all cached results are valid; null if the cache is empty. */
  private marks: StateMarks | null = null;
  private readonly countsMempool: boolean;

  constructor(maxBytes: number, countsMempool: boolean) {
    this.halfBytes = maxBytes / 2;
    this.countsMempool = countsMempool;
  }

  get sizeBytes(): number {
    return this.youngBytes + this.oldBytes;
  }

  find(key: string, now: StateMarks): KeptAnswer | undefined {
    if (this.marks === null || !this.isSame(this.marks, now)) return undefined;
    const text = this.young.get(key);
    if (text !== undefined) return text;
    const older = this.old.get(key);
    if (older !== undefined) this.add(key, older);
    return older;
  }

  keep(key: string, text: KeptAnswer, before: StateMarks, now: StateMarks): void {
    if (!this.isSame(before, now)) return;
    if (this.marks === null || !this.isSame(this.marks, now)) {
      this.clear();
      this.marks = now;
    }
    this.add(key, text);
  }

  clear(): void {
    if (this.young.size > 0) this.young = new Map();
    if (this.old.size > 0) this.old = new Map();
    this.youngBytes = this.oldBytes = 0;
    this.marks = null;
  }

  private add(key: string, text: KeptAnswer): void {
    const sizeBytes = bytesOf(key, text);
    if (sizeBytes > this.halfBytes) return;
    if (this.youngBytes + sizeBytes > this.halfBytes) {
      this.old = this.young;
      this.oldBytes = this.youngBytes;
      this.young = new Map();
      this.youngBytes = 0;
    }
    // Another call may have cached the same result during this call. The size of the result must not be counted twice.
    if (!this.young.has(key)) this.youngBytes += sizeBytes;
    this.young.set(key, text);
  }

  private isSame(a: StateMarks, b: StateMarks): boolean {
    return (
      a.tip === b.tip &&
      a.disconnects === b.disconnects &&
      a.headerChanges === b.headerChanges &&
      (!this.countsMempool || a.mempoolChanges === b.mempoolChanges)
    );
  }
}

/** Identifies a call whose result may be cached. */
export interface CacheableCall {
  readonly source: AnswerSource;
  readonly key: string;
  readonly marks: StateMarks;
  /** Maximum length in characters of a result that is cached. */
  readonly maxChars: number;
}

export class AnswerCache {
  private readonly bySource: Readonly<Record<AnswerSource, CachedAnswers>>;
  private readonly state: () => StateMarks;
  private found = 0;

  readonly maxBytes: number;

  /** Creates the cache. `maxBytes` limits its total size; `state` returns the current counters of chain and mempool. */
  constructor(maxBytes: number, state: () => StateMarks) {
    this.maxBytes = maxBytes;
    this.bySource = {
      chain: new CachedAnswers(maxBytes / 2, false),
      chainAndMempool: new CachedAnswers(maxBytes / 2, true),
    };
    this.state = state;
  }

  get sizeBytes(): number {
    return this.bySource.chain.sizeBytes + this.bySource.chainAndMempool.sizeBytes;
  }

  /** Number of calls whose result was found in the cache. */
  get hits(): number {
    return this.found;
  }

  /**
   * Returns the key under which a call's result can be cached; null if the result must not be cached. Must be called before
   * the call runs, because the key contains the state of the chain.
   */
  callOf(
    { name, follows, keepsLong }: RpcMethod,
    profile: Profile,
    params: readonly JsonValue[] | JsonObject,
  ): CacheableCall | null {
    if (follows === undefined) return null;
    const key = keyOf(name, profile, params);
    const maxChars = keepsLong === true ? MAX_LONG_ANSWER_CHARS : MAX_ANSWER_CHARS;
    return key === null ? null : { source: follows, key, marks: this.state(), maxChars };
  }

  /** Like `callOf`, for results of other components than RPC methods. `key` must not begin with the name of a profile. */
  callAt(source: AnswerSource, key: string, maxChars = MAX_ANSWER_CHARS): CacheableCall | null {
    return key.length > MAX_KEY_CHARS ? null : { source, key, marks: this.state(), maxChars };
  }

  /** Returns the cached result of a call; undefined if there is none. */
  find({ source, key, marks }: CacheableCall): KeptAnswer | undefined {
    const text = this.bySource[source].find(key, marks);
    if (text !== undefined) this.found++;
    return text;
  }

  /** Whether the result of a call is cached. The query does not count as a use of the result. */
  has({ source, key, marks }: CacheableCall): boolean {
    return this.bySource[source].find(key, marks) !== undefined;
  }

  /**
   * Caches the result of a call, unless it is too long or the state has changed during the call. Returns the form in which
   * it is sent fastest.
   */
  keep({ source, key, marks, maxChars }: CacheableCall, text: string): KeptText {
    if (text.length > maxChars) return text;
    const answer = encodedJson(text);
    // Reading a character converts a concatenated string to a flat one, which does not retain its parts.
    if (typeof answer === 'string') answer.charCodeAt(0);
    this.bySource[source].keep(key, answer, marks, this.state());
    return answer;
  }

  /** Like `keep`, for a result in pieces of text and bytes. The cache keeps the pieces, without a copy. */
  keepPieces({ source, key, marks, maxChars }: CacheableCall, pieces: AnswerPieces): void {
    if (lengthOf(pieces) <= maxChars) this.bySource[source].keep(key, pieces, marks, this.state());
  }
}

/** Returns the cache key of a call. Null unless the arguments are only a few strings, numbers or booleans. */
function keyOf(name: string, profile: Profile, params: readonly JsonValue[] | JsonObject): string | null {
  if (params instanceof JsonObject) return null;
  let key = `${profile} ${name}`;
  for (const value of params) {
    if (typeof value === 'string') key += ` "${value.length}:${value}`;
    else if (typeof value === 'number') key += ` ${value}`;
    else if (typeof value === 'boolean') key += value ? ' t' : ' f';
    else if (value === null) key += ' n';
    else if (value instanceof JsonNumber) key += ` ${value.text}`;
    else return null;
    if (key.length > MAX_KEY_CHARS) return null;
  }
  return key;
}
