/**
 * The streaming JSON serializer: converts a result into chunks of about 64 KiB. Lazy parts (`jsonArray`, `jsonObject`,
 * `hexOf`) are read at the speed at which the consumer reads chunks, so the result is never in memory as one string. The
 * order of keys is kept. Small values without lazy parts, and small items of arrays, are written in one step (`smallJson`),
 * which takes a third of the time.
 */
import { assert } from '../assert.js';
import { asBuffer } from '../bytes.js';
import { SLICE_MS } from '../slices.js';
import { formatDouble, JsonNumber, JsonObject } from './json.js';
import {
  HexFragment,
  JsonArrayStream,
  JsonObjectStream,
  quoteJson,
  quoteKey,
  RawJson,
  SMALL_CHARS,
  smallJson,
  SmallWriter,
  type BodyPiece,
  type JsonMember,
  type JsonOut,
  type PlainObject,
} from './jsonWrite.js';

/** Length in UTF-16 units at which the serializer emits a chunk: about the size of one socket write. */
export const CHUNK_CHARS = 65_536;
/** Number of bytes of a `hexOf` fragment that are converted at a time. */
const HEX_SLICE_BYTES = 32_768;

/**
 * A container that is being written, with the current position in it. Plain arrays and objects are iterated by index,
 * because an iterator is several times slower.
 */
type Frame = { count: number } & (
  | { readonly kind: 'array'; readonly items: readonly JsonOut[]; next: number }
  | { readonly kind: 'object'; readonly object: PlainObject; readonly keys: readonly string[]; next: number }
  | { readonly kind: 'sync'; readonly isObject: boolean; readonly source: Iterator<unknown> }
  | { readonly kind: 'async'; readonly isObject: boolean; readonly source: AsyncIterator<unknown> }
);

/** A text that is being written in slices. It is a string or a key; if `end` is empty, it is JSON that is written unchanged. */
interface LongText {
  readonly text: string;
  offset: number;
  readonly end: string;
  /** If the text is a key: the value of the member, which is written after the key. */
  readonly value: JsonOut | undefined;
}

type Progress = 'chunk' | 'done' | 'wait';

function isObjectFrame(frame: Frame): boolean {
  return frame.kind === 'object' || (frame.kind !== 'array' && frame.isObject);
}

/** Implementation of `jsonChunks` and `stringifyJson`. Uses an explicit stack, so that it can pause at any point. */
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

  /** Reason why the last call of `advance` returned. */
  progress: Progress = 'chunk';

  /**
   * Appends output to `text` until it is longer than `maxChars`, a time slice is used up, or `advance` stops for a reason
   * other than a full chunk.
   */
  advanceTo(text: string, maxChars: number): string {
    const sinceMs = performance.now();
    do {
      this.progress = this.advance();
      text += this.takeOutput();
    } while (this.progress === 'chunk' && text.length <= maxChars && performance.now() - sinceMs < SLICE_MS);
    return text;
  }

  /**
   * Serializes until a chunk is full, an asynchronous source must be read, or all data is written. Returns which of these
   * happened.
   */
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

  /** Writes the next item or member of a container, or the end of the container. */
  private step(frame: Exclude<Frame, { kind: 'async' }>): void {
    if (frame.kind === 'array') {
      if (frame.next === frame.items.length) return this.close();
      this.separate(frame);
      // A hole or undefined is passed to `write`, which rejects it.
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

  /** Waits for the next item of the innermost asynchronous source. */
  async pull(): Promise<void> {
    const frame = this.stack[this.stack.length - 1];
    assert(frame?.kind === 'async', 'only an asynchronous source is waited for');
    this.item(frame, await frame.source.next());
  }

  /** Closes the sources of lazy values that were not read to the end. */
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
    // An empty container also gets a line break, as in the reference's pretty printer.
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

  /** Writes a slice of a long text. After the last slice it also writes `end` and `value`. */
  private writeTextSlice(long: LongText): void {
    const { text, offset, end, value } = long;
    let to = Math.min(text.length, offset + CHUNK_CHARS);
    // The two halves of a surrogate pair must be in the same slice.
    if ((text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to++;
    const slice = text.slice(offset, to);
    this.out += end === '' ? slice : quoteJson(slice).slice(1, -1);
    long.offset = to;
    if (to < text.length) return;
    this.out += end;
    this.long = null;
    if (value !== undefined) this.write(value);
  }

  /** Writes an item of an array. A small object is written in one step. */
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
      const { text } = value;
      if (text.length > CHUNK_CHARS) this.long = { text, offset: 0, end: '', value: undefined };
      else this.out += text;
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
        'only plain objects, maps and the classes of jsonWrite.ts are JSON; bytes are written by hexOf',
      );
      this.openSource(true, value as ReadonlyMap<string, JsonOut>);
    }
  }
}

/** The start of a serialized value, and the rest. */
export interface JsonStart {
  readonly text: string;
  /** The whole value in pieces, in place of `text`; only if the caller accepts bytes. */
  readonly pieces?: readonly BodyPiece[];
  /** The remaining text; null if `text` is complete. The caller must read it to the end, or call `return`. */
  readonly rest: AsyncGenerator<string> | null;
}

/**
 * Writes a value until the text is longer than `maxChars` (by less than a chunk), a time slice is used up, or everything is
 * written. Synchronous if possible. Throws or rejects if a lazy part fails before this point. `takesBytes`: the result may
 * have `pieces`.
 */
export function startJson(
  value: JsonOut,
  maxChars: number,
  takesBytes = false,
): JsonStart | Promise<JsonStart> {
  const small = new SmallWriter(SMALL_CHARS, takesBytes);
  if (small.write(value, 0)) {
    const pieces = small.finish();
    return pieces === null ? { text: small.out, rest: null } : { text: '', pieces, rest: null };
  }
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

/** The chunks of a serialized value, in order. If the consumer stops early, the lazy sources are released. */
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
 * Serializes a small value without asynchronous parts to one string. `indent` 2 gives the output of the
 * reference's `write(2)`.
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
