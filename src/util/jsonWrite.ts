/**
 * The streaming JSON serializer: turns an answer into chunks of about 64 KiB, pulling lazy parts (`jsonArray`,
 * `jsonObject`, `hexOf`) only as fast as the reader takes chunks, so that the answer never exists as one string.
 * Key order is kept; text forms are the reference's (UniValue): compact, control characters and DEL escaped.
 */
import { assert } from './assert.js';
import { asBuffer, type Bytes } from './bytes.js';
import { formatDouble, JsonNumber, JsonObject } from './json.js';

/** Flush threshold of the serializer, in UTF-16 units: one socket write's worth. */
export const CHUNK_CHARS = 65_536;
/** Bytes of a `hexOf` fragment turned into text at a time. */
const HEX_SLICE_BYTES = 32_768;

/** An array whose items come one at a time; the source is read only as the answer is sent. */
export class JsonArrayStream {
  readonly items: Iterable<JsonOut> | AsyncIterable<JsonOut>;
  constructor(items: Iterable<JsonOut> | AsyncIterable<JsonOut>) {
    this.items = items;
  }
}

/** An object whose members come one at a time. */
export class JsonObjectStream {
  readonly members: Iterable<JsonMember> | AsyncIterable<JsonMember>;
  constructor(members: Iterable<JsonMember> | AsyncIterable<JsonMember>) {
    this.members = members;
  }
}

/** Bytes written as a string of hex digits, without that string ever existing whole. The buffer must not change meanwhile. */
export class HexFragment {
  readonly bytes: Bytes;
  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }
}

/** Text that is JSON already, written as it is. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type JsonMember = readonly [string, JsonOut];

/** What an answer may consist of. Members that are `undefined` are left out; a bigint is written as an integer. */
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

/** A container being written: where its next member comes from. `sync` is null when the source is asynchronous. */
interface Frame {
  readonly isObject: boolean;
  readonly sync: Iterator<unknown> | null;
  readonly async: AsyncIterator<unknown> | null;
  count: number;
}

type Progress = 'chunk' | 'done' | 'wait';

function* definedMembers(object: { readonly [key: string]: JsonOut | undefined }): Generator<JsonMember> {
  for (const key in object) {
    const value = object[key];
    if (value !== undefined) yield [key, value];
  }
}

/** The machine behind `jsonChunks` and `stringifyJson`: an explicit stack, so that it can stop anywhere. */
class Serializer {
  private out = '';
  private readonly stack: Frame[] = [];
  private hex: { bytes: Buffer; offset: number } | null = null;
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

  /** Runs until a chunk is full, an asynchronous source must be asked, or all is written. */
  advance(): Progress {
    if (!this.started) {
      this.started = true;
      this.write(this.root);
    }
    for (;;) {
      if (this.hex !== null) this.writeHexSlice(this.hex);
      if (this.out.length >= CHUNK_CHARS) return 'chunk';
      if (this.hex !== null) continue;
      const frame = this.stack[this.stack.length - 1];
      if (frame === undefined) return 'done';
      if (frame.sync === null) return 'wait';
      const next = frame.sync.next();
      if (next.done === true) this.close();
      else this.member(frame, next.value);
    }
  }

  /** Asks the innermost asynchronous source for its next item. */
  async pull(): Promise<void> {
    const frame = this.stack[this.stack.length - 1];
    assert(frame?.async, 'only an asynchronous source is waited for');
    const next = await frame.async.next();
    if (next.done === true) this.close();
    else this.member(frame, next.value);
  }

  /** Releases the sources that were not read to their end. */
  async dispose(): Promise<void> {
    while (this.stack.length > 0) {
      const frame = this.stack.pop();
      frame?.sync?.return?.();
      await frame?.async?.return?.();
    }
  }

  private member(frame: Frame, item: unknown): void {
    if (frame.count++ > 0) this.out += ',';
    this.newline(this.stack.length);
    if (frame.isObject) {
      const [key, value] = item as JsonMember;
      this.out += quoteJson(key) + (this.indent > 0 ? ': ' : ':');
      this.write(value);
    } else {
      this.write(item as JsonOut);
    }
  }

  private newline(depth: number): void {
    if (this.indent > 0) this.out += '\n' + ' '.repeat(this.indent * depth);
  }

  private open(isObject: boolean, source: Iterable<unknown> | AsyncIterable<unknown>): void {
    this.out += isObject ? '{' : '[';
    const isAsync = Symbol.asyncIterator in source;
    this.stack.push({
      isObject,
      sync: isAsync ? null : (source as Iterable<unknown>)[Symbol.iterator](),
      async: isAsync ? (source as AsyncIterable<unknown>)[Symbol.asyncIterator]() : null,
      count: 0,
    });
  }

  private close(): void {
    const frame = this.stack.pop();
    assert(frame, 'a container is open');
    // An empty container takes a line break too, as the reference's pretty printer writes it.
    this.newline(this.stack.length);
    this.out += frame.isObject ? '}' : ']';
  }

  private writeHexSlice(hex: { bytes: Buffer; offset: number }): void {
    const end = Math.min(hex.bytes.length, hex.offset + HEX_SLICE_BYTES);
    this.out += hex.bytes.toString('hex', hex.offset, end);
    hex.offset = end;
    if (end < hex.bytes.length) return;
    this.out += '"';
    this.hex = null;
  }

  private write(value: JsonOut): void {
    switch (typeof value) {
      case 'string':
        this.out += quoteJson(value);
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
    if (Array.isArray(value)) this.open(false, value as readonly JsonOut[]);
    else if (value instanceof JsonNumber || value instanceof RawJson) this.out += value.text;
    else if (value instanceof HexFragment) {
      this.out += '"';
      this.hex = { bytes: asBuffer(value.bytes), offset: 0 };
    } else if (value instanceof JsonArrayStream) this.open(false, value.items);
    else if (value instanceof JsonObjectStream) this.open(true, value.members);
    else if (value instanceof JsonObject) this.open(true, value.entries);
    else if (value instanceof Map) this.open(true, value as ReadonlyMap<string, JsonOut>);
    else {
      assert(!ArrayBuffer.isView(value), 'bytes are written by hexOf');
      this.open(true, definedMembers(value as { readonly [key: string]: JsonOut | undefined }));
    }
  }
}

/** The answer's chunks, in order. A consumer that stops early releases the lazy sources. */
export async function* jsonChunks(value: JsonOut, indent = 0): AsyncGenerator<string> {
  const serializer = new Serializer(value, indent);
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

/** The whole text at once, for small values without asynchronous parts; `indent` 2 prints as the reference's `write(2)`. */
export function stringifyJson(value: JsonOut, indent = 0): string {
  const serializer = new Serializer(value, indent);
  let text = '';
  for (;;) {
    const progress = serializer.advance();
    assert(progress !== 'wait', 'an asynchronous value cannot be written at once');
    text += serializer.takeOutput();
    if (progress === 'done') return text;
  }
}
