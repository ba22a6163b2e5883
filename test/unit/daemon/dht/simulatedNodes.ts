/** DHT nodes in simulated time on a simulated network. */
import { createHash } from 'node:crypto';
import type { DaemonRandom } from '../../../../src/daemon/base/clock.js';
import { DhtNode, type DhtNodeOptions, type StoredPeer } from '../../../../src/daemon/dht/node.js';
import type { UdpEndpoint } from '../../../../src/daemon/dht/contact.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { FakeClock } from '../../../support/fakeClock.js';
import { SimulatedNetwork, type NetworkOptions } from '../../../support/simulatedNetwork.js';

/** The id of a node in lbry-sdk's tests by its number. Source: lbry-sdk lbry/dht/constants.py `generate_id`. */
export const idOf = (value: number | string): Buffer => createHash('sha384').update(String(value)).digest();

/** Random bytes that are the same in each run. */
export function seededRandom(seed: string): DaemonRandom {
  let count = 0;
  return {
    bytes: (size) => {
      const parts: Buffer[] = [];
      for (let length = 0; length < size; length += 48) parts.push(idOf(`${seed} ${count++}`));
      return Buffer.concat(parts).subarray(0, size);
    },
  };
}

/** A store of peers in memory, which survives the node, so that a later node can use it. */
export function memoryPeers(
  peers: readonly StoredPeer[] = [],
): DhtNodeOptions['peerStore'] & { peers: readonly StoredPeer[] } {
  const store = {
    peers,
    load: () => Promise.resolve(store.peers),
    save: (saved: readonly StoredPeer[]) => {
      store.peers = saved;
      return Promise.resolve();
    },
  };
  return store;
}

const UDP_PORT = 4444;
const TCP_PORT = 3333;

export interface NodePlan {
  /** Number from which address and id are derived. */
  readonly number: number;
  /** Numbers of the nodes that it knows at the start. */
  readonly seeds: readonly number[];
}

export class SimulatedDht {
  readonly clock = new FakeClock();
  readonly network: SimulatedNetwork;
  private readonly nodes: DhtNode[] = [];

  constructor(options: Omit<NetworkOptions, 'clock'> = {}) {
    this.network = new SimulatedNetwork({ clock: this.clock, ...options });
  }

  addressOf(number: number): string {
    return `8.0.${number >> 8}.${number & 0xff}`;
  }

  endpointOf(number: number): UdpEndpoint {
    return { address: this.addressOf(number), udpPort: UDP_PORT };
  }

  /** Makes a node and does not start it. */
  node({ number, seeds }: NodePlan, options: Partial<DhtNodeOptions> = {}): DhtNode {
    const address = this.addressOf(number);
    const node = new DhtNode({
      clock: this.clock,
      random: seededRandom(`node ${number} ${this.nodes.length}`),
      log: SILENT_LOGGER,
      port: this.network.port(address, UDP_PORT),
      nodeId: idOf(number),
      splitBucketsUnderIndex: 1,
      isBootstrapNode: false,
      rpcTimeoutMs: () => 500,
      knownNodes: () => Promise.resolve(seeds.map((seed) => this.endpointOf(seed))),
      peerStore: memoryPeers(),
      external: () => ({ address, udpPort: UDP_PORT, tcpPort: TCP_PORT }),
      hasBlob: () => false,
      ...options,
    });
    this.nodes.push(node);
    return node;
  }

  /** Starts this number of nodes, which know the first ones, and waits until all have joined. */
  async start(count: number, seedCount = 1, options: Partial<DhtNodeOptions> = {}): Promise<DhtNode[]> {
    const seeds = Array.from({ length: seedCount }, (_, index) => index);
    const nodes = Array.from({ length: count }, (_, number) => this.node({ number, seeds }, options));
    for (const node of nodes) node.start();
    await this.clock.until(Promise.all(nodes.map((node) => node.joined())), 120_000);
    return nodes;
  }

  /** Removes the node without any message to the others. */
  async kill(number: number, node: DhtNode): Promise<void> {
    this.network.kill(this.addressOf(number), UDP_PORT);
    await node.stop();
  }

  revive(number: number): void {
    this.network.revive(this.addressOf(number), UDP_PORT);
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) await node.stop();
  }
}
