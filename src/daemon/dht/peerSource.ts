/** Source of peers for a download: DHT or tracker. */

/** A peer of the blob exchange. */
export interface ContentPeer {
  /** IPv4. */
  readonly address: string;
  readonly tcpPort: number;
  /** 48 bytes. Trackers do not tell it. */
  readonly nodeId?: Buffer;
}

export interface PeerSource {
  /**
   * Looks for peers that announced the hash (hexadecimal digits) and gives each as soon as it is found, once. Own addresses are
   * left out. It ends when no node is left to ask and all pings are answered or timed out, or when the signal aborts. It does not
   * throw for peers, trackers or networks that fail; a caller that wants more peers later asks again.
   */
  peersFor(hash: string, signal: AbortSignal): AsyncIterable<ContentPeer>;
}
