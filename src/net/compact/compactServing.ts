/**
 * Sends those transactions of a block that a peer could not reconstruct from a compact block. Source: Core
 * net_processing.cpp `GETBLOCKTXN`, `SendBlockTransactions`.
 */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import { INV } from '../inventory.js';
import type { Payload } from '../messages/table.js';
import type { MessageHandler, Peer } from '../messageHandler.js';
import { readInTurn, type BlockServing } from '../sync/blockServing.js';
import type { RecentBlocks } from '../sync/recentBlocks.js';
import type { SyncDeps } from '../sync/syncDeps.js';
import { pickTransactions } from './compactBlock.js';
import type { CompactPeers } from './compactPeers.js';

/**
 * Maximum depth of a block for which single transactions are sent. For deeper blocks the full block is sent, so that a peer
 * that causes large reads must also receive much data.
 */
const MAX_DEPTH = 10;

export interface CompactServingDeps extends Pick<SyncDeps, 'chain' | 'log'> {
  readonly compact: Pick<CompactPeers, 'wantsWitness'>;
  readonly recent: RecentBlocks;
  readonly blocks: Pick<BlockServing, 'serve'>;
}

export class CompactServing implements MessageHandler {
  readonly handlers = {
    getblocktxn: (peer: Peer, message: Payload<'getblocktxn'>) => this.onGetTransactions(peer, message),
  };
  private readonly deps: CompactServingDeps;

  constructor(deps: CompactServingDeps) {
    this.deps = deps;
  }

  private async onGetTransactions(peer: Peer, { blockHash, indexes }: Payload<'getblocktxn'>): Promise<void> {
    const { chain, compact, recent, blocks, log } = this.deps;
    const { headers } = chain.index;
    const id = headers.find(blockHash);
    const known = id === NO_HEADER ? undefined : recent.find(id);
    if (known) {
      this.answer(peer, known.block, blockHash, indexes);
      return;
    }
    if (id === NO_HEADER || !headers.hasStatus(id, STATUS.haveData)) {
      log.debug('net', `Peer ${peer.id} sent us a getblocktxn for a block we don't have`);
      return;
    }
    if (headers.height(id) < chain.height - MAX_DEPTH) {
      const type = compact.wantsWitness(peer) ? INV.witnessBlock : INV.block;
      await blocks.serve(peer, { type, hash: blockHash });
      return;
    }
    try {
      const block = await readInTurn(chain, peer, id);
      if (!peer.isGone) this.answer(peer, block, blockHash, indexes);
    } catch (error) {
      if (!(error instanceof BlockFileError)) throw error;
      log.warn(`block ${hashToHex(blockHash)} could not be read for peer=${peer.id}: ${error.message}`);
    }
  }

  private answer(peer: Peer, block: LoadedBlock, blockHash: Buffer, indexes: readonly number[]): void {
    const txs = pickTransactions(block, indexes, this.deps.compact.wantsWitness(peer));
    if (txs === null) peer.punish(100, 'getblocktxn with out-of-bounds tx indices');
    else peer.send('blocktxn', { blockHash, txs });
  }
}
