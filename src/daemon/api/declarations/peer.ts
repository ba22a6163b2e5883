/** Declarations of the methods of the group peer. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import { blobHash, page, pageSize } from './listParams.js';
import { pageOf, peer } from './shapes.js';

export const peerList = declareMethod({
  name: 'peer_list',
  group: 'peer',
  summary: 'List peers that announced a blob.',
  usage: ['(<blob_hash> | --blob_hash=<blob_hash>) [--page=<page>] [--page_size=<page_size>]'],
  params: [required(blobHash), page, pageSize],
  details: [
    'It queries the trackers and the DHT, if these components run. It omits peers that do not answer a ping.',
  ],
  result: pageOf('Peer', peer),
  needs: [],
});

export const peerPing = declareMethod({
  name: 'peer_ping',
  group: 'peer',
  summary: 'Ping a peer of the DHT.',
  details: [
    'With address and port it pings the peer directly. Without them it first locates the peer: in the routing table, or else by ' +
      'asking other peers.',
  ],
  usage: ['(<node_id> | --node_id=<node_id>) [((<address> | --address=<address>) (<port> | --port=<port>))]'],
  params: [
    {
      name: 'node_id',
      type: 'str',
      description: 'id of the peer in the DHT, 96 hexadecimal digits',
      required: true,
    },
    { name: 'address', type: 'str', description: 'IPv4 address; only together with port' },
    { name: 'port', type: 'int', description: 'UDP port' },
  ],
  result: t.union([
    { when: 'if the peer answers', schema: t.str('pong') },
    {
      when: 'otherwise',
      schema: t.object({ error: t.str('reason: timeout, or peer not found') }, 'an error'),
    },
  ]),
  needs: ['dht'],
});
