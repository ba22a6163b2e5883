/**
 * When keys came and where each comes from, by the ids of the keys. What was read from disk is parsed when somebody asks:
 * there may be a hundred thousand.
 */
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { keyMetadataSec, parseKeyMetadata, type KeyMetadata } from './keyRecords.js';

export class KeyOrigins {
  /** Rows are texts, a byte a character. */
  private readonly known = new Map<string, KeyMetadata | string>();

  has(id: string): boolean {
    return this.known.has(id);
  }

  get(id: string): KeyMetadata | null {
    const found = this.known.get(id);
    return found === undefined
      ? null
      : typeof found === 'string'
        ? parseKeyMetadata(fromLatin1(found))
        : found;
  }

  set(id: string, metadata: KeyMetadata): void {
    this.known.set(id, metadata);
  }

  /** Takes in a row; answers when the key came. Throws `ReadError`. */
  load(id: string, row: Bytes): number {
    const createdSec = keyMetadataSec(row);
    this.known.set(id, toLatin1(row));
    return createdSec;
  }
}
