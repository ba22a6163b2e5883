/**
 * Fills the RPC methods' view of the node. What needs the chain is attached once it is open; until then every call is
 * answered "warming up", so nobody asks.
 */
import { join } from 'node:path';
import type { OpenedChain } from '../chain/openChain.js';
import type { Pruner } from '../chain/pruner.js';
import { findTransaction } from '../index/txIndex.js';
import { emptyMempool } from '../mempool/emptyMempool.js';
import { Miner } from '../mining/miner.js';
import { claimReader, type ClaimReader } from '../rpc/claimReader.js';
import { CoinScan } from '../rpc/coinScan.js';
import type { RpcServices } from '../rpc/services.js';
import { assert } from '../util/assert.js';
import type { LogControl, Logger } from '../util/logging.js';
import type { AdjustedClock } from './clock.js';
import type { LoadedOptions } from './options.js';

/** The version as one number, as the reference counts: major, minor, revision, build, two digits each. */
const CLIENT_VERSION = 10_000;
/** The P2P protocol spoken: with witnesses, compact blocks and NETWORK_LIMITED. */
const PROTOCOL_VERSION = 70_015;

export interface ServicesInput {
  loaded: LoadedOptions;
  clock: AdjustedClock;
  startTimeSec: number;
  deps: { logger: Logger & LogControl; requestStop: () => void };
}

export interface NodeServices {
  services: RpcServices;
  attach(opened: OpenedChain, pruner: Pruner | null): void;
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
  const { options, params, paths } = loaded;
  let attached: Attached | null = null;
  const now = (): Attached => {
    assert(attached, 'a method asked for the chain before it was open');
    return attached;
  };
  const mempool = emptyMempool({
    maxUsageBytes: options.maxmempool * 1_000_000,
    minRelayFeeRatePerKb: options.minrelaytxfee,
    dumpPath: join(paths.networkDir, 'mempool.dat'),
  });
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
    mempool,
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
      serializeWitness: options.rpcserialversion > 0,
      checkLevel: options.checklevel,
      checkBlocks: options.checkblocks,
    },
    warnings: () => '',
  };
  return {
    services,
    attach(opened, pruner) {
      const mining = new Miner(
        {
          maxWeight: options.blockmaxweight,
          minFeeRatePerKb: options.blockmintxfee,
          version: loaded.network === 'regtest' ? (options.blockversion ?? null) : null,
        },
        { chain: opened.chain, source: mempool, adjustedTimeSec: () => clock.nowSec() },
      );
      attached = { opened, pruner, mining, claims: claimReader(opened.store, opened.claims) };
    },
    async save() {
      if (options.persistmempool) await mempool.save();
    },
  };
}
