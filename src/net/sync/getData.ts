/**
 * Serves getdata messages item by item. Each item is served by the server of its inventory type, and only as fast as the
 * peer reads the responses. Source: Core net_processing.cpp `ProcessGetData`.
 */
import { Writer } from '../../util/writer.js';
import { yieldIfDue } from '../../scheduler/peerQueue.js';
import { MAX_INV_ITEMS, type InvItem } from '../inventory.js';
import type { Payload } from '../messages/table.js';
import type { MessageHandler, Peer } from '../messageHandler.js';

/** Serves the requests for some inventory types. */
export interface InventoryServer {
  /** Whether the server serves items of this inventory type. */
  handles(type: number): boolean;
  /**
   * Sends the requested item. Returns false if the item must be reported as not found.
   */
  serve(peer: Peer, item: InvItem): boolean | Promise<boolean>;
}

export class GetData implements MessageHandler {
  readonly handlers = {
    // The items are packed into one buffer, because the list stays in memory while the peer does not read.
    getdata: (peer: Peer, { items }: Payload<'getdata'>) => this.onGetData(peer, items.length, pack(items)),
  };
  /** Servers in the order in which they are queried. Items of types without a server are ignored. */
  private readonly servers: InventoryServer[] = [];

  addServer(server: InventoryServer): void {
    this.servers.push(server);
  }

  private async onGetData(peer: Peer, count: number, packed: Buffer): Promise<void> {
    if (count > MAX_INV_ITEMS) {
      peer.punish(20, `message getdata size() = ${count}`);
      return;
    }
    // Stores only the positions of missing items. Lists of objects for peers that do not read would need too much memory.
    let missing: number[] = [];
    const tellMissing = (): void => {
      if (missing.length > 0 && !peer.isGone) peer.sendRaw('notfound', pick(packed, missing));
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
      since = await yieldIfDue(since, peer);
      if (peer.isGone) return;
      if (!(await server.serve(peer, item))) missing.push(at);
    }
    tellMissing();
  }
}

/** Size of a packed item: inventory type and hash. */
const ITEM_BYTES = 36;

function pack(items: readonly InvItem[]): Buffer {
  const packed = Buffer.allocUnsafe(items.length * ITEM_BYTES);
  items.forEach(({ type, hash }, i) => {
    packed.writeUInt32LE(type >>> 0, i * ITEM_BYTES);
    packed.set(hash, i * ITEM_BYTES + 4);
  });
  return packed;
}

/** Returns an inventory payload with the items at the given positions. */
function pick(packed: Buffer, places: readonly number[]): Buffer {
  const writer = new Writer(5 + places.length * ITEM_BYTES).compactSize(places.length);
  for (const at of places) writer.raw(packed.subarray(at, at + ITEM_BYTES));
  return writer.finish();
}

function unpack(packed: Buffer, at: number): InvItem {
  return { type: packed.readUInt32LE(at), hash: packed.subarray(at + 4, at + ITEM_BYTES) };
}
