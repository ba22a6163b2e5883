/**
 * Answers as text: JSON as Python writes it with two blanks of indent, keys in order of code points at every level, and
 * a line break at the end. Source: lbry-sdk lbry/extras/daemon/daemon.py `jsonrpc_dumps_pretty`.
 */
import { yieldIfDue } from '../../scheduler/yield.js';
import { JsonNumber, JsonObject } from '../../util/json/json.js';
import { parseJson } from '../../util/json/jsonParse.js';
import {
  HexFragment,
  JsonArrayStream,
  JsonObjectStream,
  RawJson,
  type JsonOut,
} from '../../util/json/jsonWrite.js';
import { compareCodePoints, pythonFloat, pythonNumber, quotePython } from './pythonJson.js';

const INDENT = '  ';
/**
 * Depth of nesting up to which the writer may yield to the event loop between members: the answer, its result and the items
 * of a page.
 */
const RESTING_LEVELS = 3;
/**
 * Maximum size of the cache of field names. Arbitrary: more than the field names of all answers. A full cache accepts no
 * further keys.
 */
const MAX_KNOWN_KEYS = 1024;
const MAX_KNOWN_KEY_CHARS = 40;

const knownKeys = new Map<string, string>();

function quoteKey(key: string): string {
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  const quoted = `${quotePython(key)}: `;
  if (key.length <= MAX_KNOWN_KEY_CHARS && knownKeys.size < MAX_KNOWN_KEYS) knownKeys.set(key, quoted);
  return quoted;
}

/** A float in Python's format, always with a decimal point or an exponent. */
export const float = (value: number): JsonNumber => new JsonNumber(pythonFloat(value));

const lineBreaks: string[] = [];
function lineBreak(level: number): string {
  return (lineBreaks[level] ??= `\n${INDENT.repeat(level)}`);
}

type Container = { readonly isObject: boolean; readonly members: Iterable<readonly [string, JsonOut]> };

/** From this value on the order of UTF-16 units differs from that of code points. */
const ABOVE_PLAIN_ORDER = /[\ud800-\uffff]/;

function sortByKey(members: [string, JsonOut][]): [string, JsonOut][] {
  if (members.some(([key]) => ABOVE_PLAIN_ORDER.test(key)))
    return members.sort(([a], [b]) => compareCodePoints(a, b));
  return members.sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

function* withoutKeys(items: Iterable<JsonOut>): Iterable<readonly [string, JsonOut]> {
  for (const item of items) yield ['', item];
}

function sortedMembers(entries: Iterable<readonly [string, JsonOut | undefined]>): [string, JsonOut][] {
  // If a key occurs several times, the last value counts, as in a Python dictionary.
  const members = [...new Map(entries)].filter(([, value]) => value !== undefined);
  return sortByKey(members as [string, JsonOut][]);
}

/**
 * A node in the tree of key sequences. The path from the root to the node is a sequence of keys. `next` has the longer sequences by
 * their next key. `sorted` has the keys of the sequence in sorted order.
 */
interface KeySequence {
  readonly next: Map<string, KeySequence>;
  sorted: readonly string[] | null;
}

const newSequence = (): KeySequence => ({ next: new Map(), sorted: null });

/**
 * Maximum number of nodes in the tree of key sequences. Arbitrary: larger than the number of fields of all answers. A full tree is
 * emptied. The limit is needed because callers choose the keys of some answers.
 */
const MAX_KEY_SEQUENCES = 8192;
const noKeys = newSequence();
let keySequences = 1;

/** Returns the node of a sequence of keys. */
function sequenceOf(keys: readonly string[]): KeySequence {
  let sequence = noKeys;
  for (const key of keys) {
    let next = sequence.next.get(key);
    if (next === undefined) {
      next = newSequence();
      sequence.next.set(key, next);
      keySequences++;
    }
    sequence = next;
  }
  if (keySequences > MAX_KEY_SEQUENCES) {
    noKeys.next.clear();
    keySequences = 1;
  }
  return sequence;
}

/** Maximum number of keys in a cached sequence. Arbitrary: larger objects have keys from the caller, such as URLs. */
const MAX_SEQUENCE_KEYS = 64;

function sortKeys(keys: readonly string[]): string[] {
  if (keys.some((key) => ABOVE_PLAIN_ORDER.test(key))) return [...keys].sort(compareCodePoints);
  return [...keys].sort((a, b) => (a < b ? -1 : 1));
}

/** Keys of an object in order of code points. Objects with the same sequence of keys share the list. */
function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  if (keys.length > MAX_SEQUENCE_KEYS) return sortKeys(keys);
  return (sequenceOf(keys).sorted ??= sortKeys(keys));
}

/** Like `sortedMembers`, for an object of JavaScript, whose keys are different. */
function* sortedProperties(value: object): Iterable<readonly [string, JsonOut]> {
  for (const key of sortedKeys(value)) {
    const member = (value as Record<string, JsonOut | undefined>)[key];
    if (member !== undefined) yield [key, member];
  }
}

/** Whether the value is a plain JavaScript object. */
const isRecord = (value: JsonOut): value is { readonly [key: string]: JsonOut | undefined } =>
  value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;

/** Members of an object or array that is being written; null for a scalar value. */
function openContainer(value: JsonOut): Container | null {
  if (value === null || typeof value !== 'object') return null;
  if (value instanceof JsonNumber || value instanceof HexFragment || value instanceof RawJson) return null;
  if (Array.isArray(value)) return { isObject: false, members: withoutKeys(value as readonly JsonOut[]) };
  if (value instanceof JsonArrayStream)
    return { isObject: false, members: withoutKeys(value.items as Iterable<JsonOut>) };
  if (value instanceof JsonObjectStream)
    return { isObject: true, members: sortedMembers(value.members as Iterable<readonly [string, JsonOut]>) };
  if (value instanceof JsonObject) return { isObject: true, members: sortedMembers(value.entries) };
  if (value instanceof Map)
    return { isObject: true, members: sortedMembers(value as ReadonlyMap<string, JsonOut>) };
  return { isObject: true, members: sortedProperties(value) };
}

function writeScalar(value: JsonOut): string {
  switch (typeof value) {
    case 'string':
      return quotePython(value);
    case 'number':
      return Number.isSafeInteger(value) ? String(value) : pythonFloat(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      if (value === null) return 'null';
      if (value instanceof JsonNumber) return pythonNumber(value.text);
      if (value instanceof HexFragment) return `"${Buffer.from(value.bytes).toString('hex')}"`;
      throw new TypeError(`a ${typeof value} is not JSON`);
  }
}

/** Cached texts of constant values with their nesting level; null before the first use. */
const fixedTexts = new WeakMap<object, { level: number; text: string | null }>();

/** Marks a value as constant, so that its text is cached. */
export function fixed<T extends object>(value: T): T {
  fixedTexts.set(value, { level: 0, text: null });
  return value;
}

/** Returns the cached text of a constant value at a nesting level; null for other values. */
function fixedText(value: JsonOut, level: number): string | null {
  if (value === null || typeof value !== 'object') return null;
  const known = fixedTexts.get(value);
  if (known === undefined) return null;
  if (known.text === null || known.level !== level) {
    const out: string[] = [];
    writeUncached(value, level, out);
    known.level = level;
    known.text = out.join('');
  }
  return known.text;
}

/** Writes the text of a value to `out` without yielding to other work. */
function write(value: JsonOut, level: number, out: string[]): void {
  const text = fixedText(value, level);
  if (text === null) writeUncached(value, level, out);
  else out.push(text);
}

/** Writes a plain JavaScript object. */
function writeRecord(
  value: { readonly [key: string]: JsonOut | undefined },
  level: number,
  out: string[],
): void {
  const opened = out.push('{');
  const start = lineBreak(level + 1);
  for (const key of sortedKeys(value)) {
    const inner = value[key];
    if (inner === undefined) continue;
    if (out.length > opened) out.push(',');
    out.push(start, quoteKey(key));
    write(inner, level + 1, out);
  }
  if (out.length > opened) out.push(lineBreak(level));
  out.push('}');
}

function writeUncached(value: JsonOut, level: number, out: string[]): void {
  if (isRecord(value)) return writeRecord(value, level, out);
  if (value instanceof RawJson) return write(parseJson(value.text), level, out);
  const container = openContainer(value);
  if (container === null) {
    out.push(writeScalar(value));
    return;
  }
  let count = 0;
  out.push(container.isObject ? '{' : '[');
  for (const [key, inner] of container.members) {
    out.push(count++ > 0 ? ',' : '', lineBreak(level + 1));
    if (container.isObject) out.push(quoteKey(key));
    write(inner, level + 1, out);
  }
  if (count > 0) out.push(lineBreak(level));
  out.push(container.isObject ? '}' : ']');
}

async function readAll<T>(source: Iterable<T> | AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** Reads all items of a stream source into a list. */
async function settled(source: JsonArrayStream | JsonObjectStream): Promise<JsonOut> {
  if (source instanceof JsonArrayStream) return readAll(source.items);
  return new Map(await readAll(source.members));
}

/** Reason for which the writer waits: a source to be read, or null to yield to other work. */
type Wait = JsonArrayStream | JsonObjectStream | null;

/**
 * Like `write`, but yields between the members of the upper levels. For a stream source it yields the source and receives
 * its items from `settled` as a list.
 */
function* writeInTurns(source: JsonOut, level: number, out: string[]): Generator<Wait, void, JsonOut> {
  const value =
    source instanceof JsonArrayStream || source instanceof JsonObjectStream ? yield source : source;
  const container = level < RESTING_LEVELS && fixedText(value, level) === null ? openContainer(value) : null;
  if (container === null) {
    write(value, level, out);
    return;
  }
  let count = 0;
  out.push(container.isObject ? '{' : '[');
  for (const [key, inner] of container.members) {
    out.push(count++ > 0 ? ',' : '', lineBreak(level + 1));
    if (container.isObject) out.push(quoteKey(key));
    if (inner !== null && typeof inner === 'object') yield* writeInTurns(inner, level + 1, out);
    else out.push(writeScalar(inner));
    yield null;
  }
  if (count > 0) out.push(lineBreak(level));
  out.push(container.isObject ? '}' : ']');
}

/**
 * Number of parts of a text that are joined to one piece. Arbitrary. V8 takes new memory from the kernel for each string of more
 * than 128 KiB, and returns it when the string is collected, so a large answer is not one string.
 */
const PIECE_PARTS = 1024;

/** Text of an answer in pieces. */
class AnswerPieces {
  /** Parts that are not joined yet. */
  readonly out: string[] = [];
  readonly #pieces: string[] = [];

  /** Called between the members of the upper levels. */
  joinIfMany(): void {
    if (this.out.length >= PIECE_PARTS) this.#join();
  }

  finish(): readonly string[] {
    this.out.push('\n');
    this.#join();
    return this.#pieces;
  }

  #join(): void {
    this.#pieces.push(this.out.join(''));
    this.out.length = 0;
  }
}

/** Returns the text of an answer of any size in pieces. The result is synchronous if nothing has to be awaited. */
export function answerPieces(answer: JsonOut): readonly string[] | Promise<readonly string[]> {
  const pieces = new AnswerPieces();
  const steps = writeInTurns(answer, 0, pieces.out);
  const sinceMs = performance.now();
  for (let step = steps.next(null); !step.done; step = steps.next(null)) {
    pieces.joinIfMany();
    const wait = step.value;
    const pause = wait === null ? yieldIfDue(sinceMs) : sinceMs;
    if (wait !== null || typeof pause !== 'number') return writeOn(steps, pieces, wait, pause);
  }
  return pieces.finish();
}

/** Continues the writing after it had to wait for a stream source. */
async function writeOn(
  steps: Generator<Wait, void, JsonOut>,
  pieces: AnswerPieces,
  wait: Wait,
  pause: number | Promise<number>,
): Promise<readonly string[]> {
  let sinceMs = await pause;
  let step = steps.next(wait === null ? null : await settled(wait));
  while (!step.done) {
    pieces.joinIfMany();
    const given: JsonOut = step.value === null ? null : await settled(step.value);
    sinceMs = await yieldIfDue(sinceMs);
    step = steps.next(given);
  }
  return pieces.finish();
}
