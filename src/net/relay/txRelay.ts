/**
 * Creates the message handlers for transactions in their required order, and provides the interface to them for other
 * modules. Contains no rules.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import type { Mempool } from '../../mempool/mempool.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import type { MessageHandler, RandomSource } from '../messageHandler.js';
import type { InventoryServer } from '../sync/getData.js';
import { BloomFilters } from './bloomFilters.js';
import { FeeFilters } from './feeFilters.js';
import { KnownTransactions } from './knownTransactions.js';
import { OrphanPool } from './orphanPool.js';
import { Rebroadcast } from './rebroadcast.js';
import { RejectMessages } from './rejectMessages.js';
import type { RelayOptions } from './relayOptions.js';
import { TxAnnouncer } from './txAnnounce.js';
import { TxReceiver, type TxReceiverDeps } from './txReceiver.js';
import { TxRequests } from './txRequests.js';

export interface TxRelayOptions extends RelayOptions {
  /** `-peerbloomfilters`. */
  readonly servesFilters: boolean;
  /** `-feefilter`. */
  readonly sendsFeeFilters: boolean;
  /** Minimum fee rate of relayed transactions (`-minrelaytxfee`), in satoshis per 1,000 virtual bytes. */
  readonly minRelayFeeRatePerKb: bigint;
  /** `-maxorphantx`. */
  readonly maxOrphans: number;
}

export interface TxRelayDeps {
  readonly reader: ChainReader;
  readonly mempool: Mempool;
  readonly uploadTarget: { readonly isReached: boolean };
  readonly extras: TxReceiverDeps['extras'];
  readonly localServices: () => bigint;
  readonly random: RandomSource;
  readonly nowMs: () => number;
  readonly nowSec: () => number;
  readonly log: Logger;
}

export interface TxRelay {
  readonly parts: readonly MessageHandler[];
  readonly filters: BloomFilters;
  /** Answers peers' requests for transactions. */
  readonly server: InventoryServer;
  /** Queues a mempool transaction for announcement to all peers. */
  announce(txid: Bytes): void;
  /** Stops accepting transactions. Resolves when the transaction in progress is processed. */
  stop(): Promise<void>;
}

export function makeTxRelay(options: TxRelayOptions, deps: TxRelayDeps): TxRelay {
  const { reader, mempool, random, log, nowMs, nowSec, localServices } = deps;
  const { chain } = reader;
  const filters = new BloomFilters(options);
  const fees = new FeeFilters(options, { mempool, random, log });
  const announcer = new TxAnnouncer(options, {
    mempool,
    filters,
    fees,
    uploadTarget: deps.uploadTarget,
    random,
    nowMs,
    nowSec,
  });
  const orphans = new OrphanPool(
    { maxCount: options.maxOrphans },
    { events: chain.events, random, nowSec, log },
  );
  const known = new KnownTransactions({ reader, mempool, orphans, random });
  const requests = new TxRequests(options, { chain, known, announcer, localServices, nowMs, log });
  const receiver = new TxReceiver(options, {
    mempool,
    known,
    orphans,
    requests,
    announcer,
    extras: deps.extras,
    log,
  });
  const rebroadcast = new Rebroadcast({ mempool, announcer, random, nowMs });
  return {
    parts: [filters, fees, announcer, rebroadcast, requests, receiver, new RejectMessages({ log })],
    filters,
    server: rebroadcast,
    announce: (txid) => announcer.announce(txid),
    stop: () => receiver.close(),
  };
}
