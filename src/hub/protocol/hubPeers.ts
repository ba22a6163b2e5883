/**
 * Other hubs that are announced to clients: those that the options name, and those that come while the hub runs. Each has a
 * number in the order of coming, so that one number says what a client knows.
 */
import { joinHostPort, splitHostPort } from '../../util/network/hostPort.js';

/** The port by convention. */
export const HUB_PORT = 50_001;

/** `host:port`, which is what clients take apart; without a port it is the usual one. */
export function peerName(text: string): string {
  return joinHostPort(splitHostPort(text, HUB_PORT));
}

export class HubPeers {
  private readonly numbers = new Map<string, number>();
  private lastNumber = 0;

  constructor(peers: readonly string[]) {
    for (const peer of peers) this.add(peer);
  }

  /** In the form for clients, in order of arrival. */
  get list(): string[] {
    return [...this.numbers.keys()];
  }

  /** The number of the one that came last. */
  get latest(): number {
    return this.lastNumber;
  }

  /** False when it is there already. */
  add(peer: string): boolean {
    const name = peerName(peer);
    if (this.numbers.has(name)) return false;
    this.numbers.set(name, ++this.lastNumber);
    return true;
  }

  /** False when it is not there. Clients are not notified: the protocol has no word for it. */
  remove(peer: string): boolean {
    return this.numbers.delete(peerName(peer));
  }

  /** Hubs added after a number. */
  since(number: number): string[] {
    return [...this.numbers].filter(([, own]) => own > number).map(([name]) => name);
  }
}
