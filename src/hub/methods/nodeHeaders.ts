/**
 * Hub methods `blockchain.block.*` for single headers, and the part of header lists that needs the chain. Source: lbryio/hub
 * herald/session.py.
 */
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import { nonNegativeInteger } from '../protocol/arguments.js';
import { badRequest, notThere } from '../protocol/hubError.js';
import type { NodeCall, NodeMethod } from './method.js';
import type { HeadersStart } from '../link/nodeOperations.js';
import { withCommas } from '../protocol/pythonText.js';

/** Yields the number of available headers from height `start` on with the requested proof, then the bytes of the headers. */
export async function* headersFrom(
  call: NodeCall,
  start: number,
  wanted: number,
  checkpoint: number,
): AsyncGenerator<HeadersStart | Uint8Array<ArrayBuffer>> {
  const { headers } = call.hub;
  const { tip } = headers;
  const count = Math.max(0, Math.min(wanted, headers.height + 1 - start));
  const hasProof = count > 0 && checkpoint > 0;
  yield { count, proof: hasProof ? await headerProof(call, tip, checkpoint, start + count - 1) : null };
  yield* headers.pages(tip, start, count, call.turn);
}

/** Source: `_merkle_proof`. */
async function headerProof(
  { hub, turn }: NodeCall,
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

export const NODE_HEADER_METHODS: readonly NodeMethod[] = [
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
