/** `blockchain.address.*` and `blockchain.scripthash.*`. Source: lbryio/hub herald/session.py. */
import { SCRIPT_KEY_BYTES, scriptKeyOf } from '../../index/addressScripts.js';
import { formatOutPoint } from '../../primitives/transaction.js';
import { mempoolMoves } from '../../rpc/methods/addressindex/mempoolMoves.js';
import type { AddressService } from '../../rpc/services.js';
import { addressPrefixesOf, decodeDestination } from '../../script/address.js';
import { scriptForDestination } from '../../script/standard.js';
import { assert } from '../../util/assert.js';
import { hashFromHex, hashToHex, isHex, toLatin1 } from '../../util/bytes.js';
import { JsonObject, type JsonValue } from '../../util/json.js';
import { jsonArray, type JsonOut } from '../../util/jsonWrite.js';
import type { UnspentEntry } from '../../index/addressQueries.js';
import { positionOf } from '../blockTxids.js';
import { badRequest } from '../hubError.js';
import type { HubCall, HubMethod } from '../method.js';
import { pythonText } from '../pythonText.js';

/** Source: `address_subscribe`. */
const MAX_ADDRESSES = 1000;
/** Longest text that may be an address. */
const MAX_ADDRESS_CHARS = 120;
const PAGE_ENTRIES = 1000;

type KeyOf = (call: HubCall, text: JsonValue | undefined) => string;

const addressKey: KeyOf = ({ hub }, text) => {
  if (typeof text === 'string' && text.length <= MAX_ADDRESS_CHARS) {
    const destination = decodeDestination(text, addressPrefixesOf(hub.node.params));
    const key = destination && scriptKeyOf(scriptForDestination(destination));
    if (key !== null) return key;
  }
  throw badRequest(`${pythonText(text ?? null)} is not a valid address`);
};

/** The index files scripts under the beginning of their hash. */
const scriptHashKey: KeyOf = (_call, text) => {
  if (typeof text === 'string' && text.length === 64 && isHex(text))
    return toLatin1(hashFromHex(text).subarray(0, SCRIPT_KEY_BYTES));
  throw badRequest(`${pythonText(text ?? null)} is not a valid script hash`);
};

/** A copy of its own: a part of a line would keep the whole line in memory. */
const ownText = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

function indexOf({ hub }: HubCall): AddressService {
  const { addresses } = hub.node;
  assert(addresses, 'the hub runs without the address index');
  return addresses;
}

async function subscribe(
  call: HubCall,
  keyOf: KeyOf,
  texts: readonly (JsonValue | undefined)[],
): Promise<(string | null)[]> {
  const { client, hub, turn } = call;
  if (texts.length > MAX_ADDRESSES)
    throw badRequest(`too many addresses in subscription request: ${texts.length}`);
  const keys: string[] = [];
  for (const text of texts) {
    keys.push(keyOf(call, text));
    const breath = turn.breathe();
    if (breath !== null) await breath;
  }
  // First, so that nothing is missed that happens while statuses are computed.
  for (const [n, key] of keys.entries()) client.subscribe(key, ownText(texts[n] as string));
  return hub.histories.statuses(keys, turn);
}

/** The unspent outputs of a script, the oldest first, without those that are spent in the mempool. */
async function* unspent(call: HubCall, key: string): AsyncGenerator<JsonOut> {
  const { node } = call.hub;
  let after: Buffer | undefined;
  let ofOneBlock: UnspentEntry[] = [];
  do {
    const { entries, next } = await indexOf(call).unspent([key], { limit: PAGE_ENTRIES, after });
    for (const entry of entries) {
      if (entry.height !== ofOneBlock[0]?.height) {
        yield* await inBlockOrder(call, ofOneBlock);
        ofOneBlock = [];
      }
      if (!node.mempool.isSpent(entry.outPoint)) ofOneBlock.push(entry);
    }
    after = next ?? undefined;
    const breath = call.turn.breathe();
    if (breath !== null) await breath;
  } while (after !== undefined);
  yield* await inBlockOrder(call, ofOneBlock);
  for await (const { txid, index, amountSat, spends } of mempoolMoves(node, indexOf(call), moveQuery(key))) {
    if (spends !== null || node.mempool.isSpent(formatOutPoint({ hash: txid, index }))) continue;
    yield { tx_hash: hashToHex(txid), tx_pos: index, height: 0, value: amountSat };
  }
}

/** The index has outputs of one block in the order of their ids. */
async function inBlockOrder({ hub }: HubCall, entries: UnspentEntry[]): Promise<JsonOut[]> {
  const placed = entries.map((entry) => ({
    entry,
    txid: entry.outPoint.subarray(0, 32),
    output: entry.outPoint.readUInt32LE(32),
    position: 0,
  }));
  if (placed.length > 1) {
    const txids = await hub.blockTxids.of(hub.headers.at(entries[0]!.height));
    for (const place of placed) place.position = positionOf(txids, place.txid);
    placed.sort((a, b) => a.position - b.position || a.output - b.output);
  }
  return placed.map(({ entry, txid, output }) => ({
    tx_hash: hashToHex(txid),
    tx_pos: output,
    height: entry.height,
    value: entry.amountSat,
  }));
}

/** All that the mempool does to one script. */
const moveQuery = (key: string): Parameters<typeof mempoolMoves>[2] => ({
  asked: new Map([[key, '']]),
  keys: [key],
  startHeight: undefined,
  endHeight: undefined,
  limit: null,
  after: undefined,
  afterMempool: undefined,
  mempool: true,
  options: new JsonObject([]),
});

async function balance(call: HubCall, key: string): Promise<JsonOut> {
  const [totals] = await indexOf(call).totals([key]);
  let unconfirmed = 0n;
  for await (const { amountSat, spends } of mempoolMoves(call.hub.node, indexOf(call), moveQuery(key))) {
    unconfirmed += spends ? -amountSat : amountSat;
  }
  return { confirmed: totals!.receivedSat - totals!.spentSat, unconfirmed };
}

function methodsOf(prefix: string, param: string, keyOf: KeyOf, balanceName: string): HubMethod[] {
  const of = (name: string, run: (call: HubCall, key: string) => JsonOut | Promise<JsonOut>): HubMethod => ({
    name: `blockchain.${prefix}.${name}`,
    params: [param],
    run: (call, [text]) => run(call, keyOf(call, text)),
  });
  return [
    of('get_history', ({ hub, turn }, key) => hub.histories.history(key, turn)),
    of('get_mempool', ({ hub }, key) => jsonArray(hub.histories.shownUnconfirmed(key))),
    of('listunspent', (call, key) => jsonArray(unspent(call, key))),
    of(balanceName, balance),
    of('unsubscribe', ({ client }, key) => {
      client.unsubscribe(key);
      return null;
    }),
  ];
}

export const ADDRESS_METHODS: readonly HubMethod[] = [
  {
    name: 'blockchain.address.subscribe',
    spread: true,
    run: (call, texts) => subscribe(call, addressKey, texts),
  },
  {
    name: 'blockchain.scripthash.subscribe',
    params: ['scripthash'],
    run: async (call, texts) => (await subscribe(call, scriptHashKey, texts))[0]!,
  },
  ...methodsOf('address', 'address', addressKey, 'getbalance'),
  ...methodsOf('scripthash', 'scripthash', scriptHashKey, 'get_balance'),
];
