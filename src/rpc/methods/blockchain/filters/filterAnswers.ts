/** Functions shared by the methods for compact block filters. */
import { NO_HEADER } from '../../../../store/files/headerTable.js';
import { FILTER_INDEX_NAME, type FilterHeader } from '../../../../index/filterIndex.js';
import type { Bytes } from '../../../../util/bytes.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../../declare/errors.js';
import type { RpcServices } from '../../../../interfaces/services.js';

/** A block's filter with filter header and block id. */
export interface FoundFilter extends FilterHeader {
  readonly filter: Buffer;
}

/**
 * Returns a block's filter; null if the block is unknown or not in the active chain. Throws `noIndex` if the index is
 * disabled. Throws error −1 if the index is still being built and has not reached the block.
 */
export async function findFilter(
  { chain, blockFilters, indexes }: RpcServices,
  blockHash: Bytes,
  noIndex: () => RpcError,
): Promise<FoundFilter | null> {
  if (blockFilters === null) throw noIndex();
  const id = chain.headers.find(blockHash);
  if (id === NO_HEADER) return null;
  const height = chain.headers.height(id);
  const filter = await blockFilters.filter(id, height);
  const headers = await blockFilters.headers(id, height, height);
  const known = headers?.[0];
  if (filter !== null && known !== undefined) return { ...known, filter };
  const index = indexes().find(({ name, synced }) => name === FILTER_INDEX_NAME && !synced);
  if (index !== undefined) {
    const message = 'Filter not found. Block filters are still in the process of being indexed.';
    throw rpcError(RPC_ERROR.MISC_ERROR, index.failure === null ? message : `${message} ${index.failure}`);
  }
  return null;
}

const NO_LBCD_INDEX = (): RpcError =>
  rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'The CF index must be enabled for this command');

/** Parameters of lbcd's filter methods. The only filter type is 0. */
export const CFILTER_PARAMS = [
  { name: 'hash', type: 'hash', required: true, description: 'The block hash' },
  {
    name: 'filtertype',
    type: 'integer',
    required: true,
    description: 'The type of the filter: 0 for the basic filter',
  },
] as const;

/** Creates lbcd's error for a missing filter. */
export const LBCD_NOT_FOUND = (): RpcError => rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Block not found');

/** Returns a block's filter; null if it has none. Throws lbcd's error for an unknown filter type. */
export async function lbcdFilter(
  services: RpcServices,
  { hash, filtertype }: { hash: Bytes; filtertype: number },
): Promise<FoundFilter | null> {
  const found = await findFilter(services, hash, NO_LBCD_INDEX);
  if (filtertype === 0) return found;
  throw LBCD_NOT_FOUND();
}
