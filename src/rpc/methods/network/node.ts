/**
 * lbcd's `node`: connects to a node, once or permanently, or disconnects a peer, which is given by number or address.
 * Source: lbcd rpcserver.go `handleNode`, server.go `handleQuery`.
 */
import { isIP } from 'node:net';
import { RPC_ERROR, rpcError, type RpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import type { PeerService, PeerSnapshot } from '../../../interfaces/peerService.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

function invalid(message: string): RpcError {
  return rpcError(RPC_ERROR.INVALID_PARAMETER, message);
}

/** Appends the network's default port if the target has no port. Source: `normalizeAddress`. */
function withPort(target: string, defaultPort: number): string {
  if (/^(\[[^\]]*\]|[^:]*):[^:]*$/.test(target)) return target;
  return target.includes(':') ? `[${target}]:${defaultPort}` : `${target}:${defaultPort}`;
}

/** Throws for an address that cannot be the address of a node. Source: lbcd server.go `addrStringToNetAddr`. */
function checkAddress(address: string): void {
  const [, host, port = ''] = /^(\[[^\]]*\]|[^:]*):([^:]*)$/.exec(address) ?? [];
  if (!/^[0-9]+$/.test(port) || Number(port) > MAX_PORT)
    throw invalid(`invalid port '${port}' in the address`);
  if (host === '' || (host!.startsWith('[') && isIP(host!.slice(1, -1)) === 0))
    throw invalid(`invalid host '${host}' in the address`);
}

const MAX_ID = 0xffffffff;
const MAX_PORT = 0xffff;

function findPeer(peers: PeerService, target: string, defaultPort: number): PeerSnapshot | undefined {
  if (/^[0-9]+$/.test(target) && Number(target) <= MAX_ID)
    return peers.list().find(({ id }) => id === Number(target));
  const address = withPort(target, defaultPort);
  if (address !== target && isIP(target) === 0) throw invalid('invalid address or node ID');
  return peers.list().find((peer) => peer.address === address);
}

/** Returns the name under which the peer is in the addnode list; undefined if its connection is not permanent. */
function permanentName(peers: PeerService, { address }: PeerSnapshot): string | undefined {
  return peers.addedNodes().find(({ name, connected }) => connected?.address === address || name === address)
    ?.name;
}

export const node = defineMethod({
  name: 'node',
  category: 'network',
  chainUse: 'none',
  summary: 'Connects to a node, or disconnects from it.',
  params: [
    {
      name: 'command',
      type: 'string',
      required: true,
      description: '"connect", "disconnect" for a temporary peer, or "remove" for a permanent peer',
    },
    {
      name: 'target',
      type: 'string',
      required: true,
      description: 'The address of the node, or the number of a peer for disconnect and remove',
    },
    {
      name: 'connecttype',
      type: 'string',
      default: 'temp',
      description: 'For "connect": "perm" keeps the connection up, "temp" tries once',
    },
  ],
  result: t.none(),
  examples: [['"connect"', '"192.168.0.6:9246"', '"temp"']],
  profiles: ['lbcd'],
  async run({ services }, { command, target, connecttype }) {
    const peers = requirePeers(services);
    const { p2pPort } = services.params;
    if (command === 'connect') {
      await connect(peers, withPort(target, p2pPort), connecttype);
      return null;
    }
    if (command !== 'disconnect' && command !== 'remove') throw invalid('invalid subcommand for node');
    const peer = findPeer(peers, target, p2pPort);
    if (peer === undefined) throw invalid('peer not found');
    const wanted = permanentName(peers, peer);
    if (command === 'disconnect' && wanted !== undefined)
      throw rpcError(RPC_ERROR.MISC_ERROR, "can't disconnect a permanent peer, use remove");
    if (command === 'remove' && wanted === undefined)
      throw rpcError(RPC_ERROR.MISC_ERROR, "can't remove a temporary peer, use disconnect");
    if (wanted !== undefined) peers.removeNode(wanted);
    peers.disconnectId(BigInt(peer.id));
    return null;
  },
});

async function connect(peers: PeerService, address: string, type: string): Promise<void> {
  if (type !== 'perm' && type !== 'temp') throw invalid('invalid subcommand for node connect');
  const added = peers.addedNodes().find(({ name }) => name === address);
  if (added?.connected)
    throw invalid(type === 'perm' ? 'peer already connected' : 'peer exists as a permanent peer');
  checkAddress(address);
  // The node already tries to open the permanent connection.
  if (added !== undefined) return;
  if (type === 'perm') peers.addNode(address);
  else await peers.tryOnce(address);
}
