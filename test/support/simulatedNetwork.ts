/** UDP between nodes of a test, on simulated time: latency, loss, and nodes that are cut off. */
import type { Clock } from '../../src/daemon/base/clock.js';
import type { DatagramListener, UdpPort } from '../../src/daemon/dht/udpPort.js';

export interface NetworkOptions {
  readonly clock: Clock;
  readonly latencyMs?: number;
  /** Which datagrams are lost. */
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

  /** Sends as if from that address. */
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

  /** Nothing comes from or to the address any more, until `revive`. */
  kill(address: string, port: number): void {
    this.dead.add(placeOf(address, port));
  }

  revive(address: string, port: number): void {
    this.dead.delete(placeOf(address, port));
  }
}
