/**
 * Notifications of lbcd's WebSocket protocol as serialized text. Source: lbcd btcjson/chainsvrwsntfns.go,
 * btcjson/cmdparse.go `MarshalCmd`.
 */
import { hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { type JsonOut } from '../../util/json/jsonWrite.js';

const HEADER_BYTES = 112;
const TIME_AT = 100;

/** Data of a block that notifications contain. */
export interface NotedBlock {
  /** Wire order. */
  readonly hash: Bytes;
  readonly height: number;
  readonly raw: Buffer;
}

function notice(method: string, params: JsonOut): string {
  return stringifyJson(noticeJson(method, params));
}

function noticeJson(method: string, params: JsonOut): JsonOut {
  return { jsonrpc: '1.0', method, params, id: null };
}

const timeSecOf = ({ raw }: NotedBlock): number => raw.readUInt32LE(TIME_AT);
const headerOf = ({ raw }: NotedBlock): string => toHex(raw.subarray(0, HEADER_BYTES));

/** Builds a notification with the parameters hash, height and time. */
function blockNotice(method: string, block: NotedBlock): string {
  return notice(method, [hashToHex(block.hash), block.height, timeSecOf(block)]);
}

export const blockConnected = (block: NotedBlock): string => blockNotice('blockconnected', block);
export const blockDisconnected = (block: NotedBlock): string => blockNotice('blockdisconnected', block);
export const rescanProgress = (block: NotedBlock): string => blockNotice('rescanprogress', block);
export const rescanFinished = (block: NotedBlock): string => blockNotice('rescanfinished', block);

/**
 * Notification of a block with the `transactions` that match the client's filter. If no transaction matches, the JSON
 * contains null, because Go serializes a nil slice as null.
 */
export function filteredBlockConnected(block: NotedBlock, transactions: readonly string[]): string {
  const shown = transactions.length > 0 ? transactions : null;
  return notice('filteredblockconnected', [block.height, headerOf(block), shown]);
}

export function filteredBlockDisconnected(block: NotedBlock): string {
  return notice('filteredblockdisconnected', [block.height, headerOf(block)]);
}

/** Notification of a transaction. `place` is the position of the transaction in a block; null for a mempool transaction. */
export function relevantTransaction(
  method: 'recvtx' | 'redeemingtx',
  hex: string,
  place: { readonly block: NotedBlock; readonly index: number } | null,
): string {
  if (place === null) return notice(method, [hex]);
  const { block, index } = place;
  const details = { height: block.height, hash: hashToHex(block.hash), index, time: timeSecOf(block) };
  return notice(method, [hex, details]);
}

export const relevantTxAccepted = (hex: string): string => notice('relevanttxaccepted', [hex]);

export function txAccepted(txid: Bytes, totalSat: bigint): string {
  return notice('txaccepted', [hashToHex(txid), coins(totalSat)]);
}

/**
 * Notification of a mempool transaction. `transaction` has the format of `getrawtransaction`. The transaction may be long,
 * so it is serialized while it is sent.
 */
export const txAcceptedVerbose = (transaction: JsonOut): JsonOut =>
  noticeJson('txacceptedverbose', [transaction]);
