/** UDP between nodes of a test in simulated time, with latency, loss, and nodes that can be disconnected. */
import type { Clock } from '../../src/daemon/base/clock.js';
import type { DatagramListener, UdpPort } from '../../src/daemon/dht/udpPort.js';

export interface NetworkOptions {
  readonly clock: Clock;
  readonly latencyMs?: number;
  /** Decides which datagrams are lost. */
  readonly isLost?: () => boolean;
}

const placeOf = (address: string, port: number): string => `${address}:${port}`;

export class SimulatedNetwork {
  private readonly options: NetworkOptions;
  private readonly listeners = new Map<string, DatagramListener>();
  private readonly dead = new Set<string>();
  /** Datagrams that were sent. */
  sent = 0;

  constructor(options: NetworkOptions) {
    this.options = options;
  }

  port(address: string, port: number): UdpPort {
    const place = placeOf(address, port);
    return {
      send: (data, toAddress, toPort) => {
        this.send(data, [address, port], [toAddress, toPort]);
      },
      listen: (listener) => {
        this.listeners.set(place, listener);
      },
      close: () => {
        this.listeners.delete(place);
        return Promise.resolve();
      },
    };
  }

  /** Sends a datagram with that address as its source. */
  send(data: Buffer, from: readonly [string, number], to: readonly [string, number]): void {
    const { clock, latencyMs = 20, isLost } = this.options;
    this.sent++;
    if (this.dead.has(placeOf(...from)) || isLost?.()) return;
    const copy = Buffer.from(data);
    clock.after(latencyMs, () => {
      const place = placeOf(...to);
      if (!this.dead.has(place)) this.listeners.get(place)?.(copy, ...from);
    });
  }

  /** Drops all datagrams from and to the address until `revive`. */
  kill(address: string, port: number): void {
    this.dead.add(placeOf(address, port));
  }

  revive(address: string, port: number): void {
    this.dead.delete(placeOf(address, port));
  }
}
