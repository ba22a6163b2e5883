/**
 * The keys of a wallet as typed arrays (columns) outside the JavaScript heap, in the format of the wallet image
 * (`store/walletImage.ts`): public keys, ids, positions in the pool. Private keys stay on disk until their first use.
 * Supports lookup by key id and by P2WPKH script id. Immutable.
 */
import { findText, wordAt } from '../../util/hashSlots.js';
import type { Columns } from '../store/columnFile.js';

export const KEY_ID_BYTES = 20;
/** Row types that contain a key. `rowKinds` contains indexes of this list. */
export const KEY_ROW_KINDS = ['key', 'wkey', 'ckey'] as const;

/** Columns with one entry for each key. Keys are numbered from 0. */
export interface KeyColumns {
  /** Offset of each public key in `publicBytes`, and the end of the last one. */
  readonly publicStarts: Uint32Array;
  readonly publicBytes: Uint8Array;
  readonly ids: Uint8Array;
  readonly idSlots: Int32Array;
  /** Id of the P2WPKH script of each key; zeros for keys without such a script. */
  readonly scriptIds: Uint8Array;
  readonly scriptSlots: Int32Array;
  /** See `KEY_ROW_KINDS`. */
  readonly rowKinds: Uint8Array;
  /** 1 if the wallet file has a row with the creation time of the key, otherwise 0. */
  readonly hasOrigin: Uint8Array;
  /** Pool index and creation time of each key; 0 for keys that are not in a pool. */
  readonly poolIndexes: Float64Array;
  readonly poolSecs: Float64Array;
  /** See `poolList.ts`. */
  readonly poolFlags: Uint8Array;
  /** Numbers of the keys in each pool, by ascending pool index. */
  readonly receive: Uint32Array;
  readonly change: Uint32Array;
  readonly preSplit: Uint32Array;
}

export class PackedKeys {
  readonly columns: KeyColumns;
  readonly count: number;
  private readonly publicBytes: Buffer;
  private readonly ids: Buffer;
  private readonly scriptIds: Buffer;

  constructor(columns: Columns | KeyColumns) {
    const c = columns as KeyColumns;
    this.columns = c;
    this.count = c.rowKinds.length;
    const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.publicBytes = asBuffer(c.publicBytes);
    this.ids = asBuffer(c.ids);
    this.scriptIds = asBuffer(c.scriptIds);
  }

  /** Number of the key with this id (latin1); −1 if it is not found. */
  find(id: string): number {
    return findText(this.columns.idSlots, this.columns.ids, KEY_ID_BYTES, id);
  }

  /** Number of the key whose P2WPKH script has this id; −1 if it is not found. */
  findScript(scriptId: string): number {
    return findText(this.columns.scriptSlots, this.columns.scriptIds, KEY_ID_BYTES, scriptId);
  }

  id(number: number): string {
    return this.ids.toString('latin1', number * KEY_ID_BYTES, (number + 1) * KEY_ID_BYTES);
  }

  hasScript(number: number): boolean {
    return wordAt(this.scriptIds, number * KEY_ID_BYTES) !== 0;
  }

  scriptId(number: number): string {
    return this.scriptIds.toString('latin1', number * KEY_ID_BYTES, (number + 1) * KEY_ID_BYTES);
  }

  /** A view. */
  publicKey(number: number): Buffer {
    const { publicStarts } = this.columns;
    return this.publicBytes.subarray(publicStarts[number], publicStarts[number + 1]);
  }
}
