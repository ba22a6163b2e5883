/**
 * Answers getdata: item after item, each by the server of its kind, never faster than the peer takes the answers. Owns
 * no data. Source: Core net_processing.cpp `ProcessGetData`.
 */
import { breathe } from '../../util/breathe.js';
import { MAX_INV_ITEMS, type InvItem } from '../inventory.js';
import type { Payload } from '../messages/table.js';
import type { NetPart, Peer } from '../part.js';

/** Who has the things of some kinds. */
export interface InventoryServer {
  /** Whether items of this type are its own. */
  handles(type: number): boolean;
  /**
   * Sends what is asked for, or does what else is due. Answers whether that is all: with false the peer is told that it
   * was not found.
   */
  serve(peer: Peer, item: InvItem): boolean | Promise<boolean>;
}

export class GetData implements NetPart {
  readonly handlers = {
    getdata: (peer: Peer, { items }: Payload<'getdata'>) => this.onGetData(peer, items),
  };
  /** Asked in order; items that none of them handles are ignored. */
  private readonly servers: InventoryServer[] = [];

  addServer(server: InventoryServer): void {
    this.servers.push(server);
  }

  private async onGetData(peer: Peer, items: readonly InvItem[]): Promise<void> {
    if (items.length > MAX_INV_ITEMS) {
      peer.punish(20, `message getdata size() = ${items.length}`);
      return;
    }
    let missing: InvItem[] = [];
    const tellMissing = (): void => {
      if (missing.length > 0 && !peer.isGone) peer.send('notfound', { items: missing });
      missing = [];
    };
    let previous: InventoryServer | undefined;
    let since = performance.now();
    for (const item of items) {
      const server = this.servers.find((known) => known.handles(item.type));
      if (!server) continue;
      if (server !== previous) tellMissing();
      previous = server;
      await peer.sendRoom();
      since = await breathe(since);
      if (peer.isGone) return;
      if (!(await server.serve(peer, item))) missing.push(item);
    }
    tellMissing();
  }
}
