/**
 * Parses calls in the form that nearly all clients send: one object, or a list of objects, in printable ASCII without escapes,
 * whose params are a list of strings, integers, booleans and nulls. For any other text, including invalid JSON, the result is null,
 * and `JsonScanner` parses the text. `JsonScanner` gives the same request for the texts that are parsed here. Parsing takes few function calls, because each
 * function that runs after a pause must be loaded into the processor's caches.
 */
import type { JsonValue } from '../../util/json/json.js';
import type { Profile } from '../declare/method.js';
import type { ParsedRequest } from './envelope.js';

/** Maximum length of a text that is parsed here. Arbitrary: usual calls are shorter. */
export const MAX_USUAL_CHARS = 4096;
/** Printable ASCII without a backslash, in braces; lbrycrd-cli adds a line feed. */
const USUAL_TEXT = /^\{[\x20-\x5b\x5d-\x7e]*\}\n?$/;
/** Printable ASCII without a backslash, in brackets. */
const USUAL_BATCH = /^\[[\x20-\x5b\x5d-\x7e]*\]\n?$/;
/** Maximum number of digits of an integer that a double represents exactly. */
const EXACT_DIGITS = 15;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

type Scalar = string | number | boolean | null;
/** The members of a request that JSON-RPC uses. */
type Member = 'id' | 'jsonrpc' | 'method' | 'params';
type Members = { [name in Member]?: Scalar | Scalar[] };

/** Reads the calls of one client. A call that differs from the previous one at most by the number in `id` is not parsed. */
export class UsualCalls {
  private readonly profile: Profile;
  /** The previous call, and its text before and after the number in `id`; null if that is not a number. */
  private last: ParsedRequest | null = null;
  private before = '';
  private after = '';

  constructor(profile: Profile) {
    this.profile = profile;
  }

  /** Reads a request; null if the text has another form. */
  read(text: string): ParsedRequest | null {
    const { last, before, after } = this;
    if (last !== null && text.startsWith(before) && text.endsWith(after)) {
      const id = wholeNumber(text, before.length, text.length - after.length);
      if (id >= 0) return { ...last, id };
    }
    return this.readNew(text);
  }

  private readNew(text: string): ParsedRequest | null {
    if (text.length > MAX_USUAL_CHARS || !USUAL_TEXT.test(text)) return null;
    const reader = new UsualReader(text);
    const members = reader.members();
    const call = members === null || !reader.isAtEnd() ? null : requestOf(members, this.profile);
    if (call === null) return null;
    this.last = typeof call.id === 'number' && call.id >= 0 ? call : null;
    this.before = text.slice(0, reader.idAt);
    this.after = text.slice(reader.idEnd);
    return call;
  }
}

/**
 * Reads the requests of a batch; null if the text has another form. The length of the text is limited by the caller, because
 * all requests are read at once.
 */
export function readUsualBatch(text: string, profile: Profile): ParsedRequest[] | null {
  return USUAL_BATCH.test(text) ? new UsualReader(text).batch(profile) : null;
}

/** Null if a member has a type that JSON-RPC does not expect. */
function requestOf({ id, jsonrpc, method, params }: Members, profile: Profile): ParsedRequest | null {
  if (typeof method !== 'string' || Array.isArray(id) || (typeof params !== 'object' && params !== undefined))
    return null;
  const isV2 = jsonrpc === '2.0';
  return {
    id: id ?? null,
    isV2,
    isNotification: isV2 && id === undefined,
    method,
    params: (params ?? []) as readonly JsonValue[],
    profile,
  };
}

/** The number whose digits are the text from `at` to `end`; −1 if the text has another form. */
function wholeNumber(text: string, at: number, end: number): number {
  const digits = end - at;
  if (digits < 1 || digits > EXACT_DIGITS || (digits > 1 && text.charCodeAt(at) === ZERO)) return -1;
  let value = 0;
  for (let i = at; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code < ZERO || code > NINE) return -1;
    value = value * 10 + (code - ZERO);
  }
  return value;
}

class UsualReader {
  private readonly text: string;
  /** Position of the next character. */
  private at = 1;
  /** Start and end of the value of `id` in the text. */
  idAt = 0;
  idEnd = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The requests of a list of objects. */
  batch(profile: Profile): ParsedRequest[] | null {
    const requests: ParsedRequest[] = [];
    do {
      if (!this.accepts(OPEN_OBJECT)) return null;
      const members = this.members();
      const request = members === null ? null : requestOf(members, profile);
      if (request === null) return null;
      this.at++;
      requests.push(request);
    } while (this.accepts(COMMA));
    return this.text.charCodeAt(this.at) === CLOSE_LIST && this.isAtEnd() ? requests : null;
  }

  /** Whether the next character is the last one, except for a line feed. */
  isAtEnd(): boolean {
    const rest = this.text.length - this.at;
    return rest === 1 || (rest === 2 && this.text.endsWith('\n'));
  }

  /**
   * Returns the members of the object, and stops at its closing brace. Null if the text has another form or a member occurs
   * twice.
   */
  members(): Members | null {
    const { text } = this;
    const found: Members = {};
    for (;;) {
      const name = this.scalar();
      if (typeof name !== 'string' || !this.accepts(COLON)) return null;
      const { at } = this;
      const value = text.charCodeAt(at) === OPEN_LIST ? this.list() : this.scalar();
      if (value === undefined) return null;
      if (name === 'id') [this.idAt, this.idEnd] = [at, this.at];
      switch (name) {
        case 'id':
        case 'jsonrpc':
        case 'method':
        case 'params':
          if (found[name] !== undefined) return null;
          found[name] = value;
      }
      if (this.accepts(COMMA)) continue;
      return text.charCodeAt(this.at) === CLOSE_OBJECT ? found : null;
    }
  }

  private list(): Scalar[] | undefined {
    this.at++;
    const items: Scalar[] = [];
    if (this.accepts(CLOSE_LIST)) return items;
    for (;;) {
      const item = this.scalar();
      if (item === undefined) return undefined;
      items.push(item);
      if (this.accepts(CLOSE_LIST)) return items;
      if (!this.accepts(COMMA)) return undefined;
    }
  }

  /** Returns whether this character is the next one. If so, skips it, and one space after it unless it closes the list. */
  private accepts(code: number): boolean {
    const { text, at } = this;
    if (text.charCodeAt(at) !== code) return false;
    this.at = code !== CLOSE_LIST && text.charCodeAt(at + 1) === SPACE ? at + 2 : at + 1;
    return true;
  }

  /** Reads a value that is not a container; undefined if it has another form. */
  private scalar(): Scalar | undefined {
    const { text, at } = this;
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = text.indexOf('"', at + 1);
      if (end < 0) return undefined;
      this.at = end + 1;
      return text.slice(at + 1, end);
    }
    if (code === MINUS || (code >= ZERO && code <= NINE)) return this.integer();
    const word = text.startsWith('true', at)
      ? true
      : text.startsWith('false', at)
        ? false
        : text.startsWith('null', at)
          ? null
          : undefined;
    if (word !== undefined) this.at += word === false ? 5 : 4;
    return word;
  }

  /** Reads an integer. The character after it is checked by the caller. */
  private integer(): number | undefined {
    const { text, at } = this;
    const first = text.charCodeAt(at) === MINUS ? at + 1 : at;
    let end = first;
    for (let code = text.charCodeAt(end); code >= ZERO && code <= NINE; code = text.charCodeAt(++end));
    const value = wholeNumber(text, first, end);
    // The literal -0 is left to the JSON parser, which keeps its sign.
    if (value < 0 || (value === 0 && first > at)) return undefined;
    this.at = end;
    return first > at ? -value : value;
  }
}
