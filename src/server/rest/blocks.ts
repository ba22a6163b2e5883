/** `/rest/block/…`, `/rest/block/notxdetails/…` and `/rest/headers/…`. Source: lbrycrd rest.cpp `rest_block`, `rest_headers`. */
import type { ChainReader } from '../../chain/chainReader.js';
import { formatBlock, parseBlockBytes } from '../../primitives/block.js';
import { formatHeader, type BlockHeader } from '../../primitives/header.js';
import { readBlockBytesOrNull, readBlockOrNull } from '../../rpc/lookup/blockLookup.js';
import { blockAnswer, headerAnswer } from '../../rpc/format/block.js';
import type { RpcServices } from '../../interfaces/services.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { HttpReply } from '../replyStream.js';
import { answerAs, binaryReply, hexReply, jsonReply } from './reply.js';
import {
  badRequest,
  leadingInteger,
  noSuchFormat,
  notFound,
  parseHash,
  splitFormat,
  type RestError,
} from './request.js';
import { scriptContext, type RestCall, type RestHandler } from './resource.js';

/** Maximum number of headers in a response of `/rest/headers`. */
const MAX_HEADERS = 2000;
/** A path parameter shorter than this may be a block height instead of a hash. */
const HEIGHT_CHARS = 12;

/** Creates the handler for blocks by hash, by height (a negative height counts back from the tip), or by the word `tip`. */
export function blockHandler(withTransactions: boolean): RestHandler {
  return async (call) => {
    const { chain, options, params } = call.services;
    const { param, format } = splitFormat(call.path);
    const id = findBlock(chain, param);
    if (format === 'json') {
      const block = await readOr404(readBlockOrNull, call.services, id, param);
      return jsonReply(
        blockAnswer(chain, id, block, {
          context: scriptContext(call),
          withTransactions,
          serializeWitness: options.serializeWitness,
          params,
          texts: call.services.blockTexts,
        }),
      );
    }
    const raw = await readOr404(readBlockBytesOrNull, call.services, id, param);
    if (format === null) throw noSuchFormat();
    const bytes = options.serializeWitness ? raw : formatBlock(parseBlockBytes(raw), false);
    return format === 'bin' ? binaryReply(bytes) : hexReply(bytes);
  };
}

function noSuchBlock(name: string): RestError {
  return badRequest(`Invalid hash or block height: ${name}`);
}

function findBlock({ chain, headers }: ChainReader, name: string): number {
  const { active } = chain.index;
  if (name === 'tip') return active.tip;
  let height = name.length < HEIGHT_CHARS ? leadingInteger(name) : 0;
  const hash = parseHash(name);
  if (height === 0 && hash === null) throw noSuchBlock(name);
  if (height < 0) {
    height += active.height;
    // The genesis block cannot be requested by its height.
    if (height === 0) throw notFound(`${name} not found`);
  }
  if (height < 0 || height > active.height) throw noSuchBlock(name);
  const id = hash === null ? active.at(height) : headers.find(hash);
  if (id === NO_HEADER) throw notFound(`${name} not found`);
  return id;
}

/** Reads a block with `read`. Throws status 404 if its data was never received, was pruned or cannot be read. */
async function readOr404<T>(
  read: (services: RpcServices, id: number) => Promise<T | null>,
  services: RpcServices,
  id: number,
  name: string,
): Promise<T> {
  const { chain, pruner } = services;
  const block = await read(services, id);
  if (block !== null) return block;
  const behind = chain.behindSnapshot(id);
  if (behind !== null) throw notFound(behind);
  const isPruned = pruner !== null && !chain.hasData(id) && chain.headers.txCount(id) > 0;
  throw notFound(`${name} not ${isPruned ? 'available (pruned data)' : 'found'}`);
}

/** Responds with headers of the active chain, from a block upwards. Empty if the block is not in the active chain. */
export async function headersHandler({ services, path }: RestCall): Promise<HttpReply> {
  const { chain } = services;
  const { param, format } = splitFormat(path);
  const [countText, hashText, ...more] = param.split('/');
  if (countText === undefined || hashText === undefined || more.length > 0) {
    throw badRequest('No header count specified. Use /rest/headers/<count>/<hash>.<ext>.');
  }
  const count = leadingInteger(countText);
  if (count < 1 || count > MAX_HEADERS) throw badRequest(`Header count out of range: ${countText}`);
  const hash = parseHash(hashText);
  if (hash === null) throw badRequest(`Invalid hash: ${hashText}`);
  if (format === null) throw noSuchFormat('.bin, .hex');
  const headers: HeaderOfChain[] = [];
  for (const id of activeFrom(chain, chain.headers.find(hash), count)) {
    headers.push({ id, header: await chain.readHeader(id) });
  }
  const bytes = (): Buffer => Buffer.concat(headers.map(({ header }) => formatHeader(header)));
  return answerAs(format, {
    bin: () => binaryReply(bytes()),
    hex: () => hexReply(bytes()),
    json: async () => jsonReply(await headerAnswers(chain, headers)),
  });
}

interface HeaderOfChain {
  readonly id: number;
  readonly header: BlockHeader;
}

function activeFrom({ chain }: ChainReader, first: number, count: number): number[] {
  const { active } = chain.index;
  const ids: number[] = [];
  for (let id = first; active.contains(id) && ids.length < count; id = active.next(id)) ids.push(id);
  return ids;
}

/** All headers are formatted before the first one is sent, so that all belong to the same chain. */
async function headerAnswers(chain: ChainReader, headers: readonly HeaderOfChain[]): Promise<JsonOut[]> {
  const answers: JsonOut[] = [];
  let since = performance.now();
  for (const { id, header } of headers) {
    answers.push(headerAnswer(chain, id, header));
    since = await yieldIfDue(since);
  }
  return answers;
}
