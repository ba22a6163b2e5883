/**
 * Creates keys of a wallet (from its seed if it has one), hands them out, and replaces pool keys that were seen in a
 * transaction. `keypool.ts` stores the pool. Source: lbrycrd wallet/wallet.cpp `TopUpKeyPool`, `GetKeyFromPool`.
 */
import { randomBytes } from 'node:crypto';
import { isValidPrivateKey } from '../../crypto/ecdsaEncoding.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Bytes } from '../../util/bytes.js';
import { atOnce, type Slices } from '../../util/slices.js';
import { WalletBatch } from '../store/records.js';
import type { NodePort } from '../port.js';
import type { WalletOptions } from '../walletOptions.js';
import { plainMetadata } from './keyRecords.js';
import type { HdKeys } from './hdKeys.js';
import type { Keypool, ReservedKey } from './keypool.js';
import type { Keyring } from './keyring.js';

/**
 * Number of keys that are created for each pool before a write and a yield. Creating this number for both pools takes less
 * than a time slice.
 */
const KEYS_AT_ONCE = 24;

/** The parts of a wallet that the supply of new keys needs. */
export interface KeyOwner {
  readonly keyring: Keyring;
  readonly hd: HdKeys;
  readonly keypool: Keypool;
  readonly options: Pick<WalletOptions, 'keypoolSize'>;
  readonly node: Pick<NodePort, 'nowSec' | 'log'>;
  readonly logName: string;
  readonly hasPrivateKeys: boolean;
  readonly isLocked: boolean;
  /** Writes a batch. Without `sync`, the changes may be lost in a crash until a later write with `sync`. */
  write(batch: WalletBatch, options?: { readonly sync?: boolean }): Promise<void>;
}

export class KeySupply {
  private readonly wallet: KeyOwner;

  constructor(wallet: KeyOwner) {
    this.wallet = wallet;
  }

  /** Creates a random key, for wallets that have no seed. */
  private makeLooseKey(batch: WalletBatch, nowSec: number): Bytes {
    const privateKey = randomPrivateKey();
    const publicKey = ecdsaBackend().publicKeyOf(privateKey, true);
    this.wallet.keyring.addKey(batch, privateKey, publicKey, plainMetadata(nowSec));
    privateKey.fill(0);
    return publicKey;
  }

  private *makeKeys(batch: WalletBatch, count: number, isInternal: boolean): Slices<void> {
    const nowSec = this.wallet.node.nowSec();
    if (this.wallet.hd.state === null) {
      for (let made = 0; made < count && !this.wallet.isLocked; made++) {
        this.wallet.keypool.add(batch, this.makeLooseKey(batch, nowSec), isInternal, nowSec);
        yield;
      }
      return;
    }
    for (const publicKey of this.wallet.hd.make(batch, count, isInternal, nowSec)) {
      this.wallet.keypool.add(batch, publicKey, isInternal, nowSec);
      yield;
    }
  }

  /**
   * Creates keys until both pools have `size` keys, or `most` keys were created for each pool. Returns false if keys cannot
   * be created, also if the wallet is locked in between. Source: `TopUpKeyPool`.
   */
  *fill(
    batch: WalletBatch,
    size: number = this.wallet.options.keypoolSize,
    most = Infinity,
  ): Slices<boolean> {
    if (!this.wallet.hasPrivateKeys || this.wallet.isLocked || !this.wallet.hd.canMake) return false;
    const missing = this.missingKeys(size);
    const receive = Math.min(missing.receive, most);
    const change = Math.min(missing.change, most);
    if (receive > 0) yield* this.makeKeys(batch, receive, false);
    if (change > 0 && !this.wallet.isLocked) yield* this.makeKeys(batch, change, true);
    return !this.wallet.isLocked;
  }

  /** Number of keys that are missing in each pool for a pool of `size` keys. */
  private missingKeys(size: number): { receive: number; change: number } {
    const missing = (pool: 'receive' | 'change'): number =>
      Math.max(size, 1) - Math.min(this.wallet.keypool.count(pool), Math.max(size, 1));
    return { receive: missing('receive'), change: this.hasChangeChain ? missing('change') : 0 };
  }

  /** Whether change keys have a separate chain. Source: `CanSupportFeature(FEATURE_HD_SPLIT)`. */
  get hasChangeChain(): boolean {
    return this.wallet.hd.state?.isSplit === true;
  }

  /**
   * Fills both pools to `size` keys in batches. When the promise resolves, the keys are on disk. The ids of the new keys are
   * added to `made`. Each batch is passed to the writer before other code runs, so the writes of calls that take a key or
   * encrypt the wallet come later.
   */
  async topUp(size: number = this.wallet.options.keypoolSize, made: Bytes[] = []): Promise<boolean> {
    for (let since = performance.now(); ;) {
      const batch = new WalletBatch();
      let canFill = false;
      made.push(
        ...this.wallet.keyring.addedBy(() => {
          canFill = atOnce(this.fill(batch, size, KEYS_AT_ONCE));
        }),
      );
      const { receive, change } = this.missingKeys(size);
      const isLast = !canFill || receive + change === 0;
      await this.wallet.write(batch, { sync: isLast });
      if (isLast) return canFill;
      since = await yieldIfDue(since);
    }
  }

  /**
   * Takes a key out of the pool. The caller must later either keep the key or return it. Null if the pool is empty and no
   * key can be created.
   */
  reserve(batch: WalletBatch, isInternal: boolean): ReservedKey | null {
    if (!this.wallet.hasPrivateKeys) return null;
    atOnce(this.fill(batch, undefined, KEYS_AT_ONCE));
    return this.wallet.keypool.reserve(isInternal && this.hasChangeChain);
  }

  /**
   * Removes an unused key from the pool and returns it. The removal is on disk when the promise resolves. Null if the pool
   * is empty and the wallet is locked. Source: `GetKeyFromPool`.
   */
  async take(isInternal: boolean): Promise<Bytes | null> {
    const batch = new WalletBatch();
    const reserved = this.reserve(batch, isInternal);
    if (reserved !== null) this.wallet.keypool.keep(batch, reserved);
    await this.wallet.write(batch);
    return reserved?.key.publicKey ?? null;
  }

  /**
   * Marks pool keys that were seen in a transaction as used, and creates new keys, at most `most` for each pool. Returns
   * false if keys are still missing.
   */
  noteUsed(batch: WalletBatch, keyIds: Iterable<Bytes>, most: number): boolean {
    let isUsed = false;
    for (const keyId of keyIds) {
      if (!this.wallet.keypool.has(keyId)) continue;
      this.wallet.keypool.markUsed(batch, keyId);
      isUsed = true;
    }
    if (!isUsed) return true;
    if (!atOnce(this.fill(batch, undefined, most))) {
      this.wallet.node.log.info(`${this.wallet.logName} Topping up keypool failed (locked wallet)`);
      return false;
    }
    const { receive, change } = this.missingKeys(this.wallet.options.keypoolSize);
    return receive + change === 0;
  }

  /** Creates a private key that can be used as a seed. Returns its public key. */
  makeSeed(batch: WalletBatch): Buffer {
    const privateKey = randomPrivateKey();
    const publicKey = this.wallet.hd.addSeed(batch, privateKey, this.wallet.node.nowSec());
    privateKey.fill(0);
    return publicKey;
  }
}

function randomPrivateKey(): Buffer {
  for (;;) {
    const key = randomBytes(32);
    if (isValidPrivateKey(key)) return key;
  }
}
