/** The tip as the hub's thread knows of it, and the lines that report it, made once for all clients of the same form. */
import { parseHeaderBytes, type BlockHeader } from '../../primitives/header.js';
import type { Bytes } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { headerNotification } from './notifications.js';
import { toldHeader } from './shownHeader.js';
import type { WireVersion } from './wireMessages.js';

export class TipHeader {
  /** -1 before the first. */
  height = -1;
  private header: BlockHeader | null = null;
  private readonly lines = new Map<string, string>();

  /** `header` is whole and in wire form. */
  set(height: number, header: Bytes): void {
    this.height = height;
    this.header = parseHeaderBytes(header);
    this.lines.clear();
  }

  /** Header in the form for subscribers, once it is known. */
  told(form: 'raw' | 'decoded'): JsonOut {
    return toldHeader(this.header!, this.height, form);
  }

  /** The line by which a subscriber is told. */
  line(form: 'raw' | 'decoded', version: WireVersion): string {
    const key = `${form} ${version}`;
    let line = this.lines.get(key);
    if (line === undefined) this.lines.set(key, (line = `${headerNotification(version, this.told(form))}\n`));
    return line;
  }
}
