/**
 * Fills the RPC methods' view of the node. What needs the chain is attached once it is open; until then every call is
 * answered "warming up", so nobody asks.
 */
import type { ChainReader } from '../chain/chainReader.js';
import type { OpenedChain } from '../chain/openChain.js';
import type { Pruner } from '../chain/pruner.js';
import { findTransaction } from '../index/txIndex.js';
import { Mempool } from '../mempool/mempool.js';
import { Miner } from '../mining/miner.js';
import { claimReader, type ClaimReader } from '../rpc/claimReader.js';
import { CoinScan } from '../rpc/coinScan.js';
import type { RpcServices } from '../rpc/services.js';
import { assert } from '../util/assert.js';
import type { LogControl, Logger } from '../util/logging.js';
import type { AdjustedClock } from './clock.js';
import { mempoolSettings } from './mempoolSettings.js';
import type { LoadedOptions } from './options.js';

/** The version as one number, as the reference counts: major, minor, revision, build, two digits each. */
const CLIENT_VERSION = 10_000;
/** The P2P protocol spoken: with witnesses, compact blocks and NETWORK_LIMITED. */
const PROTOCOL_VERSION = 70_015;

export interface ServicesInput {
  loaded: LoadedOptions;
  clock: AdjustedClock;
  startTimeSec: number;
  deps: { logger: Logger & LogControl; requestStop: () => void; signal: AbortSignal };
}

export interface NodeServices {
  services: RpcServices;
  /** Makes what follows the chain from its first block on. */
  follow(reader: ChainReader): void;
  attach(opened: OpenedChain, pruner: Pruner | null): void;
  /** Reads the mempool that the last run left; a long one goes on being read, `onFatal` hearing of a broken disk. */
  load(onFatal: (error: unknown) => void): Promise<void>;
  /** Writes what must be on disk after a stop. */
  save(): Promise<void>;
}

interface Attached {
  opened: OpenedChain;
  pruner: Pruner | null;
  mining: Miner;
  claims: ClaimReader;
}

export function makeServices({ loaded, clock, startTimeSec, deps }: ServicesInput): NodeServices {
  const { options, params } = loaded;
  let attached: Attached | null = null;
  let mempool: Mempool | null = null;
  const loading = new AbortController();
  let mempoolRead: Promise<void> = Promise.resolve();
  const now = (): Attached => {
    assert(attached, 'a method asked for the chain before it was open');
    return attached;
  };
  const theMempool = (): Mempool => {
    assert(mempool, 'a method asked for the mempool before there was one');
    return mempool;
  };
  const services: RpcServices = {
    lifecycle: { startTimeSec, requestStop: deps.requestStop },
    logging: deps.logger,
    params,
    get chain() {
      return now().opened.reader;
    },
    get claims() {
      return now().claims;
    },
    txIndex: options.txindex ? { find: (txid) => findTransaction(now().opened.store, txid) } : null,
    get mempool() {
      return theMempool();
    },
    get mempoolGate() {
      return theMempool();
    },
    get mining() {
      return now().mining;
    },
    clock: { adjustedTimeSec: () => clock.nowSec(), setMockTime: (timeSec) => clock.setMock(timeSec) },
    get pruner() {
      return now().pruner;
    },
    network: {
      version: CLIENT_VERSION,
      protocolVersion: PROTOCOL_VERSION,
      proxy: options.proxy ?? '',
      connectionCount: () => 0,
      timeOffsetSec: () => 0,
    },
    coinScan: new CoinScan(),
    options: {
      maxTxFeeSat: options.maxtxfee,
      serializeWitness: options.rpcserialversion > 0,
      checkLevel: options.checklevel,
      checkBlocks: options.checkblocks,
    },
    warnings: () => '',
  };
  return {
    services,
    follow(reader) {
      mempool = new Mempool(mempoolSettings(loaded), {
        reader,
        nowSec: () => clock.nowSec(),
        log: deps.logger,
      });
    },
    attach(opened, pruner) {
      const mining = new Miner(
        {
          maxWeight: options.blockmaxweight,
          minFeeRatePerKb: options.blockmintxfee,
          version: loaded.network === 'regtest' ? (options.blockversion ?? null) : null,
        },
        { chain: opened.chain, source: theMempool(), adjustedTimeSec: () => clock.nowSec() },
      );
      attached = { opened, pruner, mining, claims: claimReader(opened.store, opened.claims) };
    },
    async load(onFatal) {
      const { finished } = await theMempool().load(AbortSignal.any([loading.signal, deps.signal]));
      mempoolRead = finished.catch(onFatal);
    },
    async save() {
      loading.abort();
      await mempoolRead;
      if (options.persistmempool && theMempool().isLoaded) await theMempool().save();
    },
  };
}
