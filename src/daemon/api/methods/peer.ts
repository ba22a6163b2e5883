/**
 * Peers of the DHT and of the blob exchange. Source: lbry-sdk lbry/extras/daemon/daemon.py `jsonrpc_peer_list`,
 * `jsonrpc_peer_ping`, `jsonrpc_routing_table_get`.
 */
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { badValue, DaemonError, failure } from '../../base/daemonError.js';
import { pageOf, pageOfList } from '../../base/pages.js';
import { isBlobHash } from '../../content/blobHash.js';
import { ID_BYTES } from '../../dht/datagrams.js';
import { RequestFailure } from '../../dht/rpc.js';
import { routingTableGet } from '../declarations/main.js';
import { peerList, peerPing } from '../declarations/peer.js';
import { implement, type MethodImplementation } from '../implement.js';

const list = implement(peerList, async ({ services }, args) => {
  if (!isBlobHash(args.blob_hash)) throw failure('invalid blob hash');
  const { peerFinder } = services;
  if (peerFinder === null)
    throw failure('Peer list needs, at least, either a DHT component or a Tracker component for discovery.');
  const peers: JsonOut[] = [];
  for await (const peer of peerFinder.peersFor(args.blob_hash, new AbortController().signal))
    peers.push({
      address: peer.address,
      udp_port: peer.udpPort,
      tcp_port: peer.tcpPort,
      node_id: peer.nodeId?.toString('hex') ?? null,
    });
  return pageOfList(peers, pageOf(args));
});

const NOT_FOUND = { error: 'peer not found' };
const HEX = /^(?:[0-9a-f]{2})*$/i;

const ping = implement(peerPing, async ({ services }, { node_id: id, address, port }) => {
  if (id === '' || address === '' || port === 0) return NOT_FOUND;
  if (!HEX.test(id)) throw badValue('node_id must be hexadecimal digits');
  const nodeId = Buffer.from(id, 'hex');
  if (nodeId.length !== ID_BYTES) throw badValue(`invalid node_id: ${nodeId.toString('hex')}`);
  if ((address === undefined) !== (port === undefined))
    throw badValue('address and port must be given together');
  try {
    if (address === undefined || port === undefined)
      return (await services.dht.locateAndPing(nodeId)) ? 'pong' : NOT_FOUND;
    await services.dht.ping(nodeId, address, port);
    return 'pong';
  } catch (error) {
    if (error instanceof RangeError) throw badValue(error.message);
    if (!(error instanceof RequestFailure)) throw error;
    if (error.reason === 'error') throw new DaemonError('RemoteException', error.message);
    return { error: 'timeout' };
  }
});

const table = implement(routingTableGet, ({ services }) => {
  const { buckets, nodeId, book } = services.dht;
  const shown = buckets.map(({ contacts }, index) => [
    String(index),
    contacts.map((contact) => ({
      address: contact.address,
      udp_port: contact.udpPort,
      tcp_port: book.tcpPortOf(contact),
      node_id: contact.nodeId.toString('hex'),
    })),
  ]);
  const neighbours = buckets.flatMap(({ contacts }) =>
    contacts.filter((contact) => contact.nodeId[0] === nodeId[0]),
  );
  return {
    buckets: Object.fromEntries(shown) as JsonOut,
    node_id: nodeId.toString('hex'),
    prefix_neighbors_count: neighbours.length,
  };
});

export const peerMethods: readonly MethodImplementation[] = [list, ping, table];
