/** The hub for RPC methods, health and metrics. */

export interface HubService {
  readonly status: HubStatus;
  /**
   * Adds another hub, which is announced to clients from now on; `host:port`, or a host for the default port. False if it is
   * already known.
   */
  addPeer(peer: string): Promise<boolean>;
  /** Removes a hub, which is no longer announced to clients. False if it is not known. */
  removePeer(peer: string): Promise<boolean>;
}

/** How the hub is. */
export interface HubStatus {
  /** Whether clients can connect. */
  readonly listening: boolean;
  /** Reason why clients cannot connect although the hub was started; null otherwise. */
  readonly failure: string | null;
  /** Number of automatic restarts. */
  readonly restarts: number;
  readonly host: string;
  readonly port: number;
  /** Null without a status port. */
  readonly udpPort: number | null;
  /** Height up to which clients are served: they have been notified of its block, and the indexes contain it. */
  readonly height: number;
  readonly sessions: number;
  readonly maxSessions: number;
  /** Number of clients that do not read the data sent to them. */
  readonly stalled: number;
  /** Bytes that these clients have not read yet, without those buffered by the system. */
  readonly unsentBytes: number;
  readonly subscriptions: number;
  /** Requests that work. */
  readonly running: number;
  /** Number of waiting calls. */
  readonly waiting: number;
  readonly peers: readonly string[];
  /** Number of responses since the start, by method. */
  readonly answered: ReadonlyMap<string, { readonly requests: number; readonly errors: number }>;
  /** Number of notifications, by method. */
  readonly told: ReadonlyMap<string, number>;
}
