/** `getblockchaininfo`: the state of the chain. Source: lbrycrd rpc/blockchain.cpp, validation.cpp `GuessVerificationProgress`. */
import type { ChainReader } from '../../../chain/chainReader.js';
import type { ChainTxData } from '../../../params/network.js';
import { hashToHex } from '../../../util/bytes.js';
import { hex256 } from '../../format/block.js';
import { lbcdBip9SoftForks } from '../../format/lbcdSoftForks.js';
import { networkName } from '../../format/networkName.js';
import {
  BIP9_SOFT_FORKS_SCHEMA,
  bip9SoftForksAnswer,
  SOFT_FORKS_SCHEMA,
  softForksAnswer,
} from '../../format/softForks.js';
import { difficultyAnswer } from '../../format/difficulty.js';
import type { SnapshotService } from '../../../interfaces/services.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

/**
 * Returns the share of the network's transactions that is validated, from 0 to 1. The estimate uses the system clock, even
 * if a test sets a mock time.
 */
export function verificationProgress(chain: ChainReader, tip: number, data: ChainTxData): number {
  const { headers } = chain;
  const nowSec = Math.floor(Date.now() / 1000);
  const count = headers.chainTxCount(tip);
  const total =
    count <= data.txCount
      ? data.txCount + (nowSec - data.timeSec) * data.txPerSec
      : count + (nowSec - headers.timeSec(tip)) * data.txPerSec;
  return count / total;
}

/** Returns the total size of block and undo files in bytes. */
export function sizeOnDisk(chain: ChainReader): number {
  const { files } = chain.chain.deps;
  return files
    .fileNumbers()
    .reduce((sum, file) => sum + files.sizeBytes('blk', file) + files.sizeBytes('rev', file), 0);
}

/** Returns the fields about the snapshot from which the node was started; undefined for other nodes. */
function snapshotAnswer(
  snapshots: SnapshotService | undefined,
): { height: number; blockhash: string; hash: string; validated_height: number } | undefined {
  const status = snapshots?.status() ?? null;
  if (status === null) return undefined;
  const { height, block, hash, validatedHeight } = status;
  return { height, blockhash: block, hash, validated_height: validatedHeight };
}

export const getBlockchainInfo = defineMethod({
  name: 'getblockchaininfo',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'Returns an object containing various state info regarding blockchain processing.',
  params: [],
  result: t.object({
    chain: t.str('the name of the network'),
    blocks: t.int('the height of the validated chain'),
    headers: t.int('the height of the best header'),
    bestblockhash: t.hash('the hash of the tip'),
    difficulty: t.num('the difficulty of the tip'),
    mediantime: t.time('the median time of the tip'),
    verificationprogress: t.num('an estimate of how much of the chain is verified, 0 to 1'),
    initialblockdownload: t.bool('whether the node is in initial block download'),
    chainwork: t.hash('total work in the active chain, as 64 hex digits'),
    size_on_disk: t.int('size in bytes of the block and undo files on disk'),
    pruned: t.bool('whether block files are pruned'),
    pruneheight: t.optional(
      t.int('the lowest block height from which all later blocks are stored'),
      'if pruning is enabled',
    ),
    automatic_pruning: t.optional(t.bool('whether the node prunes automatically'), 'if pruning is enabled'),
    prune_target_size: t.optional(
      t.int('the target size in bytes of the block and undo files'),
      'if pruning is automatic',
    ),
    snapshot: t.optional(
      t.object({
        height: t.int('the height of the block'),
        blockhash: t.hash("the hash of the snapshot's block"),
        hash: t.hex('SHA-256 of the snapshot file'),
        validated_height: t.int('height of the last block validated in the background; -1 for none'),
      }),
      'while the node runs from a snapshot (-loadsnapshot) whose blocks are not all validated',
    ),
    softforks: SOFT_FORKS_SCHEMA,
    bip9_softforks: BIP9_SOFT_FORKS_SCHEMA,
    warnings: t.str('network and blockchain warnings'),
  }),
  examples: [[]],
  run({ services, profile }) {
    const { chain, params, pruner } = services;
    const { index, tip } = chain.chain;
    const { headers } = chain;
    return {
      chain: networkName(params, profile),
      blocks: chain.chain.height,
      headers: headers.height(index.bestHeader),
      bestblockhash: hashToHex(headers.hash(tip)),
      difficulty: difficultyAnswer(headers.bits(tip), { profile, params }),
      mediantime: index.active.medianTimeOf(tip),
      verificationprogress: verificationProgress(chain, tip, params.chainTxData),
      initialblockdownload: chain.chain.isInitialDownload(),
      chainwork: hex256(headers.work(tip)),
      size_on_disk: sizeOnDisk(chain),
      pruned: pruner !== null,
      pruneheight: pruner?.lowestStoredHeight(),
      automatic_pruning: pruner?.automatic,
      prune_target_size: pruner?.automatic ? pruner.targetBytes : undefined,
      snapshot: snapshotAnswer(services.snapshots),
      softforks: softForksAnswer(chain.chain.height, params),
      bip9_softforks:
        profile === 'lbcd' ? lbcdBip9SoftForks(index, tip, params) : bip9SoftForksAnswer(index, tip, params),
      warnings: services.warnings(),
    };
  },
});
