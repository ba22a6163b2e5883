/** Methods `blockchain.address.*` and `blockchain.scripthash.*`. Source: lbryio/hub herald/session.py. */
import { formatOutPoint } from '../../primitives/transaction.js';
import { mempoolMoves } from '../../rpc/methods/addressindex/mempoolMoves.js';
import type { AddressService } from '../../interfaces/services.js';
import { addressPrefixesOf } from '../../script/address.js';
import { assert } from '../../util/assert.js';
import { hashToHex } from '../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import type { UnspentEntry } from '../../index/addressQueries.js';
import { positionOf } from '../history/blockTxids.js';
import type { NodeCall, NodeMethod } from './method.js';
import { addressKey, scriptHashKey, type KeyOf } from './scriptKeys.js';

const PAGE_ENTRIES = 1000;

function indexOf({ hub }: NodeCall): AddressService {
  const { addresses } = hub.node;
  assert(addresses, 'the hub runs without the address index');
  return addresses;
}

/** Yields the unspent outputs of a script, from the oldest. Outputs that mempool transactions spend are omitted. */
async function* unspent(call: NodeCall, key: string): AsyncGenerator<JsonOut> {
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
    const pause = call.turn.yieldIfDue();
    if (pause !== null) await pause;
  } while (after !== undefined);
  yield* await inBlockOrder(call, ofOneBlock);
  for await (const { txid, index, amountSat, spends } of mempoolMoves(node, indexOf(call), moveQuery(key))) {
    if (spends !== null || node.mempool.isSpent(formatOutPoint({ hash: txid, index }))) continue;
    yield { tx_hash: hashToHex(txid), tx_pos: index, height: 0, value: amountSat };
  }
}

/** Sorts the unspent outputs of one block by their transactions' order in the block. The index sorts them by txid. */
async function inBlockOrder({ hub }: NodeCall, entries: UnspentEntry[]): Promise<JsonOut[]> {
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

/** Query for the effects of the mempool on one script. */
const moveQuery = (key: string): Parameters<typeof mempoolMoves>[2] => ({
  asked: new Map([[key, '']]),
  keys: [key],
  afterMempool: undefined,
});

async function balance(call: NodeCall, key: string): Promise<JsonOut> {
  const [totals] = await indexOf(call).totals([key]);
  let unconfirmed = 0n;
  for await (const { amountSat, spends } of mempoolMoves(call.hub.node, indexOf(call), moveQuery(key))) {
    unconfirmed += spends ? -amountSat : amountSat;
  }
  return { confirmed: totals!.receivedSat - totals!.spentSat, unconfirmed };
}

function methodsOf(prefix: string, param: string, keyOf: KeyOf, balanceName: string): NodeMethod[] {
  const of = (
    name: string,
    run: (call: NodeCall, key: string) => JsonOut | Promise<JsonOut>,
  ): NodeMethod => ({
    name: `blockchain.${prefix}.${name}`,
    params: [param],
    run: (call, [text]) => run(call, keyOf(text, addressPrefixesOf(call.hub.node.params))),
  });
  return [
    of('get_history', ({ hub, turn }, key) => hub.histories.history(key, turn)),
    of('get_mempool', ({ hub }, key) => jsonArray(hub.histories.shownUnconfirmed(key))),
    of('listunspent', (call, key) => jsonArray(unspent(call, key))),
    of(balanceName, balance),
  ];
}

export const NODE_ADDRESS_METHODS: readonly NodeMethod[] = [
  ...methodsOf('address', 'address', addressKey, 'getbalance'),
  ...methodsOf('scripthash', 'scripthash', scriptHashKey, 'get_balance'),
];
