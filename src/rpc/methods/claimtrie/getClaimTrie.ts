/** `getclaimtrie`: removed from the reference. Always returns an error with this information. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getClaimTrie = defineMethod({
  name: 'getclaimtrie',
  category: 'hidden',
  chainUse: 'reads',
  summary: 'Removed from the reference in v0.17; always returns an error. Use getnamesintrie.',
  params: [],
  maxArgs: Infinity,
  result: t.none(),
  run() {
    throw rpcError(
      RPC_ERROR.METHOD_DEPRECATED,
      'getclaimtrie was removed in v0.17.\nClients should use getnamesintrie.',
    );
  },
});
