/**
 * Other hubs that this hub announces to clients: the hubs in the options, and hubs that are added while it runs. Hubs are
 * numbered in the order of their addition. The last number sent to a client therefore shows which hubs the client knows.
 */
import { joinHostPort, splitHostPort } from '../../util/network/hostPort.js';

/** The port that hubs usually use. */
export const HUB_PORT = 50_001;

/** Name of a hub as `host:port`, the form that clients parse. If the text contains no port, the default port is added. */
function peerName(text: string): string {
  return joinHostPort(splitHostPort(text, HUB_PORT));
}

export class HubPeers {
  private readonly numbers = new Map<string, number>();
  private lastNumber = 0;

  constructor(peers: readonly string[]) {
    for (const peer of peers) this.add(peer);
  }

  /** Names of the hubs as `host:port`, in the order of their addition. */
  get list(): string[] {
    return [...this.numbers.keys()];
  }

  /** Running number of the hub that was added last. */
  get latest(): number {
    return this.lastNumber;
  }

  /** Adds a hub. Returns false if it is already in the list. */
  add(peer: string): boolean {
    const name = peerName(peer);
    if (this.numbers.has(name)) return false;
    this.numbers.set(name, ++this.lastNumber);
    return true;
  }

  /**
   * Removes a hub. Returns false if it is not in the list. Clients are not notified, because the protocol has no message for
   * a removal.
   */
  remove(peer: string): boolean {
    return this.numbers.delete(peerName(peer));
  }

  /** Returns the hubs that were added after the hub with this running number. */
  since(number: number): string[] {
    return [...this.numbers].filter(([, own]) => own > number).map(([name]) => name);
  }
}
