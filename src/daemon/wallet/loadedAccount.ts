/**
 * An account with its data from the chain: addresses and the next unused one, private keys of its outputs, channel keys, and
 * balance. `account.ts` has the data that the wallet file contains. Source: lbry-sdk lbry/wallet/account.py
 * `AddressManager`, `save_max_gap`.
 */
import { hash160 } from '../../crypto/hash.js';
import { channelPublicKey } from '../../metadata/channelSignature.js';
import { encodeDestination } from '../../script/address.js';
import type { Bytes } from '../../util/bytes.js';
import type { DaemonRandom } from '../base/clock.js';
import { assertionFailure, badValue } from '../base/daemonError.js';
import type { AddressChain, AddressSource, PublicKeyAt } from '../ledger/addressSource.js';
import type { DaemonLedger } from '../ledger/ledger.js';
import type { AddressRow, LedgerBalance } from '../ledger/ledgerDatabase.js';
import { TXO_TYPE } from '../ledger/txoQuery.js';
import { Txo } from '../txo/txo.js';
import type { Account } from './account.js';
import { ChannelKeys } from './channelKeys.js';
import { KEY_CHAIN } from './keys.js';

type AddressChainName = 'receiving' | 'change';

/**
 * Number of unused addresses from which the next address is chosen at random. Source: account.py
 * `get_or_create_usable_address`.
 */
const CHOICE = 10;

/** Minimum number of unused addresses at the end of each chain. Source: `save_max_gap`. */
const LEAST_GAP: Readonly<Record<AddressChainName, number>> = { receiving: 20, change: 6 };

/**
 * Maximum gap, even if the file or an import contains a larger one, because each address is derived and requested from a
 * hub. Arbitrary: above any real gap.
 */
export const MAX_GAP = 10_000;

export class LoadedAccount implements AddressSource {
  readonly account: Account;
  readonly ledger: DaemonLedger;
  readonly channelKeys: ChannelKeys;
  readonly #random: DaemonRandom;
  /** Number of addresses that an earlier wallet program had issued. At least as many addresses are derived, used or not. */
  readonly #givenOut: Record<AddressChainName, number> = { receiving: 0, change: 0 };
  /**
   * Number of addresses that are derived in addition to the gap, because as many unused addresses are reserved.
   */
  readonly #ahead: Record<AddressChainName, number> = { receiving: 0, change: 0 };
  readonly #inHand: Set<string>;

  /**
   * `inHand` contains the addresses that unfinished transactions of all wallets have reserved. All wallets share it, because
   * two wallets may have the same account.
   */
  constructor(account: Account, ledger: DaemonLedger, random: DaemonRandom, inHand: Set<string>) {
    this.account = account;
    this.ledger = ledger;
    this.#random = random;
    this.#inHand = inHand;
    this.channelKeys = new ChannelKeys(account, () => this.#channelKeysInUse());
  }

  get id(): string {
    return this.account.id;
  }

  get accountId(): string {
    return this.account.id;
  }

  get name(): string {
    return this.account.name;
  }

  get isSpendable(): boolean {
    return this.account.isSpendable;
  }

  get isSingleAddress(): boolean {
    return this.account.generator.name === 'single-address';
  }

  get chains(): readonly AddressChain[] {
    const { generator } = this.account;
    if (generator.name === 'single-address')
      return [{ chain: KEY_CHAIN.receiving, gap: 1, maxUses: Number.MAX_SAFE_INTEGER, isSingle: true }];
    return (['receiving', 'change'] as const).map((name) => ({
      chain: KEY_CHAIN[name],
      gap: Math.max(Math.min(generator[name].gap, MAX_GAP), this.#givenOut[name]) + this.#ahead[name],
      maxUses: generator[name].maxUses,
    }));
  }

  keyAt(chain: number, index: number): PublicKeyAt {
    return this.account.publicKey(chain === KEY_CHAIN.change ? KEY_CHAIN.change : KEY_CHAIN.receiving, index);
  }

  addressOf(publicKey: Bytes): string {
    return this.account.addressOf(publicKey);
  }

  /** Whether the account uses witness outputs (P2WPKH), also for change. */
  get paysToWitness(): boolean {
    return this.account.addressType === 'p2wpkh';
  }

  noteChannelKey(publicKey: Bytes): void {
    this.channelKeys.note(publicKey);
  }

  /** Records how many addresses an earlier wallet program had issued. The first gap has at least this length. */
  noteGivenOut(counts: Readonly<Record<AddressChainName, number>>): void {
    this.#givenOut.receiving = counts.receiving;
    this.#givenOut.change = counts.change;
  }

  /** Returns the next receiving address with fewer than `maxUses` uses. */
  async nextReceivingAddress(): Promise<string> {
    return (await this.#nextAddress('receiving')).address;
  }

  /** Like `nextReceivingAddress`, but for a transaction of this wallet: the address is reserved until `freeAddress` is called. */
  async takeReceivingAddress(): Promise<string> {
    return (await this.#nextAddress('receiving', true)).address;
  }

  /** Returns the key hash (20 bytes) of the next change address. The address is reserved until `freeChangeKeyHash` is called. */
  async nextChangeKeyHash(): Promise<Buffer> {
    return keyHashOf((await this.#nextAddress('change', true)).publicKey);
  }

  /** Ends the reservation of an address after the transaction that pays to it was sent or abandoned. */
  freeAddress(address: string): void {
    this.#inHand.delete(address);
  }

  freeChangeKeyHash(keyHash: Bytes): void {
    this.freeAddress(this.#addressOf(keyHash));
  }

  async nextChangeAddress(): Promise<string> {
    return (await this.#nextAddress('change')).address;
  }

  /**
   * Returns the next address that is not reserved; with `takes`, reserves it. An account with a single address always
   * returns this address.
   */
  async #nextAddress(name: AddressChainName, takes = false): Promise<AddressRow> {
    const { chain, maxUses, gap } =
      this.chains.find((one) => one.chain === KEY_CHAIN[name]) ?? this.chains[0]!;
    for (let isFirst = true; ; isFirst = false) {
      const count = CHOICE + this.#inHand.size;
      const usable = await this.ledger.database.unusedAddresses(this.id, chain, maxUses, count);
      const free = usable.filter(({ address }) => !this.#inHand.has(address)).slice(0, CHOICE);
      if (free.length > 0) {
        // If new addresses had to be created, the first of them is returned instead of a random one, as in the reference.
        const one = free[isFirst ? this.#random.bytes(4).readUInt32LE() % free.length : 0]!;
        if (takes && !this.isSingleAddress) this.#inHand.add(one.address);
        return one;
      }
      if (!isFirst && (usable.length === 0 || gap === 0))
        throw badValue(`The account keeps no unused addresses for ${name}: set its gap above 0.`);
      await this.#fillGap(name, usable.length);
    }
  }

  async #fillGap(name: AddressChainName, ahead: number): Promise<void> {
    this.#ahead[name] = ahead;
    const filled = this.ledger.ensureGap(this);
    this.#ahead[name] = 0;
    await filled;
  }

  #addressOf(hash: Bytes): string {
    const type = this.paysToWitness ? 'witness_v0_keyhash' : 'pubkeyhash';
    return encodeDestination({ type, hash }, this.account.ledger.addressPrefixes);
  }

  async holds(address: string): Promise<boolean> {
    return (await this.#find(address)) !== undefined;
  }

  async #find(address: string): Promise<AddressRow | undefined> {
    const [row] = await this.ledger.database.addresses({ accountIds: [this.id], address }, { limit: 1 });
    return row;
  }

  /**
   * Private key for a key hash of 20 bytes; null if the account does not have the key. Throws `AssertionError` while the
   * account is locked.
   */
  async privateKeyOf(keyHash: Bytes): Promise<Buffer | null> {
    const row = await this.#find(this.#addressOf(keyHash));
    if (row === undefined) return null;
    if (this.account.isLocked) throw assertionFailure('Cannot get private key on encrypted wallet account.');
    const { privateKey } = this.account.key(
      row.chain === KEY_CHAIN.change ? KEY_CHAIN.change : KEY_CHAIN.receiving,
      row.index,
    );
    return privateKey && Buffer.from(privateKey);
  }

  /** Balance of the outputs with at least `confirmations` confirmations; 0 includes unconfirmed outputs. */
  balance(confirmations = 0): Promise<LedgerBalance> {
    return this.ledger.database.balance([this.id], maxHeightOf(this.ledger, confirmations));
  }

  async maxGaps(): Promise<Record<AddressChainName, number>> {
    if (this.isSingleAddress) return { receiving: 0, change: 0 };
    const [receiving, change] = await Promise.all([
      this.ledger.database.maxGap(this.id, KEY_CHAIN.receiving),
      this.ledger.database.maxGap(this.id, KEY_CHAIN.change),
    ]);
    return { receiving, change };
  }

  /**
   * Sets the gap of each chain to one more than the longest run of unused addresses, but not below the minimum. Returns
   * whether a gap changed. The caller must save the wallet.
   */
  async fitGaps(): Promise<boolean> {
    const { generator } = this.account;
    if (generator.name === 'single-address') return false;
    const found = await this.maxGaps();
    let isChanged = false;
    for (const name of ['receiving', 'change'] as const) {
      const gap = Math.max(LEAST_GAP[name], found[name] + 1);
      isChanged ||= generator[name].gap !== gap;
      generator[name].gap = gap;
    }
    return isChanged;
  }

  async #channelKeysInUse(): Promise<Bytes[]> {
    const rows = await this.ledger.database.txos(
      { accountIds: [this.id], types: [TXO_TYPE.channel] },
      { order: 'none' },
    );
    return rows.flatMap((row) => {
      const type = new Txo(row).claim?.claim.type;
      const key = type?.case === 'channel' ? channelPublicKey(type.value.publicKey) : null;
      return key === null ? [] : [key];
    });
  }
}

/** Maximum height of a block with at least `confirmations` confirmations; undefined if all outputs count. */
export function maxHeightOf(ledger: Pick<DaemonLedger, 'height'>, confirmations: number): number | undefined {
  return confirmations > 0 ? ledger.height - confirmations + 1 : undefined;
}

const keyHashOf = (publicKey: Bytes): Buffer => Buffer.from(hash160(publicKey));
