/**
 * The streaming JSON serializer: converts a result into chunks of about 64 KiB. Lazy parts (`jsonArray`, `jsonObject`,
 * `hexOf`) are read only as fast as the consumer reads chunks, so the result is never in memory as one string. Key order is
 * kept; text forms are the reference's (UniValue): compact, control characters and DEL escaped. Small values without lazy
 * parts are written by `smallJson` at once, which takes a third of the time; so are the items of arrays.
 */
import { assert } from '../assert.js';
import { SLICE_MS } from '../slices.js';
import { asBuffer, type Bytes } from '../bytes.js';
import { formatDouble, JsonNumber, JsonObject } from './json.js';

/** Flush threshold of the serializer, in UTF-16 units: one socket write's worth. */
export const CHUNK_CHARS = 65_536;
/** Limits for values written at once. Arbitrary: most results are far below. */
const SMALL_CHARS = CHUNK_CHARS;
const SMALL_DEPTH = 64;
/** Bytes of a `hexOf` fragment converted at a time. */
const HEX_SLICE_BYTES = 32_768;

/**
 * Maximum number of cached field names: more than all results have; if keys are data, the cache fills up and does not change
 * any more.
 */
const MAX_KNOWN_KEYS = 1024;
/** Maximum length of a cached field name; hashes, which may be keys, are longer. */
const MAX_KNOWN_KEY_CHARS = 40;

/** An array whose items are produced one at a time; the source is read only as the response is sent. */
export class JsonArrayStream {
  readonly items: Iterable<JsonOut> | AsyncIterable<JsonOut>;
  constructor(items: Iterable<JsonOut> | AsyncIterable<JsonOut>) {
    this.items = items;
  }
}

/** An object whose members are produced one at a time. */
export class JsonObjectStream {
  readonly members: Iterable<JsonMember> | AsyncIterable<JsonMember>;
  constructor(members: Iterable<JsonMember> | AsyncIterable<JsonMember>) {
    this.members = members;
  }
}

/** Bytes written as hex digits, without creating the whole string. The buffer must not change until it is written. */
export class HexFragment {
  readonly bytes: Bytes;
  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }
}

/** Text that is already JSON, written unchanged. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type JsonMember = readonly [string, JsonOut];

/** The values of a result. Members that are `undefined` are omitted; a bigint is written as an integer. */
export type JsonOut =
  | null
  | boolean
  | number
  | bigint
  | string
  | JsonNumber
  | JsonObject
  | HexFragment
  | RawJson
  | JsonArrayStream
  | JsonObjectStream
  | ReadonlyMap<string, JsonOut>
  | readonly JsonOut[]
  | { readonly [key: string]: JsonOut | undefined };

export function jsonArray(items: Iterable<JsonOut> | AsyncIterable<JsonOut>): JsonArrayStream {
  return new JsonArrayStream(items);
}

export function jsonObject(members: Iterable<JsonMember> | AsyncIterable<JsonMember>): JsonObjectStream {
  return new JsonObjectStream(members);
}

export function hexOf(bytes: Bytes): HexFragment {
  return new HexFragment(bytes);
}

export function rawJson(text: string): RawJson {
  return new RawJson(text);
}

const NEEDS_ESCAPE = /[\u0000-\u001f"\\\u007f\ud800-\udfff]/;

/** A JSON string literal with the reference's escapes (DEL is escaped, which `JSON.stringify` does not do). */
export function quoteJson(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`;
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}

/** Cached field names as written, with the colon: results repeat few names very often. */
const knownKeys = new Map<string, string>();

function quoteKey(key: string): string {
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  const quoted = `${quoteJson(key)}:`;
  if (key.length <= MAX_KNOWN_KEY_CHARS && knownKeys.size < MAX_KNOWN_KEYS) knownKeys.set(key, quoted);
  return quoted;
}

type PlainObject = { readonly [key: string]: JsonOut | undefined };

/**
 * A container being written, with the current position. Plain arrays and objects are iterated by index, which is several
 * times faster than an iterator.
 */
type Frame = { count: number } & (
  | { readonly kind: 'array'; readonly items: readonly JsonOut[]; next: number }
  | { readonly kind: 'object'; readonly object: PlainObject; readonly keys: readonly string[]; next: number }
  | { readonly kind: 'sync'; readonly isObject: boolean; readonly source: Iterator<unknown> }
  | { readonly kind: 'async'; readonly isObject: boolean; readonly source: AsyncIterator<unknown> }
);

/** A text being written in slices: a string or key or, if `end` is empty, JSON written unchanged. */
interface LongText {
  readonly text: string;
  offset: number;
  readonly end: string;
  /** The value after the key. */
  readonly value: JsonOut | undefined;
}

type Progress = 'chunk' | 'done' | 'wait';

function isObjectFrame(frame: Frame): boolean {
  return frame.kind === 'object' || (frame.kind !== 'array' && frame.isObject);
}

/** The implementation of `jsonChunks` and `stringifyJson`: uses an explicit stack, so that it can pause anywhere. */
class Serializer {
  private out = '';
  private readonly stack: Frame[] = [];
  private hex: { bytes: Buffer; offset: number } | null = null;
  private long: LongText | null = null;
  private readonly indent: number;
  private started = false;
  private readonly root: JsonOut;

  constructor(root: JsonOut, indent: number) {
    this.root = root;
    this.indent = indent;
  }

  takeOutput(): string {
    const text = this.out;
    this.out = '';
    return text;
  }

  /** Reason why the last `advance` returned. */
  progress: Progress = 'chunk';

  /**
   * Appends to a text until it is longer than `maxChars`, a time slice is used up, or `advance` returns for another reason
   * than a full chunk.
   */
  advanceTo(text: string, maxChars: number): string {
    const sinceMs = performance.now();
    do {
      this.progress = this.advance();
      text += this.takeOutput();
    } while (this.progress === 'chunk' && text.length <= maxChars && performance.now() - sinceMs < SLICE_MS);
    return text;
  }

  /** Runs until a chunk is full, an asynchronous source must be read, or everything is written. */
  advance(): Progress {
    if (!this.started) {
      this.started = true;
      this.write(this.root);
    }
    for (;;) {
      if (this.hex !== null) this.writeHexSlice(this.hex);
      else if (this.long !== null) this.writeTextSlice(this.long);
      if (this.out.length >= CHUNK_CHARS) return 'chunk';
      if (this.hex !== null || this.long !== null) continue;
      const frame = this.stack[this.stack.length - 1];
      if (frame === undefined) return 'done';
      if (frame.kind === 'async') return 'wait';
      this.step(frame);
    }
  }

  /** Writes the next member of a container, or its end. */
  private step(frame: Exclude<Frame, { kind: 'async' }>): void {
    if (frame.kind === 'array') {
      if (frame.next === frame.items.length) return this.close();
      this.separate(frame);
      // `write` rejects a hole or undefined.
      this.writeItem(frame.items[frame.next++] as JsonOut);
    } else if (frame.kind === 'object') {
      if (frame.next === frame.keys.length) return this.close();
      const key = frame.keys[frame.next++] as string;
      const value = frame.object[key];
      if (value !== undefined) this.member(frame, key, value);
    } else {
      this.item(frame, frame.source.next());
    }
  }

  private item(frame: Frame & { kind: 'sync' | 'async' }, next: IteratorResult<unknown>): void {
    if (next.done === true) {
      this.close();
    } else if (frame.isObject) {
      const [key, value] = next.value as JsonMember;
      this.member(frame, key, value);
    } else {
      this.separate(frame);
      this.writeItem(next.value as JsonOut);
    }
  }

  /** Reads the next item of the innermost asynchronous source. */
  async pull(): Promise<void> {
    const frame = this.stack[this.stack.length - 1];
    assert(frame?.kind === 'async', 'only an asynchronous source is waited for');
    this.item(frame, await frame.source.next());
  }

  /** Releases the sources that were not read completely. */
  async dispose(): Promise<void> {
    for (let frame = this.stack.pop(); frame !== undefined; frame = this.stack.pop()) {
      if (frame.kind === 'sync') frame.source.return?.();
      else if (frame.kind === 'async') await frame.source.return?.();
    }
  }

  private member(frame: Frame, key: string, value: JsonOut): void {
    this.separate(frame);
    if (key.length > CHUNK_CHARS) {
      this.out += '"';
      this.long = { text: key, offset: 0, end: this.indent > 0 ? '": ' : '":', value };
      return;
    }
    this.out += quoteKey(key);
    if (this.indent > 0) this.out += ' ';
    this.write(value);
  }

  private separate(frame: Frame): void {
    if (frame.count++ > 0) this.out += ',';
    if (this.indent > 0) this.newline(this.stack.length);
  }

  private newline(depth: number): void {
    this.out += '\n' + ' '.repeat(this.indent * depth);
  }

  private openSource(isObject: boolean, source: Iterable<unknown> | AsyncIterable<unknown>): void {
    this.out += isObject ? '{' : '[';
    this.stack.push(
      Symbol.asyncIterator in source
        ? { kind: 'async', isObject, source: source[Symbol.asyncIterator](), count: 0 }
        : { kind: 'sync', isObject, source: source[Symbol.iterator](), count: 0 },
    );
  }

  private close(): void {
    const frame = this.stack.pop();
    assert(frame, 'a container is open');
    // An empty container has a line break too, as in the reference's pretty printer.
    if (this.indent > 0) this.newline(this.stack.length);
    this.out += isObjectFrame(frame) ? '}' : ']';
  }

  private writeHexSlice(hex: { bytes: Buffer; offset: number }): void {
    const end = Math.min(hex.bytes.length, hex.offset + HEX_SLICE_BYTES);
    this.out += hex.bytes.toString('hex', hex.offset, end);
    hex.offset = end;
    if (end < hex.bytes.length) return;
    this.out += '"';
    this.hex = null;
  }

  /** Writes a slice of a long text; at its end also the text that follows. */
  private writeTextSlice(long: LongText): void {
    const { text, offset, end, value } = long;
    let to = Math.min(text.length, offset + CHUNK_CHARS);
    // Both halves of a surrogate pair are written together.
    if ((text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to++;
    const slice = text.slice(offset, to);
    this.out += end === '' ? slice : quoteJson(slice).slice(1, -1);
    long.offset = to;
    if (to < text.length) return;
    this.out += end;
    this.long = null;
    if (value !== undefined) this.write(value);
  }

  /** Writes an item of an array; a small object is written at once. */
  private writeItem(value: JsonOut): void {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const small = isObject && this.indent === 0 ? smallJson(value) : null;
    if (small === null) this.write(value);
    else this.out += small;
  }

  private write(value: JsonOut): void {
    switch (typeof value) {
      case 'string':
        if (value.length > CHUNK_CHARS) {
          this.out += '"';
          this.long = { text: value, offset: 0, end: '"', value: undefined };
        } else {
          this.out += quoteJson(value);
        }
        return;
      case 'number':
        this.out += formatDouble(value);
        return;
      case 'boolean':
        this.out += value ? 'true' : 'false';
        return;
      case 'bigint':
        this.out += value.toString();
        return;
      case 'object':
        if (value === null) this.out += 'null';
        else this.writeObject(value);
        return;
      default:
        assert(false, `a ${typeof value} is not JSON`);
    }
  }

  private writeObject(value: Exclude<JsonOut, null | boolean | number | bigint | string>): void {
    if (Array.isArray(value)) {
      this.out += '[';
      this.stack.push({ kind: 'array', items: value as readonly JsonOut[], next: 0, count: 0 });
    } else if (Object.getPrototypeOf(value) === Object.prototype) {
      this.out += '{';
      this.stack.push({
        kind: 'object',
        object: value as PlainObject,
        keys: Object.keys(value),
        next: 0,
        count: 0,
      });
    } else if (value instanceof JsonNumber || value instanceof RawJson) {
      if (value.text.length > CHUNK_CHARS) {
        this.long = { text: value.text, offset: 0, end: '', value: undefined };
      } else {
        this.out += value.text;
      }
    } else if (value instanceof HexFragment) {
      this.out += '"';
      this.hex = { bytes: asBuffer(value.bytes), offset: 0 };
    } else if (value instanceof JsonArrayStream) {
      this.openSource(false, value.items);
    } else if (value instanceof JsonObjectStream) {
      this.openSource(true, value.members);
    } else if (value instanceof JsonObject) {
      this.openSource(true, value.entries);
    } else {
      assert(
        value instanceof Map,
        'only plain objects, maps and the classes of this file are JSON; bytes are written by hexOf',
      );
      this.openSource(true, value as ReadonlyMap<string, JsonOut>);
    }
  }
}

/**
 * Writes plain values by recursion, within limits of length and depth; gives up on values that only the serializer can
 * write.
 */
class SmallWriter {
  out = '';
  private readonly maxChars: number;

  constructor(maxChars: number) {
    this.maxChars = maxChars;
  }

  write(value: JsonOut, depth: number): boolean {
    switch (typeof value) {
      case 'string':
        if (value.length > this.maxChars) return false;
        this.out += quoteJson(value);
        return this.out.length <= this.maxChars;
      case 'number':
        this.out += formatDouble(value);
        return true;
      case 'boolean':
        this.out += value ? 'true' : 'false';
        return true;
      case 'bigint':
        this.out += value.toString();
        return true;
      case 'object':
        if (value !== null) return depth < SMALL_DEPTH && this.writeObject(value, depth + 1);
        this.out += 'null';
        return true;
      default:
        return false;
    }
  }

  private writeObject(
    value: Exclude<JsonOut, null | boolean | number | bigint | string>,
    depth: number,
  ): boolean {
    if (Array.isArray(value)) return this.writeArray(value as readonly JsonOut[], depth);
    if (Object.getPrototypeOf(value) === Object.prototype)
      return this.writeMembers(value as PlainObject, depth);
    if (value instanceof JsonNumber || value instanceof RawJson) {
      if (value.text.length > this.maxChars) return false;
      this.out += value.text;
      return this.out.length <= this.maxChars;
    }
    if (!(value instanceof HexFragment) || value.bytes.length * 2 > this.maxChars) return false;
    this.out += `"${asBuffer(value.bytes).toString('hex')}"`;
    return this.out.length <= this.maxChars;
  }

  private writeArray(items: readonly JsonOut[], depth: number): boolean {
    this.out += '[';
    for (let i = 0; i < items.length; i++) {
      if (i > 0) this.out += ',';
      // A hole or undefined is left to the serializer, which rejects it.
      if (!this.write(items[i] as JsonOut, depth) || this.out.length > this.maxChars) return false;
    }
    this.out += ']';
    return this.out.length <= this.maxChars;
  }

  private writeMembers(object: PlainObject, depth: number): boolean {
    let separator = '{';
    for (const key of Object.keys(object)) {
      const value = object[key];
      if (value === undefined) continue;
      if (key.length > this.maxChars) return false;
      this.out += separator + quoteKey(key);
      separator = ',';
      if (!this.write(value, depth) || this.out.length > this.maxChars) return false;
    }
    this.out += separator === '{' ? '{}' : '}';
    return true;
  }
}

/** The whole text of a small value without lazy parts; null if it has any, or is not small. */
export function smallJson(value: JsonOut, maxChars = SMALL_CHARS): string | null {
  const writer = new SmallWriter(maxChars);
  return writer.write(value, 0) ? writer.out : null;
}

/** The first part of a serialized value. */
export interface JsonStart {
  readonly text: string;
  /** The remaining text; null when the text is complete. Must be read or returned. */
  readonly rest: AsyncGenerator<string> | null;
}

/**
 * Writes a value until the text is longer than `maxChars` (by less than a chunk), a time slice is used up, or everything is
 * written; synchronous if possible. Throws, or rejects, when a lazy part fails by then.
 */
export function startJson(value: JsonOut, maxChars: number): JsonStart | Promise<JsonStart> {
  const small = smallJson(value);
  if (small !== null) return { text: small, rest: null };
  const serializer = new Serializer(value, 0);
  let text: string;
  try {
    text = serializer.advanceTo('', maxChars);
  } catch (error) {
    void serializer.dispose();
    throw error;
  }
  if (serializer.progress === 'wait') return waitForStart(serializer, text, maxChars);
  return { text, rest: serializer.progress === 'done' ? null : restOf(serializer) };
}

async function waitForStart(serializer: Serializer, begun: string, maxChars: number): Promise<JsonStart> {
  let text = begun;
  try {
    while (serializer.progress === 'wait' && text.length <= maxChars) {
      await serializer.pull();
      text = serializer.advanceTo(text, maxChars);
    }
  } catch (error) {
    await serializer.dispose();
    throw error;
  }
  return { text, rest: serializer.progress === 'done' ? null : restOf(serializer) };
}

/** The chunks of the serialized result, in order. A consumer that stops early releases the lazy sources. */
export async function* jsonChunks(value: JsonOut, indent = 0): AsyncGenerator<string> {
  yield* restOf(new Serializer(value, indent));
}

async function* restOf(serializer: Serializer): AsyncGenerator<string> {
  try {
    for (;;) {
      const progress = serializer.advance();
      if (progress === 'wait') await serializer.pull();
      else if (progress === 'chunk') yield serializer.takeOutput();
      else break;
    }
    yield serializer.takeOutput();
  } finally {
    await serializer.dispose();
  }
}

/**
 * The whole text at once, for small values without asynchronous parts; `indent` 2 gives the output of the reference's
 * `write(2)`.
 */
export function stringifyJson(value: JsonOut, indent = 0): string {
  const small = indent === 0 ? smallJson(value) : null;
  if (small !== null) return small;
  const serializer = new Serializer(value, indent);
  let text = '';
  for (;;) {
    const progress = serializer.advance();
    assert(progress !== 'wait', 'an asynchronous value cannot be written at once');
    text += serializer.takeOutput();
    if (progress === 'done') return text;
  }
}
