/** Runs a declared method when the chain and the wallets that it uses are in a consistent state. */
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { RpcContext, RpcMethod } from '../declare/method.js';
import { walletOf } from '../methods/wallet/wallets/walletOf.js';
import { invoke, toPositional } from './invoke.js';
import { onChain, readingChain } from './onChain.js';
import { onWallets } from './onWallets.js';

/**
 * Runs a method with positional or named parameters. Rejects with `RpcError` or with the error that the method's `run`
 * throws.
 */
export async function invokeMethod(
  method: RpcMethod,
  ctx: RpcContext,
  params: readonly JsonValue[] | JsonObject,
): Promise<JsonOut> {
  return callMethod(method, ctx, params);
}

/** Like `invokeMethod`, but synchronous where possible. Throws where `invokeMethod` rejects. */
export function callMethod(
  method: RpcMethod,
  ctx: RpcContext,
  params: readonly JsonValue[] | JsonObject,
): JsonOut | Promise<JsonOut> {
  const { services } = ctx;
  const { needsWallet, chainUse = method.follows === undefined ? 'any' : 'reads' } = method;
  const call = (): JsonOut | Promise<JsonOut> => {
    const positional = params instanceof JsonObject ? toPositional(method, params) : params;
    // The wallet is looked up before the number of arguments is checked, as in the reference.
    if (needsWallet === 'one') walletOf(ctx);
    return invoke(method, ctx, positional);
  };
  if (needsWallet !== undefined && services.wallets !== null) return onWallets(services.wallets, call);
  if (chainUse === 'none') return call();
  const { reorganisation } = services.chain.chain;
  return chainUse === 'reads' ? readingChain(reorganisation, ctx, call) : onChain(reorganisation, ctx, call);
}
