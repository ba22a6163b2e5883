/**
 * Stores the origins of keys by key id: creation time and derivation path. A row from disk is parsed when it is first
 * needed, because a wallet may have a hundred thousand.
 */
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { recordKey } from '../store/records.js';
import { bytesKey, keyMetadataSec, parseKeyMetadata, plainMetadata, type KeyMetadata } from './keyRecords.js';
import type { PackedKeys } from './packedKeys.js';

export class KeyOrigins {
  /** Origins by key id (latin1). A string is a row (latin1) that is not parsed yet. */
  private readonly known = new Map<string, KeyMetadata | string>();
  private packed: PackedKeys | null = null;
  private readRow: (key: string) => Buffer | undefined = () => undefined;

  /** Initializes the table with keys whose origins are on disk. `readRow` reads a row by its key. */
  begin(packed: PackedKeys, readRow: (key: string) => Buffer | undefined): void {
    this.packed = packed;
    this.readRow = readRow;
  }

  has(id: string): boolean {
    return this.known.has(id) || (this.packed?.find(id) ?? -1) >= 0;
  }

  get(id: string): KeyMetadata | null {
    const found = this.known.get(id);
    if (found !== undefined) return typeof found === 'string' ? parseKeyMetadata(fromLatin1(found)) : found;
    const number = this.packed?.find(id) ?? -1;
    return number < 0 ? null : this.fromDisk(this.packed!, number);
  }

  private fromDisk(packed: PackedKeys, number: number): KeyMetadata {
    if (packed.columns.hasOrigin[number] === 0) return plainMetadata(0);
    const row = this.readRow(recordKey('keymeta', bytesKey(packed.publicKey(number))));
    return row === undefined ? plainMetadata(0) : parseKeyMetadata(row);
  }

  set(id: string, metadata: KeyMetadata): void {
    this.known.set(id, metadata);
  }

  /** Loads a row. Returns the creation time of the key. Throws `ReadError`. */
  load(id: string, row: Bytes): number {
    const createdSec = keyMetadataSec(row);
    this.known.set(id, toLatin1(row));
    return createdSec;
  }
}
