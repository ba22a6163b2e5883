/** The parameter with which lbcd's clients select a block, and its errors. Source: lbcd rpcclaimtrie.go `parseHashOrHeight`. */
import { NO_HEADER } from '../../../../store/files/headerTable.js';
import { hashFromHex, hashToHex } from '../../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import type { QueriedBlock } from '../atBlock.js';

export const HASH_OR_HEIGHT_PARAM = {
  name: 'hashorheight',
  type: 'string',
  defaultText: 'the tip',
  description:
    'Hash or height of the block of the active chain after which the state of the claim trie is returned',
} as const;

/** Minimum length in characters of a text that is always a hash, even if it has only decimal digits. */
const LEAST_HASH_LENGTH = 32;
const HASH_DIGITS = 64;

function atHeight({ chain }: RpcServices, text: string): QueriedBlock {
  const height = Number(text);
  const id = chain.chain.index.active.at(height);
  if (id !== NO_HEADER) return { id, height };
  throw rpcError(
    RPC_ERROR.INVALID_ADDRESS_OR_KEY,
    `Unable to locate a block at height ${text}: no block at height ${height} exists`,
  );
}

/** Returns the block with the given hash. A short hash is padded with leading zeros. Source: `chainhash.NewHashFromStr`. */
function byHash({ chain }: RpcServices, text: string): QueriedBlock {
  const refuse = (why: string): never => {
    const message = `Unable to parse a height or hash from ${text}: ${why}`;
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
  };
  if (text.length > HASH_DIGITS) refuse(`max hash string length is ${HASH_DIGITS} bytes`);
  if (!/^[0-9a-fA-F]*$/.test(text)) refuse('it is not hexadecimal');
  const hash = hashFromHex(text.padStart(HASH_DIGITS, '0'));
  const id = chain.headers.find(hash);
  if (chain.chain.index.active.contains(id)) return { id, height: chain.headers.height(id) };
  const printed = hashToHex(hash);
  throw rpcError(
    RPC_ERROR.INVALID_ADDRESS_OR_KEY,
    `Unable to find a block with hash ${printed}: block ${printed} is not in the main chain`,
  );
}

/**
 * Returns the block with the given hash or height, or the tip for an empty text. Unlike lbcd, the tip is accepted during the
 * initial download too.
 */
export function lbcdBlock(services: RpcServices, text = ''): QueriedBlock {
  const { active } = services.chain.chain.index;
  if (text === '') return { id: active.tip, height: active.height };
  const isHeight =
    /^[+-]?[0-9]+$/.test(text) && text.length < LEAST_HASH_LENGTH && Math.abs(Number(text)) < 2 ** 31;
  return isHeight ? atHeight(services, text) : byHash(services, text);
}
