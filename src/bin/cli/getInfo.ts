/** `-getinfo`: an overview assembled from a batch of calls. Source: `GetinfoRequestHandler`. */
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json/json.js';
import { CliError } from './convert.js';

const METHODS = ['getnetworkinfo', 'getblockchaininfo', 'getwalletinfo'] as const;

export function getInfoRequest(): JsonValue {
  return METHODS.map((method, id) => new JsonObject([['method', method], ['params', null], ['id', id]])); // prettier-ignore
}

/**
 * Returns the result to print. Returns the whole error reply of a call that must not fail. Only the wallet's call may fail,
 * because the node may have no wallet.
 */
export function getInfoReply(batch: JsonValue): JsonObject {
  const [network, chain, wallet] = orderReplies(batch);
  for (const reply of [network, chain]) {
    if (reply === undefined) throw new CliError('Batch member is missing');
    if ((reply.get('error') ?? null) !== null) return reply;
  }
  const fromNetwork = resultOf(network);
  const fromChain = resultOf(chain);
  const fromWallet = resultOf(wallet);
  const chainName = fromChain.get('chain');
  // Without a wallet its entries are null, as in the reference.
  const entries: [string, JsonValue | undefined][] = [
    ['version', fromNetwork.get('version')],
    ['protocolversion', fromNetwork.get('protocolversion')],
    ['walletversion', fromWallet.get('walletversion') ?? null],
    ['balance', fromWallet.get('balance') ?? null],
    ['blocks', fromChain.get('blocks')],
    ['timeoffset', fromNetwork.get('timeoffset')],
    ['connections', fromNetwork.get('connections')],
    ['proxy', firstProxy(fromNetwork)],
    ['difficulty', fromChain.get('difficulty')],
    ['testnet', chainName === 'test' || chainName === 'lbrycrdtest'],
    ['keypoololdest', fromWallet.get('keypoololdest') ?? null],
    ['keypoolsize', fromWallet.get('keypoolsize') ?? null],
    ['unlocked_until', fromWallet.get('unlocked_until')],
    ['paytxfee', fromWallet.get('paytxfee') ?? null],
    ['relayfee', fromNetwork.get('relayfee')],
    ['warnings', fromNetwork.get('warnings')],
    // An addition to the reference's entries. Exists only while the node depends on the snapshot.
    ['snapshot', fromChain.get('snapshot')],
  ];
  const known = entries.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  return new JsonObject([
    ['result', new JsonObject(known)],
    ['error', null],
    ['id', 1],
  ]);
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
