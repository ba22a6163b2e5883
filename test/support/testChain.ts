/**
 * A regtest chain in a temporary folder with all services that RPC methods use. The node's own miner makes the blocks, with
 * transactions of the test. For unit tests: it does not listen and starts no process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChain, type OpenedChain } from '../../src/chain/open/openChain.js';
import { loadBlock, type LoadedBlock } from '../../src/chain/blocks/loadedBlock.js';
import type { SnapshotSource } from '../../src/chain/snapshot/loadSnapshot.js';
import { Pruner } from '../../src/chain/blocks/pruner.js';
import { addressIndex } from '../../src/index/addressIndex.js';
import { filterIndex } from '../../src/index/filterIndex.js';
import { AddressQueries } from '../../src/index/addressQueries.js';
import { BackgroundFill } from '../../src/index/backgroundFill.js';
import { claimIndex } from '../../src/index/claims/claimIndex.js';
import { claimIndexOf } from '../../src/index/claims/claimIndexQueries.js';
import { TrackedIndex } from '../../src/index/chainIndex.js';
import { findTransaction, txIndex } from '../../src/index/txIndex.js';
import type { ClaimRules } from '../../src/claimtrie/types.js';
import type { BlockCandidate, BlockSource } from '../../src/mempool/mempoolReader.js';
import { formatTemplate, setExtraNonce } from '../../src/mining/blockAssembler.js';
import { Miner } from '../../src/mining/miner.js';
import type { NetworkParams } from '../../src/params/network.js';
import { regtestParams } from '../../src/params/regtest.js';
import {
  formatTransaction,
  transactionWeight,
  txid,
  wtxid,
  type Transaction,
} from '../../src/primitives/transaction.js';
import { claimReader } from '../../src/rpc/lookup/claimReader.js';
import { CoinScan } from '../../src/rpc/lookup/coinScan.js';
import { invokeMethod } from '../../src/rpc/call/callMethod.js';
import { type Profile, type RpcContext, type RpcMethod } from '../../src/rpc/declare/method.js';
import { checkJson } from '../../src/schema/schemaCheck.js';
import type { RpcServices } from '../../src/interfaces/services.js';
import { MethodTable } from '../../src/rpc/declare/table.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, toLatin1, type Bytes } from '../../src/util/bytes.js';
import { toPlain, type JsonValue } from '../../src/util/json/json.js';
import { parseJson } from '../../src/util/json/jsonParse.js';
import { jsonChunks } from '../../src/util/json/jsonStream.js';
import { LogCategorySet, SILENT_LOGGER, type Logger } from '../../src/util/logging.js';
import { Writer } from '../../src/util/writer.js';
import { emptyMempool } from './emptyMempool.js';

/** A script that anyone can spend. */
export const OPEN_SCRIPT = Buffer.from('51', 'hex');
/** An address and its script. The key hash is twenty zero bytes, so it cannot be spent. */
export const ADDRESS = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';
export const ADDRESS_SCRIPT = scriptForDestination({ type: 'pubkeyhash', hash: new Uint8Array(20) });

export const START_TIME_SEC = 1_600_000_000;

export interface TestChainOptions {
  txIndex?: boolean;
  addressIndex?: boolean;
  filterIndex?: boolean;
  claimIndex?: boolean;
  /** Number of past blocks with proofs, and the maximum depth to which indexes can be disconnected; default: 5000. */
  proofWindow?: number;
  /** Default: 100. */
  supportDelay?: ClaimRules['supportDelay'];
  prune?: boolean;
  params?: NetworkParams;
  /** Default: 0. */
  minimumChainWork?: bigint;
  /** An existing folder; default: a new one. */
  folder?: string;
  /** Initial time of the clock. */
  timeSec?: number;
  /** Is called with each warning to the operator. */
  warn?: (message: string) => void;
  log?: Logger;
  reindexChainstate?: boolean;
  /** A snapshot from which a new folder starts. */
  snapshot?: SnapshotSource;
  /** Called at the named points of loading and of flushes. */
  onPoint?: (name: string) => void;
  /** Called when the chain fails; default: throws the error. */
  onFatal?: (error: unknown) => void;
}

function rethrow(error: unknown): never {
  throw error;
}

export interface Answer {
  result?: unknown;
  error?: { code: number; message: string };
}

/** A network part without peers. */
const NETWORK: Partial<NonNullable<RpcServices['network']>> = {
  version: 10_000,
  protocolVersion: 70_015,
  userAgent: '/lbcnode:0.1.0/',
  relaysTransactions: true,
  isActive: () => true,
  localServices: () => 0x40dn,
  connectionCount: () => 3,
  timeOffsetSec: () => -1,
  networks: () => [
    { name: 'ipv4', limited: false, reachable: true, proxy: '', randomizesProxyCredentials: false },
    { name: 'ipv6', limited: true, reachable: false, proxy: '', randomizesProxyCredentials: false },
    {
      name: 'onion',
      limited: false,
      reachable: true,
      proxy: '127.0.0.1:9050',
      randomizesProxyCredentials: true,
    },
  ],
  localAddresses: () => [{ address: '203.0.113.1', port: 29246, score: 4 }],
};

export class TestChain {
  readonly folder: string;
  readonly opened: OpenedChain;
  /** Continues indexes that are behind, when a test calls it. */
  readonly fill: BackgroundFill;
  readonly services: RpcServices;
  readonly miner: Miner;
  /** Transactions for the next block, which removes them. */
  readonly pending: Transaction[] = [];
  timeSec: number;

  private constructor(folder: string, opened: OpenedChain, fill: BackgroundFill, options: TestChainOptions) {
    const { params = regtestParams, timeSec = START_TIME_SEC } = options;
    this.timeSec = timeSec;
    this.folder = folder;
    this.opened = opened;
    this.fill = fill;
    const source: BlockSource = {
      changeCount: 0,
      prepareForBlock: () => Promise.resolve(),
      selectForBlock: async () => blockCandidates(this.pending.splice(0)),
    };
    const clock = (): number => this.timeSec;
    this.miner = new Miner(
      { maxWeight: 8_000_000, minFeeRatePerKb: 0n, version: null },
      { chain: opened.chain, source, adjustedTimeSec: clock },
    );
    const pruner = new Pruner(
      opened.chain,
      opened.flusher,
      { targetBytes: null, neededFrom: () => fill.neededFrom() },
      SILENT_LOGGER,
    );
    this.services = {
      lifecycle: { startTimeSec: START_TIME_SEC, requestStop: () => undefined },
      logging: new LogCategorySet(),
      log: SILENT_LOGGER,
      params,
      chain: opened.reader,
      claims: claimReader(opened.store, opened.claims, opened.chain.index.active),
      txIndex: options.txIndex === false ? null : { find: (id) => findTransaction(opened.store, id) },
      addresses:
        options.addressIndex === true
          ? Object.assign(new AddressQueries(opened.store), { mempoolTransactions: () => [] })
          : null,
      indexes: () => fill.statuses(),
      claimIndex:
        options.claimIndex === true
          ? claimIndexOf(opened.reader, opened.claims.rules, () => fill.statuses())
          : null,
      mempool: emptyMempool(),
      mining: this.miner,
      clock: {
        nowSec: clock,
        adjustedTimeSec: clock,
        setMockTime: (timeSec) => void (this.timeSec = timeSec),
      },
      pruner: options.prune === true ? pruner : null,
      network: NETWORK,
      peers: null,
      coinScan: new CoinScan(),
      blockTexts: null,
      options: {
        maxTxFeeSat: 50_000_000n,
        incrementalFeeRatePerKb: 1000n,
        serializeWitness: true,
        claimMetadata: false,
        checkLevel: 3,
        checkBlocks: 6,
      },
      zmqNotifiers: () => [{ type: 'pubhashtx', address: 'tcp://127.0.0.1:28332' }],
      warnings: () => 'a warning',
    } as Partial<RpcServices> as RpcServices;
  }

  static async open(options: TestChainOptions = {}): Promise<TestChain> {
    const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'lbcnode-chain-'));
    const { params = regtestParams, proofWindow = 5000, supportDelay = 100 } = options;
    const rules = { ...params.claimForks, supportDelay };
    const tipHeight = (): number => chain?.opened.chain.height ?? -1;
    const indexes = [
      ...(options.txIndex === false ? [] : [txIndex]),
      ...(options.addressIndex === true ? [addressIndex] : []),
      ...(options.filterIndex === true ? [filterIndex] : []),
      ...(options.claimIndex === true ? [claimIndex({ params, rules, window: proofWindow, tipHeight })] : []),
    ].map((index) => new TrackedIndex(index));
    let chain: TestChain | null = null;
    const opened = await openChain({
      folder,
      blocksFolder: join(folder, 'blocks'),
      params,
      identity: {
        network: params.name,
        supportDelay: String(supportDelay),
        claimRules: JSON.stringify(params.claimForks),
        proofWindow: String(proofWindow),
      },
      supportDelay,
      proofWindow,
      cacheBytes: 32 << 20,
      claimCacheBytes: 4 << 20,
      batchBytes: 16 << 20,
      compacts: false,
      reindex: false,
      reindexChainstate: options.reindexChainstate === true,
      pruning: false,
      checkpoints: true,
      minimumChainWork: options.minimumChainWork ?? 0n,
      assumeValid: null,
      maxTipAgeSec: 86_400,
      stopAtHeight: 0,
      onStopHeight: () => undefined,
      onFatal: options.onFatal ?? rethrow,
      adjustedTimeSec: () => chain?.timeSec ?? options.timeSec ?? START_TIME_SEC,
      ...(options.warn ? { warn: options.warn } : {}),
      contributors: indexes,
      signal: new AbortController().signal,
      log: options.log ?? SILENT_LOGGER,
      ...(options.snapshot ? { snapshot: options.snapshot } : {}),
      ...(options.onPoint ? { onPoint: options.onPoint } : {}),
    });
    const { flusher } = opened;
    const fill = new BackgroundFill(
      { chain: opened.chain, flusher, log: SILENT_LOGGER, warn: () => undefined, mostBlocks: 3 },
      indexes,
    );
    await fill.prepare();
    return (chain = new TestChain(folder, opened, fill, options));
  }

  async close(): Promise<void> {
    await this.opened.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Closes the chain and opens its folder again with the same clock. The old object must not be used afterwards. */
  async reopen(options: TestChainOptions = {}): Promise<TestChain> {
    await this.opened.close();
    const again = await TestChain.open({ ...options, folder: this.folder });
    again.timeSec = this.timeSec;
    return again;
  }

  /** Mines blocks that pay to `script`. The first block contains the pending transactions. Returns the ids in wire order. */
  mine(count: number, script: Bytes = OPEN_SCRIPT): Promise<Buffer[]> {
    return this.miner.generate(script, count, Infinity, new AbortController().signal);
  }

  /** The block at a height of the active chain. */
  blockAt(height: number): Promise<LoadedBlock> {
    return this.opened.reader.readBlock(this.opened.chain.index.active.at(height));
  }

  /** A block on the tip without proof of work. It is not connected. */
  async makeBlock(): Promise<LoadedBlock> {
    const template = await this.miner.assembler.assemble(OPEN_SCRIPT);
    setExtraNonce(template, 1);
    return loadBlock(formatTemplate(template));
  }

  context(profile: Profile = 'documented', signal = new AbortController().signal): RpcContext {
    return {
      profile,
      services: this.services,
      signal,
      walletName: undefined,
      outOfTurn: (wait) => wait(),
      table: new MethodTable([]),
      isDeprecatedEnabled: () => false,
    };
  }

  /** Calls a method. An answer that does not match its declaration fails the test. */
  async call(
    method: RpcMethod,
    params: readonly JsonValue[] = [],
    context = this.context(),
  ): Promise<Answer> {
    try {
      const out = await invokeMethod(method, context, params);
      let text = '';
      for await (const chunk of jsonChunks(out)) text += chunk;
      const parsed = parseJson(text);
      const problems = checkJson(method.result, parsed);
      if (problems.length > 0) throw new Error(`${method.name}: ${problems.join('; ')}`);
      return { result: toPlain(parsed) };
    } catch (error) {
      if (error instanceof Error && 'code' in error && typeof error.code === 'number') {
        return { error: { code: error.code, message: error.message } };
      }
      throw error;
    }
  }
}

/** Each transaction comes after those that it spends. */
function blockCandidates(transactions: readonly Transaction[]): BlockCandidate[] {
  const made = new Map<string, BlockCandidate>();
  for (const tx of transactions) {
    const parents = new Set(tx.inputs.map(({ prevout }) => made.get(toLatin1(prevout.hash))));
    const candidate = blockCandidate(
      tx,
      [...parents].filter((parent) => parent !== undefined),
    );
    made.set(candidate.key, candidate);
  }
  return [...made.values()];
}

function blockCandidate(tx: Transaction, parents: readonly BlockCandidate[]): BlockCandidate {
  return {
    parents,
    key: toLatin1(txid(tx)),
    wtxKey: toLatin1(wtxid(tx)),
    txid: txid(tx),
    wtxid: wtxid(tx),
    bytes: formatTransaction(tx),
    feeSat: 0n,
    modifiedFeeSat: 0n,
    sizeBytes: Math.ceil(transactionWeight(tx) / 4),
    sigopsCost: 0,
    weight: transactionWeight(tx),
  };
}

/** A transaction that spends outputs which anyone can spend. */
export function spend(
  inputs: readonly { txid: Bytes; n: number }[],
  outputs: readonly { value: bigint; script: Bytes }[],
): Transaction {
  return {
    version: 2,
    inputs: inputs.map(({ txid: hash, n }) => ({
      prevout: { hash, index: n },
      scriptSig: new Uint8Array(0),
      sequence: 0xffffffff,
      witness: [],
    })),
    outputs: outputs.map(({ value, script }) => ({ value, script })),
    lockTime: 0,
  };
}

/** 36 bytes: the key of an output given by its printed transaction id. */
export function outPointOf(printedTxid: string, n: number): Buffer {
  return new Writer(36).raw(hashFromHex(printedTxid)).u32(n).finish();
}
