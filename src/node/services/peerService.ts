/** Peer network for the RPC methods: converts sessions and addresses to numbers and strings. */
import { parseBanTarget } from '../../net/banList.js';
import {
  formatHost,
  formatNetAddress,
  formatSubnet,
  isValid,
  type NetAddress,
} from '../../net/netAddress.js';
import type { PeerStateInfo } from '../../net/messageHandler.js';
import type { PeerNetwork } from '../../net/peerNetwork.js';
import type { PeerSession } from '../../net/peers/peerSession.js';
import { failureReason } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import type { PeerService, PeerSnapshot } from '../../interfaces/peerService.js';

/** Period in seconds to which `-maxuploadtarget` applies. */
const UPLOAD_TIMEFRAME_SEC = 24 * 60 * 60;

const UNKNOWN: PeerStateInfo = {
  relaysTransactions: false,
  syncedHeaders: -1,
  syncedBlocks: -1,
  inFlightHeights: [],
  minFeeFilterRatePerKb: 0n,
};

export function peerService(net: PeerNetwork, nowSec: () => number, log: Logger): PeerService {
  const { peers, connector, bans, book, sync } = net;
  const keepBans = (): void => {
    bans
      .save()
      .catch((error: unknown) =>
        log.warn(`banlist.dat could not be written; the node continues: ${failureReason(error)}`),
      );
  };
  return {
    list: () => [...peers.peers()].map((peer) => snapshot(net, peer, nowSec)),
    ping() {
      for (const peer of peers.peers()) peer.requestPing();
    },
    tryOnce: (node) => connector.tryOnce(node),
    addNode: (node) => connector.addNode(node),
    removeNode: (node) => connector.removeNode(node),
    addedNodes: () => connector.addedNodes(),
    disconnectAddress: (address) => disconnect(net, ({ name }) => name === address),
    disconnectId: (id) => disconnect(net, (peer) => BigInt(peer.id) === id),
    totals: () => ({
      ...peers.totals(),
      timeMs: Date.now(),
      upload: {
        timeframeSec: UPLOAD_TIMEFRAME_SEC,
        target: sync.uploadTarget.targetBytes,
        targetReached: sync.uploadTarget.isReached,
        servesHistoricalBlocks: !sync.uploadTarget.refusesHistoricalBlocks,
        bytesLeftInCycle: sync.uploadTarget.bytesLeft,
        secondsLeftInCycle: sync.uploadTarget.timeLeftSec,
      },
    }),
    setActive: (active) => peers.setActive(active),
    isActive: () => peers.isActive,
    ban(text, time, absolute) {
      const subnet = parseBanTarget(text);
      if (subnet === null) return 'invalid';
      const isKnown = text.includes('/')
        ? bans.isSubnetBanned(subnet)
        : bans.isBanned({ ip: Buffer.from(subnet.network) });
      if (isKnown) return 'already';
      bans.ban(subnet, 'manually added', Number(time), absolute);
      keepBans();
      peers.disconnectWhere((address) => subnet.contains(address.ip), 'banned');
      return 'ok';
    },
    unban(text) {
      const subnet = parseBanTarget(text);
      if (subnet === null) return 'invalid';
      const isLifted = bans.unban(subnet);
      keepBans();
      return isLifted ? 'ok' : 'absent';
    },
    bans: () =>
      bans.list().map(({ subnet, createdSec, untilSec, reason }) => ({
        subnet: formatSubnet(subnet),
        createdSec,
        untilSec,
        reason,
      })),
    clearBans() {
      bans.clear();
      keepBans();
    },
    announce: (txid) => net.relay.announce(txid),
    knownAddresses: (count) =>
      book
        .getAddresses()
        .slice(0, count)
        .map(({ address, services, timeSec }) => ({
          address: formatHost(address),
          port: address.port,
          services,
          timeSec,
        })),
  };
}

function disconnect({ peers }: PeerNetwork, matches: (peer: PeerSession) => boolean): boolean {
  const found = [...peers.peers()].filter(matches);
  for (const peer of found) peer.disconnect('requested by the operator');
  return found.length > 0;
}

/** Sorts byte counts by command name, as in the reference. */
const byCommand = (bytes: ReadonlyMap<string, number>): Map<string, number> =>
  new Map([...bytes].sort(([a], [b]) => (a < b ? -1 : 1)));
const shownIf = (address: NetAddress | null): string | null => (address ? formatNetAddress(address) : null);
const secondsOf = (ms: number): number | null => (ms > 0 ? Math.round(ms * 1000) / 1_000_000 : null);

function snapshot({ peers }: PeerNetwork, peer: PeerSession, nowSec: () => number): PeerSnapshot {
  const { connection, info, version } = peer;
  const described: PeerStateInfo = Object.assign(
    {},
    UNKNOWN,
    ...peers.parts.map((part) => part.describe?.(peer)),
  );
  const ago = (ms: number): number => (ms === 0 ? 0 : Math.round(nowSec() - (performance.now() - ms) / 1000));
  return {
    id: peer.id,
    address: peer.name,
    boundAddress: shownIf(info.local),
    localAddress: peer.seenUsAt && isValid(peer.seenUsAt) ? formatNetAddress(peer.seenUsAt) : null,
    services: version?.services ?? 0n,
    lastSendSec: ago(connection.lastSendMs),
    lastReceiveSec: ago(connection.lastReceiveMs),
    bytesSent: connection.bytesSent,
    bytesReceived: connection.bytesReceived,
    connectedAtSec: peer.connectedAtSec,
    timeOffsetSec: peer.timeOffsetSec,
    pingSec: secondsOf(peer.pingMs),
    minPingSec: secondsOf(peer.minPingMs),
    pingWaitSec: secondsOf(peer.pingWaitMs),
    protocolVersion: version?.protocolVersion ?? 0,
    userAgent: version?.cleanUserAgent ?? '',
    inbound: peer.isInbound,
    manual: peer.kind === 'manual',
    startHeight: version?.startHeight ?? -1,
    banScore: peer.misbehaviorScore,
    whitelisted: peer.isWhitelisted,
    sentByCommand: byCommand(connection.sentByCommand),
    receivedByCommand: byCommand(connection.receivedByCommand),
    ...described,
  };
}
