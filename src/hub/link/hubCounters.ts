/** Counters that the hub's thread writes and the node's thread reads at any time, in shared memory. */

const NAMES = [
  'isListening',
  'port',
  'sessions',
  'subscriptions',
  'stalled',
  'unsentBytes',
  'running',
  'waiting',
  'searchesRunning',
  'searchesWaiting',
] as const;

export type HubCounter = (typeof NAMES)[number];

const CELL_BYTES = 8;

export class HubCounters {
  readonly memory: SharedArrayBuffer;
  private readonly cells: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(NAMES.length * CELL_BYTES)) {
    this.memory = memory;
    this.cells = new BigInt64Array(memory);
  }

  get(name: HubCounter): number {
    return Number(Atomics.load(this.cells, NAMES.indexOf(name)));
  }

  set(name: HubCounter, value: number): void {
    Atomics.store(this.cells, NAMES.indexOf(name), BigInt(value));
  }

  /** Resets all counters except the port. Must be called after the hub's thread has ended. */
  clear(): void {
    for (const name of NAMES) if (name !== 'port') this.set(name, 0);
  }
}
