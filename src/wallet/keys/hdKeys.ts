/**
 * Derives keys from one seed: m/0'/0'/k' for addresses, m/0'/1'/k' for change. The seed is itself a key of the wallet.
 * Source: lbrycrd wallet/wallet.cpp `DeriveNewChildKey`, `DeriveNewSeed`, `SetHDSeed`; BIP32.
 */
import { hash160 } from '../../crypto/hash.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { deriveChild, HARDENED, rootOfSeed, type ExtendedKey } from '../../signing/extendedKey.js';
import { assert } from '../../util/assert.js';
import type { Bytes } from '../../util/bytes.js';
import { recordKey, type WalletBatch } from '../store/records.js';
import { formatHdChain, SEED_PATH, type HdChain } from './keyRecords.js';
import type { Keyring } from './keyring.js';

export { rootOfSeed } from '../../signing/extendedKey.js';

/** Derives a child key. If the child is invalid (probability 2^-127), it is not skipped but an error. */
function child(parent: ExtendedKey, number: number): ExtendedKey {
  const derived = deriveChild(parent, number);
  assert(derived, 'a key that does not exist was derived');
  return derived;
}

function wipe(key: ExtendedKey): void {
  key.privateKey?.fill(0);
}

/** Derives the parent key of all address keys (0) or change keys (1) of a seed. The caller must overwrite the key after use. */
function branchOf(seed: Bytes, number: number): ExtendedKey {
  const root = rootOfSeed(seed);
  const account = child(root, HARDENED);
  const branch = child(account, HARDENED + number);
  wipe(root);
  wipe(account);
  return branch;
}

export class HdKeys {
  private readonly keyring: Keyring;
  private chain: HdChain | null = null;

  constructor(keyring: Keyring) {
    this.keyring = keyring;
  }

  get state(): HdChain | null {
    return this.chain;
  }

  /**
   * Whether new keys can be created. False if the wallet has a seed whose key is not available: encrypted, corrupt, or lost
   * in a salvage.
   */
  get canMake(): boolean {
    return this.chain === null || this.keyring.signingKey(this.chain.seedId) !== null;
  }

  load(chain: HdChain): void {
    this.chain = chain;
  }

  /** Makes a key of the wallet the seed, and resets both counters. `isSplit`: change keys are derived from a separate chain. */
  setSeed(batch: WalletBatch, publicKey: Bytes, isSplit = true): void {
    const seedId = hash160(publicKey);
    assert(this.keyring.hasKey(seedId), 'a seed must be a key of the wallet');
    this.set(batch, { externalCounter: 0, internalCounter: 0, seedId, isSplit });
  }

  /** Sets that change keys are derived in a separate chain, if the wallet has a seed. */
  split(batch: WalletBatch): void {
    if (this.chain !== null && !this.chain.isSplit) this.set(batch, { ...this.chain, isSplit: true });
  }

  /**
   * Adds a private key to be used as a seed. Returns its public key. If the wallet already has the key, only its origin is
   * stored.
   */
  addSeed(batch: WalletBatch, privateKey: Bytes, nowSec: number, isCompressed = true): Buffer {
    const publicKey = ecdsaBackend().publicKeyOf(privateKey, isCompressed);
    this.keyring.addKey(batch, privateKey, publicKey, {
      createdSec: nowSec,
      path: SEED_PATH,
      seedId: hash160(publicKey),
    });
    return publicKey;
  }

  private set(batch: WalletBatch, chain: HdChain): void {
    this.chain = chain;
    batch.put(recordKey('hdchain'), formatHdChain(chain));
  }

  /**
   * Derives the next `count` keys that the wallet does not have, and adds them. The wallet must have a seed and be unlocked.
   * Yields each key, so that the caller can pause. Ends early if the wallet is locked in between.
   */
  *make(batch: WalletBatch, count: number, isInternal: boolean, nowSec: number): Generator<Bytes> {
    const { chain } = this;
    assert(chain, 'a wallet without seed has no keys to derive');
    const seed = this.keyring.signingKey(chain.seedId);
    assert(seed, 'the seed is locked away');
    const isChange = isInternal && chain.isSplit;
    const branch = branchOf(seed.privateKey, isChange ? 1 : 0);
    for (let made = 0; made < count && !this.keyring.isLocked;) {
      const { externalCounter, internalCounter, seedId } = this.chain ?? chain;
      const number = isChange ? internalCounter : externalCounter;
      const key = child(branch, HARDENED + number);
      this.chain = isChange
        ? { ...chain, externalCounter, internalCounter: number + 1 }
        : { ...chain, internalCounter, externalCounter: number + 1 };
      const isNew = !this.keyring.hasKey(hash160(key.publicKey));
      const path = `m/0'/${isChange ? 1 : 0}'/${number}'`;
      if (isNew)
        this.keyring.addKey(batch, key.privateKey!, key.publicKey, { createdSec: nowSec, path, seedId });
      wipe(key);
      if (!isNew) continue;
      made++;
      yield key.publicKey;
    }
    wipe(branch);
    this.set(batch, this.chain ?? chain);
  }
}
