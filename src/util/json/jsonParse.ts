/**
 * A strict JSON parser that loses nothing: number literals keep their text, objects keep order and duplicates.
 * Accepts the same input as the reference's UniValue, with two additional limits: the number of values, so that no request
 * body can exhaust the heap, and the nesting depth. Open containers are stored on an explicit stack, not on the call stack.
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

/**
 * Maximum number of values in one parsed text. Arbitrary: far more than any real request has, far fewer than the heap can
 * contain.
 */
export const MAX_JSON_VALUES = 2_000_000;

/**
 * Maximum nesting depth of arrays and objects. Arbitrary: far deeper than any real request, but not too deep for a client's
 * stack.
 */
export const MAX_JSON_DEPTH = 10_000;

/**
 * How to parse text that the reference does not accept as JSON. `strict`: rejected. `mended`: a lone half of a surrogate
 * pair is read as U+FFFD. `python`: output of Python's `json` is accepted unchanged, including lone halves and the words for
 * NaN and infinities.
 */
export type JsonForm = 'strict' | 'mended' | 'python';

/** Words that Python writes in JSON instead of numbers. Source: CPython Lib/json/encoder.py `floatstr`. */
const PYTHON_WORDS: readonly string[] = ['NaN', 'Infinity', '-Infinity'];

/** Number of parsing steps between two yields to the event loop. */
const STEPS_AT_ONCE = 256;

/** An array or object whose end has not been read yet. `key` is the key of the current member; null before the key is read. */
type OpenContainer =
  | { readonly close: ']'; readonly items: JsonValue[] }
  | { readonly close: '}'; readonly entries: [string, JsonValue][]; key: string | null };

/** State of parsing one value. */
interface Reading {
  readonly open: OpenContainer[];
  /** `value`: the last value that was read, before it is added to its container. `values`: number of values read so far. */
  value: JsonValue | undefined;
  values: number;
}

/** A skipped array or object whose end has not been read yet. It records whether a key is expected next. */
interface SkippedContainer {
  readonly close: string;
  needsKey: boolean;
}

interface Skipping {
  readonly open: SkippedContainer[];
  /** Whether a value was just skipped, so that its container must be processed next. */
  hasValue: boolean;
}

/**
 * Parses one value at a time from a text; `skipValue` checks the syntax of a value without creating it. Reading and skipping
 * are available synchronously, and in slices (with yields) for texts that may be large. A step that a long token interrupts
 * is repeated from its start.
 */
export class JsonScanner {
  readonly text: string;
  offset = 0;
  private readonly maxValues: number;
  private readonly form: JsonForm;
  /** Conversion that is applied to a decoded string that had escapes. */
  private readonly settle: (decoded: string) => string;
  /** Whether the scanner works in slices. A long token then interrupts the current step. */
  private inSlices = false;
  /** Offset at which the current step started. */
  private stepStart = 0;
  /** Long tokens that were read in slices, by their start. A text cannot contain many long tokens. */
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

  /** Skips white space. Returns the next character without consuming it; '' at the end of the text. */
  peek(): string {
    this.skipSpace();
    return this.text.charAt(this.offset);
  }

  /** Consumes `char` if it is the next character. Returns whether it was. */
  take(char: string): boolean {
    if (this.peek() !== char) return false;
    this.offset++;
    return true;
  }

  atEnd(): boolean {
    this.skipSpace();
    return this.offset === this.text.length;
  }

  /** Reads one whole value. The limit of values applies to each call separately. */
  readValue(): JsonValue {
    const reading: Reading = { open: [], value: undefined, values: 0 };
    this.readSteps(reading, Infinity);
    return reading.value!;
  }

  /** Variant of the function whose name lacks `InSlices`. Yields between slices of the work. */
  *readValueInSlices(): Slices<JsonValue> {
    const reading: Reading = { open: [], value: undefined, values: 0 };
    yield* this.pausing(() => this.readSteps(reading, STEPS_AT_ONCE));
    return reading.value!;
  }

  /** Skips one value. Rejects the same input as `readValue`, except that the number of values at the top level is not limited. */
  skipValue(): void {
    this.skipSteps({ open: [], hasValue: false }, Infinity);
  }

  /** Variant of the function whose name lacks `InSlices`. Yields between slices of the work. */
  skipValueInSlices(): Slices<void> {
    const skipping: Skipping = { open: [], hasValue: false };
    return this.pausing(() => this.skipSteps(skipping, STEPS_AT_ONCE));
  }

  /** Skips white space in slices. Afterwards `peek`, `take` and `atEnd` are fast. */
  skipSpaceInSlices(): Slices<void> {
    return this.pausing(() => {
      this.stepStart = this.offset;
      this.skipSpace();
      return true;
    });
  }

  /** Runs `work` repeatedly until it returns true. Yields between the steps and within long tokens. */
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

  /** Runs `steps` parsing steps. Returns true when the value is complete. */
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

  /**
   * Reads a scalar or an empty container and returns it. If another container begins, adds it to `open` and returns
   * undefined.
   */
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

  /** Reads the end of a container, or the comma before its next member. Returns whether the container has ended. */
  private ends(close: string): boolean {
    if (this.take(',')) return false;
    return this.take(close) || this.fail();
  }

  /** Runs `steps` steps of skipping a value. Returns true when the value has ended. */
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

  /** Skips a scalar or an empty container. If another container begins, adds it to `open` and returns false. */
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

  /** Parses a word in place of a number (`NaN`, `Infinity`). */
  private word(): JsonNumber {
    const { form, offset, text } = this;
    const word = PYTHON_WORDS.find((one) => form === 'python' && text.startsWith(one, offset)) ?? this.fail();
    this.offset += word.length;
    return new JsonNumber(word);
  }

  /** Position after the digits that begin at `at`. Rejects a text without a digit there. */
  private digits(at: number): number {
    const { text } = this;
    const first = at;
    const limit = this.inSlices ? at + AT_ONCE_SIZE : Infinity;
    for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(++at)) {
      if (at >= limit) throw new LongToken(this.offset, 'number');
    }
    return at > first ? at : this.fail();
  }

  /** Reads the key of an object member and the colon after it. */
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
   * Reads a string with escapes. It begins at `start`, and the current offset is at its first escape. `JSON.parse` of the
   * runtime decodes it, because decoding here would create a heap object for each escape, and a string may contain millions
   * of escapes.
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

/** Decodes a request body as UTF-8; null if it is not valid UTF-8. A byte order mark is not removed, so parsing fails then. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  if (isAscii(bytes)) return asBuffer(bytes).toString('latin1');
  return isUtf8(bytes) ? asBuffer(bytes).toString('utf8') : null;
}

/** Number of bytes that are decoded between two yields to the event loop. */
const DECODED_AT_ONCE = 1 << 20;

/**
 * Variant of `decodeUtf8` that yields between slices of the work. ASCII bytes are converted in one step: for the largest
 * request this takes less time than joining pieces later.
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

/** Parses a whole text as one value. Throws `JsonParseError`. A client may raise `maxValues` for results that it requested. */
export function parseJson(text: string, maxValues = MAX_JSON_VALUES, form: JsonForm = 'strict'): JsonValue {
  const scanner = new JsonScanner(text, maxValues, form);
  const value = scanner.readValue();
  if (!scanner.atEnd()) scanner.fail();
  return value;
}
