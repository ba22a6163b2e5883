/**
 * A strict JSON parser that loses nothing: number literals keep their text, objects keep order and duplicates.
 * Accepts what the reference's UniValue accepts, at any depth of nesting, within one bound of ours: a number of values,
 * so that no body that fits the request limit can exhaust the heap. Open containers lie on a stack of its own, not on
 * the runtime's.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { asBuffer } from './bytes.js';
import { formatDouble, JsonNumber, JsonObject, type JsonValue } from './json.js';

/** The text is not JSON, or holds too many values. */
export class JsonParseError extends Error {
  override readonly name = 'JsonParseError';
}

/** Most values in one parsed tree. Arbitrary: far above any real request, far below what would fill the heap. */
export const MAX_JSON_VALUES = 2_000_000;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SPACE = /[ \t\n\r]*/y;
// The reference's parser refuses a bare 0x00-0x1f in a string and takes everything else up to the quote.

const PLAIN = /[^"\\\u0000-\u001f]*/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** An array or object whose end has not come yet; `key` is that of the member being read. */
type OpenContainer =
  | { readonly close: ']'; readonly items: JsonValue[] }
  | { readonly close: '}'; readonly entries: [string, JsonValue][]; key: string };

/** Parses one value at a time from a text; `skipValue` checks syntax without building anything. */
export class JsonScanner {
  readonly text: string;
  offset = 0;
  private readonly maxValues: number;

  constructor(text: string, maxValues = MAX_JSON_VALUES) {
    this.text = text;
    this.maxValues = maxValues;
  }

  fail(): never {
    throw new JsonParseError('Parse error');
  }

  skipSpace(): void {
    const code = this.text.charCodeAt(this.offset);
    if (code > 32 || code !== code) return;
    SPACE.lastIndex = this.offset;
    SPACE.exec(this.text);
    this.offset = SPACE.lastIndex;
  }

  /** The next character after white space, not consumed; '' at the end. */
  peek(): string {
    this.skipSpace();
    return this.text.charAt(this.offset);
  }

  /** Consumes `char` if it comes next. */
  take(char: string): boolean {
    if (this.peek() !== char) return false;
    this.offset++;
    return true;
  }

  atEnd(): boolean {
    this.skipSpace();
    return this.offset === this.text.length;
  }

  /** One whole value, with its own allowance of values. */
  readValue(): JsonValue {
    const open: OpenContainer[] = [];
    for (let values = 1; values <= this.maxValues; values++) {
      const value = this.start(open);
      if (value === undefined) continue;
      const whole = this.finish(value, open);
      if (whole !== undefined) return whole;
    }
    return this.fail();
  }

  /** Reads a scalar or an empty container; opens any other container, which gives undefined. */
  private start(open: OpenContainer[]): JsonValue | undefined {
    const first = this.peek();
    if (first !== '[' && first !== '{') return this.scalar(first);
    this.offset++;
    if (first === '[') {
      if (this.take(']')) return [];
      open.push({ close: ']', items: [] });
    } else {
      if (this.take('}')) return new JsonObject([]);
      open.push({ close: '}', entries: [], key: this.key() });
    }
    return undefined;
  }

  /** Puts a value where it belongs, and each container that ends with it. The outermost one when it is whole. */
  private finish(value: JsonValue, open: OpenContainer[]): JsonValue | undefined {
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      if (top.close === ']') top.items.push(value);
      else top.entries.push([top.key, value]);
      if (this.take(',')) {
        if (top.close === '}') top.key = this.key();
        return undefined;
      }
      if (!this.take(top.close)) this.fail();
      open.pop();
      value = top.close === ']' ? top.items : new JsonObject(top.entries);
    }
    return value;
  }

  /** Passes over one value, refusing what `readValue` would refuse (but for the count of values that are not nested). */
  skipValue(): void {
    const open: string[] = [];
    for (;;) {
      const first = this.peek();
      const close = first === '[' ? ']' : first === '{' ? '}' : '';
      if (close === '') this.scalar(first);
      else {
        this.offset++;
        if (!this.take(close)) {
          if (open.push(close) > this.maxValues) this.fail();
          if (close === '}') this.key();
          continue;
        }
      }
      if (this.skipEnds(open)) return;
    }
  }

  /** Passes over the ends of containers and the comma to the next value; true when the outermost value has ended. */
  private skipEnds(open: string[]): boolean {
    for (let close = open.at(-1); close !== undefined; close = open.at(-1)) {
      if (this.take(',')) {
        if (close === '}') this.key();
        return false;
      }
      if (!this.take(close)) this.fail();
      open.pop();
    }
    return true;
  }

  private scalar(first: string): null | boolean | number | string | JsonNumber {
    switch (first) {
      case '"':
        return this.string();
      case 't':
        return this.keyword('true', true);
      case 'f':
        return this.keyword('false', false);
      case 'n':
        return this.keyword('null', null);
      default:
        return this.number();
    }
  }

  private keyword<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.offset)) this.fail();
    this.offset += word.length;
    return value;
  }

  private number(): number | JsonNumber {
    NUMBER.lastIndex = this.offset;
    const literal = NUMBER.exec(this.text)?.[0];
    if (literal === undefined) this.fail();
    this.offset += literal.length;
    const next = this.text.charCodeAt(this.offset);
    // "01", "1.", "1e" and "2x" end a number in the middle: what follows a literal can be none of these.
    if ((next >= 48 && next <= 57) || next === 46 || next === 101 || next === 69) this.fail();
    const value = Number(literal);
    return Number.isFinite(value) && formatDouble(value) === literal ? value : new JsonNumber(literal);
  }

  /** The key of a member and the colon behind it. */
  private key(): string {
    if (this.peek() !== '"') this.fail();
    const key = this.string();
    if (!this.take(':')) this.fail();
    return key;
  }

  private string(): string {
    const start = ++this.offset;
    PLAIN.lastIndex = start;
    PLAIN.exec(this.text);
    this.offset = PLAIN.lastIndex;
    const char = this.text.charAt(this.offset);
    if (char === '"') return this.text.slice(start, this.offset++);
    return char === '\\' ? this.escapedString(start - 1) : this.fail();
  }

  /**
   * A string with escapes, whose opening quote is at `start` and of which the offset has come to the first escape. The
   * runtime decodes it: put together here, millions of escapes would cost a heap object each.
   */
  private escapedString(start: number): string {
    const text = this.text;
    let at = this.offset;
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(++at)) {
      if (code === BACKSLASH) at++;
      if (at >= text.length) this.fail();
    }
    this.offset = at + 1;
    const whole = decodeLiteral(text.slice(start, this.offset));
    return whole !== null && isWellFormed(whole) ? whole : this.fail();
  }
}

/** A string literal's value; null when it holds an escape or a character that JSON does not know. */
function decodeLiteral(literal: string): string | null {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return null;
  }
}

/** No half of a surrogate pair alone: the reference refuses those (`JSONUTF8StringFilter::finalize`). */
function isWellFormed(text: string): boolean {
  return (
    !/[\ud800-\udfff]/.test(text) ||
    !/(?:[\ud800-\udbff](?![\udc00-\udfff]))|(?:(?<![\ud800-\udbff])[\udc00-\udfff])/.test(text)
  );
}

/** Bytes of a request as text, or null when they are not UTF-8. A byte order mark is not skipped (it fails to parse). */
export function decodeUtf8(bytes: Uint8Array): string | null {
  if (isAscii(bytes)) return asBuffer(bytes).toString('latin1');
  return isUtf8(bytes) ? asBuffer(bytes).toString('utf8') : null;
}

/** The one value of a whole text. Throws `JsonParseError`. A client lifts `maxValues` for answers it asked for. */
export function parseJson(text: string, maxValues = MAX_JSON_VALUES): JsonValue {
  const scanner = new JsonScanner(text, maxValues);
  const value = scanner.readValue();
  if (!scanner.atEnd()) scanner.fail();
  return value;
}
