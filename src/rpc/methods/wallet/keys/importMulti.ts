/** `importmulti`: imports keys, addresses and scripts, with one rescan for all. Source: lbrycrd wallet/rpcdump.cpp. */
import { yieldIfDue } from '../../../../scheduler/yield.js';
import { isJsonNumber, JsonObject, jsonTypeName, type JsonValue } from '../../../../util/json/json.js';
import { jsonArray, type JsonOut } from '../../../../util/json/jsonWrite.js';
import { inSlices } from '../../../../scheduler/slices.js';
import type { Slices } from '../../../../util/slices.js';
import { reacceptTransactions } from '../../../../wallet/spending/broadcasting.js';
import { TIMESTAMP_WINDOW_SEC } from '../../../../wallet/scan/rescan.js';
import { WalletBatch } from '../../../../wallet/store/records.js';
import { processImport, type ImportRequest } from '../../../../wallet/transfer/importRequest.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, RpcError, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { getArray, getBool, getInt64, getString } from '../../../declare/paramTypes.js';
import { t } from '../../../../schema/schema.js';
import { importFailure } from './importing.js';
import { scanSince, snapshotAdvice, withScanTurn } from './rescanning.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

/** Timestamp of an item without known creation time. It means that the whole chain must be scanned. */
const OLDEST_SEC = 1;

/** Source: `GetImportTimestamp`. */
function timeOf(request: JsonValue, nowSec: number): number {
  const time = request instanceof JsonObject ? request.get('timestamp') : undefined;
  if (time === undefined) throw rpcError(RPC_ERROR.TYPE_ERROR, 'Missing required timestamp field for key');
  if (isJsonNumber(time)) return Number(getInt64(time));
  if (time === 'now') return nowSec;
  throw rpcError(
    RPC_ERROR.TYPE_ERROR,
    `Expected number or "now" timestamp value for key. got type ${jsonTypeName(time)}`,
  );
}

/** Parses the timestamps of all requests, before any request is executed. */
function* timesOf(requests: readonly JsonValue[], nowSec: number): Slices<number[]> {
  const times: number[] = [];
  for (const request of requests) {
    times.push(timeOf(request, nowSec));
    yield;
  }
  return times;
}

/** Parses one request. Throws if a member has the wrong type. */
function readRequest(request: JsonObject, timeSec: number): ImportRequest {
  const output = request.get('scriptPubKey');
  const address = output instanceof JsonObject ? output.get('address') : undefined;
  if (address === undefined && typeof output !== 'string')
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Invalid scriptPubKey');
  const optional = <T>(name: string, read: (value: JsonValue) => T, otherwise: T): T => {
    const value = request.get(name);
    return value === undefined ? otherwise : read(value);
  };
  const texts = (value: JsonValue): string[] => getArray(value).map(getString);
  const isInternal = optional('internal', getBool, false);
  return {
    redeemScript: optional('redeemscript', getString, ''),
    publicKeys: optional('pubkeys', texts, []),
    privateKeys: optional('keys', texts, []),
    isInternal,
    isWatchOnly: optional('watchonly', getBool, false),
    label: optional<string | null>('label', (value) => (isInternal ? '' : getString(value)), null),
    output: typeof output === 'string' ? { script: output } : { address: getString(address!) },
    timeSec,
  };
}

/** Executes one request. Returns its error, or null on success. */
function importOne(
  wallet: Wallet,
  batch: WalletBatch,
  request: JsonObject,
  timeSec: number,
): RpcError | null {
  let read: ImportRequest;
  try {
    read = readRequest(request, timeSec);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // A member has the wrong JSON type. The reference returns a fixed text without details.
    if (error.code !== RPC_ERROR.MISC_ERROR) return error;
    return rpcError(RPC_ERROR.MISC_ERROR, 'Missing required fields');
  }
  try {
    processImport(wallet, batch, read);
    return null;
  } catch (error) {
    return importFailure(error);
  }
}

/** `advice` says why blocks are missing, if the node knows it. */
function unscanned(timeSec: number, scannedFromSec: number, advice: string): RpcError {
  return rpcError(
    RPC_ERROR.MISC_ERROR,
    `Rescan failed for key with creation timestamp ${timeSec}. There was an error reading a block from time ` +
      `${scannedFromSec - TIMESTAMP_WINDOW_SEC - 1}, which is after or within ${TIMESTAMP_WINDOW_SEC} seconds of key ` +
      'creation, and could contain transactions pertaining to the key. As a result, transactions and coins using this ' +
      'key may not appear in the wallet. This error could be caused by pruning or data corruption (see bitcoind log for ' +
      'details) and could be dealt with by downloading and rescanning the relevant blocks (see -reindex and -rescan ' +
      'options).' +
      advice,
  );
}

/** Formats the results of `count` requests from their errors. The list is created while the response is written. */
function answerOf(count: number, errorAt: (n: number) => RpcError | null): JsonOut {
  function* answers(): Generator<JsonOut> {
    for (let n = 0; n < count; n++) {
      const error = errorAt(n);
      yield error === null
        ? { success: true }
        : { success: false, error: { code: error.code, message: error.message } };
    }
  }
  return jsonArray(answers());
}

export const importMulti = defineMethod({
  name: 'importmulti',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Import addresses/scripts (with private or public keys, redeem script (P2SH)), rescanning all addresses in ' +
    'one-shot-only (rescan can be disabled via options). Requires a new wallet backup.',
  params: [
    {
      name: 'requests',
      type: 'array',
      required: true,
      strict: true,
      description:
        'Data to import: objects with the members scriptPubKey (a script in hex, or {"address": "..."}), ' +
        'timestamp (creation time of the keys in seconds since 1970, or "now"; the rescan begins two hours ' +
        'before the earliest), and optionally redeemscript, pubkeys, keys (private keys), internal, ' +
        'watchonly and label',
    },
    {
      name: 'options',
      type: 'object',
      strict: true,
      description:
        'Object with the member rescan (boolean, default true): rescan the chain after all imports',
    },
  ],
  result: t.array(
    t.object({
      success: t.bool('whether the import succeeded'),
      error: t.optional(
        t.object({ code: t.int('the error code'), message: t.str('the error message') }),
        'if the import failed',
      ),
    }),
    'the result of each request',
  ),
  examples: [
    [
      '[{"scriptPubKey":{"address":"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"},"timestamp":1455191478}]',
      '{"rescan":false}',
    ],
  ],
  async run(ctx, { requests, options }) {
    const wallet = walletOf(ctx);
    const { chain } = wallet.node;
    const wanted = options?.get('rescan');
    const rescans = wanted === undefined || getBool(wanted);
    return withScanTurn(wallet, rescans, async (turn) => {
      requireUnlocked(wallet);
      const tip = chain.height;
      const nowSec = tip < 0 ? 0 : chain.medianTimeSecAt(tip);
      let lowestSec = tip < 0 ? 0 : chain.timeSecAt(tip);
      const times = await inSlices(timesOf(requests, nowSec));
      const errors: (RpcError | null)[] = [];
      let batch = new WalletBatch();
      let since = performance.now();
      for (const [n, request] of requests.entries()) {
        const timeSec = Math.max(times[n]!, OLDEST_SEC);
        errors.push(importOne(wallet, batch, request as JsonObject, timeSec));
        lowestSec = Math.min(lowestSec, timeSec);
        const pause = yieldIfDue(since);
        if (typeof pause === 'number') continue;
        // The batch is written in one step without yielding to the event loop, so that memory and disk always agree.
        await wallet.write(batch, { isLast: false });
        batch = new WalletBatch();
        since = await pause;
      }
      await wallet.write(batch);
      await inSlices(wallet.book.readNew());
      const { length } = errors;
      if (turn === null || tip < 0 || !errors.includes(null)) return answerOf(length, (n) => errors[n]!);
      const { scannedFromSec } = await scanSince(ctx, wallet, turn, lowestSec);
      await ctx.outOfTurn(() => reacceptTransactions(wallet));
      const advice = snapshotAdvice(ctx);
      return answerOf(length, (n) => {
        const isScanned = scannedFromSec <= lowestSec || scannedFromSec <= times[n]!;
        return isScanned || errors[n] !== null ? errors[n]! : unscanned(times[n]!, scannedFromSec, advice);
      });
    });
  },
});
