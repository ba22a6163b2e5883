/**
 * Accounts that the ledger syncs: their addresses, whether each account is in sync with the hub, and callers that wait for
 * the sync.
 */
import type { AddressSource } from '../addressSource.js';
import type { LedgerStorePort } from '../store/openStore.js';
import type { AddressSync } from './addressSync.js';
import type { Gaps } from './gaps.js';

interface Member {
  readonly source: AddressSource;
  /** Address sources of the account. An account in several wallets has a source for each. */
  readonly sources: AddressSource[];
  /**
   * Whether the database has the account's addresses, including the unused ones up to the gap limits. Until then no address of
   * the account is requested from a hub.
   */
  hasAddresses: boolean;
  /** Whether the connected hub was subscribed to all of the account's addresses. */
  isSubscribed: boolean;
  isSynced: boolean;
  ready: Promise<void>;
}

export interface MembersPort {
  /** Returns the address sync with the connected hub; null without a connection. */
  sync(): AddressSync | null;
  /** Returns whether the hub has the best chain, so that histories may be requested. */
  isActive(): boolean;
  /** Starts the work that was queued in `sync`. */
  work(): void;
}

export class Members {
  readonly #store: LedgerStorePort;
  readonly #gaps: Gaps;
  readonly #port: MembersPort;
  readonly #members = new Map<string, Member>();
  /** Callbacks that run when accounts agree with a hub, or when the connection to the hub ends. */
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  constructor(store: LedgerStorePort, gaps: Gaps, port: MembersPort) {
    this.#store = store;
    this.#gaps = gaps;
    this.#port = port;
  }

  add(source: AddressSource): Promise<void> {
    const known = this.#members.get(source.accountId);
    if (known) {
      known.sources.push(source);
      return known.ready;
    }
    const member: Member = {
      source,
      sources: [source],
      hasAddresses: false,
      isSubscribed: false,
      isSynced: false,
      ready: Promise.resolve(),
    };
    this.#members.set(source.accountId, member);
    member.ready = this.#begin(member);
    return member.ready;
  }

  async #begin(member: Member): Promise<void> {
    await this.#gaps.ensure(member.source);
    member.hasAddresses = true;
    const sync = this.#port.sync();
    if (sync && !member.isSubscribed) {
      await this.#subscribe(member, sync);
      this.#port.work();
    }
    while (this.#port.isActive() && !member.isSynced && !this.#isClosed && this.#has(member))
      await this.#nextChange();
  }

  #has(member: Member): boolean {
    return this.#members.get(member.source.accountId) === member;
  }

  /** Removes one source of an account. Returns whether the account has no source left. */
  remove(accountId: string): boolean {
    const member = this.#members.get(accountId);
    member?.sources.pop();
    if (!member || member.sources.length > 0) return false;
    this.#members.delete(accountId);
    this.#tell();
    return true;
  }

  get(accountId: string): AddressSource | undefined {
    return this.#members.get(accountId)?.source;
  }

  sources(): AddressSource[] {
    return [...this.#members.values()].flatMap((member) => member.sources);
  }

  isSynced(accountId: string): boolean {
    return this.#members.get(accountId)?.isSynced ?? false;
  }

  get isAllSynced(): boolean {
    return this.#port.sync() !== null && [...this.#members.values()].every(({ isSynced }) => isSynced);
  }

  /** Resolves when all accounts are synced, or when `isEnough` holds after a hub has been connected. */
  async whenSynced(isEnough = (): boolean => false): Promise<void> {
    while (!this.isAllSynced && !this.#isClosed && !isEnough()) await this.#nextChange();
  }

  /** Subscribes the addresses of all accounts at a hub. Must be called when the hub has been connected. */
  async joined(sync: AddressSync): Promise<void> {
    for (const member of [...this.#members.values()])
      if (member.hasAddresses) await this.#subscribe(member, sync);
    this.#tell();
  }

  async #subscribe(member: Member, sync: AddressSync): Promise<void> {
    const statuses = await this.#store.statuses(member.source.accountId);
    sync.subscribe(statuses.map(({ address }) => address));
    // During the request another hub may have been connected, which is not subscribed to these addresses.
    if (this.#port.sync() === sync) member.isSubscribed = true;
  }

  /** Called when the hub has answered all requests of a round. */
  agreed(): void {
    for (const member of this.#members.values()) if (member.isSubscribed) member.isSynced = true;
    this.#tell();
  }

  /** Must be called when the hub has disconnected. */
  left(): void {
    for (const member of this.#members.values()) member.isSubscribed = member.isSynced = false;
    this.#tell();
  }

  /** Extends the key chains of the used addresses. Resolves to the new addresses. */
  async used(addresses: readonly string[]): Promise<readonly string[]> {
    const made: string[] = [];
    for (const { accountId, chain } of await this.#store.chainsOf(addresses)) {
      const source = this.get(accountId);
      if (!source) continue;
      const chains = source.chains.filter((one) => one.chain === chain);
      made.push(...(await this.#gaps.ensure(source, chains)));
    }
    return made;
  }

  async ensureGap(source: AddressSource): Promise<readonly string[]> {
    const made = await this.#gaps.ensure(source);
    this.#port.sync()?.subscribe(made);
    this.#port.work();
    return made;
  }

  /** Ends the waits of all callers. */
  close(): void {
    this.#isClosed = true;
    this.#tell();
  }

  #tell(): void {
    for (const tell of [...this.#waiting]) tell();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      const tell = (): void => {
        this.#waiting.delete(tell);
        resolve();
      };
      this.#waiting.add(tell);
    });
  }
}
