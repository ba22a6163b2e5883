/**
 * Channel keys of an account: imported keys, and keys of the account's own chain. The next key is the first key of the chain
 * that no channel uses. Source: lbry-sdk lbry/wallet/account.py `DeterministicChannelKeyManager`, `get_channel_private_key`.
 */
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import type { Bytes } from '../../util/bytes.js';
import { assertionFailure } from '../base/daemonError.js';
import type { Account } from './account.js';
import { formatChannelKey, parseChannelKey } from './channelKeyPem.js';
import { addressOfKey, KEY_CHAIN } from './keys.js';

export interface ChannelKey {
  /** 32 bytes. */
  readonly secret: Bytes;
  /** 33 bytes. */
  readonly publicKey: Bytes;
  readonly address: string;
}

/**
 * Number of unused keys that are derived and recognized in advance. A seed may belong to a channel with a later key although
 * no channel with an earlier key is known. Arbitrary.
 */
const LOOKAHEAD = 20;

export class ChannelKeys {
  readonly #account: Account;
  readonly #publicKeysInUse: () => Promise<readonly Bytes[]>;
  /** Hex of the public keys that known channels use. */
  readonly #used = new Set<string>();
  /** Index of each derived key of the chain (up to `#known`), by public key in hex. */
  readonly #numbers = new Map<string, number>();
  #known = 0;
  #next = 0;

  /** `publicKeysInUse` returns the public keys of all channels for which the account has or had an output. */
  constructor(account: Account, publicKeysInUse: () => Promise<readonly Bytes[]>) {
    this.#account = account;
    this.#publicKeysInUse = publicKeysInUse;
  }

  /** Private key for the public key of a channel; null if the account does not have the key or is locked. */
  keyFor(publicKey: Bytes): Buffer | null {
    const pem = this.#account.channelKeys.get(addressOfKey(publicKey, this.#account.ledger));
    if (typeof pem === 'string' && pem !== '')
      try {
        return parseChannelKey(pem);
      } catch {
        // A corrupt entry of the file is ignored, because the key may be in the chain of derived keys.
      }
    if (this.#account.root.privateKey === null) return null;
    this.#deriveBelow(this.#next + LOOKAHEAD);
    const number = this.#numbers.get(Buffer.from(publicKey).toString('hex'));
    if (number === undefined) return null;
    return Buffer.from(this.#account.key(KEY_CHAIN.channel, number).privateKey!);
  }

  /**
   * Returns the next key that no channel of the account uses. Until a channel uses the key, each call returns the same key.
   * Rejects with `AssertionError` while the account is locked.
   */
  async next(): Promise<ChannelKey> {
    for (const publicKey of await this.#publicKeysInUse()) this.note(publicKey);
    if (this.#account.root.privateKey === null)
      throw assertionFailure('Cannot get private key on encrypted wallet account.');
    const { publicKey, privateKey } = this.#account.key(KEY_CHAIN.channel, this.#advance());
    return { secret: privateKey!, publicKey, address: addressOfKey(publicKey, this.#account.ledger) };
  }

  /** Records that a channel uses the key, so that `next` does not return it again. */
  note(publicKey: Bytes): void {
    this.#used.add(Buffer.from(publicKey).toString('hex'));
    this.#advance();
  }

  /** Adds a key to the imported channel keys, under the address of its public key. The caller must save the wallet. */
  import(secret: Bytes): ChannelKey {
    const publicKey = ecdsaBackend().publicKeyOf(secret, true);
    const address = addressOfKey(publicKey, this.#account.ledger);
    this.#account.channelKeys.set(address, formatChannelKey(secret));
    return { secret, publicKey, address };
  }

  #advance(): number {
    for (;;) {
      this.#deriveBelow(this.#next + 1);
      const { publicKey } = this.#account.publicKey(KEY_CHAIN.channel, this.#next);
      if (!this.#used.has(Buffer.from(publicKey).toString('hex'))) return this.#next;
      this.#next++;
    }
  }

  #deriveBelow(count: number): void {
    for (; this.#known < count; this.#known++)
      this.#numbers.set(
        Buffer.from(this.#account.publicKey(KEY_CHAIN.channel, this.#known).publicKey).toString('hex'),
        this.#known,
      );
  }
}
