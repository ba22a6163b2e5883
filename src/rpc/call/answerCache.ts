/**
 * A cache of RPC results, as text, valid while the data that they depend on has not changed. The declaration of a method
 * says whether its results may be cached (`MethodDecl.follows`). Limited: the least recently used results are evicted first.
 * A result is cached only if chain and mempool did not change during the call, so that it describes one state. All results
 * are dropped when either changes.
 */
import { JsonNumber, JsonObject, type JsonValue } from '../../util/json/json.js';
import type { AnswerSource, Profile, RpcMethod } from '../declare/method.js';

/**
 * Counters of the state of chain and mempool. Every change that affects results changes one of these numbers in the same
 * turn.
 */
export interface StateMarks {
  readonly tip: number;
  readonly disconnects: number;
  /** Incremented with every header received, and with every new fact about a header. */
  readonly headerChanges: number;
  /** Incremented with every transaction added or removed. */
  readonly mempoolChanges: number;
}

/** Longer results are not cached: serializing them costs more than computing them. */
const MAX_ANSWER_CHARS = 32_768;
/** The same for methods with `keepsLong`: a page of a thousand entries. */
const MAX_LONG_ANSWER_CHARS = 262_144;
const MAX_KEY_CHARS = 1024;
/** Memory of a cached result in addition to its characters, of two bytes at most. Measured: about 100. */
const ENTRY_BYTES = 128;

/** The results that depend on one source. When the newer half is full, the older half is dropped. */
class Answers {
  private young = new Map<string, string>();
  private old = new Map<string, string>();
  private youngBytes = 0;
  private oldBytes = 0;
  private readonly halfBytes: number;
  /** The state to which all cached results belong. */
  private marks: StateMarks | null = null;
  private readonly countsMempool: boolean;

  constructor(maxBytes: number, countsMempool: boolean) {
    this.halfBytes = maxBytes / 2;
    this.countsMempool = countsMempool;
  }

  get sizeBytes(): number {
    return this.youngBytes + this.oldBytes;
  }

  find(key: string, now: StateMarks): string | undefined {
    if (this.marks === null || !this.isSame(this.marks, now)) return undefined;
    const text = this.young.get(key);
    if (text !== undefined) return text;
    const older = this.old.get(key);
    if (older !== undefined) this.add(key, older);
    return older;
  }

  keep(key: string, text: string, before: StateMarks, now: StateMarks): void {
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

  private add(key: string, text: string): void {
    const sizeBytes = ENTRY_BYTES + 2 * (key.length + text.length);
    if (sizeBytes > this.halfBytes) return;
    if (this.youngBytes + sizeBytes > this.halfBytes) {
      this.old = this.young;
      this.oldBytes = this.youngBytes;
      this.young = new Map();
      this.youngBytes = 0;
    }
    // Another call may have stored the same result during this one.
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

/** A call whose result may be cached. */
export interface CacheableCall {
  readonly source: AnswerSource;
  readonly key: string;
  readonly marks: StateMarks;
  /** Longer answers are not kept. */
  readonly maxChars: number;
}

export class AnswerCache {
  private readonly bySource: Readonly<Record<AnswerSource, Answers>>;
  private readonly state: () => StateMarks;
  private found = 0;

  readonly maxBytes: number;

  /** `maxBytes` limits the total size; `state` returns the current counters of chain and mempool. */
  constructor(maxBytes: number, state: () => StateMarks) {
    this.maxBytes = maxBytes;
    this.bySource = {
      chain: new Answers(maxBytes / 2, false),
      chainAndMempool: new Answers(maxBytes / 2, true),
    };
    this.state = state;
  }

  get sizeBytes(): number {
    return this.bySource.chain.sizeBytes + this.bySource.chainAndMempool.sizeBytes;
  }

  /** Number of calls served from the cache. */
  get hits(): number {
    return this.found;
  }

  /** The cache entry of a call, created before it runs; null if its result cannot be cached. */
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

  /** The same for results that do not belong to an RPC method. `key` must not begin with the name of a profile. */
  callAt(source: AnswerSource, key: string, maxChars = MAX_ANSWER_CHARS): CacheableCall | null {
    return key.length > MAX_KEY_CHARS ? null : { source, key, marks: this.state(), maxChars };
  }

  /** The cached result of such a call. */
  find({ source, key, marks }: CacheableCall): string | undefined {
    const text = this.bySource[source].find(key, marks);
    if (text !== undefined) this.found++;
    return text;
  }

  /** Whether the result of such a call is cached; does not count as a use. */
  has({ source, key, marks }: CacheableCall): boolean {
    return this.bySource[source].find(key, marks) !== undefined;
  }

  /** Caches the result of a call, unless it is too long or the state has changed during the call. */
  keep({ source, key, marks, maxChars }: CacheableCall, text: string): void {
    if (text.length > maxChars) return;
    // A concatenated string retains all its parts until one of its characters is read.
    text.charCodeAt(0);
    this.bySource[source].keep(key, text, marks, this.state());
  }
}

/** The cache key of a call; null unless its arguments are a few plain values. */
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
