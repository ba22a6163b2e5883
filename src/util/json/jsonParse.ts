/**
 * A strict JSON parser that loses nothing: number literals keep their text, objects keep order and duplicates.
 * Accepts the same input as the reference's UniValue, within two limits of ours: a number of values, so that no body within
 * the request limit can exhaust the heap, and a nesting depth. Open containers are stored on an explicit stack, not on the
 * call stack.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { asBuffer } from '../bytes.js';
import { JsonNumber, JsonObject, type JsonValue } from './json.js';
import {
  BACKSLASH,
  CAPITAL_E,
  checkNumberEnd,
  decodeLiteral,
  DOT,
  endOf,
  escapedEnd,
  failParse,
  LongToken,
  longToken,
  makeWellFormed,
  MINUS,
  NINE,
  numberValue,
  PLAIN,
  PLAIN_SLICE,
  PLUS,
  QUOTE,
  requireWellFormed,
  SMALL_E,
  SPACE,
  SPACE_SLICE,
  ZERO,
  type ReadToken,
} from './jsonTokens.js';
import { AT_ONCE_SIZE, type Slices } from '../slices.js';

export { JsonParseError } from './jsonTokens.js';

/** Maximum number of values in one parsed tree. Arbitrary: far above any real request, far below the heap's capacity. */
export const MAX_JSON_VALUES = 2_000_000;

/** Maximum nesting of containers. Arbitrary: far above any real request, far below the limit of a client's stack. */
export const MAX_JSON_DEPTH = 10_000;

/**
 * Parsing of text that the reference does not accept as JSON. `strict`: rejected. `mended`: a lone half of a surrogate pair
 * is read as U+FFFD. `python`: output of Python's `json` is read unchanged: lone halves, and the words for NaN and
 * infinities.
 */
export type JsonForm = 'strict' | 'mended' | 'python';

/** Source: CPython Lib/json/encoder.py `floatstr`. */
const PYTHON_WORDS: readonly string[] = ['NaN', 'Infinity', '-Infinity'];

/** Parsing steps between two pauses. */
const STEPS_AT_ONCE = 256;

/** An array or object whose end has not been read yet; `key` is that of the current member, null before it is read. */
type OpenContainer =
  | { readonly close: ']'; readonly items: JsonValue[] }
  | { readonly close: '}'; readonly entries: [string, JsonValue][]; key: string | null };

/** State of parsing a value. */
interface Reading {
  readonly open: OpenContainer[];
  /** The last value read, not added to its container yet. */
  value: JsonValue | undefined;
  values: number;
}

/** A skipped container: whether a key is expected next. */
interface SkippedContainer {
  readonly close: string;
  needsKey: boolean;
}

interface Skipping {
  readonly open: SkippedContainer[];
  /** Whether a value was skipped and its container must be processed next. */
  hasValue: boolean;
}

/**
 * Parses one value at a time from a text; `skipValue` checks syntax without building anything. Both are available
 * synchronously, and in slices for texts that may be large. An interrupted step can be repeated from its start.
 */
export class JsonScanner {
  readonly text: string;
  offset = 0;
  private readonly maxValues: number;
  private readonly form: JsonForm;
  /** Conversion applied to a decoded string with escapes. */
  private readonly settle: (decoded: string) => string;
  /** Whether a long token interrupts the step. */
  private inSlices = false;
  /** Start of the current step. */
  private stepStart = 0;
  /** Long tokens by their start. There cannot be many. */
  private readonly longTokens = new Map<number, ReadToken>();

  constructor(text: string, maxValues = MAX_JSON_VALUES, form: JsonForm = 'strict') {
    this.text = text;
    this.maxValues = maxValues;
    this.form = form;
    this.settle = SETTLE[form];
  }

  fail(): never {
    failParse();
  }

  skipSpace(): void {
    const code = this.text.charCodeAt(this.offset);
    if (code > 32 || code !== code) return;
    const { offset, text } = this;
    if (!this.inSlices) {
      this.offset = endOf(SPACE, text, offset);
      return;
    }
    const end = this.longTokens.get(offset)?.end ?? endOf(SPACE_SLICE, text, offset);
    if (end - offset === AT_ONCE_SIZE) throw new LongToken(offset, 'space');
    this.offset = end;
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

  /** Reads one whole value, with a separate limit for it. */
  readValue(): JsonValue {
    const reading: Reading = { open: [], value: undefined, values: 0 };
    this.readSteps(reading, Infinity);
    return reading.value!;
  }

  /** The same in slices. */
  *readValueInSlices(): Slices<JsonValue> {
    const reading: Reading = { open: [], value: undefined, values: 0 };
    yield* this.pausing(() => this.readSteps(reading, STEPS_AT_ONCE));
    return reading.value!;
  }

  /** Skips one value; rejects the same input as `readValue` (except for the number of values at the top level). */
  skipValue(): void {
    this.skipSteps({ open: [], hasValue: false }, Infinity);
  }

  /** The same in slices. */
  skipValueInSlices(): Slices<void> {
    const skipping: Skipping = { open: [], hasValue: false };
    return this.pausing(() => this.skipSteps(skipping, STEPS_AT_ONCE));
  }

  /** Skips white space in slices; afterwards `peek`, `take` and `atEnd` are fast. */
  skipSpaceInSlices(): Slices<void> {
    return this.pausing(() => {
      this.stepStart = this.offset;
      this.skipSpace();
      return true;
    });
  }

  /** Runs `work` repeatedly until it returns true, with pauses between the steps and within long tokens. */
  private *pausing(work: () => boolean): Slices<void> {
    for (;;) {
      let long: LongToken | null = null;
      this.inSlices = true;
      try {
        if (work()) return;
      } catch (error) {
        if (!(error instanceof LongToken)) throw error;
        long = error;
      } finally {
        this.inSlices = false;
      }
      if (long === null) {
        yield;
      } else {
        this.longTokens.set(long.offset, yield* longToken(this.text, long, this.settle));
        this.offset = this.stepStart;
      }
    }
  }

  /** Runs this many parsing steps; true when the value is complete. */
  private readSteps(reading: Reading, steps: number): boolean {
    const { open } = reading;
    for (let step = 0; step < steps; step++) {
      this.stepStart = this.offset;
      const top = open.length === 0 ? undefined : open[open.length - 1]!;
      if (reading.value !== undefined) {
        if (top === undefined) return true;
        const isEnd = this.ends(top.close);
        put(top, reading.value);
        reading.value = isEnd ? closed(top) : undefined;
        if (isEnd) open.pop();
      } else if (top?.close === '}' && top.key === null) {
        top.key = this.key();
      } else {
        if (reading.values === this.maxValues) this.fail();
        reading.value = this.start(open);
        reading.values++;
      }
    }
    return false;
  }

  /** Reads a scalar or an empty container; opens any other container and returns undefined. */
  private start(open: OpenContainer[]): JsonValue | undefined {
    const first = this.peek();
    if (first !== '[' && first !== '{') return this.scalar(first);
    this.offset++;
    if (first === '[') {
      if (this.take(']')) return [];
      this.checkDepth(open.length);
      open.push({ close: ']', items: [] });
    } else {
      if (this.take('}')) return new JsonObject([]);
      this.checkDepth(open.length);
      open.push({ close: '}', entries: [], key: null });
    }
    return undefined;
  }

  /** Reads the end of a container, or the comma before its next member. */
  private ends(close: string): boolean {
    if (this.take(',')) return false;
    return this.take(close) || this.fail();
  }

  /** Runs this many steps of skipping a value; true when it has ended. */
  private skipSteps(skipping: Skipping, steps: number): boolean {
    const { open } = skipping;
    for (let step = 0; step < steps; step++) {
      this.stepStart = this.offset;
      const top = open.length === 0 ? undefined : open[open.length - 1]!;
      if (skipping.hasValue) {
        if (top === undefined) return true;
        if (this.ends(top.close)) {
          open.pop();
        } else {
          skipping.hasValue = false;
          top.needsKey = top.close === '}';
        }
      } else if (top?.needsKey === true) {
        this.key();
        top.needsKey = false;
      } else {
        skipping.hasValue = this.skipStart(open);
      }
    }
    return false;
  }

  /** Skips a scalar or an empty container; opens any other container and returns false. */
  private skipStart(open: SkippedContainer[]): boolean {
    const first = this.peek();
    const close = first === '[' ? ']' : first === '{' ? '}' : '';
    if (close === '') {
      this.scalar(first);
      return true;
    }
    this.offset++;
    if (this.take(close)) return true;
    this.checkDepth(open.length);
    open.push({ close, needsKey: close === '}' });
    return false;
  }

  private checkDepth(open: number): void {
    if (open === MAX_JSON_DEPTH) this.fail();
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
    const { text, offset } = this;
    if (this.longTokens.size > 0) {
      const known = this.longTokens.get(offset);
      if (known) {
        this.offset = known.end;
        return known.value as number | JsonNumber;
      }
    }
    let at = offset;
    let code = text.charCodeAt(at);
    if (code === MINUS) code = text.charCodeAt(++at);
    if (code < ZERO || code > NINE || code !== code) return this.word();
    at = code === ZERO ? at + 1 : this.digits(at);
    code = text.charCodeAt(at);
    let isInteger = true;
    if (code === DOT) {
      isInteger = false;
      at = this.digits(at + 1);
      code = text.charCodeAt(at);
    }
    if (code === SMALL_E || code === CAPITAL_E) {
      isInteger = false;
      at++;
      code = text.charCodeAt(at);
      at = this.digits(code === PLUS || code === MINUS ? at + 1 : at);
    }
    this.offset = at;
    checkNumberEnd(text, at);
    return numberValue(text.slice(offset, at), isInteger);
  }

  /** Parses a word in place of a number. */
  private word(): JsonNumber {
    const { form, offset, text } = this;
    const word = PYTHON_WORDS.find((one) => form === 'python' && text.startsWith(one, offset)) ?? this.fail();
    this.offset += word.length;
    return new JsonNumber(word);
  }

  /** End of the digits at `at`; at least one is required. */
  private digits(at: number): number {
    const { text } = this;
    const first = at;
    const limit = this.inSlices ? at + AT_ONCE_SIZE : Infinity;
    for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(++at)) {
      if (at >= limit) throw new LongToken(this.offset, 'number');
    }
    return at > first ? at : this.fail();
  }

  /** Reads the key of a member and the colon after it. */
  private key(): string {
    if (this.peek() !== '"') this.fail();
    const key = this.string();
    if (!this.take(':')) this.fail();
    return key;
  }

  private string(): string {
    const start = ++this.offset;
    if (this.longTokens.size > 0) {
      const known = this.longTokens.get(start);
      if (known) {
        this.offset = known.end;
        return known.value as string;
      }
    }
    const end = (this.offset = endOf(this.inSlices ? PLAIN_SLICE : PLAIN, this.text, start));
    const code = this.text.charCodeAt(end);
    if (code === QUOTE) {
      this.offset = end + 1;
      return this.text.slice(start, end);
    }
    if (this.inSlices && end - start === AT_ONCE_SIZE) throw new LongToken(start, 'string');
    return code === BACKSLASH ? this.escapedString(start) : this.fail();
  }

  /**
   * Reads a string with escapes, which begins at `start`; the offset is at its first escape. The runtime decodes it:
   * assembling it here would cost a heap object for each of possibly millions of escapes.
   */
  private escapedString(start: number): string {
    const end = escapedEnd(this.text, this.offset, this.inSlices ? start + AT_ONCE_SIZE : Infinity);
    if (this.text.charCodeAt(end) !== QUOTE) throw new LongToken(start, 'string');
    this.offset = end + 1;
    return this.settle(decodeLiteral(this.text.slice(start, end)) ?? this.fail());
  }
}

const SETTLE: Readonly<Record<JsonForm, (decoded: string) => string>> = {
  strict: requireWellFormed,
  mended: makeWellFormed,
  python: (decoded) => decoded,
};

function put(container: OpenContainer, value: JsonValue): void {
  if (container.close === ']') {
    container.items.push(value);
    return;
  }
  container.entries.push([container.key!, value]);
  container.key = null;
}

function closed(container: OpenContainer): JsonValue {
  return container.close === ']' ? container.items : new JsonObject(container.entries);
}

/** Bytes of a request as text, or null when they are not UTF-8. A byte order mark is not skipped (parsing then fails). */
export function decodeUtf8(bytes: Uint8Array): string | null {
  if (isAscii(bytes)) return asBuffer(bytes).toString('latin1');
  return isUtf8(bytes) ? asBuffer(bytes).toString('utf8') : null;
}

/** Bytes decoded between two pauses. */
const DECODED_AT_ONCE = 1 << 20;

/**
 * `decodeUtf8` in slices. ASCII bytes are copied at once. For the largest request this takes less time than joining pieces
 * on the first read of the text.
 */
export function* decodeUtf8InSlices(bytes: Uint8Array): Slices<string | null> {
  if (isAscii(bytes)) {
    const copy = asBuffer(bytes).toString('latin1');
    yield;
    return copy;
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  try {
    for (let at = 0; at < bytes.length; at += DECODED_AT_ONCE) {
      text += decoder.decode(bytes.subarray(at, at + DECODED_AT_ONCE), { stream: true });
      yield;
    }
    return text + decoder.decode();
  } catch {
    return null;
  }
}

/** Parses a whole text as one value. Throws `JsonParseError`. A client raises `maxValues` for results that it requested. */
export function parseJson(text: string, maxValues = MAX_JSON_VALUES, form: JsonForm = 'strict'): JsonValue {
  const scanner = new JsonScanner(text, maxValues, form);
  const value = scanner.readValue();
  if (!scanner.atEnd()) scanner.fail();
  return value;
}
