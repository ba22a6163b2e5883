/** `estimatefee`: removed from the reference. Always returns the reference's error. Source: lbrycrd rpc/mining.cpp. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const estimateFee = defineMethod({
  name: 'estimatefee',
  category: 'hidden',
  chainUse: 'none',
  summary: 'Removed: always returns an error that suggests estimatesmartfee.',
  params: [],
  maxArgs: Infinity,
  result: t.none(),
  profiles: ['documented', 'lbrycrd'],
  run() {
    throw rpcError(
      RPC_ERROR.METHOD_DEPRECATED,
      'estimatefee was removed in v0.17.\nClients should use estimatesmartfee.',
    );
  },
});
