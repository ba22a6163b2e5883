/** Interface of the hub for RPC methods, health checks and metrics. */

export interface HubService {
  readonly status: HubStatus;
  /**
   * Adds another hub, which is announced to clients after the call. `peer` is `host:port`, or a host for the default port.
   * Resolves to false if the hub was added before.
   */
  addPeer(peer: string): Promise<boolean>;
  /** Removes another hub from the list that is announced to clients. Resolves to false if the list does not contain it. */
  removePeer(peer: string): Promise<boolean>;
}

/** Status of the hub, as `gethubinfo` shows it. */
export interface HubStatus {
  /** Whether clients can connect. */
  readonly listening: boolean;
  /** Reason why clients cannot connect although the hub was started; null without a failure. */
  readonly failure: string | null;
  /** Number of times that the hub was restarted automatically after a failure. */
  readonly restarts: number;
  readonly host: string;
  readonly port: number;
  /** UDP port for status requests; null without a status port. */
  readonly udpPort: number | null;
  /** Highest height at which clients see the whole chain: they were notified of the block, and the needed indexes contain it. */
  readonly height: number;
  readonly sessions: number;
  readonly maxSessions: number;
  /** Number of clients to which data could not be sent because they do not read. */
  readonly stalled: number;
  /** Number of bytes that wait in this process because clients do not read. Bytes in buffers of the system do not count. */
  readonly unsentBytes: number;
  readonly subscriptions: number;
  /** Number of requests that are being processed. */
  readonly running: number;
  /** Number of calls that wait to be processed. */
  readonly waiting: number;
  readonly peers: readonly string[];
  /** Number of responses since the start, by method. */
  readonly answered: ReadonlyMap<string, { readonly requests: number; readonly errors: number }>;
  /** Number of notifications sent since the start, by method. */
  readonly notified: ReadonlyMap<string, number>;
}
