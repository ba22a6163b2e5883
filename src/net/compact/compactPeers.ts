/**
 * What each peer said about compact blocks (BIP152), and which three of them shall send new blocks unasked: those that
 * last gave us a new block. Source: Core net_processing.cpp `SENDCMPCT`, `MaybeSetPeerAsAnnouncingHeaderAndIDs`.
 */
import type { Payload } from '../messages/table.js';
import type { MessageHandler, Peer } from '../messageHandler.js';

/** First protocol version with compact blocks. */
const COMPACT_BLOCKS_VERSION = 70_014;
/** Compact block version with witnesses, which we use. */
const WITNESS_VERSION = 2n;
const PLAIN_VERSION = 1n;
/** Peers that send new blocks unasked. */
const MAX_UNASKED = 3;

interface CompactPeer {
  /** True if the peer announced a known version; the first one decides what is sent. */
  speaks: boolean;
  wantsWitness: boolean;
  /** The peer wants new blocks in high-bandwidth mode. */
  prefersCompact: boolean;
  /** The peer sends the version that we use. */
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
  /** Peers asked for high-bandwidth compact blocks, the least recently useful first. */
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

  /** Whether it wants new blocks in compact form, unasked. */
  prefersCompact(peer: Peer): boolean {
    return this.of(peer).prefersCompact;
  }

  /** Whether compact blocks for it have witnesses (version 2). */
  wantsWitness(peer: Peer): boolean {
    return this.of(peer).wantsWitness;
  }

  /** Whether it sends compact blocks of the version that we want. */
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

  /** The peer gave us a new block that is valid: it shall send the next ones unasked. */
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
