/** `-getinfo`: an overview put together from a batch of calls. Source: `GetinfoRequestHandler`. */
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json.js';
import { CliError } from './convert.js';

const METHODS = ['getnetworkinfo', 'getblockchaininfo', 'getwalletinfo'] as const;

export function getInfoRequest(): JsonValue {
  return METHODS.map((method, id) => new JsonObject([['method', method], ['params', null], ['id', id]])); // prettier-ignore
}

/** The answer to show; the whole error reply of a call that must not fail (the wallet's may: there may be no wallet). */
export function getInfoReply(batch: JsonValue): JsonObject {
  const [network, chain, wallet] = orderReplies(batch);
  for (const reply of [network, chain]) {
    if (reply === undefined) throw new CliError('Batch member is missing');
    if ((reply.get('error') ?? null) !== null) return reply;
  }
  const entries: [string, JsonValue][] = [];
  const show = (name: string, value: JsonValue | undefined): void =>
    void (value !== undefined && entries.push([name, value]));
  const fromNetwork = resultOf(network);
  const fromChain = resultOf(chain);
  const fromWallet = resultOf(wallet);
  show('version', fromNetwork.get('version'));
  show('protocolversion', fromNetwork.get('protocolversion'));
  show('walletversion', fromWallet.get('walletversion'));
  show('balance', fromWallet.get('balance'));
  show('blocks', fromChain.get('blocks'));
  show('timeoffset', fromNetwork.get('timeoffset'));
  show('connections', fromNetwork.get('connections'));
  show('proxy', firstProxy(fromNetwork));
  show('difficulty', fromChain.get('difficulty'));
  show('testnet', ['test', 'lbrycrdtest'].includes(String(fromChain.get('chain'))));
  for (const name of ['keypoololdest', 'keypoolsize', 'unlocked_until', 'paytxfee'])
    show(name, fromWallet.get(name));
  show('relayfee', fromNetwork.get('relayfee'));
  show('warnings', fromNetwork.get('warnings'));
  return new JsonObject([['result', new JsonObject(entries)], ['error', null], ['id', 1]]); // prettier-ignore
}

function orderReplies(batch: JsonValue): (JsonObject | undefined)[] {
  if (!Array.isArray(batch)) throw new CliError('Batch must be an array');
  const replies: JsonObject[] = [];
  for (const reply of batch) {
    if (!(reply instanceof JsonObject)) throw new CliError('Batch member must be object');
    const id = reply.get('id') ?? null;
    const index = isJsonNumber(id) ? Number(numberText(id)) : -1;
    if (!(index >= 0 && index < METHODS.length)) throw new CliError('Batch member id larger than size');
    replies[index] = reply;
  }
  return METHODS.map((_method, index) => replies[index]);
}

function resultOf(reply: JsonObject | undefined): JsonObject {
  const result = reply?.get('result');
  return result instanceof JsonObject ? result : new JsonObject();
}

function firstProxy(network: JsonObject): JsonValue | undefined {
  const networks = network.get('networks');
  const first = Array.isArray(networks) ? networks[0] : undefined;
  return first instanceof JsonObject ? first.get('proxy') : undefined;
}
