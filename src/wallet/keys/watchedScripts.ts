/**
 * Watch-only output scripts of a wallet, the public keys in them, and the times when scripts were added. A change is applied
 * to memory immediately, and to disk when its batch is written. Source: lbrycrd keystore.cpp `AddWatchOnly`,
 * wallet/wallet.cpp.
 */
import { hash160 } from '../../crypto/hash.js';
import { solveScript } from '../../script/standard.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { equalBytes, toLatin1, type Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import type { Slab } from '../../util/slab.js';
import { SpreadMap } from '../../util/spreadMap.js';
import { recordKey, type WalletBatch } from '../store/records.js';
import {
  bytesKey,
  formatKeyMetadata,
  parseKeyMetadata,
  plainMetadata,
  type KeyMetadata,
} from './keyRecords.js';

const WATCHED_VALUE = Buffer.from('1');

export class WatchedScripts {
  private readonly slab: Slab;
  private readonly scripts = new Map<string, Buffer>();
  private readonly keys = new Map<string, Buffer>();
  private readonly times = new SpreadMap<KeyMetadata>();
  private readonly learnKey: (publicKey: Bytes, keyId: Buffer) => void;

  /** Creates the set. `learnKey` is called for the public key of each watched bare public key script. */
  constructor(slab: Slab, learnKey: (publicKey: Bytes, keyId: Buffer) => void) {
    this.slab = slab;
    this.learnKey = learnKey;
  }

  get size(): number {
    return this.scripts.size;
  }

  has(script: Bytes): boolean {
    return this.scripts.size > 0 && this.scripts.has(toLatin1(script));
  }

  all(): IterableIterator<Buffer> {
    return this.scripts.values();
  }

  /** Public key in a watched script, by its id (latin1). */
  publicKey(id: string): Bytes | undefined {
    return this.keys.get(id);
  }

  /** Metadata with the time when a script was added, by the id of the script; null if unknown. */
  metadata(scriptId: Bytes): KeyMetadata | null {
    return this.times.get(toLatin1(scriptId)) ?? null;
  }

  watch(batch: WalletBatch, script: Bytes, metadata: KeyMetadata): void {
    this.learn(script);
    this.setMetadata(batch, script, metadata);
    batch.put(recordKey('watchs', bytesKey(script)), WATCHED_VALUE);
  }

  /** Records the time when a script was added. The script itself is not watched. */
  noteTime(batch: WalletBatch, script: Bytes, createdSec: number): void {
    this.setMetadata(batch, script, plainMetadata(createdSec));
  }

  private setMetadata(batch: WalletBatch, script: Bytes, metadata: KeyMetadata): void {
    this.times.set(toLatin1(hash160(script)), metadata);
    batch.put(recordKey('watchmeta', bytesKey(script)), formatKeyMetadata(metadata));
  }

  unwatch(batch: WalletBatch, script: Bytes): void {
    if (!this.scripts.delete(toLatin1(script))) return;
    const key = publicKeyIn(script);
    if (key !== null) this.keys.delete(toLatin1(hash160(key)));
    batch.del(recordKey('watchmeta', bytesKey(script)));
    batch.del(recordKey('watchs', bytesKey(script)));
  }

  private learn(script: Bytes): void {
    this.scripts.set(toLatin1(script), this.slab.keep(script));
    const key = publicKeyIn(script);
    if (key === null) return;
    const keyId = hash160(key);
    this.keys.set(toLatin1(keyId), this.slab.keep(key));
    this.learnKey(key, keyId);
  }

  /** Loads a row of type `watchs` (a watched script). */
  load(rest: Bytes, value: Bytes): void {
    if (equalBytes(value, WATCHED_VALUE)) this.learn(new Reader(rest).varBytes());
  }

  /** Loads a row of type `watchmeta`. Returns the time when the script was added. */
  loadTime(rest: Bytes, value: Bytes): number {
    const metadata = parseKeyMetadata(value);
    this.times.set(toLatin1(hash160(new Reader(rest).varBytes())), metadata);
    return metadata.createdSec;
  }
}

/** The public key in a bare public key script. Null for other scripts and for invalid curve points. */
function publicKeyIn(script: Bytes): Bytes | null {
  const template = solveScript(script);
  if (template.type !== 'pubkey') return null;
  return ecdsaBackend().isFullyValidPublicKey(template.publicKey) ? template.publicKey : null;
}
