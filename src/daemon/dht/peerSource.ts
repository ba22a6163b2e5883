/** Source of peers for a download: DHT or tracker. */

/** A peer from which blobs can be downloaded. */
export interface ContentPeer {
  /** IPv4. */
  readonly address: string;
  readonly tcpPort: number;
  /** Id of the peer's DHT node, 48 bytes. Absent for peers that a tracker reported. */
  readonly nodeId?: Buffer;
}

export interface PeerSource {
  /**
   * Searches the peers that announced the hash (hexadecimal digits), and yields each peer once, as soon as it is found. The
   * daemon's own addresses are excluded. The search ends when no node is left and all pings are answered or timed out, or
   * when the signal aborts. Failures of peers, trackers and networks do not throw; a caller that wants more peers later
   * searches again.
   */
  peersFor(hash: string, signal: AbortSignal): AsyncIterable<ContentPeer>;
}
