/** Methods `server.*`, and methods for which the reference returns constants. Source: lbryio/hub herald/session.py. */
import { readFile } from 'node:fs/promises';
import { rawNumber, type JsonValue } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { badRequest } from '../protocol/hubError.js';
import type { HubCall, HubMethod } from './method.js';
import { negotiate, PROTOCOL_MAX, PROTOCOL_MIN, SERVER_VERSION } from '../protocol/protocolVersion.js';
import { pythonText } from '../protocol/pythonText.js';

/** Number of characters of a client's name that are stored. Source: `server_version`. */
const NAME_CHARS = 17;
/** Maximum number of characters of the user agent to which the pattern of `-hubdropclient` is applied. Arbitrary. */
const MATCHED_CHARS = 200;

function version({ client, hub }: HubCall, name: JsonValue, protocol: JsonValue): JsonOut {
  if (client.protocol !== null) return [SERVER_VERSION, client.protocol];
  if (name !== '' && name !== null) {
    const text = pythonText(name);
    if (hub.facts.dropClient?.test(text.slice(0, MATCHED_CHARS)) === true) {
      client.dismiss();
      throw badRequest(`unsupported client: ${text}`);
    }
    client.name = Buffer.from(text.slice(0, NAME_CHARS)).toString();
  }
  client.protocol = negotiate(protocol);
  if (client.protocol !== null) return [SERVER_VERSION, client.protocol];
  client.dismiss();
  throw badRequest(`unsupported protocol version: ${pythonText(protocol)}`);
}

function features({ hub: { facts } }: HubCall): JsonOut {
  return {
    hosts: {},
    pruning: null,
    server_version: SERVER_VERSION,
    protocol_min: PROTOCOL_MIN,
    protocol_max: PROTOCOL_MAX,
    genesis_hash: facts.genesisHash,
    description: facts.description,
    payment_address: facts.paymentAddress,
    donation_address: facts.donationAddress,
    daily_fee: facts.dailyFee,
    hash_function: 'sha256',
    trending_algorithm: 'fast_ar',
  };
}

async function banner({ hub: { facts, warn } }: HubCall): Promise<string> {
  const usual = `You are connected to an ${SERVER_VERSION} server.`;
  if (facts.bannerFile === null) return usual;
  let text: string;
  try {
    refuseSpecialFile(facts.bannerFile);
    text = await readFile(facts.bannerFile, 'utf8');
  } catch (error) {
    warn(`The hub's banner cannot be read: ${(error as Error).message}`);
    return usual;
  }
  const { nodeVersion, nodeUserAgent } = facts;
  const part = (unit: number): number => Math.floor(nodeVersion / unit) % 100;
  const values: readonly (readonly [name: string, value: string])[] = [
    ['$SERVER_VERSION', SERVER_VERSION],
    ['$DAEMON_VERSION', `${Math.floor(nodeVersion / 1_000_000)}.${part(10_000)}.${part(100)}`],
    ['$DAEMON_SUBVERSION', nodeUserAgent],
    ['$PAYMENT_ADDRESS', facts.paymentAddress],
    ['$DONATION_ADDRESS', facts.donationAddress],
  ];
  return values.reduce((filled, [name, value]) => filled.replaceAll(name, () => value), text);
}

export const SERVER_METHODS: readonly HubMethod[] = [
  {
    name: 'server.version',
    params: ['client_name', 'client_version'],
    required: 0,
    run: (call, [name = '', protocol = null]) => version(call, name, protocol),
  },
  { name: 'server.features', params: [], run: features },
  { name: 'server.banner', params: [], run: banner },
  { name: 'server.ping', params: [], run: () => null },
  {
    name: 'server.peers.subscribe',
    params: [],
    run({ client, hub: { peers } }) {
      client.knownPeer = peers.latest;
      return peers.list;
    },
  },
  { name: 'server.payment_address', params: [], run: ({ hub }) => hub.facts.paymentAddress },
  { name: 'server.donation_address', params: [], run: ({ hub }) => hub.facts.donationAddress },
  { name: 'blockchain.estimatefee', params: ['number'], run: () => rawNumber('0.00014601') },
  { name: 'blockchain.relayfee', params: [], run: () => rawNumber('0.00001') },
  { name: 'mempool.get_fee_histogram', params: [], run: () => [] },
];
