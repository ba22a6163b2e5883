/** Esplora paths for blocks. Source: Esplora API.md "Blocks"; electrs rest.rs. */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import type { ChainReader } from '../../chain/chainReader.js';
import { difficultyOf } from '../../primitives/compactTarget.js';
import { formatHeader, type BlockHeader } from '../../primitives/header.js';
import { txidAt } from '../../primitives/blockView.js';
import { readBlockOrNull } from '../../rpc/lookup/blockLookup.js';
import { t } from '../../schema/schema.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import type { BlockSize } from './blockSizes.js';
import {
  badRequest,
  notFound,
  unavailable,
  type EsploraCall,
  type EsploraNode,
  type EsploraPath,
} from './declaration.js';
import { blockParam, numberParam } from './params.js';
import { bytesReply, hexReply, jsonReply, jsonTextReply, pageReply, textReply } from './reply.js';
import type { RecentBlockFacts } from './recentReads.js';
import { TRANSACTION_SCHEMA } from './txFormat.js';
import { blockTxAnswers } from './txFacts.js';

const HASH_BYTES = 32;
/** Number of blocks on one page of a list. Source: electrs `BLOCK_LIMIT`. */
const BLOCKS_A_PAGE = 10;
/** Number of transactions on a page of a list. Source: electrs `CHAIN_TXS_PER_PAGE`. */
export const TXS_A_PAGE = 25;
/**
 * Cache times: constant data may be cached for `FOREVER_SEC` (five years) once its block has `FINAL_DEPTH` confirmations,
 * because a reorg is then unlikely.
 */
const FOREVER_SEC = 157_784_630;
const FINAL_DEPTH = 10;

export const BLOCK_SCHEMA = t.named(
  'EsploraBlock',
  t.object({
    id: t.hash('the block'),
    height: t.int('its height'),
    version: t.int('its version'),
    timestamp: t.time('its time'),
    tx_count: t.int('the number of its transactions'),
    size: t.int('bytes with witness'),
    weight: t.int('weight as BIP141 defines it'),
    merkle_root: t.hash('the merkle root'),
    previousblockhash: t.union([
      { when: 'except for the genesis block', schema: t.hash('the previous block') },
      { when: 'for the genesis block', schema: t.none() },
    ]),
    mediantime: t.time('the median time of this block and the ten before it'),
    nonce: t.int('the nonce'),
    bits: t.int('the compact target'),
    difficulty: t.num('the difficulty'),
    nameclaimroot: t.hash('the root of the claim trie'),
  }),
);

async function requireBlock({ services }: EsploraNode, id: number): Promise<LoadedBlock> {
  const block = await readBlockOrNull(services, id);
  if (block !== null) return block;
  const behind = services.chain.behindSnapshot(id);
  throw behind === null ? notFound('Block not found') : unavailable(`${behind}.`);
}

/**
 * Returns the block with its parsed data, like `requireBlock`. Used for a block that is likely to be requested again, so it
 * is cached.
 */
function requireRecent(node: EsploraNode, id: number): MaybePromise<RecentBlockFacts> {
  const { recent } = node;
  return recent.block(id) ?? requireBlock(node, id).then((block) => recent.keepBlock(id, block));
}

/** Returns a block in the format of lists and notifications. Throws `EsploraError` if the block's data was pruned. */
export function blockAnswer(node: EsploraNode, id: number): MaybePromise<JsonOut> {
  const { chain } = node.services;
  return whenResolved(
    node.sizes.of(id, () => requireBlock(node, id)),
    (size) => whenResolved(chain.readHeader(id), (header) => formatBlock(chain, id, size, header)),
  );
}

function formatBlock(chain: ChainReader, id: number, size: BlockSize, header: BlockHeader): JsonOut {
  const { headers } = chain;
  const { active } = chain.chain.index;
  return {
    id: hashToHex(headers.hash(id)),
    height: headers.height(id),
    version: header.version,
    timestamp: header.timeSec,
    tx_count: headers.txCount(id),
    size: size.sizeBytes,
    weight: size.weight,
    merkle_root: hashToHex(header.merkleRoot),
    previousblockhash: headers.prev(id) === NO_HEADER ? null : hashToHex(header.prevHash),
    mediantime: active.medianTimeOf(id),
    nonce: header.nonce,
    bits: header.bits,
    difficulty: difficultyOf(header.bits),
    nameclaimroot: hashToHex(header.claimRoot),
  };
}

/** Blocks of the active chain, from `height` downwards. */
export async function blocksFrom(node: EsploraNode, height: number, count: number): Promise<JsonOut[]> {
  const { active } = node.services.chain.chain.index;
  const blocks: JsonOut[] = [];
  for (let at = height; at >= 0 && blocks.length < count; at--)
    blocks.push(await blockAnswer(node, active.at(at)));
  return blocks;
}

/** Lets HTTP caches store the response, if the block that it describes has enough confirmations. */
export function cacheBlock(call: EsploraCall, id: number): void {
  const { headers, chain } = call.services.chain;
  const { active } = chain.index;
  if (active.contains(id) && active.height - headers.height(id) >= FINAL_DEPTH) call.cacheFor(FOREVER_SEC);
}

/** Id of the block of the active chain at `height`. A height above the tip is an error with status 404. */
function activeAt({ services: { chain } }: EsploraCall, height: number): number {
  const { active } = chain.chain.index;
  if (height > active.height) throw notFound('Block not found');
  return active.at(height);
}

/** The block's transaction ids as JSON text. Built as text directly, because a large block has thousands of ids. */
function txidsJson({ parsed }: LoadedBlock): string {
  const ids = Buffer.from(parsed.txids.subarray(0, HASH_BYTES * parsed.txCount));
  for (let at = 0; at < ids.length; at += HASH_BYTES) ids.subarray(at, at + HASH_BYTES).reverse();
  const hex = ids.toString('hex');
  const parts: string[] = [];
  for (let at = 0; at < hex.length; at += 2 * HASH_BYTES) parts.push(hex.slice(at, at + 2 * HASH_BYTES));
  return `["${parts.join('","')}"]`;
}

const HASH = { hash: 'hash' } as const;
const BASE = { method: 'GET', source: 'Esplora', needs: [], follows: 'chain' } as const;

export const BLOCK_PATHS: readonly EsploraPath[] = [
  {
    ...BASE,
    path: '/api/blocks/tip/height',
    summary: 'The height of the tip.',
    params: {},
    answer: { kind: 'text', description: 'the height' },
    cost: 'memory',
    run: ({ services }) => textReply(String(services.chain.chain.height)),
  },
  {
    ...BASE,
    path: '/api/blocks/tip/hash',
    summary: 'The tip.',
    params: {},
    answer: { kind: 'text', description: 'the block hash' },
    cost: 'memory',
    run: ({ services: { chain } }) => textReply(hashToHex(chain.headers.hash(chain.chain.tip))),
  },
  {
    ...BASE,
    path: '/api/blocks(/:height)',
    summary: `${BLOCKS_A_PAGE} blocks of the active chain in descending order, from the tip or from a height. A height above the tip gives the status 404.`,
    params: { height: 'height' },
    answer: { kind: 'json', schema: t.array(BLOCK_SCHEMA, 'the highest first') },
    cost: 'block',
    async run(call) {
      const { height } = call.services.chain.chain;
      const from = call.params['height'] === undefined ? height : numberParam(call.params['height']);
      activeAt(call, from);
      return jsonReply(await blocksFrom(call, from, BLOCKS_A_PAGE));
    },
  },
  {
    ...BASE,
    path: '/api/block-height/:height',
    summary: 'The hash of the block of the active chain at a height.',
    params: { height: 'height' },
    answer: { kind: 'text', description: 'the block hash' },
    cost: 'memory',
    run(call) {
      const id = activeAt(call, numberParam(call.params['height']));
      cacheBlock(call, id);
      return textReply(hashToHex(call.services.chain.headers.hash(id)));
    },
  },
  {
    ...BASE,
    path: '/api/block/:hash',
    summary: 'A block.',
    params: HASH,
    answer: { kind: 'json', schema: BLOCK_SCHEMA },
    cost: 'block',
    run(call) {
      const id = blockParam(call);
      cacheBlock(call, id);
      return whenResolved(blockAnswer(call, id), jsonReply);
    },
  },
  {
    ...BASE,
    path: '/api/block/:hash/header',
    summary: 'The header of a block: 112 bytes, with the root of the claim trie after the merkle root.',
    params: HASH,
    answer: { kind: 'text', description: 'the header as hex' },
    cost: 'memory',
    run(call) {
      const id = blockParam(call);
      cacheBlock(call, id);
      return whenResolved(call.services.chain.readHeader(id), (header) => hexReply(formatHeader(header)));
    },
  },
  {
    ...BASE,
    path: '/api/block/:hash/raw',
    summary: 'The bytes of a block.',
    params: HASH,
    answer: { kind: 'bytes', description: 'the block with witnesses' },
    cost: 'block',
    async run(call) {
      const id = blockParam(call);
      const { raw } = await requireBlock(call, id);
      cacheBlock(call, id);
      return bytesReply(raw);
    },
  },
  {
    ...BASE,
    path: '/api/block/:hash/status',
    summary:
      'Whether a block is in the active chain, and the block after it. An unknown block is reported like a stale one.',
    params: HASH,
    answer: {
      kind: 'json',
      schema: t.object({
        in_best_chain: t.bool('whether it is in the active chain'),
        height: t.union([
          { when: 'in the active chain', schema: t.int('its height') },
          { when: 'else', schema: t.none() },
        ]),
        next_best: t.union([
          { when: 'below the tip', schema: t.hash('the next block') },
          { when: 'else', schema: t.none() },
        ]),
      }),
    },
    cost: 'memory',
    run(call) {
      const { headers, chain } = call.services.chain;
      const { active } = chain.index;
      const id = blockOrNull(call);
      if (id === null || !active.contains(id))
        return jsonReply({ in_best_chain: false, height: null, next_best: null });
      const next = active.next(id);
      const after = next === NO_HEADER ? null : hashToHex(headers.hash(next));
      return jsonReply({ in_best_chain: true, height: headers.height(id), next_best: after });
    },
  },
  {
    ...BASE,
    path: '/api/block/:hash/txids',
    summary: 'The ids of the transactions of a block.',
    params: HASH,
    answer: { kind: 'json', schema: t.array(t.hash('transaction ids'), 'in the order of the block') },
    cost: 'block',
    run(call) {
      const id = blockParam(call);
      return whenResolved(requireRecent(call, id), ({ block }) => {
        cacheBlock(call, id);
        return jsonTextReply(txidsJson(block));
      });
    },
  },
  {
    ...BASE,
    path: '/api/block/:hash/txid/:index',
    summary: 'The id of one transaction of a block.',
    params: { ...HASH, index: 'index' },
    answer: { kind: 'text', description: 'the transaction id' },
    cost: 'block',
    async run(call) {
      const index = numberParam(call.params['index']);
      const id = blockParam(call);
      const { parsed } = (await requireRecent(call, id)).block;
      if (index >= parsed.txCount) throw notFound('tx index out of range');
      cacheBlock(call, id);
      return textReply(hashToHex(txidAt(parsed, index)));
    },
  },
  {
    ...BASE,
    path: '/api/block/:hash/txs(/:start)',
    summary: `${TXS_A_PAGE} transactions of a block, from an index that is a multiple of ${TXS_A_PAGE}.`,
    params: { ...HASH, start: 'start' },
    answer: { kind: 'json', schema: t.array(TRANSACTION_SCHEMA, 'in the order of the block') },
    cost: 'block',
    async run(call) {
      const start = call.params['start'] === undefined ? 0 : numberParam(call.params['start']);
      const id = blockParam(call);
      const recent = await requireRecent(call, id);
      const { txCount } = recent.block.parsed;
      if (start >= txCount) throw notFound('start index out of range');
      if (start % TXS_A_PAGE !== 0) throw badRequest(`start index must be a multipication of ${TXS_A_PAGE}`);
      cacheBlock(call, id);
      const end = Math.min(start + TXS_A_PAGE, txCount);
      return pageReply(await blockTxAnswers(call.services, id, recent, [start, end]));
    },
  },
];

/** Header id of the block hash in the path; null if the block is unknown. An invalid hash is an error with status 400. */
function blockOrNull(call: EsploraCall): number | null {
  try {
    return blockParam(call);
  } catch (error) {
    if (error instanceof Error && error.message === 'Block not found') return null;
    throw error;
  }
}
