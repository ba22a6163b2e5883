/**
 * Compact block settings of each peer (BIP152), and the three peers that send new blocks without a request (high-bandwidth
 * mode): those that most recently sent a new block to this node. Source: Core net_processing.cpp `SENDCMPCT`,
 * `MaybeSetPeerAsAnnouncingHeaderAndIDs`.
 */
import type { Payload } from '../messages/table.js';
import type { MessageHandler, Peer } from '../messageHandler.js';

/** First protocol version with compact blocks. */
const COMPACT_BLOCKS_VERSION = 70_014;
/** Version of compact blocks with witnesses, which this node requests. */
const WITNESS_VERSION = 2n;
const PLAIN_VERSION = 1n;
/** Maximum number of peers that use high-bandwidth mode at this node's request. */
const MAX_UNASKED = 3;

interface CompactPeer {
  /**
   * Whether the peer has announced a known version of compact blocks. The first announced version determines what is sent to
   * the peer.
   */
  speaks: boolean;
  wantsWitness: boolean;
  /** Whether the peer wants new blocks as compact blocks without a request (high-bandwidth mode). */
  prefersCompact: boolean;
  /** Whether the peer can send compact blocks of the version that this node requests. */
  supportsWanted: boolean;
}

const SILENT: CompactPeer = {
  speaks: false,
  wantsWitness: false,
  prefersCompact: false,
  supportsWanted: false,
};

export class CompactPeers implements MessageHandler {
  readonly handlers = {
    sendcmpct: (peer: Peer, message: Payload<'sendcmpct'>) => this.onSendCompact(peer, message),
  };
  private readonly own = new Map<number, CompactPeer>();
  /** Peers that were asked for high-bandwidth mode, sorted from the one whose last new block is the oldest. */
  private unasked: Peer[] = [];

  onReady(peer: Peer): void {
    if (peer.version!.protocolVersion < COMPACT_BLOCKS_VERSION) return;
    peer.send('sendcmpct', { announce: false, version: WITNESS_VERSION });
    peer.send('sendcmpct', { announce: false, version: PLAIN_VERSION });
  }

  onGone(peer: Peer): void {
    this.own.delete(peer.id);
    this.unasked = this.unasked.filter(({ id }) => id !== peer.id);
  }

  private of(peer: Peer): CompactPeer {
    return this.own.get(peer.id) ?? SILENT;
  }

  /** Whether the peer wants new blocks in compact form without a request. */
  prefersCompact(peer: Peer): boolean {
    return this.of(peer).prefersCompact;
  }

  /** Whether compact blocks for the peer include witnesses (version 2). */
  wantsWitness(peer: Peer): boolean {
    return this.of(peer).wantsWitness;
  }

  /** Whether the peer can send compact blocks of the version that this node requests. */
  supportsWanted(peer: Peer): boolean {
    return this.of(peer).supportsWanted;
  }

  private onSendCompact(peer: Peer, { announce, version }: Payload<'sendcmpct'>): void {
    if (version !== PLAIN_VERSION && version !== WITNESS_VERSION) return;
    const own = this.own.get(peer.id) ?? { ...SILENT };
    this.own.set(peer.id, own);
    const isWitness = version === WITNESS_VERSION;
    if (!own.speaks) {
      own.speaks = true;
      own.wantsWitness = isWitness;
    }
    if (own.wantsWitness === isWitness) own.prefersCompact = announce;
    own.supportsWanted ||= isWitness;
  }

  /** Called after the peer sent a new valid block. Asks the peer for high-bandwidth mode. */
  noteUseful(peer: Peer): void {
    const own = this.of(peer);
    if (peer.isGone || !own.supportsWanted) return;
    const others = this.unasked.filter(({ id }) => id !== peer.id);
    if (others.length === this.unasked.length) {
      if (others.length >= MAX_UNASKED)
        others.shift()!.send('sendcmpct', { announce: false, version: WITNESS_VERSION });
      peer.send('sendcmpct', { announce: true, version: WITNESS_VERSION });
    }
    others.push(peer);
    this.unasked = others;
  }
}
