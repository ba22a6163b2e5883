/**
 * `/rest/getutxos`: reports which of the requested outputs are unspent, and their contents. The path or the request body
 * contains the outpoints. Source: BIP64; lbrycrd rest.cpp `rest_getutxos`.
 */
import type { RpcServices } from '../../interfaces/services.js';
import { scriptAnswer } from '../../rpc/format/script.js';
import { hashFromHex, hashToHex, isHex, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { inSlices } from '../../scheduler/slices.js';
import { Writer } from '../../util/writer.js';
import type { HttpReply } from '../replyStream.js';
import { answerAs, binaryReply, hexReply, jsonReply } from './reply.js';
import {
  badRequest,
  decodeLeadingHex,
  noSuchFormat,
  parseInt32,
  splitFormat,
  type RestError,
  type RestFormat,
} from './request.js';
import { scriptContext, type RestCall } from './resource.js';
import { MAX_OUTPOINTS, parseUtxoRequest, TooManyOutPoints, type UtxoRequest } from './utxosRequest.js';

/** Height that is reported for unconfirmed outputs. Source: `MEMPOOL_HEIGHT`. */
const MEMPOOL_HEIGHT = 0x7fffffff;

interface UnspentOutput {
  readonly height: number;
  readonly amountSat: bigint;
  readonly script: Bytes;
}

/** The requested outputs that were found. All belong to the same tip. */
interface Found {
  readonly height: number;
  readonly tipHash: Bytes;
  /** One entry for each requested output; null if the output is spent or unknown. */
  readonly outputs: readonly (UnspentOutput | null)[];
}

const tooMany = (count: number): RestError =>
  badRequest(`Error: max outpoints exceeded (max: ${MAX_OUTPOINTS}, tried: ${count})`);

export async function utxosHandler(call: RestCall): Promise<HttpReply> {
  const request = await readRequest(call).catch((error: unknown) => {
    throw error instanceof TooManyOutPoints ? tooMany(error.count) : error;
  });
  if (request.outPoints.length > MAX_OUTPOINTS) throw tooMany(request.outPoints.length);
  const { services } = call;
  // `exclusively` prevents changes of the tip, the UTXO set and the mempool during the look-up.
  const found = await services.chain.chain.exclusively(() => findOutputs(services, request));
  return answerAs(request.format, {
    bin: () => binaryReply(serialized(found)),
    hex: () => hexReply(serialized(found)),
    json: () => jsonReply(answer(call, found)),
  });
}

/** Parses the request. The checks have the order of the reference, which decides about the error. */
async function readRequest({ path, body }: RestCall): Promise<UtxoRequest & { format: RestFormat }> {
  const { param, format } = splitFormat(path);
  const parts = param.length > 1 ? param.slice(1).split('/') : [];
  if (body.length === 0 && parts.length === 0) throw badRequest('Error: empty request');
  const named = parts.length > 0 ? namedOutPoints(parts) : null;
  if (format === null) throw noSuchFormat();
  if (format === 'json') {
    if (named === null) throw badRequest('Error: empty request');
    return { ...named, format };
  }
  const posted = format === 'hex' ? await inSlices(decodeLeadingHex(body)) : body;
  if (posted.length === 0) return { ...(named ?? { checkMempool: false, outPoints: [] }), format };
  if (named !== null) {
    throw badRequest('Combination of URI scheme inputs and raw post data is not allowed');
  }
  const request = parseUtxoRequest(posted);
  if (request === null) throw badRequest('Parse error');
  return { ...request, format };
}

/** Parses `checkmempool/<txid>-<n>/<txid>-<n>/…`. The part `checkmempool` is optional. */
function namedOutPoints(parts: readonly string[]): UtxoRequest {
  const checkMempool = parts[0] === 'checkmempool';
  const outPoints = parts.slice(checkMempool ? 1 : 0).map(parseOutPoint);
  if (outPoints.length === 0) throw badRequest('Error: empty request');
  return { checkMempool, outPoints };
}

/**
 * Parses an outpoint. Only the last 64 digits of a txid are used, and missing digits are zeros. QUIRK: in a text without a
 * dash, the whole text is both txid and output number.
 */
function parseOutPoint(text: string): Buffer {
  const dash = text.indexOf('-');
  const [idText, numberText] = dash < 0 ? [text, text] : [text.slice(0, dash), text.slice(dash + 1)];
  const number = parseInt32(numberText);
  if (number === null || idText === '' || !isHex(idText)) throw badRequest('Parse error');
  const txid = hashFromHex(idText.slice(-64).padStart(64, '0'));
  return new Writer(36).raw(txid).i32(number).finish();
}

async function findOutputs(
  { chain, mempool }: RpcServices,
  { checkMempool, outPoints }: UtxoRequest,
): Promise<Found> {
  const outputs: (UnspentOutput | null)[] = [];
  for (const outPoint of outPoints) {
    if (checkMempool && mempool.isSpent(outPoint)) {
      outputs.push(null);
      continue;
    }
    const unconfirmed = checkMempool ? mempool.output(outPoint) : null;
    const coin = unconfirmed === null ? await chain.coin(outPoint) : null;
    if (unconfirmed !== null) outputs.push({ height: MEMPOOL_HEIGHT, ...unconfirmed });
    else if (coin === null) outputs.push(null);
    else outputs.push({ height: coin.heightCode >>> 1, amountSat: coin.amount, script: coin.script });
  }
  const { height, tip } = chain.chain;
  return { height, tipHash: chain.headers.hash(tip), outputs };
}

const isFound = (output: UnspentOutput | null): output is UnspentOutput => output !== null;

function serialized({ height, tipHash, outputs }: Found): Buffer {
  const bitmap = Buffer.alloc(Math.ceil(outputs.length / 8));
  outputs.forEach((output, i) => {
    if (output !== null) bitmap[i >> 3]! |= 1 << (i & 7);
  });
  const unspent = outputs.filter(isFound);
  const writer = new Writer().i32(height).raw(tipHash).varBytes(bitmap).compactSize(unspent.length);
  // In BIP64 each output begins with the version of the transaction. Versions of transactions are not stored, so 0 is
  // sent.
  for (const { height: at, amountSat, script } of unspent) {
    writer.u32(0).u32(at).i64(amountSat).varBytes(script);
  }
  return writer.finish();
}

function answer(call: RestCall, { height, tipHash, outputs }: Found): JsonOut {
  const context = scriptContext(call);
  return {
    chainHeight: height,
    chaintipHash: hashToHex(tipHash),
    bitmap: outputs.map((output) => (output === null ? '0' : '1')).join(''),
    utxos: outputs.filter(isFound).map(({ height: at, amountSat, script }) => ({
      height: at,
      value: coins(amountSat),
      scriptPubKey: scriptAnswer(script, context, true),
    })),
  };
}
