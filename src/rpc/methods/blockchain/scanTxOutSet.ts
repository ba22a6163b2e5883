/** `scantxoutset`: finds unspent outputs by descriptors. Source: lbrycrd rpc/blockchain.cpp. */
import type { CoinRowEntry } from '../../../chain/chainReader.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashToHex, toHex } from '../../../util/bytes.js';
import { coins, JsonObject, type JsonValue } from '../../../util/json/json.js';
import { jsonArray, type JsonOut } from '../../../util/json/jsonWrite.js';
import type { CoinScanResult } from '../../../interfaces/coinScan.js';
import { parseDescriptor } from '../../descriptor/descriptor.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { addressPrefixes } from '../../format/addresses.js';
import { defineMethod, type RpcContext } from '../../declare/method.js';
import { getArray, getInt, getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import { ScriptSet } from '../../lookup/scriptSet.js';

const DEFAULT_RANGE = 1000;
const MAX_RANGE = 1_000_000;
/** Maximum number of scripts of one descriptor: `combo` over the largest range. Bounds the memory, about 100 bytes per script. */
const MAX_SCRIPTS = 4 * (MAX_RANGE + 1);

interface ScanObject {
  text: string;
  /** Last position of a descriptor whose path ends in a range. */
  range: number;
}

function parseScanObject(value: JsonValue): ScanObject {
  if (typeof value === 'string') return { text: value, range: DEFAULT_RANGE };
  if (!(value instanceof JsonObject)) {
    const message = 'Scan object needs to be either a string or an object';
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
  }
  const text = value.get('desc') ?? null;
  if (text === null) {
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Descriptor needs to be provided in scan object');
  }
  const rangeValue = value.get('range') ?? null;
  const range = rangeValue === null ? DEFAULT_RANGE : getInt(rangeValue);
  if (range < 0 || range > MAX_RANGE) {
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'range out of range');
  }
  return { text: getString(text), range };
}

/** Derives all scripts that the scan objects describe. Null if the scan is cancelled during the derivation. */
async function wantedScripts(
  { services, signal }: RpcContext,
  objects: readonly JsonValue[],
): Promise<ScriptSet | null> {
  const { coinScan, params } = services;
  const prefixes = addressPrefixes(params);
  const scripts = new ScriptSet();
  let since = performance.now();
  for (const object of objects) {
    const { text, range } = parseScanObject(object);
    const descriptor = parseDescriptor(text, prefixes);
    if (descriptor === null) {
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Invalid descriptor '${text}'`);
    }
    for (let position = 0; position <= (descriptor.isRange ? range : 0); position++) {
      const expanded = descriptor.scriptsAt(position);
      if (expanded === null) {
        const message = `Cannot derive script without private keys: '${text}'`;
        throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, message);
      }
      for (const script of expanded) scripts.add(script);
      if (scripts.size > MAX_SCRIPTS) {
        const message = `The descriptors stand for more than ${MAX_SCRIPTS} scripts: use several scans`;
        throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
      }
      since = await yieldIfDue(since);
      if (coinScan.isEnding || signal.aborted) return null;
    }
  }
  return scripts;
}

function unspentAnswer({ outPoint, coin }: CoinRowEntry): JsonOut {
  return {
    txid: hashToHex(outPoint.subarray(0, 32)),
    vout: outPoint.readUInt32LE(32),
    scriptPubKey: toHex(coin.script),
    amount: coins(coin.amount),
    height: coin.heightCode >>> 1,
  };
}

function* unspentAnswers(found: readonly CoinRowEntry[]): Generator<JsonOut> {
  for (const entry of found) yield unspentAnswer(entry);
}

/** Result of a scan that was cancelled before it had started. */
const NOT_BEGUN: CoinScanResult = { completed: false, searched: 0, found: [], totalSat: 0n };

async function scan(ctx: RpcContext, objects: JsonValue): Promise<JsonOut> {
  const { chain, coinScan } = ctx.services;
  if (!coinScan.reserve()) {
    const message = 'Scan already in progress, use action "abort" or "status"';
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
  }
  try {
    const scripts = await wantedScripts(ctx, getArray(objects));
    const { completed, searched, found, totalSat } =
      scripts === null ? NOT_BEGUN : await coinScan.run(chain, scripts, ctx.signal);
    return {
      success: completed,
      searched_items: searched,
      unspents: jsonArray(unspentAnswers(found)),
      total_amount: coins(totalSat),
    };
  } finally {
    coinScan.release();
  }
}

export const scanTxOutSet = defineMethod({
  name: 'scantxoutset',
  category: 'blockchain',
  summary:
    'EXPERIMENTAL warning: this call may be removed or changed in future releases.\n' +
    'Scans the unspent transaction output set for entries that match certain output descriptors.\n' +
    'Examples of output descriptors are:\n' +
    '    addr(<address>)                      Outputs whose scriptPubKey corresponds to the specified address (does not include P2PK)\n' +
    '    raw(<hex script>)                    Outputs whose scriptPubKey equals the specified hex scripts\n' +
    '    combo(<pubkey>)                      P2PK, P2PKH, P2WPKH, and P2SH-P2WPKH outputs for the given pubkey\n' +
    '    pkh(<pubkey>)                        P2PKH outputs for the given pubkey\n' +
    '    sh(multi(<n>,<pubkey>,<pubkey>,...)) P2SH-multisig outputs for the given threshold and pubkeys\n' +
    'In the above, <pubkey> either refers to a fixed public key in hexadecimal notation, or to an xpub/xprv optionally ' +
    'followed by one or more path elements separated by "/", and optionally ending in "/*" (unhardened), or "/*\'" or ' +
    '"/*h" (hardened) to specify all unhardened or hardened child keys. In the latter case, a range needs to be ' +
    'specified if different from 1000.',
  params: [
    {
      name: 'action',
      type: 'string',
      required: true,
      strict: true,
      description:
        'The action to execute: "start" for starting a scan, "abort" for aborting the current scan (returns true when ' +
        'abort was successful), "status" for progress report (in %) of the current scan',
    },
    {
      name: 'scanobjects',
      type: 'array',
      strict: true,
      description:
        'Output descriptors, each a string or an object with the members "desc" and, optionally, "range" ' +
        '(the highest child index up to which keys are derived)',
    },
  ],
  result: t.union([
    {
      when: 'for action "start"',
      schema: t.object({
        success: t.bool('whether the scan was completed'),
        searched_items: t.int('the number of scanned outputs'),
        unspents: t.array(
          t.object({
            txid: t.hash('the transaction id'),
            vout: t.int('the index of the output'),
            scriptPubKey: t.hex('the script in hex'),
            amount: t.coins('the amount of the output'),
            height: t.int('the height of the transaction'),
          }),
        ),
        total_amount: t.coins('the total amount of all found outputs'),
      }),
    },
    { when: 'for action "abort"', schema: t.bool('whether a scan was running') },
    {
      when: 'for action "status" while a scan is running',
      schema: t.object({ progress: t.int('progress in percent') }),
    },
    { when: 'for action "status" otherwise', schema: t.none() },
  ]),
  examples: [
    ['"start"', '["raw(76a914411d3ffb5ad28b03a5be5a4ec2b4ac8cbc0f47c288ac)"]'],
    ['"status"'],
    ['"abort"'],
  ],
  run(ctx, { action, scanobjects }): JsonOut | Promise<JsonOut> {
    const { coinScan } = ctx.services;
    switch (action) {
      case 'status':
        return coinScan.progressPercent === null ? null : { progress: coinScan.progressPercent };
      case 'abort':
        return coinScan.end();
      case 'start':
        return scan(ctx, scanobjects ?? null);
      default:
        throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Invalid command');
    }
  },
});
