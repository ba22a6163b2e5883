/** The hub as RPC methods, health and metrics see it. */

export interface HubService {
  readonly status: HubStatus;
  /** Another hub that clients are notified of from here on; `host:port`, or a host for the usual port. False when it is known. */
  addPeer(peer: string): Promise<boolean>;
  /** Clients are not reported it any more. False when it is not known. */
  removePeer(peer: string): Promise<boolean>;
}

/** How the hub is. */
export interface HubStatus {
  /** Whether clients can connect. */
  readonly listening: boolean;
  /** Reason why clients cannot connect although the hub was started; null otherwise. */
  readonly failure: string | null;
  /** How often it was started again by itself. */
  readonly restarts: number;
  readonly host: string;
  readonly port: number;
  /** Null without a status port. */
  readonly udpPort: number | null;
  /** The block that clients are served up to: they were notified of it, and the indexes have it. */
  readonly height: number;
  readonly sessions: number;
  readonly maxSessions: number;
  /** Clients that do not take what was sent to them. */
  readonly stalled: number;
  /** Bytes that they did not take yet, beside those that the system holds. */
  readonly unsentBytes: number;
  readonly subscriptions: number;
  /** Requests that work. */
  readonly running: number;
  /** Number of waiting calls. */
  readonly waiting: number;
  readonly peers: readonly string[];
  /** Number of answers since the start, by method. */
  readonly answered: ReadonlyMap<string, { readonly requests: number; readonly errors: number }>;
  /** Number of notifications, by method. */
  readonly told: ReadonlyMap<string, number>;
}
