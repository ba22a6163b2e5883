/**
 * `getheaders`: the headers that would be sent to a peer for the P2P message of this name. Source: lbcd rpcserver.go,
 * `LocateHeaders`.
 */
import { formatHeader } from '../../../primitives/header.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { equalBytes, hashFromHex, toHex, type Bytes } from '../../../util/bytes.js';
import type { JsonValue } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { inSlices } from '../../../scheduler/slices.js';
import type { Slices } from '../../../util/slices.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';

/** Maximum number of headers in a result. Source: lbcd wire `MaxBlockHeadersPerMsg`. */
const MAX_HEADERS = 2000;

/** Parses a block hash of up to 64 hex digits, padded with leading zeros. */
function parseHash(text: string): Bytes {
  if (/^[0-9a-fA-F]{0,64}$/.test(text)) return hashFromHex(text.padStart(64, '0'));
  throw rpcError(
    RPC_ERROR.DESERIALIZATION_ERROR,
    `Argument must be hexadecimal string (not ${JSON.stringify(text)})`,
  );
}

/** Number of hashes parsed between two yields to the event loop. The length of the list is not limited. */
const HASHES_AT_ONCE = 256;

/** Returns the first of the hashes that is in the active chain. All hashes are parsed, because any may be malformed. */
function* firstKnown({ chain }: RpcServices, locator: readonly JsonValue[]): Slices<number> {
  let known: number = NO_HEADER;
  for (let n = 0; n < locator.length; n++) {
    const hash = parseHash(getString(locator[n]!));
    if (known === NO_HEADER) {
      const id = chain.headers.find(hash);
      if (chain.chain.index.active.contains(id)) known = id;
    }
    if (n % HASHES_AT_ONCE === HASHES_AT_ONCE - 1) yield;
  }
  return known;
}

/** Returns the first header of the result. If the locator is empty, this is the header of the stop hash. */
async function firstOf(services: RpcServices, locator: readonly JsonValue[], stop: Bytes): Promise<number> {
  const { chain } = services;
  const { active } = chain.chain.index;
  if (locator.length === 0) {
    const id = chain.headers.find(stop);
    return active.contains(id) ? id : NO_HEADER;
  }
  for (;;) {
    const known = await inSlices(firstKnown(services, locator));
    if (known === NO_HEADER) return active.next(active.at(0));
    // The block found by the locator may have been disconnected while the locator was parsed.
    if (active.contains(known)) return active.next(known);
  }
}

export const getHeaders = defineMethod({
  name: 'getheaders',
  category: 'blockchain',
  chainUse: 'reads',
  summary:
    'Returns the serialized headers of the active chain after the first of the given blocks that is in ' +
    'it, at most 2,000.',
  params: [
    {
      name: 'blocklocators',
      type: 'array',
      required: true,
      description:
        'Block hashes (a block locator), latest first; an empty list returns only the header of hashstop',
    },
    {
      name: 'hashstop',
      type: 'string',
      required: true,
      description: 'Hash of the last header to return; empty returns as many headers as possible',
    },
  ],
  result: t.array(t.hex('a serialized header')),
  examples: [['["9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463"]', '""']],
  profiles: ['lbcd'],
  async run({ services }, { blocklocators, hashstop }): Promise<JsonOut> {
    const { chain } = services;
    const { active } = chain.chain.index;
    const stop = parseHash(hashstop);
    const ids: number[] = [];
    let id = await firstOf(services, blocklocators, stop);
    for (; id !== NO_HEADER; id = active.next(id)) {
      ids.push(id);
      if (blocklocators.length === 0 || ids.length === MAX_HEADERS) break;
      if (equalBytes(chain.headers.hash(id), stop)) break;
    }
    const list: string[] = [];
    let since = performance.now();
    for (const wanted of ids) {
      list.push(toHex(formatHeader(await chain.readHeader(wanted))));
      since = await yieldIfDue(since);
    }
    return list;
  },
});
