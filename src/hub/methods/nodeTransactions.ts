/** Hub methods `blockchain.transaction.*`. Source: lbryio/hub herald/session.py, db/db.py. */
import { formatTransaction, type Transaction } from '../../primitives/transaction.js';
import { findTransaction, type FoundTransaction } from '../../rpc/lookup/blockLookup.js';
import { RpcError } from '../../rpc/declare/errors.js';
import { submitTransaction } from '../../rpc/methods/rawtransactions/sendRawTransaction.js';
import { addressPrefixesOf, encodeDestination, type AddressPrefixes } from '../../script/address.js';
import { decodeClaimScript, stripClaimPrefix } from '../../script/claimScript.js';
import { extractDestination } from '../../script/standard.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import type { JsonValue } from '../../util/json/json.js';
import { hexOf, jsonArray, jsonObject, type JsonMember, type JsonOut } from '../../util/json/jsonWrite.js';
import { txidOf } from '../protocol/arguments.js';
import { badRequest, internalError, notThere } from '../protocol/hubError.js';
import type { NodeCall, NodeMethod } from './method.js';
import { pythonText, withCommas } from '../protocol/pythonText.js';

/** Source: `transaction_get_batch`. */
const MAX_TRANSACTIONS = 100;
/**
 * Number of bytes of a batch that are read before the response starts. Up to this point a read error can be returned as an
 * error response.
 */
const READ_AHEAD_BYTES = 1 << 20;
const NO_TRANSACTION = 'No such mempool or blockchain transaction.';

/** A transaction with its position; `raw` is null for an unknown transaction. */
interface Shown {
  readonly raw: Bytes | null;
  readonly info: { readonly block_height: number; readonly merkle?: string[]; readonly pos?: number };
}

const UNKNOWN: Shown = { raw: null, info: { block_height: -1 } };

/** Finds a transaction in the mempool or in a block of the active chain; null if there is none. */
async function find({ hub: { node } }: NodeCall, txid: Bytes): Promise<FoundTransaction | null> {
  const { active } = node.chain.chain.index;
  for (;;) {
    const { disconnects } = active;
    const found = await findTransaction(node, txid, false);
    if (found === null || found.block === NO_HEADER || active.contains(found.block)) return found;
    // The block with the transaction is not on the active chain, so the result is null. If a block was disconnected during
    // the search, the search is repeated.
    if (active.disconnects === disconnects) return null;
  }
}

async function show(call: NodeCall, txid: Bytes): Promise<Shown> {
  const { hub } = call;
  const found = await find(call, txid);
  if (found === null) return UNKNOWN;
  const raw = found.stored?.bytes ?? formatTransaction(found.tx);
  if (found.block === NO_HEADER) return { raw, info: UNKNOWN.info };
  const proof = await hub.blockTxids.prove(found.block, txid);
  if (proof === null) return UNKNOWN;
  return {
    raw,
    info: {
      block_height: hub.node.chain.headers.height(found.block),
      merkle: proof.branch.map(hashToHex),
      pos: proof.position,
    },
  };
}

const pairOf = ({ raw, info }: Shown): JsonOut => [raw && hexOf(raw), info];

/** Yields the members of a batch response. `read` contains the first members, which have already been read. */
async function* members(
  call: NodeCall,
  read: readonly JsonMember[],
  left: Iterable<readonly [string, Buffer]>,
): AsyncGenerator<JsonMember> {
  yield* read;
  for (const [text, txid] of left) {
    yield [text, pairOf(await show(call, txid))];
    const pause = call.turn.yieldIfDue();
    if (pause !== null) await pause;
  }
}

async function batch(call: NodeCall, texts: readonly (JsonValue | undefined)[]): Promise<JsonOut> {
  if (texts.length > MAX_TRANSACTIONS) {
    throw badRequest(`too many tx hashes in request: ${texts.length}`);
  }
  // A txid that is requested twice gives one member of the response.
  const wanted = [...new Map(texts.map((text) => [text as string, txidOf(text)]))];
  const read: JsonMember[] = [];
  let bytes = 0;
  while (wanted.length > 0 && bytes < READ_AHEAD_BYTES) {
    const [text, txid] = wanted.shift()!;
    const shown = await show(call, txid);
    bytes += shown.raw?.length ?? 0;
    read.push([text, pairOf(shown)]);
    const pause = call.turn.yieldIfDue();
    if (pause !== null) await pause;
  }
  return jsonObject(members(call, read, wanted));
}

async function infoOf(call: NodeCall, text: JsonValue | undefined): Promise<Shown> {
  const shown = await show(call, txidOf(text));
  if (shown.raw === null) throw notThere(NO_TRANSACTION);
  return shown;
}

/** Decoded transaction in the hub's JSON format. Source: hub/scribe/transaction/__init__.py `as_dict`. */
function decoded({ hub }: NodeCall, txid: string, raw: Bytes, tx: Transaction): JsonOut {
  return {
    txid,
    hash: txid,
    version: tx.version,
    size: raw.length,
    vsize: raw.length,
    weight: null,
    locktime: tx.lockTime,
    vin: jsonArray(decodedInputs(tx)),
    vout: jsonArray(decodedOutputs(tx, addressPrefixesOf(hub.node.params))),
    hex: hexOf(raw),
  };
}

function* decodedInputs({ inputs }: Transaction): Generator<JsonOut> {
  for (const { prevout, scriptSig, sequence } of inputs) {
    const script = { asm: null, hex: toHex(scriptSig) };
    yield { txid: hashToHex(prevout.hash), vout: prevout.index, scriptSig: script, sequence };
  }
}

function* decodedOutputs({ outputs }: Transaction, prefixes: AddressPrefixes): Generator<JsonOut> {
  for (const [n, { value, script }] of outputs.entries()) {
    const destination = extractDestination(stripClaimPrefix(script));
    const kind = destination?.type === 'pubkeyhash' ? 'pubkeyhash' : 'scripthash';
    const claim = decodeClaimScript(script);
    const isSupport = claim?.kind === 'support';
    yield {
      value: Number(value) / 1e8,
      n,
      scriptPubKey: {
        asm: null,
        hex: toHex(script),
        reqSigs: 1,
        type: claim === null ? kind : 'nonstandard',
        addresses: [destination === null ? null : encodeDestination(destination, prefixes)],
        ...(claim === null ? {} : { isclaim: !isSupport, issupport: isSupport, subtype: kind }),
      },
    };
  }
}

async function get(call: NodeCall, text: JsonValue | undefined, isVerbose: boolean): Promise<JsonOut> {
  const txid = txidOf(text);
  const found = await find(call, txid);
  if (found === null) throw notThere(NO_TRANSACTION);
  const raw = found.stored?.bytes ?? formatTransaction(found.tx);
  return isVerbose ? decoded(call, hashToHex(txid), raw, found.tx) : hexOf(raw);
}

/** Broadcasts a transaction. Wallets show the node's error text to their users. */
async function broadcast({ hub, turn }: NodeCall, raw: JsonValue | undefined): Promise<string> {
  const hex = pythonText(raw ?? null);
  try {
    // Acceptance to the mempool may wait for the chain. During the wait, other work of the client may run
    // (`turn.outside`).
    return hashToHex(await turn.outside(() => submitTransaction(hub.node, hex, false)));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw notThere(`the transaction was rejected by network rules.\n\n${error.message}\n[${hex}]`);
  }
}

const isTrue = (value: JsonValue | undefined): boolean =>
  value !== undefined && value !== null && value !== false && value !== 0 && value !== '';

export const NODE_TRANSACTION_METHODS: readonly NodeMethod[] = [
  { name: 'blockchain.transaction.get_batch', spread: true, run: batch },
  {
    name: 'blockchain.transaction.info',
    params: ['tx_hash'],
    run: async (call, [text]) => pairOf(await infoOf(call, text)),
  },
  {
    name: 'blockchain.transaction.get',
    params: ['txid', 'verbose'],
    required: 1,
    run: (call, [text, verbose]) => get(call, text, isTrue(verbose)),
  },
  {
    name: 'blockchain.transaction.get_merkle',
    params: ['tx_hash', 'height'],
    async run(call, [text, height]) {
      const { info } = await show(call, txidOf(text));
      if (info.block_height > 0) return info;
      // For a height that is not an integer the reference returns an internal error.
      if (typeof height !== 'number' || !Number.isInteger(height)) throw internalError();
      throw notThere(`tx hash ${pythonText(text ?? null)} not in block at height ${withCommas(height)}`);
    },
  },
  {
    // QUIRK: the reference is meant to return the height, but its code fails.
    name: 'blockchain.transaction.get_height',
    params: ['tx_hash'],
    async run(call, [text]) {
      const txid = txidOf(text);
      const { node } = call.hub;
      const found = await find(call, txid);
      if (found === null) return -2;
      if (found.block !== NO_HEADER) return node.chain.headers.height(found.block);
      return (node.mempool.entry(txid)?.parents.length ?? 0) > 0 ? -1 : 0;
    },
  },
  {
    name: 'blockchain.transaction.broadcast',
    params: ['raw_tx'],
    waits: true,
    run: (call, [raw]) => broadcast(call, raw),
  },
];
