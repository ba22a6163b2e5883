/** `blockchain.headers.*` and `blockchain.block.*`. Source: lbryio/hub herald/session.py. */
import { Readable } from 'node:stream';
import { constants, createDeflateRaw } from 'node:zlib';
import { NO_HEADER } from '../../store/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import { stringifyJson } from '../../util/jsonWrite.js';
import { booleanOf, nonNegativeInteger } from '../arguments.js';
import { badRequest, notThere } from '../hubError.js';
import { StreamedJson, type HubCall, type HubMethod } from '../method.js';
import { withCommas } from '../pythonText.js';

/** Source: `MAX_CHUNK_SIZE`. */
const MAX_HEADERS = 40_960;
/** Headers of a chunk. Source: `CHUNK_SIZE` of hub/scribe's coin. */
const CHUNK_HEADERS = 96;
/** Bytes that base64 takes at a time without a rest. */
const BASE64_UNIT = 3;

/** How many of so many headers there are from a height on. */
function available({ hub }: HubCall, start: number, count: number): number {
  return Math.max(0, Math.min(count, hub.headers.height + 1 - start));
}

async function* hexPieces(pages: AsyncIterable<Buffer>): AsyncGenerator<string> {
  yield '"';
  for await (const page of pages) yield page.toString('hex');
  yield '"';
}

/** Raw deflate, which the client inflates with window bits -15, in base64. */
async function* deflatedPieces(pages: AsyncIterable<Buffer>): AsyncGenerator<string> {
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

/** The object with the headers first, then the members that are known already. */
async function* withMembers(
  key: string,
  text: AsyncIterable<string>,
  members: string,
): AsyncGenerator<string> {
  yield `{"${key}":`;
  yield* text;
  yield `,${members.slice(1)}`;
}

const blockHeaders: HubMethod = {
  name: 'blockchain.block.headers',
  params: ['start_height', 'count', 'cp_height', 'b64'],
  required: 2,
  async run(call, [startArg, countArg, checkpointArg = 0, base64 = false]) {
    const { hub, turn } = call;
    const start = nonNegativeInteger(startArg);
    const wanted = Math.min(nonNegativeInteger(countArg), MAX_HEADERS);
    const checkpoint = nonNegativeInteger(checkpointArg);
    const { tip } = hub.headers;
    const count = available(call, start, wanted);
    const members = { count, max: MAX_HEADERS };
    const proof =
      count > 0 && checkpoint > 0 ? await headerProof(call, tip, checkpoint, start + count - 1) : {};
    const pages = hub.headers.pages(tip, start, count, turn);
    const isBase64 = base64 !== false && base64 !== null && base64 !== 0 && base64 !== '';
    const text = !isBase64 ? hexPieces(pages) : count > 0 ? deflatedPieces(pages) : hexPieces(pages);
    return new StreamedJson(
      withMembers(isBase64 ? 'base64' : 'hex', text, stringifyJson({ ...members, ...proof })),
    );
  },
};

/** Source: `_merkle_proof`. */
async function headerProof(
  { hub, turn }: HubCall,
  tip: number,
  checkpoint: number,
  height: number,
): Promise<{ branch: string[]; root: string }> {
  const { height: chainHeight } = hub.headers;
  if (height > checkpoint || checkpoint > chainHeight) {
    throw badRequest(
      `require header height ${withCommas(height)} <= cp_height ${withCommas(checkpoint)} <= chain height ${withCommas(chainHeight)}`,
    );
  }
  const { branch, root } = await hub.headers.tree.prove(hub.headers.at(checkpoint, tip), height, turn);
  return { branch: branch.map(hashToHex), root: hashToHex(root) };
}

export const HEADER_METHODS: readonly HubMethod[] = [
  {
    name: 'blockchain.headers.subscribe',
    params: ['raw'],
    required: 0,
    async run({ client, hub }, [raw = false]) {
      client.wantsHeaders = booleanOf(raw) ? 'raw' : 'decoded';
      const { tip } = hub.headers;
      client.knownTip = tip;
      return hub.headers.told(tip, client.wantsHeaders);
    },
  },
  blockHeaders,
  {
    name: 'blockchain.block.get_chunk',
    params: ['index'],
    run(call, [index]) {
      const { hub, turn } = call;
      const start = nonNegativeInteger(index) * CHUNK_HEADERS;
      const count = available(call, start, CHUNK_HEADERS);
      return new StreamedJson(hexPieces(hub.headers.pages(hub.headers.tip, start, count, turn)));
    },
  },
  {
    name: 'blockchain.block.get_header',
    params: ['height'],
    async run({ hub }, [heightArg]) {
      const height = nonNegativeInteger(heightArg);
      const id = hub.headers.at(height);
      if (id === NO_HEADER) throw notThere(`height ${withCommas(height)} out of range`);
      return hub.headers.decoded(id);
    },
  },
  {
    name: 'blockchain.block.get_server_height',
    params: [],
    run: ({ hub }) => hub.headers.height,
  },
];
