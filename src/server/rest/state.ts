/** `/rest/chaininfo`, `/rest/mempool/info` and `/rest/mempool/contents`: JSON only. Source: lbrycrd rest.cpp. */
import { mempoolMembers } from '../../rpc/format/mempool.js';
import { invokeMethod } from '../../rpc/call/callMethod.js';
import type { RpcMethod } from '../../rpc/declare/method.js';
import { getBlockchainInfo } from '../../rpc/methods/blockchain/getBlockchainInfo.js';
import { getMempoolInfo } from '../../rpc/methods/blockchain/mempool/getMempoolInfo.js';
import { jsonObject } from '../../util/json/jsonWrite.js';
import { inSlices } from '../../scheduler/slices.js';
import type { HttpReply } from '../replyStream.js';
import { jsonReply } from './reply.js';
import { noSuchFormat, splitFormat } from './request.js';
import { rpcContext, type RestCall, type RestHandler } from './resource.js';

function requireJson({ path }: RestCall): void {
  if (splitFormat(path).format !== 'json') throw noSuchFormat('json');
}

/** Creates a handler that returns the result of an RPC method without parameters. */
function methodHandler(method: RpcMethod): RestHandler {
  return async (call) => {
    requireJson(call);
    return jsonReply(await invokeMethod(method, rpcContext(call), []));
  };
}

export const chainInfoHandler = methodHandler(getBlockchainInfo);
export const mempoolInfoHandler = methodHandler(getMempoolInfo);

export async function mempoolContentsHandler(call: RestCall): Promise<HttpReply> {
  requireJson(call);
  const { services } = call;
  const txids = await inSlices(services.mempool.txidsInSlices());
  return jsonReply(jsonObject(mempoolMembers(services, txids, call)));
}
