/**
 * Answers getdata: item after item, each by the server of its kind, never faster than the peer takes the answers. Owns
 * no data. Source: Core net_processing.cpp `ProcessGetData`.
 */
import { Writer } from '../../util/writer.js';
import { yieldIfDue } from '../../scheduler/peerQueue.js';
import { MAX_INV_ITEMS, type InvItem } from '../inventory.js';
import type { Payload } from '../messages/table.js';
import type { MessageHandler, Peer } from '../messageHandler.js';

/** The source for some kinds of inventory. */
export interface InventoryServer {
  /** Whether items of this type are its own. */
  handles(type: number): boolean;
  /**
   * Sends what is asked for, or does what else is due. Answers whether that is all: with false the peer is told that it
   * was not found.
   */
  serve(peer: Peer, item: InvItem): boolean | Promise<boolean>;
}

export class GetData implements MessageHandler {
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
    // Places only: fifty thousand objects of each peer that does not read would be far too many.
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

/** The payload of an inventory of the items at some places. */
function pick(packed: Buffer, places: readonly number[]): Buffer {
  const writer = new Writer(5 + places.length * ITEM_BYTES).compactSize(places.length);
  for (const at of places) writer.raw(packed.subarray(at, at + ITEM_BYTES));
  return writer.finish();
}

function unpack(packed: Buffer, at: number): InvItem {
  return { type: packed.readUInt32LE(at), hash: packed.subarray(at + 4, at + ITEM_BYTES) };
}
