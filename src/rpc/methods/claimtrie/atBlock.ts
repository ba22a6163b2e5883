/** Claim queries as of one block of the active chain: the block with a given hash, or the tip. */
import type { Bytes } from '../../../util/bytes.js';
import { isPromise, type MaybePromise } from '../../../util/maybePromise.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { requireBlock } from '../../lookup/blockLookup.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import type { RpcServices } from '../../../interfaces/services.js';

export interface QueriedBlock {
  readonly id: number;
  readonly height: number;
}

/** Declares the optional block hash parameter. `label` is the parameter's name in the reference's errors. */
export function blockParam(label: string) {
  return {
    name: 'blockhash',
    type: 'hash',
    label,
    defaultText: 'the tip',
    description: 'Hash of the block of the active chain after which the state of the claim trie is returned',
  } as const;
}

/** Declares the optional block parameter of methods that accept a hash or a height. */
export const BLOCK_PARAM = {
  name: 'block',
  type: 'hashOrHeight',
  defaultText: 'the tip',
  description:
    'Hash or height of the block of the active chain after which the state of the claim trie is returned',
} as const;

/** Returns the block of the active chain with the given hash or height, or the tip if neither is given. */
export function blockOfHashOrHeight(services: RpcServices, wanted: number | Bytes | undefined): QueriedBlock {
  if (typeof wanted !== 'number') return queriedBlock(services, wanted);
  return { id: blockOfHeight(services, wanted), height: wanted };
}

function blockOfHeight({ chain }: RpcServices, height: number): number {
  const id = chain.chain.index.active.at(height);
  if (id === NO_HEADER) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Block height out of range');
  return id;
}

/**
 * Returns the block with the given hash, which must be in the active chain, or the tip. Source: lbrycrd rpc/claimtrie.cpp
 * `BlockHashIndex`.
 */
export function queriedBlock({ chain }: RpcServices, blockHash: Bytes | undefined): QueriedBlock {
  const { active } = chain.chain.index;
  if (blockHash === undefined) return { id: active.tip, height: active.height };
  const id = requireBlock(chain, blockHash);
  if (!active.contains(id)) throw rpcError(RPC_ERROR.INTERNAL_ERROR, 'Block not in main chain');
  return { id, height: chain.headers.height(id) };
}

/**
 * Runs a query as of the block that `find` returns. If a block is disconnected during the query, the query is repeated,
 * because its result may be mixed.
 */
export function retryWhileGone<T>(
  services: RpcServices,
  find: () => QueriedBlock,
  query: (block: QueriedBlock) => MaybePromise<T>,
): MaybePromise<T> {
  const { disconnects } = services.chain.chain.index.active;
  const answer = query(find());
  return isPromise(answer) ? waitAndRetry(services, find, query, answer, disconnects) : answer;
}

async function waitAndRetry<T>(
  services: RpcServices,
  find: () => QueriedBlock,
  query: (block: QueriedBlock) => MaybePromise<T>,
  first: Promise<T>,
  since: number,
): Promise<T> {
  const { active } = services.chain.chain.index;
  let pending: MaybePromise<T> = first;
  for (let disconnects = since; ;) {
    try {
      const answer = await pending;
      if (active.disconnects === disconnects) return answer;
    } catch (error) {
      if (active.disconnects === disconnects) throw error;
    }
    disconnects = active.disconnects;
    pending = query(find());
  }
}

/**
 * Runs a query as of the block with the given hash, or of the tip. If a block was disconnected during the query, the query
 * is repeated.
 */
export function atBlock<T>(
  services: RpcServices,
  blockHash: Bytes | undefined,
  query: (block: QueriedBlock) => MaybePromise<T>,
): MaybePromise<T> {
  return retryWhileGone(services, () => queriedBlock(services, blockHash), query);
}

/**
 * Streams the results of a query as of a block. If a block is disconnected during the stream, the stream throws. The
 * response is then incomplete, because data that was already sent cannot be withdrawn.
 */
export function whileNoneIsGone<T>({ chain }: RpcServices, found: AsyncIterable<T>): AsyncGenerator<T> {
  const { active } = chain.chain.index;
  const { disconnects } = active;
  async function* pieces(): AsyncGenerator<T> {
    for await (const piece of found) {
      if (active.disconnects !== disconnects)
        throw rpcError(RPC_ERROR.INTERNAL_ERROR, 'Blocks were disconnected during the call. Retry');
      yield piece;
    }
  }
  return pieces();
}
