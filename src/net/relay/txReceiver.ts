/**
 * Handles transactions from peers: adds them to the mempool and relays them, stores orphans and processes them again when a
 * parent arrives, and records rejections. Transactions of all peers are processed one by one, so that the mempool does not
 * change between check and addition. Only one large transaction is parsed at a time, in turns of its peer; small
 * transactions need not wait for it. Source: Core net_processing.cpp `ProcessMessage` (tx).
 *
 * Deviation: a known transaction is not recorded as rejected, as in later releases of Core. Otherwise its children would be
 * treated as children of a rejected transaction.
 */
import { REJECT_CODE, formatVerdict, type ValidationError } from '../../consensus/reject.js';
import type { AcceptVerdict } from '../../mempool/acceptance.js';
import { strippedSize, witnessSize } from '../../consensus/txSize.js';
import type { Mempool } from '../../mempool/mempool.js';
import {
  formatTransaction,
  hasWitness,
  parseTransaction,
  transactionWeight,
  txid as txidOf,
  wtxid as wtxidOf,
  type Transaction,
} from '../../primitives/transaction.js';
import { parseTransactionInSlices, txidInSlices } from '../../primitives/transactionSlices.js';
import { asBuffer, fromLatin1, hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { ReadError, Reader } from '../../util/reader.js';
import { SerialQueue } from '../../scheduler/serialQueue.js';
import { inTurns } from '../../scheduler/peerQueue.js';
import type { RawMessage } from '../messages/codec.js';
import { MAX_REJECT_REASON_LENGTH } from '../messages/reject.js';
import type { MessageHandler, Peer } from '../messageHandler.js';
import type { KnownTransactions } from './knownTransactions.js';
import type { Orphan, OrphanPool } from './orphanPool.js';
import { forcesRelay, takesTransactionsFrom, type RelayOptions } from './relayOptions.js';
import type { TxAnnouncer } from './txAnnounce.js';
import type { TxRequests } from './txRequests.js';

export interface TxReceiverDeps {
  readonly mempool: Pick<
    Mempool,
    'acceptToMempool' | 'listen' | 'maxTransactionWeight' | 'size' | 'usageBytes'
  >;
  readonly known: Pick<KnownTransactions, 'alreadyHave' | 'isRejected' | 'noteRejected' | 'tip'>;
  readonly orphans: OrphanPool;
  readonly requests: Pick<TxRequests, 'request' | 'noteReceived'>;
  readonly announcer: Pick<TxAnnouncer, 'announce' | 'noteKnown'>;
  /**
   * Stores transactions that were not accepted or were replaced, because a compact block may contain them.
   */
  readonly extras: { add(transaction: { readonly wtxid: Bytes; readonly bytes: Bytes }): void };
  readonly log: Logger;
}

/**
 * Maximum size in bytes of a transaction that is parsed in one step, which takes a millisecond or two. Larger transactions
 * are parsed in slices.
 */
const AT_ONCE_BYTES = 65_536;
/** Rejected transactions of at least this size in bytes are not stored for compact blocks. */
const MAX_EXTRA_BYTES = 100_000;

export class TxReceiver implements MessageHandler {
  readonly handlers = { tx: (peer: Peer, { raw }: RawMessage) => this.onTx(peer, raw) };
  private readonly options: RelayOptions;
  private readonly deps: TxReceiverDeps;
  private readonly queue = new SerialQueue();
  /** Queue of large transactions, which are parsed in slices. */
  private readonly large = new SerialQueue();
  private readonly stopListening: () => void;
  private isClosed = false;

  constructor(options: RelayOptions, deps: TxReceiverDeps) {
    this.options = options;
    this.deps = deps;
    this.stopListening = deps.mempool.listen({
      removed: ({ wtxid }, reason, bytes) => {
        if (reason === 'replaced') deps.extras.add({ wtxid, bytes });
      },
    });
  }

  onGone(peer: Peer): void {
    this.deps.orphans.removeOf(peer);
  }

  /** Stops accepting transactions. Resolves when the transaction in progress is processed. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.stopListening();
    this.deps.orphans.close();
    await this.large.idle();
    await this.queue.idle();
  }

  private async onTx(peer: Peer, raw: Buffer): Promise<void> {
    if (!takesTransactionsFrom(this.options, peer)) {
      this.deps.log.debug('net', `transaction sent in violation of protocol peer=${peer.id}`);
      return;
    }
    if (raw.length > AT_ONCE_BYTES) return this.large.run(() => this.onLarge(peer, raw));
    let tx: Transaction;
    try {
      tx = parseTransaction(new Reader(raw));
    } catch (error) {
      return this.onMalformed(peer, error);
    }
    await this.onParsed(peer, tx, txidOf(tx));
  }

  private async onLarge(peer: Peer, raw: Buffer): Promise<void> {
    if (this.isClosed) return;
    const most = this.deps.mempool.maxTransactionWeight;
    let tx: Transaction;
    try {
      tx = await inTurns(parseTransactionInSlices(new Reader(raw), true, most), peer);
    } catch (error) {
      return this.onMalformed(peer, error);
    }
    await this.onParsed(peer, tx, await inTurns(txidInSlices(tx), peer));
  }

  private onParsed(peer: Peer, tx: Transaction, txid: Buffer): Promise<void> {
    this.deps.announcer.noteKnown(peer, txid);
    this.deps.requests.noteReceived(peer, txid);
    return this.queue.run(() => this.receive(peer, tx, txid));
  }

  private onMalformed(peer: Peer, error: unknown): void {
    if (!(error instanceof ReadError)) throw error;
    this.deps.log.debug('net', `tx from peer=${peer.id} is malformed: ${error.message}`);
    peer.reject('tx', REJECT_CODE.MALFORMED, 'error parsing message');
  }

  private async receive(peer: Peer, tx: Transaction, txid: Buffer): Promise<void> {
    if (this.isClosed) return;
    const { known, mempool } = this.deps;
    if (known.alreadyHave(txid)) {
      this.forceRelay(peer, txid, null);
      return;
    }
    const { tip } = known;
    const verdict = await mempool.acceptToMempool(tx);
    if (verdict.accepted) {
      this.logAccepted(peer, txid);
      peer.noteUseful('tx');
      this.deps.announcer.announce(txid);
      await this.resolveOrphans(toLatin1(txid), tx.outputs.length);
    } else if (verdict.missingInputs) {
      this.keepOrphan(peer, tx, txid, tip);
    } else {
      this.refuse(peer, tx, txid, verdict.error!, tip);
    }
  }

  private logAccepted(peer: Peer, txid: Bytes): void {
    const { log, mempool } = this.deps;
    log.debug('mempool', () => {
      const pool = `poolsz ${mempool.size} txn, ${Math.floor(mempool.usageBytes / 1000)} kB`;
      return `AcceptToMemoryPool: peer=${peer.id}: accepted ${hashToHex(txid)} (${pool})`;
    });
  }

  /** Handles an orphan: drops it if a parent was rejected, otherwise stores it and requests the missing parents. */
  private keepOrphan(peer: Peer, tx: Transaction, txid: Buffer, tip: number): void {
    const { known, log, orphans, requests, announcer } = this.deps;
    if (tx.inputs.some(({ prevout }) => known.isRejected(prevout.hash))) {
      log.debug('mempool', () => `not keeping orphan with rejected parents ${hashToHex(txid)}`);
      known.noteRejected(txid, tip);
      return;
    }
    if (peer.isGone) return;
    const parents = new Set(tx.inputs.map(({ prevout }) => toLatin1(prevout.hash)));
    for (const key of parents) {
      const parent = fromLatin1(key);
      announcer.noteKnown(peer, parent);
      if (!known.alreadyHave(parent)) requests.request(peer, parent);
    }
    const bytes = Buffer.from(formatTransaction(tx));
    const isNew = orphans.add({ key: toLatin1(txid), bytes, weight: transactionWeight(tx), peer });
    if (isNew) this.deps.extras.add({ wtxid: wtxidOf(tx), bytes });
  }

  private refuse(peer: Peer, tx: Transaction, txid: Buffer, error: ValidationError, tip: number): void {
    const { log } = this.deps;
    if (error.reason !== 'txn-already-in-mempool') this.remember(tx, txid, error, tip);
    this.forceRelay(peer, txid, error);
    log.debug(
      'mempoolrej',
      () => `${hashToHex(txid)} from peer=${peer.id} was not accepted: ${formatVerdict(error)}`,
    );
    if (error.rejectCode > REJECT_CODE.NONE && error.rejectCode < REJECT_CODE.HIGH_FEE) {
      peer.reject('tx', error.rejectCode, error.reason.slice(0, MAX_REJECT_REASON_LENGTH), txid);
    }
    if (error.dosScore > 0) peer.punish(error.dosScore, error.reason);
  }

  /**
   * Records the txid of a rejected transaction. The txid does not cover the witness. If the transaction has a witness, or
   * its witness may have been removed, a valid transaction may have the same txid. In these cases the txid is not recorded.
   */
  private remember(tx: Transaction, txid: Buffer, error: ValidationError, tip: number): void {
    const isWitness = hasWitness(tx);
    if (!isWitness && error.corruption) return;
    if (!isWitness) this.deps.known.noteRejected(txid, tip);
    if (strippedSize(tx) + witnessSize(tx) >= MAX_EXTRA_BYTES) return;
    const bytes = asBuffer(formatTransaction(tx));
    this.deps.extras.add({ wtxid: wtxidOf(tx), bytes: Buffer.from(bytes) });
  }

  /**
   * Relays a whitelisted peer's transaction again if it is in the mempool, unless the error is one for which the peer must
   * be punished.
   */
  private forceRelay(peer: Peer, txid: Bytes, error: ValidationError | null): void {
    if (!forcesRelay(this.options, peer)) return;
    const { announcer, log } = this.deps;
    const hash = hashToHex(txid);
    if (error === null || error.dosScore === 0) {
      log.info(`Force relaying tx ${hash} from whitelisted peer=${peer.id}`);
      announcer.announce(txid);
    } else {
      const why = formatVerdict(error);
      log.info(`Not relaying invalid transaction ${hash} from whitelisted peer=${peer.id} (${why})`);
    }
  }

  /** Processes the orphans that depend on an accepted transaction, then the orphans that depend on those, and so on. */
  private async resolveOrphans(key: string, outputCount: number): Promise<void> {
    const { orphans } = this.deps;
    const parents = [{ key, outputCount }];
    const blamed = new Set<Peer>();
    // `parents` grows during the loop: each accepted orphan is appended, because it may be the parent of further orphans.
    for (const parent of parents) {
      for (const orphan of orphans.spendersOf(parent.key, parent.outputCount)) {
        if (this.isClosed) return;
        // Skips an orphan that was removed while earlier orphans were processed.
        if (blamed.has(orphan.peer) || !orphans.has(orphan.key)) continue;
        const tx = parseTransaction(new Reader(orphan.bytes));
        const verdict = await this.resolve(orphan, tx);
        if (verdict.accepted) parents.push({ key: orphan.key, outputCount: tx.outputs.length });
        else if ((verdict.error?.dosScore ?? 0) > 0) blamed.add(orphan.peer);
      }
    }
  }

  /** Processes one orphan. If the orphan is invalid, the peer that sent it is punished, not the sender of the parent. */
  private async resolve(orphan: Orphan, tx: Transaction): Promise<AcceptVerdict> {
    const { announcer, known, log, mempool, orphans } = this.deps;
    const { tip } = known;
    const verdict = await mempool.acceptToMempool(tx);
    if (verdict.missingInputs) return verdict;
    const txid = fromLatin1(orphan.key);
    orphans.remove(orphan.key);
    const { error } = verdict;
    if (error === null) {
      log.debug('mempool', () => `   accepted orphan tx ${hashToHex(txid)}`);
      announcer.announce(txid);
      return verdict;
    }
    log.debug('mempool', () => `   removed orphan tx ${hashToHex(txid)}`);
    if (error.dosScore > 0) orphan.peer.punish(error.dosScore, 'invalid orphan transaction');
    if (!hasWitness(tx) && !error.corruption) known.noteRejected(txid, tip);
    return verdict;
  }
}
