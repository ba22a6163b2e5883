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
      addrbind: t.optional(t.str('the local address of the connection')),
      services: t.hex('the services offered, 16 digits'),
      relaytxes: t.bool('whether the peer requested transaction relay'),
      lastsend: t.time('time of the last send; 0 for none'),
      lastrecv: t.time('time of the last receive; 0 for none'),
      bytessent: t.int('bytes sent'),
      bytesrecv: t.int('bytes received'),
      conntime: t.time('when the connection was made'),
      timeoffset: t.int("offset of the peer's clock in seconds"),
      pingtime: t.optional(t.num('ping time in seconds')),
      minping: t.optional(t.num('minimum observed ping time in seconds')),
      pingwait: t.optional(t.num('seconds since an unanswered ping was sent')),
      version: t.int('protocol version; 0 before the version message'),
      subver: t.str('user agent'),
      inbound: t.bool('whether the peer connected to us'),
      addnode: t.bool('whether the connection was requested by addnode or -connect'),
      startingheight: t.int("height of the peer's chain when the connection was made"),
      banscore: t.int('the misbehaviour score'),
      synced_headers: t.int(
        'height of the last header that the peer and this node have in common; -1 for none',
      ),
      synced_blocks: t.int(
        'height of the last block that the peer and this node have in common; -1 for none',
      ),
      inflight: t.array(
        t.int(),
        'heights of the blocks that were requested from this peer and are not received yet',
      ),
      whitelisted: t.bool('whether the peer is whitelisted'),
      minfeefilter: t.coins(
        'fee rate per 1,000 virtual bytes below which the peer does not want transactions',
      ),
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
