/** `getpeerinfo`: data of every peer. Source: lbrycrd rpc/net.cpp. */
import { coins } from '../../../util/json/json.js';
import { defineMethod } from '../../declare/method.js';
import type { PeerSnapshot } from '../../../interfaces/peerService.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const getPeerInfo = defineMethod({
  name: 'getpeerinfo',
  category: 'network',
  explorer: 'page',
  chainUse: 'none',
  summary: 'Returns data about each connected network node.',
  params: [],
  result: t.array(
    t.object({
      id: t.int('peer index'),
      addr: t.str('the IP address and port of the peer, or the name that the operator gave'),
      addrlocal: t.optional(t.str('our address as the peer reported it')),
      addrbind: t.optional(t.str('our end of the connection')),
      services: t.hex('the services offered, 16 digits'),
      relaytxes: t.bool('whether the peer wants transactions'),
      lastsend: t.time('when we last sent something; 0 for never'),
      lastrecv: t.time('when something last came; 0 for never'),
      bytessent: t.int('bytes sent'),
      bytesrecv: t.int('bytes received'),
      conntime: t.time('when the connection was made'),
      timeoffset: t.int('seconds that the peer is ahead of us'),
      pingtime: t.optional(t.num('the last round trip in seconds')),
      minping: t.optional(t.num('the shortest round trip in seconds')),
      pingwait: t.optional(t.num('seconds that the present ping has been under way')),
      version: t.int('protocol version; 0 before the peer told'),
      subver: t.str('user agent'),
      inbound: t.bool('whether the peer connected to us'),
      addnode: t.bool('whether the operator asked for the connection'),
      startingheight: t.int("height of the peer's chain when it connected"),
      banscore: t.int('the sum of its misbehaviour'),
      synced_headers: t.int('height of the last header that we have in common; -1 for none'),
      synced_blocks: t.int('height of the last block that we have in common; -1 for none'),
      inflight: t.array(t.int(), 'heights of blocks that we wait for'),
      whitelisted: t.bool('whether the peer is whitelisted'),
      minfeefilter: t.coins('fee rate per 1,000 virtual bytes below which the peer wants no transactions'),
      bytessent_per_msg: t.map('command', t.int('bytes sent')),
      bytesrecv_per_msg: t.map('command', t.int('bytes received')),
    }),
  ),
  examples: [[]],
  run: ({ services }) => requirePeers(services).list().map(describe),
});

function describe(peer: PeerSnapshot) {
  return {
    id: peer.id,
    addr: peer.address,
    ...(peer.localAddress === null ? {} : { addrlocal: peer.localAddress }),
    ...(peer.boundAddress === null ? {} : { addrbind: peer.boundAddress }),
    services: peer.services.toString(16).padStart(16, '0'),
    relaytxes: peer.relaysTransactions,
    lastsend: peer.lastSendSec,
    lastrecv: peer.lastReceiveSec,
    bytessent: peer.bytesSent,
    bytesrecv: peer.bytesReceived,
    conntime: peer.connectedAtSec,
    timeoffset: peer.timeOffsetSec,
    ...(peer.pingSec === null ? {} : { pingtime: peer.pingSec }),
    ...(peer.minPingSec === null ? {} : { minping: peer.minPingSec }),
    ...(peer.pingWaitSec === null ? {} : { pingwait: peer.pingWaitSec }),
    version: peer.protocolVersion,
    subver: peer.userAgent,
    inbound: peer.inbound,
    addnode: peer.manual,
    startingheight: peer.startHeight,
    banscore: peer.banScore,
    synced_headers: peer.syncedHeaders,
    synced_blocks: peer.syncedBlocks,
    inflight: [...peer.inFlightHeights],
    whitelisted: peer.whitelisted,
    minfeefilter: coins(peer.minFeeFilterRatePerKb),
    bytessent_per_msg: new Map(peer.sentByCommand),
    bytesrecv_per_msg: new Map(peer.receivedByCommand),
  };
}
