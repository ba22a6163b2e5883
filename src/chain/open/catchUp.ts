/**
 * Updates the chain to the state of the block files: reads the blocks after the position that the database knows, and
 * connects stored blocks that are not connected. After a kill there are few such blocks; with `-reindex` and
 * `-reindex-chainstate` all blocks are read or connected. Source: Core init.cpp `ThreadImport`.
 */
import type { NetworkParams } from '../../params/network.js';
import type { FilePosition } from '../../store/files/blockFiles.js';
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import type { Logger } from '../../util/logging.js';
import type { Chain } from '../chain.js';
import type { Flusher } from '../flusher.js';
import { loadBlock } from '../blocks/loadedBlock.js';
import { ProgressTeller } from '../progress.js';
import { scanBlockFiles } from './scanBlockFiles.js';

export interface CatchUpOptions {
  chain: Chain;
  flusher: Flusher;
  log: Logger;
  /** Warns the operator and writes to the log. */
  warn: (message: string) => void;
  signal: AbortSignal;
}

/** Reads the block files after the position `from` and connects the stored blocks. Stops early when the signal aborts. */
export async function catchUp(options: CatchUpOptions, from: FilePosition): Promise<void> {
  const { chain, flusher, signal } = options;
  const announce = flusher.isRebuilding;
  const scanning = new ProgressTeller(chain, announce ? 'Reindexing blocks' : 'Reading block files');
  await scanBlockFiles({ ...options, announce, progress: scanning }, from).finally(() => scanning.end());
  if (!signal.aborted) ensureGenesisData(chain);
  await connectStored(chain);
  if (!signal.aborted && !chain.isInterrupted) flusher.forgetEarlierBlocks();
}

/**
 * Computes the whole chain state from the block files, while RPC calls may be served. After a stop or a kill the next start
 * continues the computation.
 */
export async function rebuild(options: CatchUpOptions, from: FilePosition): Promise<void> {
  const { chain, flusher, log, signal } = options;
  await catchUp(options, from);
  if (signal.aborted || chain.isInterrupted) return;
  flusher.isRebuilding = false;
  await chain.change(() => flusher.flush());
  log.info('Reindexing finished');
}

/** Number of progress reports while stored blocks are connected. More would not change what is displayed. Arbitrary. */
const REPORTS = 2000;

/** Connects the stored blocks that are not connected: usually few, but all after `-reindex-chainstate`. */
async function connectStored(chain: Chain): Promise<void> {
  const { index } = chain;
  const progress = new ProgressTeller(chain, 'Connecting blocks');
  let nextReport = 0;
  const off = chain.events.on('blockConnected', () => {
    const done = index.headers.chainTxCount(chain.tip);
    if (done < nextReport) return;
    const total = index.headers.chainTxCount(index.candidates.best());
    progress.report(done, total);
    nextReport = done + total / REPORTS;
  });
  await chain.connectBestChain().finally(() => {
    off();
    progress.end();
  });
}

/**
 * Accepts the genesis block, which every network has from the start. Its data is written unless a block file already
 * contains it.
 */
export function acceptGenesis(chain: Chain, params: NetworkParams): void {
  const { headers } = chain.index;
  const known = headers.find(params.genesisHash);
  if (known !== NO_HEADER && headers.hasStatus(known, STATUS.haveData)) return;
  const block = loadBlock(params.genesis.block);
  const files = chain.deps.files;
  const { id, error } = chain.index.acceptHeader(block.header, block.hash);
  if (error) throw new Error(`the genesis block is invalid: ${error.reason}`);
  if (files.sizeBytes('blk', 0) === 0)
    chain.index.receiveData(id, block.parsed.txCount, files.writeBlock(block.raw));
}

/** Appends the genesis block to the block files if no file contains it. */
function ensureGenesisData({ index, deps }: Chain): void {
  const { params, files } = deps;
  const genesis = index.headers.find(params.genesisHash);
  if (index.headers.hasStatus(genesis, STATUS.haveData)) return;
  index.receiveData(genesis, 1, files.writeBlock(params.genesis.block));
}
