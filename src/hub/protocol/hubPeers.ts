/**
 * Other hubs that are announced to clients: those in the options, and those added while the hub runs. Hubs are numbered in
 * order of addition, so a single number shows which ones a client knows.
 */
import { joinHostPort, splitHostPort } from '../../util/network/hostPort.js';

/** The usual port of hubs. */
export const HUB_PORT = 50_001;

/** `host:port`, which clients parse; without a port the usual one is used. */
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

  /** The number of the last added hub. */
  get latest(): number {
    return this.lastNumber;
  }

  /** False if it is already in the list. */
  add(peer: string): boolean {
    const name = peerName(peer);
    if (this.numbers.has(name)) return false;
    this.numbers.set(name, ++this.lastNumber);
    return true;
  }

  /** False if it is not in the list. Clients are not notified, because the protocol has no message for it. */
  remove(peer: string): boolean {
    return this.numbers.delete(peerName(peer));
  }

  /** Hubs added after a number. */
  since(number: number): string[] {
    return [...this.numbers].filter(([, own]) => own > number).map(([name]) => name);
  }
}
