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
    // Packed before anything is waited for: a peer that does not read keeps the list for long.
    getdata: (peer: Peer, { items }: Payload<'getdata'>) => this.onGetData(peer, items.length, pack(items)),
  };
  /** Asked in order; items that none of them handles are ignored. */
  private readonly servers: InventoryServer[] = [];

  addServer(server: InventoryServer): void {
    this.servers.push(server);
  }

  private async onGetData(peer: Peer, count: number, packed: Buffer): Promise<void> {
    if (count > MAX_INV_ITEMS) {
      peer.punish(20, `message getdata size() = ${count}`);
      return;
    }
    let missing: InvItem[] = [];
    const tellMissing = (): void => {
      if (missing.length > 0 && !peer.isGone) peer.send('notfound', { items: missing });
      missing = [];
    };
    let previous: InventoryServer | undefined;
    let since = performance.now();
    for (let at = 0; at < packed.length; at += ITEM_BYTES) {
      const item = unpack(packed, at);
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

/** Type and hash of an item. */
const ITEM_BYTES = 36;

function pack(items: readonly InvItem[]): Buffer {
  const packed = Buffer.allocUnsafe(items.length * ITEM_BYTES);
  items.forEach(({ type, hash }, i) => {
    packed.writeUInt32LE(type >>> 0, i * ITEM_BYTES);
    packed.set(hash, i * ITEM_BYTES + 4);
  });
  return packed;
}

function unpack(packed: Buffer, at: number): InvItem {
  return { type: packed.readUInt32LE(at), hash: packed.subarray(at + 4, at + ITEM_BYTES) };
}
