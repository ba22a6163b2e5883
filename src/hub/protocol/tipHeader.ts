/**
 * The latest tip that the hub's thread knows, and the notification lines for it. Each line is built once for all clients
 * with the same format.
 */
import { parseHeaderBytes, type BlockHeader } from '../../primitives/header.js';
import type { Bytes } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { headerNotification } from './notifications.js';
import { headerJson } from './shownHeader.js';
import type { WireVersion } from './wireMessages.js';

export class TipHeader {
  /** Height of the tip; -1 before the first tip is received. */
  height = -1;
  private header: BlockHeader | null = null;
  private readonly lines = new Map<string, string>();

  /** Sets the tip. `header` is the complete header in wire format. */
  set(height: number, header: Bytes): void {
    this.height = height;
    this.header = parseHeaderBytes(header);
    this.lines.clear();
  }

  /** The tip's header in a format for subscribers. Must not be called before a tip is set. */
  json(form: 'raw' | 'decoded'): JsonOut {
    return headerJson(this.header!, this.height, form);
  }

  /** Returns the notification line for a subscriber. */
  line(form: 'raw' | 'decoded', version: WireVersion): string {
    const key = `${form} ${version}`;
    let line = this.lines.get(key);
    if (line === undefined) this.lines.set(key, (line = `${headerNotification(version, this.json(form))}\n`));
    return line;
  }
}
