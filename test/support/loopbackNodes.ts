/** DHT nodes with real sockets on the loopback interface. */
import { systemClock, systemRandom, type Clock } from '../../src/daemon/base/clock.js';
import type { UdpEndpoint } from '../../src/daemon/dht/contact.js';
import { DhtNode } from '../../src/daemon/dht/node.js';
import { PeerFinder } from '../../src/daemon/dht/peerFinder.js';
import { openUdpSocket } from '../../src/daemon/dht/udpPort.js';
import { SILENT_LOGGER } from '../../src/util/logging.js';

const HOST = '127.0.0.1';

export interface LoopbackNode {
  readonly node: DhtNode;
  /** UDP port. The node reports the same number as its TCP port. */
  readonly port: number;
  readonly finder: PeerFinder;
}

/** The system's clock, which a test can advance. Running timers do not end earlier. */
export class AdjustableClock implements Clock {
  private aheadMs = 0;
  readonly after = systemClock.after;

  jump(seconds: number): void {
    this.aheadMs += seconds * 1000;
  }

  nowSec(): number {
    return systemClock.nowSec() + Math.floor(this.aheadMs / 1000);
  }

  nowMs(): number {
    return systemClock.nowMs() + this.aheadMs;
  }
}

/** Starts a node on a free port. */
export async function startLoopbackNode(
  seeds: readonly number[],
  clock: Clock = systemClock,
): Promise<LoopbackNode> {
  const socket = await openUdpSocket(0, HOST, { what: 'DHT', settings: 'udp_port, network_interface' });
  const { port } = socket;
  const known: UdpEndpoint[] = seeds.map((udpPort) => ({ address: HOST, udpPort }));
  const external = () => ({ address: HOST, udpPort: port, tcpPort: port });
  const node = new DhtNode({
    clock,
    random: systemRandom,
    log: SILENT_LOGGER,
    port: socket,
    nodeId: systemRandom.bytes(48),
    splitBucketsUnderIndex: 2,
    isBootstrapNode: false,
    rpcTimeoutMs: () => 5000,
    knownNodes: () => Promise.resolve(known),
    peerStore: { load: () => Promise.resolve([]), save: () => Promise.resolve() },
    external,
    hasBlob: () => false,
    allowLocalhost: true,
  });
  node.start();
  return { node, port, finder: new PeerFinder({ node, trackers: null, external, allowLocalhost: true }) };
}

/** TCP ports of the peers that the node found, sorted. */
export async function portsFound({ finder }: LoopbackNode, hash: Buffer): Promise<number[]> {
  const ports: number[] = [];
  for await (const { tcpPort } of finder.peersFor(hash.toString('hex'), new AbortController().signal))
    ports.push(tcpPort);
  return ports.sort((a, b) => a - b);
}
