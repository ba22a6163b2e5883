/** Methods `blockchain.headers.subscribe` and those that return lists of headers. Source: lbryio/hub herald/session.py. */
import { Readable } from 'node:stream';
import { constants, createDeflateRaw } from 'node:zlib';
import { toHex } from '../../util/bytes.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { booleanOf, nonNegativeInteger } from '../protocol/arguments.js';
import { StreamedJson } from '../protocol/hubClient.js';
import type { HubCall, HubMethod } from './method.js';
import type { HeadersStart } from '../link/nodeOperations.js';

/** Source: `MAX_CHUNK_SIZE`. */
const MAX_HEADERS = 40_960;
/** Number of headers in a chunk. Source: `CHUNK_SIZE` of the hub's coin definition (hub/scribe). */
const CHUNK_HEADERS = 96;
/** Number of bytes whose multiples base64 encodes without padding. */
const BASE64_UNIT = 3;

async function* hexPieces(pages: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  yield '"';
  for await (const page of pages) yield toHex(page);
  yield '"';
}

/** Compresses pages by raw deflate and encodes them in base64. Clients decompress them with window bits -15. */
async function* deflatedPieces(pages: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const deflate = createDeflateRaw({ level: constants.Z_BEST_SPEED });
  const source = Readable.from(pages, { objectMode: false });
  source.once('error', (error) => deflate.destroy(error));
  yield '"';
  let rest = Buffer.alloc(0);
  try {
    for await (const piece of source.pipe(deflate)) {
      const bytes = Buffer.concat([rest, piece as Buffer]);
      const whole = bytes.length - (bytes.length % BASE64_UNIT);
      yield bytes.toString('base64', 0, whole);
      rest = bytes.subarray(whole);
    }
  } finally {
    source.destroy();
  }
  yield `${rest.toString('base64')}"`;
}

/** Text of a JSON object: the streamed member first, then the other members. */
async function* withMembers(
  key: string,
  text: AsyncIterable<string>,
  members: string,
): AsyncGenerator<string> {
  yield `{"${key}":`;
  yield* text;
  yield `,${members.slice(1)}`;
}

/** Requests headers from the node's thread: the number of available headers from height `start` on, and their bytes in pages. */
async function headersOf(
  { client, turn, hub }: HubCall,
  start: number,
  count: number,
  checkpoint = 0,
): Promise<HeadersStart & { readonly pages: AsyncIterable<Uint8Array> }> {
  const chunks = hub.node.chunks(client, turn, 'headers', start, count, checkpoint)[Symbol.asyncIterator]();
  const first = await chunks.next();
  const pages = { [Symbol.asyncIterator]: () => chunks } as AsyncIterable<Uint8Array>;
  return { ...(first.value as HeadersStart), pages };
}

const blockHeaders: HubMethod = {
  name: 'blockchain.block.headers',
  params: ['start_height', 'count', 'cp_height', 'b64'],
  required: 2,
  async run(call, [startArg, countArg, checkpointArg = 0, base64 = false]) {
    const start = nonNegativeInteger(startArg);
    const wanted = Math.min(nonNegativeInteger(countArg), MAX_HEADERS);
    const checkpoint = nonNegativeInteger(checkpointArg);
    const { count, proof, pages } = await headersOf(call, start, wanted, checkpoint);
    const members = { count, max: MAX_HEADERS, ...proof };
    const isBase64 = base64 !== false && base64 !== null && base64 !== 0 && base64 !== '';
    const text = !isBase64 ? hexPieces(pages) : count > 0 ? deflatedPieces(pages) : hexPieces(pages);
    return new StreamedJson(withMembers(isBase64 ? 'base64' : 'hex', text, stringifyJson(members)));
  },
};

export const HEADER_METHODS: readonly HubMethod[] = [
  {
    name: 'blockchain.headers.subscribe',
    params: ['raw'],
    required: 0,
    async run({ client, turn, hub }, [raw = false]) {
      const form = booleanOf(raw) ? 'raw' : 'decoded';
      await hub.node.call(client, turn, 'tip');
      client.wantsHeaders = form;
      client.knownHeight = hub.tip.height;
      return hub.tip.json(form);
    },
  },
  blockHeaders,
  {
    name: 'blockchain.block.get_chunk',
    params: ['index'],
    async run(call, [index]) {
      const { pages } = await headersOf(call, nonNegativeInteger(index) * CHUNK_HEADERS, CHUNK_HEADERS);
      return new StreamedJson(hexPieces(pages));
    },
  },
];
