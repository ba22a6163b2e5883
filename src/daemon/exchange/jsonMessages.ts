/**
 * Parser for JSON objects in a byte stream without framing. It finds the end of an object by counting braces, so other bytes
 * may follow the object directly. Each byte is scanned only once.
 */

/** Error: a peer violated the protocol, which ends the connection. The text is for logs. */
export class ProtocolError extends Error {
  override readonly name: string = 'ProtocolError';
}

const OPEN = 0x7b;
const CLOSE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

export type JsonMembers = Readonly<Record<string, unknown>>;

export interface FoundMessage {
  readonly members: JsonMembers;
  /** Bytes that follow the object. */
  readonly rest: Buffer;
}

export class JsonMessages {
  readonly #limitBytes: number;
  #parts: Buffer[] = [];
  #size = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;

  /** `limitBytes`: limit for the size of an object, which must be smaller. White space before the object counts. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Whether the object read so far is incomplete. */
  get isAmid(): boolean {
    return this.#size > 0;
  }

  /**
   * Parses the next received bytes, which the caller may overwrite after the call. Returns null while the JSON object is
   * incomplete. Throws `ProtocolError` for bytes that are not a JSON object, and for an object above the size limit.
   */
  push(bytes: Buffer): FoundMessage | null {
    const end = this.#endIn(bytes);
    const length = end ?? bytes.length;
    if (this.#size + length >= this.#limitBytes) throw new ProtocolError('the message is too long');
    this.#size += length;
    if (end === null) {
      this.#parts.push(Buffer.from(bytes));
      return null;
    }
    const text = Buffer.concat([...this.#parts, bytes.subarray(0, end)]).toString('utf8');
    this.#parts = [];
    this.#size = 0;
    return { members: parsed(text), rest: bytes.subarray(end) };
  }

  /** Position after the brace that ends the JSON object; null if `bytes` do not contain the end. */
  #endIn(bytes: Buffer): number | null {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInText = false;
      } else if (byte === OPEN) this.#depth++;
      else if (this.#depth === 0) {
        if (!isBlank(byte)) throw new ProtocolError('the message is not a JSON object');
      } else if (byte === QUOTE) this.#isInText = true;
      else if (byte === CLOSE && --this.#depth === 0) return at + 1;
    }
    return null;
  }
}

function parsed(text: string): JsonMembers {
  try {
    // The text begins with a brace, so if it is valid JSON, it is an object.
    return JSON.parse(text) as JsonMembers;
  } catch {
    throw new ProtocolError('the message is not JSON');
  }
}
