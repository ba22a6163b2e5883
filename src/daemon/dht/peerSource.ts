/** Source of peers for a download: DHT or tracker. */

/** A peer of the blob exchange. */
export interface ContentPeer {
  /** IPv4. */
  readonly address: string;
  readonly tcpPort: number;
  /** 48 bytes. Trackers do not report it. */
  readonly nodeId?: Buffer;
}

export interface PeerSource {
  /**
   * Searches peers that announced the hash (hexadecimal digits) and yields each once, as soon as it is found. Own addresses
   * are excluded. The search ends when no node is left and all pings are answered or timed out, or when the signal aborts.
   * Failures of peers, trackers and networks do not throw; a caller that wants more peers later searches again.
   */
  peersFor(hash: string, signal: AbortSignal): AsyncIterable<ContentPeer>;
}
