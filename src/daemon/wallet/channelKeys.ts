/**
 * Channel keys of an account: imported ones, and those of its own chain. The next key is the first key of the chain that no
 * channel uses. Source: lbry-sdk lbry/wallet/account.py `DeterministicChannelKeyManager`, `get_channel_private_key`.
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
 * Number of keys after the next one that are also derived and recognized. A seed may belong to channels with later keys
 * although channels with earlier keys are unknown. Arbitrary.
 */
const LOOKAHEAD = 20;

export class ChannelKeys {
  readonly #account: Account;
  readonly #publicKeysInUse: () => Promise<readonly Bytes[]>;
  /** Public keys used by known channels, as hex. */
  readonly #used = new Set<string>();
  /** Indexes of the chain's keys with an index below `#known`, by public key as hex. */
  readonly #numbers = new Map<string, number>();
  #known = 0;
  #next = 0;

  /** `publicKeysInUse` returns the public keys of all channels that have or had an output of the account. */
  constructor(account: Account, publicKeysInUse: () => Promise<readonly Bytes[]>) {
    this.#account = account;
    this.#publicKeysInUse = publicKeysInUse;
  }

  /** Private key for the public key of a channel; null if the account lacks the key or is locked. */
  keyFor(publicKey: Bytes): Buffer | null {
    const pem = this.#account.channelKeys.get(addressOfKey(publicKey, this.#account.ledger));
    if (typeof pem === 'string' && pem !== '')
      try {
        return parseChannelKey(pem);
      } catch {
        // A damaged entry of the file is ignored, because the chain may contain the key.
      }
    if (this.#account.root.privateKey === null) return null;
    this.#deriveBelow(this.#next + LOOKAHEAD);
    const number = this.#numbers.get(Buffer.from(publicKey).toString('hex'));
    if (number === undefined) return null;
    return Buffer.from(this.#account.key(KEY_CHAIN.channel, number).privateKey!);
  }

  /**
   * Returns the next key that no channel of the account uses. It is the same key until a channel uses it. Throws
   * `AssertionError` while the account is locked.
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

  /** Adds a key to the imported ones, under the address of its public key. The caller must save the wallet. */
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
