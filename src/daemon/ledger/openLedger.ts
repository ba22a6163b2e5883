/**
 * Implementation of the ledger: connects headers, database and hub. Data from a hub is checked before use. If a hub lies or
 * fails, the next hub is used. Source: lbry-sdk lbry/wallet/ledger.py `Ledger`.
 */
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { formatTransaction, txid as idOf, type Transaction } from '../../primitives/transaction.js';
import { hashToHex } from '../../util/bytes.js';
import { onFile } from '../../util/text/environmentError.js';
import type { HostPort } from '../../util/network/hostPort.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { Logger } from '../../util/logging.js';
import { ledgerParams, type LedgerId, type LedgerParams } from '../base/ledgerParams.js';
import type { AddressSource } from './addressSource.js';
import { openHeaders, type LedgerHeaders } from './headers/ledgerHeaders.js';
import { parseTip } from './headers/headerSync.js';
import { corruptionText, HubFollowing, PATIENCE_MS } from './headers/hubFollowing.js';
import { unsubscribeAddress } from './hub/hubAddresses.js';
import { HubGone, HubLie, HubRefusal, isHubFault } from './hub/hubErrors.js';
import { HubPool, POOL_TIMES, type FurtherHubs, type HubPoolOptions } from './hub/hubPool.js';
import { HubQuestions } from './hub/hubQuestions.js';
import { HUB_LIMITS, type HubLimits, type HubSession } from './hub/hubSession.js';
import { STALE_TIP_TIMES, StaleTipCheck, type StaleTipTimes } from './hub/staleTip.js';
import type { HubPort, DaemonLedger, LedgerEvents, LedgerTransaction, LedgerSyncState } from './ledger.js';
import type { LedgerDatabase } from './ledgerDatabase.js';
import { ledgerStatus } from './ledgerStatus.js';
import { openStore, type LedgerStorePort } from './store/openStore.js';
import { AddressSync, type SavedTransaction } from './sync/addressSync.js';
import { AnyTransactions } from './sync/anyTransactions.js';
import { channelKeysOf } from './sync/channelKeys.js';
import { Gaps } from './sync/gaps.js';
import { Members } from './sync/members.js';
import { OwnBroadcasts } from './sync/ownBroadcasts.js';
import { makeFolder } from '../../util/files/makeFolder.js';

/** Hub notifications that report a changed history of an address. */
const STATUS_METHODS = new Set(['blockchain.address.subscribe', 'blockchain.scripthash.subscribe']);

export interface LedgerOptions {
  readonly ledgerId: LedgerId;
  /** Folder of the headers and the database. */
  readonly folder: string;
  /** Setting `lbryum_servers`, read at each search for a hub. */
  readonly servers: readonly HostPort[] | (() => readonly HostPort[]);
  readonly log: Logger;
  readonly limits?: Partial<HubLimits>;
  readonly times?: Partial<
    Pick<HubPoolOptions, 'pingMs' | 'retryMs' | 'distrustMs'> &
      StaleTipTimes & { readonly keptMs: number; readonly patienceMs: number }
  >;
  /** Hubs that other hubs announced. If absent, hubs are not asked for other hubs. */
  readonly further?: FurtherHubs;
  /** Country filter for hubs; null for any. */
  readonly country?: () => string | null;
  /** Whether targets and proof of work of headers are checked. The default is true, except on regtest. */
  readonly checksWork?: boolean;
  /** Database; by default it runs in its own thread. */
  readonly store?: LedgerStorePort;
}

/** Progress of the histories while no hub is connected. */
const NO_HISTORIES = { addresses: 0, addressesLeft: 0, fetched: 0, historyShare: 0 } as const;

/**
 * Matches the error texts by which nodes reject a transaction that they already have. Such an error means that the
 * transaction was accepted.
 */
const HAD_ALREADY = /already in mempool|already-in-mempool|already-known|already in block ?chain/i;

/** Number of bytes by which the transaction in a refusal is recognized: version, input count, and the start of an outpoint. */
const ECHO_BYTES = 12;
/** Part of a refusal by a node whose limit of unconfirmed ancestors is reached. Source: lbrycrd validation.cpp. */
const LONG_CHAIN = /too-long-mempool-chain/;

/**
 * Makes the error that callers see. Hubs append the transaction in hex to the reason of the node: thousands of digits that
 * hide the reason. lbry-sdk shows them.
 */
function broadcastRefusal({ code, message }: HubRefusal, raw: Buffer): HubRefusal {
  const echo = message.indexOf(`\n[${raw.toString('hex', 0, ECHO_BYTES)}`);
  const reason = echo < 0 ? message : message.slice(0, echo);
  const advice = LONG_CHAIN.test(reason) ? '\nWait for the next block, and try again.' : '';
  return new HubRefusal(code, `${reason}${advice}`);
}

export class OpenLedger implements DaemonLedger {
  readonly params: LedgerParams;
  readonly headers: LedgerHeaders;
  readonly hub: HubPort;
  readonly #store: LedgerStorePort;
  readonly #log: Logger;
  readonly #pool: HubPool;
  readonly #following: HubFollowing;
  readonly #staleTip: StaleTipCheck;
  readonly #any: AnyTransactions;
  readonly #own: OwnBroadcasts;
  readonly #members: Members;
  readonly #events = new EventEmitter({ captureRejections: false });
  #session: HubSession | null = null;
  #sync: AddressSync | null = null;
  #working: Promise<void> | null = null;
  #hasReleased = false;
  #isClosed = false;

  constructor(options: LedgerOptions) {
    const { ledgerId, folder, servers, log } = options;
    this.params = ledgerParams(ledgerId);
    this.#log = log;
    onFile(folder, () => makeFolder(folder));
    this.headers = openHeaders(folder, this.params, options.checksWork);
    if (this.headers.cutAt !== null) log.warn(corruptionText(this.headers.path, this.headers.cutAt));
    this.#store =
      options.store ?? openStore({ path: join(folder, 'ledger.sqlite'), ledgerId }, (text) => log.warn(text));
    this.#own = new OwnBroadcasts(() => this.#givenUp(), options.times?.keptMs);
    this.#following = new HubFollowing(this.headers, {
      log,
      patienceMs: options.times?.patienceMs ?? PATIENCE_MS,
      rewind: (forkHeight) => this.#rewind(forkHeight),
      rewound: (forkHeight) => this.#rewound(forkHeight),
      grew: (height) => {
        this.#staleTip.advanced();
        this.#emit('headers', height);
      },
      hasOtherHubs: () => this.#hasOtherHubs,
      blame: (session, error) => this.#pool.blame(session, error),
    });
    this.#members = new Members(this.#store, new Gaps(this.#store, this.params), {
      sync: () => this.#sync,
      isActive: () => this.#sync !== null && this.#following.isLevel,
      work: () => this.#work(),
    });
    this.#pool = new HubPool(
      {
        ...POOL_TIMES,
        ...options.times,
        servers: typeof servers === 'function' ? servers : () => servers,
        further: options.further ?? null,
        genesis: hashToHex(this.params.network.genesisHash),
        limits: { ...HUB_LIMITS, ...options.limits },
        country: options.country ?? (() => null),
      },
      {
        joined: (session) => this.#joined(session),
        notified: (session, method, params) => this.#notified(session, method, params),
        left: (session) => this.#left(session),
      },
      log,
    );
    this.#staleTip = new StaleTipCheck(
      {
        log,
        session: () => this.#pool.session,
        others: () => this.#pool.trusted,
        open: (server) => this.#pool.open(server),
        leads: (session) => this.#following.leads(session),
        follow: (session) => this.#following.follow(session),
        distrust: (server) => this.#pool.distrust(server),
      },
      { ...STALE_TIP_TIMES, ...options.times },
    );
    this.hub = new HubQuestions(this.#pool);
    this.#any = new AnyTransactions(this.#pool, this.#store, this.headers, this.#following);
    this.#events.setMaxListeners(0);
  }

  get height(): number {
    return this.headers.height;
  }

  get database(): LedgerDatabase {
    return this.#store;
  }

  async reconnect(): Promise<boolean> {
    this.#pool.reconnect();
    return this.#pool.connected().then(
      () => true,
      () => false,
    );
  }

  /** Called after a change of the hub settings. Without a connected hub, the servers are tried immediately. */
  hubSettingsChanged(): void {
    this.#pool.searchAgain();
  }

  /** Starts the search for a hub. Transactions in blocks above the last known header are set to unconfirmed. */
  async start(): Promise<void> {
    await this.#store.rewind(this.headers.height);
    // A killed daemon may have stored transactions before the histories that report them.
    await this.#store.removeUnlisted();
    if (this.#isClosed) return;
    this.#pool.start();
    this.#staleTip.start();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#following.left();
    await this.#staleTip.stop();
    await this.#pool.stop();
    await this.#working;
    await this.#following.idle();
    this.#members.close();
    this.#own.close();
    await this.#store.close();
    this.headers.close();
  }

  on<Name extends keyof LedgerEvents>(name: Name, listener: (...args: LedgerEvents[Name]) => void): void {
    this.#events.on(name, listener as (...args: unknown[]) => void);
  }

  off<Name extends keyof LedgerEvents>(name: Name, listener: (...args: LedgerEvents[Name]) => void): void {
    this.#events.off(name, listener as (...args: unknown[]) => void);
  }

  #emit<Name extends keyof LedgerEvents>(name: Name, ...args: LedgerEvents[Name]): void {
    this.#events.emit(name, ...args);
  }

  // Methods about block headers.

  async #rewind(forkHeight: number): Promise<void> {
    const addresses = await this.#store.rewind(forkHeight);
    this.#sync?.subscribe(addresses);
    await this.#store.removeUnlisted();
  }

  #rewound(forkHeight: number): void {
    this.#any.forget();
    this.#emit('reorganisation', forkHeight);
  }

  // Methods about the connected hub.

  async #joined(session: HubSession): Promise<void> {
    this.#staleTip.advanced();
    this.#following.joining();
    await this.#following.follow(session);
    const sync = new AddressSync(session, {
      store: this.#store,
      headers: this.headers,
      addressPrefixes: this.params.addressPrefixes,
      log: this.#log,
      following: this.#following,
      kept: () => this.#own.kept(),
      awaited: () => this.#own.awaited(),
      used: (addresses) => this.#members.used(addresses),
      saved: (transactions) => this.#saved(transactions),
      progressed: () => this.#emit('histories'),
      announced: (ids) => this.#own.announced(ids),
    });
    this.#session = session;
    this.#sync = sync;
    await this.#members.joined(sync);
    this.#work();
  }

  #notified(session: HubSession, method: string, params: readonly unknown[]): void {
    try {
      if (method === 'blockchain.headers.subscribe') {
        const tip = parseTip(session, params[0]);
        this.#following.follow(session, tip).then(
          () => this.#work(),
          (error: unknown) => this.#failed(session, error),
        );
      } else if (STATUS_METHODS.has(method) && session === this.#session) {
        this.#sync?.notified(params);
        this.#work();
      }
    } catch (error) {
      this.#failed(session, error);
    }
  }

  #left(session: HubSession): void {
    this.#following.left();
    if (this.#session !== session) return;
    this.#session = null;
    this.#sync = null;
    this.#members.left();
  }

  #failed(session: HubSession, error: unknown): void {
    if (this.#isClosed || !session.isOpen) return;
    if (isHubFault(error)) this.#pool.blame(session, error);
    else {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.error(`The wallet cannot be synchronized: ${reason}`);
      session.end(new HubGone(reason));
    }
  }

  // Methods about histories of addresses.

  /** Updates the address histories, unless an update is running. */
  #work(): void {
    const [session, sync] = [this.#session, this.#sync];
    if (this.#working || !session || !sync || this.#isClosed || !this.#following.isLevel) return;
    this.#working = sync
      .run()
      .then(() => (sync.isDone ? this.#agreed(sync) : undefined))
      .catch((error: unknown) => this.#failed(session, error))
      .then(() => {
        this.#working = null;
        const more = this.#sync !== null && !this.#sync.isDone;
        if (more || this.#sync !== sync) this.#work();
      });
  }

  async #agreed(sync: AddressSync): Promise<void> {
    if (!this.#hasReleased) {
      this.#hasReleased = true;
      await this.#store.releaseLeft();
    }
    if (sync !== this.#sync || !sync.isDone) return;
    this.#members.agreed();
    if (this.#members.isAllSynced) this.#emit('synced');
  }

  #saved(transactions: readonly SavedTransaction[]): void {
    for (const { tx, txid, height, accountIds } of transactions) {
      for (const key of channelKeysOf(tx))
        for (const source of this.#members.sources()) source.noteChannelKey?.(key);
      this.#emit('transaction', { tx, txid, height, accountIds });
    }
  }

  // Methods about accounts.

  add(source: AddressSource): Promise<void> {
    return this.#members.add(source);
  }

  remove(accountId: string): void {
    if (this.#members.remove(accountId)) void this.#unsubscribe(accountId).catch(() => undefined);
  }

  async #unsubscribe(accountId: string): Promise<void> {
    for (const { address } of await this.#store.statuses(accountId)) {
      const session = this.#session;
      if (!session || this.#members.get(accountId)) return;
      await unsubscribeAddress(session, address, this.params.addressPrefixes);
    }
  }

  isSynced(accountId: string): boolean {
    return this.#members.isSynced(accountId);
  }

  whenSynced(): Promise<void> {
    return this.#members.whenSynced();
  }

  whenUsable(): Promise<void> {
    return this.#members.whenSynced(
      () => this.#sync !== null && !this.#following.isLevel && !this.#hasOtherHubs,
    );
  }

  get #hasOtherHubs(): boolean {
    return this.#pool.servers.length > 1;
  }

  ensureGap(account: AddressSource): Promise<readonly string[]> {
    return this.#members.ensureGap(account);
  }

  // Methods about transactions.

  async broadcast(tx: Transaction): Promise<void> {
    const txid = idOf(tx);
    const raw = formatTransaction(tx);
    // The hub may accept the transaction although no response arrives, or the daemon may be killed. The addresses of the
    // transaction are therefore marked as used before the broadcast.
    await this.#store.noteSending({ txid, raw });
    // The hub may list the transaction in a history before the response arrives.
    this.#own.add(txid);
    let mayBeTaken = false;
    try {
      await this.#pool.ask(async (session) => {
        try {
          await this.#send(session, hashToHex(txid), raw);
        } catch (error) {
          mayBeTaken ||= !(error instanceof HubRefusal);
          throw error;
        }
      });
    } catch (error) {
      this.#own.delete(txid);
      if (!mayBeTaken) await this.#store.forgetSending({ txid, raw });
      throw error;
    }
    const known = await this.#store.known(tx.inputs.map(({ prevout }) => prevout.hash));
    const height = known.some((one) => one.height <= 0) ? -1 : 0;
    const { accountIds, addresses } = await this.#store.saveBroadcast({
      txid,
      raw,
      height,
      position: -1,
      isVerified: false,
    });
    // The transaction may already have left the mempool, and the hub may have reported the change before the transaction
    // was stored here. The histories are therefore requested again.
    this.#sync?.subscribe(addresses);
    this.#work();
    this.#saved([{ tx, txid, height, accountIds }]);
    // The change output may have used an unused address at the end of the chain, so a new one is added.
    for (const accountId of accountIds) {
      const source = this.#members.get(accountId);
      if (source) await this.ensureGap(source);
    }
  }

  /** Called if no hub listed a broadcast transaction in time. */
  #givenUp(): void {
    this.#sync?.askAgain();
    this.#work();
  }

  async #send(session: HubSession, id: string, raw: Buffer): Promise<void> {
    try {
      const answer = await session.call('blockchain.transaction.broadcast', [raw.toString('hex')]);
      if (answer !== id)
        throw new HubLie(
          `The hub ${session.name} answered the broadcast of ${id} with another transaction id`,
        );
    } catch (error) {
      if (!(error instanceof HubRefusal)) throw error;
      if (!HAD_ALREADY.test(error.message)) throw broadcastRefusal(error, raw);
    }
  }

  async taken(txid: Uint8Array, timeoutMs: number): Promise<boolean> {
    const announced = this.#own.whenAnnounced(txid, timeoutMs);
    const isKnown = (await this.#store.known([txid])).length > 0;
    return isKnown && !this.#own.has(txid) ? true : announced;
  }

  async transaction(txid: Uint8Array): Promise<LedgerTransaction | null> {
    return (await this.#any.get([txid])).get(hashToHex(txid)) ?? null;
  }

  transactions(txids: readonly Uint8Array[]): Promise<Map<string, LedgerTransaction>> {
    return this.#any.get(txids);
  }

  get syncState(): LedgerSyncState {
    const histories = this.#sync?.progress ?? NO_HISTORIES;
    return { targetHeight: this.#following.targetHeight, ...histories };
  }

  status(): JsonOut {
    return ledgerStatus(this.#pool, this.headers, this.syncState);
  }
}
