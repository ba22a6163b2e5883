/**
 * Bencoding of the DHT: keys of dictionaries are integers or bytes. Format only.
 * Source: lbry-sdk lbry/dht/serialization/bencoding.py.
 */

/** Error: the bytes are not a valid datagram. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** A key of a dictionary: an integer, or bytes as a text with one character per byte (latin1). */
export type DictKey = number | bigint | string;
export type Dict = Map<DictKey, BValue>;
/** Integers above 53 bits are bigints. A string is encoded as its UTF-8 bytes. Decoding returns bytes only as a Buffer. */
export type BValue = number | bigint | string | Buffer | readonly BValue[] | Dict;

/** Maximum nesting depth that is accepted. The DHT's datagrams nest four deep. */
const MAX_DEPTH = 512;
/** Maximum number of digits of an integer, as in Python's `int`. */
const MAX_DIGITS = 4300;
const INTEGER = /^[ \t-\r]*[+-]?[0-9]+(?:_[0-9]+)*[ \t-\r]*$/;
const [INTEGER_MARK, LIST_MARK, DICT_MARK, END_MARK] = [0x69, 0x6c, 0x64, 0x65];

function compareKeys(a: DictKey, b: DictKey): number {
  if ((typeof a === 'string') !== (typeof b === 'string'))
    throw new TypeError('keys of a dictionary are of one kind');
  return a < b ? -1 : a > b ? 1 : 0;
}

function write(value: BValue, parts: Buffer[]): void {
  if (typeof value === 'number' || typeof value === 'bigint') parts.push(Buffer.from(`i${value}e`));
  // QUIRK: the written length of a text is its number of characters instead of bytes, so texts with characters beyond
  // ASCII cannot be read.
  else if (typeof value === 'string') parts.push(Buffer.from(`${Array.from(value).length}:${value}`));
  else if (Buffer.isBuffer(value)) parts.push(Buffer.from(`${value.length}:`), value);
  else {
    parts.push(Buffer.from(value instanceof Map ? 'd' : 'l'));
    if (value instanceof Map)
      for (const key of [...value.keys()].sort(compareKeys)) {
        write(typeof key === 'string' ? Buffer.from(key, 'latin1') : key, parts);
        write(value.get(key)!, parts);
      }
    else for (const item of value as readonly BValue[]) write(item, parts);
    parts.push(Buffer.from('e'));
  }
}

/** Encodes a value. The entries of dictionaries are sorted by key. */
export function bencode(value: BValue): Buffer {
  const parts: Buffer[] = [];
  write(value, parts);
  return Buffer.concat(parts);
}

class Decoder {
  #at = 0;
  readonly #data: Buffer;

  constructor(data: Buffer) {
    this.#data = data;
  }

  value(depth: number): BValue {
    if (depth > MAX_DEPTH) throw new DecodeError('nested too deep');
    switch (this.#mark()) {
      case INTEGER_MARK:
        return this.#integer();
      case LIST_MARK:
        return this.#list(depth);
      case DICT_MARK:
        return this.#dict(depth);
      default:
        return this.#bytes();
    }
  }

  #mark(): number {
    const mark = this.#data[this.#at];
    if (mark === undefined) throw new DecodeError('the data ends early');
    return mark;
  }

  /** Reads the integer between the position `from` and the next `end`, and moves the position after `end`. */
  #number(from: number, end: string): number | bigint {
    const to = this.#data.indexOf(end, this.#at);
    const text = to < from ? '' : this.#data.toString('latin1', from, to);
    if (text.length > MAX_DIGITS || !INTEGER.test(text)) throw new DecodeError('not an integer');
    this.#at = to + 1;
    const digits = text.replaceAll('_', '').trim();
    const big = digits.startsWith('-')
      ? -BigInt(digits.slice(1))
      : BigInt(digits.startsWith('+') ? digits.slice(1) : digits);
    const small = Number(big);
    return Number.isSafeInteger(small) ? small : big;
  }

  #integer(): number | bigint {
    return this.#number(this.#at + 1, 'e');
  }

  #bytes(): Buffer {
    const length = Number(this.#number(this.#at, ':'));
    if (length < 0) throw new DecodeError('a negative length');
    // QUIRK: a byte string that is cut off at the end is accepted, as in lbry-sdk.
    const bytes = this.#data.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }

  #list(depth: number): BValue[] {
    const items: BValue[] = [];
    this.#at++;
    while (this.#mark() !== END_MARK) items.push(this.value(depth + 1));
    this.#at++;
    return items;
  }

  /** QUIRK: the end mark of a dictionary is not consumed, so it also ends the enclosing container. */
  #dict(depth: number): Dict {
    const dict: Dict = new Map();
    this.#at++;
    while (this.#mark() !== END_MARK) {
      const key = this.value(depth + 1);
      if (!Buffer.isBuffer(key) && typeof key !== 'number' && typeof key !== 'bigint')
        throw new DecodeError('a key is an integer or bytes');
      dict.set(Buffer.isBuffer(key) ? key.toString('latin1') : key, this.value(depth + 1));
    }
    return dict;
  }
}

/** Decodes the first value of the bytes and ignores the rest. Throws `DecodeError`. */
export function bdecode(data: Buffer): BValue {
  return new Decoder(data).value(0);
}
