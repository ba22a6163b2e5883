/** Metrics of the peer network. */
import type { BanList } from '../../net/banList.js';
import type { PeerManager } from '../../net/peers/peerManager.js';
import type { ByLabel, Metrics } from './registry.js';

/** The state of the peer network that the metrics read. */
export interface MeasuredPeers {
  readonly peers: Pick<PeerManager, 'peers' | 'onPeerGone'>;
  readonly bans: Pick<BanList, 'list'>;
}

type Direction = 'sentByCommand' | 'receivedByCommand';

/** Counts bytes by message type. The counts include disconnected peers. */
class MessageBytes {
  private readonly gone = new Map<string, number>();
  private readonly peers: MeasuredPeers['peers'];
  private readonly direction: Direction;

  constructor(peers: MeasuredPeers['peers'], direction: Direction) {
    this.peers = peers;
    this.direction = direction;
    peers.onPeerGone(({ connection }) => addAll(this.gone, connection[direction]));
  }

  read(): ByLabel {
    const sums = new Map(this.gone);
    for (const { connection } of this.peers.peers()) addAll(sums, connection[this.direction]);
    return sums;
  }
}

function addAll(sums: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [command, bytes] of more) sums.set(command, (sums.get(command) ?? 0) + bytes);
}

export function followPeers(metrics: Metrics, { peers, bans }: MeasuredPeers): void {
  metrics.labelledGauge('peers', 'Connected peers, by direction: inbound, outbound.', 'direction', () => {
    let [inbound, outbound] = [0, 0];
    for (const { isInbound } of peers.peers()) {
      if (isInbound) inbound++;
      else outbound++;
    }
    return [
      ['inbound', inbound],
      ['outbound', outbound],
    ];
  });
  metrics.gauge('banned_subnets', 'Banned addresses and subnets.', () => bans.list().length);
  const sent = new MessageBytes(peers, 'sentByCommand');
  const received = new MessageBytes(peers, 'receivedByCommand');
  const unknown = 'other message types are counted as "*other*".';
  metrics.labelledTotal('peer_sent_bytes_total', 'Bytes sent to peers, by message.', 'message', () =>
    sent.read(),
  );
  metrics.labelledTotal(
    'peer_received_bytes_total',
    `Bytes received from peers, by message; ${unknown}`,
    'message',
    () => received.read(),
  );
}
