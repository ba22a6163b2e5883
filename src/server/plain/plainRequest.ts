/** A complete request that was read without Node's HTTP server. */
import type { PlainHead } from './plainHead.js';

export class PlainRequest {
  /** Requests of a connection with the same head have the same object. */
  readonly head: PlainHead;
  /** The body in latin1 if it is short, else null. */
  readonly bodyText: string | null;
  private readonly bytes: Buffer;

  /** `bytes`: the whole request. */
  constructor(head: PlainHead, bytes: Buffer, bodyText: string | null) {
    this.head = head;
    this.bytes = bytes;
    this.bodyText = bodyText;
  }

  get body(): Buffer {
    return this.bytes.subarray(this.bytes.length - this.head.bodyBytes);
  }
}
