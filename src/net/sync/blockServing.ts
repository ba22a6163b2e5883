/**
 * Serves blocks to peers: in full, without witness, filtered or as compact block. Does not serve old blocks of stale
 * branches, blocks below the announced depth, or old blocks when the daily upload limit is nearly reached. Source: Core
 * net_processing.cpp `ProcessGetBlockData`, `BlockRequestAllowed`.
 */
import type { Chain } from '../../chain/chain.js';
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import { workEquivalentTimeSec } from '../../primitives/compactTarget.js';
import { HEADER_SIZE_BYTES } from '../../primitives/header.js';
import { txBytes } from '../../primitives/blockView.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { equalBytes, hashToHex } from '../../util/bytes.js';
import { Writer } from '../../util/writer.js';
import type { BloomFilter } from '../bloom/bloomFilter.js';
import type { CompactPeers } from '../compact/compactPeers.js';
import { INV, type InvItem } from '../inventory.js';
import { yieldIfDue, inTurns, peerQueue } from '../../scheduler/peerQueue.js';
import { buildMerkleBlock } from '../merkleBlock.js';
import type { MessageHandler, Peer, RandomSource } from '../messageHandler.js';
import { withoutWitness } from '../rawTransaction.js';
import { NODE } from '../services.js';
import type { BlockConnector } from './blockConnector.js';
import type { InventoryServer } from './getData.js';
import { RecentBlock, type RecentBlocks } from './recentBlocks.js';
import { isNearlyInStep, type SyncDeps } from './syncDeps.js';
import type { UploadTarget } from './uploadTarget.js';

/**
 * Maximum age in seconds of served blocks of stale branches. Applies to the block's time, and to the time that mining the
 * work above the block would take.
 */
const STALE_RELAY_AGE_SEC = 30 * 24 * 60 * 60;
/** Minimum age in seconds of historical blocks, which are subject to the upload limit. */
const HISTORICAL_AGE_SEC = 7 * 24 * 60 * 60;
/** Number of last blocks that are served with NODE_NETWORK_LIMITED, plus two to avoid races. */
const LIMITED_DEPTH = 288 + 2;
/** Maximum depth below the tip at which a block is sent as compact block. Deeper blocks are sent in full. */
const MAX_COMPACT_DEPTH = 5;
const KINDS: readonly number[] = [INV.block, INV.witnessBlock, INV.filteredBlock, INV.compactBlock];

export type BlockFilter = Pick<BloomFilter, 'isRelevantAndUpdateInSlices'>;

export interface BlockServingDeps extends SyncDeps {
  readonly connector: BlockConnector;
  readonly recent: RecentBlocks;
  readonly compact: Pick<CompactPeers, 'wantsWitness'>;
  readonly uploadTarget: UploadTarget;
  readonly random: RandomSource;
  readonly localServices: () => bigint;
  /** Returns the peer's bloom filter for filtered blocks (BIP37). */
  readonly blockFilterOf: (peer: Peer) => BlockFilter;
}

/** Whether the block may be served. An old block of a stale branch would identify this node. */
export function mayServe({ chain, params }: Pick<SyncDeps, 'chain' | 'params'>, id: number): boolean {
  const { headers, active, bestHeader } = chain.index;
  if (active.contains(id)) return true;
  if (!headers.hasStatus(id, STATUS.validScripts) || headers.isFailed(id)) return false;
  const work = (of: number): bigint => headers.work(of);
  return (
    headers.timeSec(bestHeader) - headers.timeSec(id) < STALE_RELAY_AGE_SEC &&
    workEquivalentTimeSec(work(bestHeader), work(id), headers.bits(bestHeader), params.targetSpacingSec) <
      STALE_RELAY_AGE_SEC
  );
}

export class BlockServing implements InventoryServer, MessageHandler {
  readonly handlers = {};
  private readonly deps: BlockServingDeps;
  /**
   * Last block of the response to getblocks, by peer id. When the peer requests this block, the tip is announced so that the
   * peer requests more.
   */
  private readonly continueAt = new Map<number, Buffer>();

  constructor(deps: BlockServingDeps) {
    this.deps = deps;
  }

  handles(type: number): boolean {
    return KINDS.includes(type);
  }

  /** Sets the block after whose request the tip is announced to the peer. `hash` is in wire order. */
  setContinue(peer: Peer, hash: Buffer): void {
    this.continueAt.set(peer.id, hash);
  }

  onGone(peer: Peer): void {
    this.continueAt.delete(peer.id);
  }

  /** Serves a requested block. Blocks that are not stored or not served to this peer are ignored without a response. */
  async serve(peer: Peer, { type, hash }: InvItem): Promise<true> {
    const { chain, connector, log } = this.deps;
    const { headers } = chain.index;
    const id = headers.find(hash);
    if (id === NO_HEADER) return true;
    const isUnchecked = headers.chainTxCount(id) > 0 && !headers.hasStatus(id, STATUS.validScripts);
    // The block was announced as compact block and is still being connected. Waits for the result, except during the
    // initial download, which may take long.
    if (isUnchecked && !headers.isFailed(id) && !chain.isInitialDownload()) await connector.request();
    if (peer.isGone || !this.isAllowed(peer, id, type) || !headers.hasStatus(id, STATUS.haveData))
      return true;
    try {
      await this.send(peer, id, type);
    } catch (error) {
      if (!(error instanceof BlockFileError)) throw error;
      log.warn(`block ${hashToHex(hash)} could not be read for peer=${peer.id}: ${error.message}`);
      return true;
    }
    if (!peer.isGone) this.sendContinue(peer, hash);
    return true;
  }

  private isAllowed(peer: Peer, id: number, type: number): boolean {
    const { chain, uploadTarget, localServices, log } = this.deps;
    const { headers, bestHeader } = chain.index;
    if (!mayServe(this.deps, id)) {
      log.debug('net', `ignoring request from peer=${peer.id} for old block that isn't in the main chain`);
      return false;
    }
    if (peer.isWhitelisted) return true;
    const isHistorical = headers.timeSec(bestHeader) - headers.timeSec(id) > HISTORICAL_AGE_SEC;
    if ((isHistorical || type === INV.filteredBlock) && uploadTarget.refusesHistoricalBlocks) {
      peer.disconnect('historical block serving limit reached');
      return false;
    }
    const services = localServices();
    const isLimited = (services & NODE.networkLimited) !== 0n && (services & NODE.network) === 0n;
    // The peer is disconnected: the response must not reveal which blocks are pruned, and the peer must not wait for the
    // block.
    if (isLimited && chain.height - headers.height(id) > LIMITED_DEPTH) {
      peer.disconnect('block request below NODE_NETWORK_LIMITED threshold');
      return false;
    }
    return true;
  }

  private async send(peer: Peer, id: number, type: number): Promise<void> {
    const { compact } = this.deps;
    if (type === INV.filteredBlock) await this.sendFiltered(peer, id);
    else if (type === INV.compactBlock && this.isWorthCompact(id)) {
      const { random, recent } = this.deps;
      const block = recent.find(id) ?? new RecentBlock(id, await this.load(peer, id), random);
      if (!peer.isGone) peer.sendRaw('cmpctblock', block.compactPayload(compact.wantsWitness(peer)));
    } else {
      const withWitness = type === INV.compactBlock ? compact.wantsWitness(peer) : type === INV.witnessBlock;
      const payload = await this.payload(peer, id, withWitness);
      if (!peer.isGone) peer.sendRaw('block', payload);
    }
  }

  private isWorthCompact(id: number): boolean {
    const { chain } = this.deps;
    return isNearlyInStep(this.deps) && chain.index.headers.height(id) >= chain.height - MAX_COMPACT_DEPTH;
  }

  private load(peer: Peer, id: number): Promise<LoadedBlock> | LoadedBlock {
    return this.deps.recent.find(id)?.block ?? readInTurn(this.deps.chain, peer, id);
  }

  /** Returns the stored block, with or without witness. A corrupt block is not sent. */
  private async payload(peer: Peer, id: number, withWitness: boolean): Promise<Buffer> {
    const { chain } = this.deps;
    const { headers, versionBits } = chain.index;
    const mayHaveWitness = versionBits.isActive('segwit', headers.prev(id));
    if (mayHaveWitness && !withWitness) return strippedBlock(await this.load(peer, id));
    const recent = this.deps.recent.find(id)?.block;
    return recent?.raw ?? chain.readBlockBytes(id, () => peerQueue.nextTurn(peer));
  }

  /**
   * Sends the merkle proof and the matching transactions. The transactions are included because the peer cannot request
   * confirmed transactions.
   */
  private async sendFiltered(peer: Peer, id: number): Promise<void> {
    const block = await this.load(peer, id);
    if (peer.isGone) return;
    const filter = this.deps.blockFilterOf(peer);
    const work = buildMerkleBlock(block, (tx) =>
      filter.isRelevantAndUpdateInSlices(block.raw, block.parsed, tx),
    );
    const { message, matches } = await inTurns(work, peer);
    if (peer.isGone) return;
    peer.send('merkleblock', message);
    let since = performance.now();
    for (const tx of matches) {
      peer.sendRaw('tx', withoutWitness(txBytes(block.raw, block.parsed, tx)));
      since = await yieldIfDue(since, peer);
      if (peer.isGone) return;
    }
  }

  private sendContinue(peer: Peer, hash: Buffer): void {
    const { chain } = this.deps;
    const last = this.continueAt.get(peer.id);
    if (!last || !equalBytes(last, hash)) return;
    this.continueAt.delete(peer.id);
    const tip = Buffer.from(chain.index.headers.hash(chain.tip));
    peer.send('inv', { items: [{ type: INV.block, hash: tip }] });
  }
}

/** Reads a block and processes it in a turn of the requesting peer, so that concurrent reads share the event loop fairly. */
export function readInTurn(chain: Pick<Chain, 'readBlock'>, peer: Peer, id: number): Promise<LoadedBlock> {
  return chain.readBlock(id, () => peerQueue.nextTurn(peer));
}

/** Returns the block serialized without witnesses. */
function strippedBlock({ raw, parsed }: LoadedBlock): Buffer {
  if (parsed.strippedSizeBytes === raw.length) return raw;
  const writer = new Writer(parsed.strippedSizeBytes).raw(raw.subarray(0, HEADER_SIZE_BYTES));
  writer.compactSize(parsed.txCount);
  for (let tx = 0; tx < parsed.txCount; tx++) writer.raw(withoutWitness(txBytes(raw, parsed, tx)));
  return writer.finish();
}
