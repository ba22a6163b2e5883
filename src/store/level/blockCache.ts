/** What is kept of tables in memory: blocks that were read and verified, and how many tables are open. */
import type { Block } from './block.js';

/** Tables that are kept open, each with its index and filters (some 200 KiB). */
const OPEN_TABLES = 256;

interface Closable {
  close(): void;
}

export class BlockCache {
  private readonly maxBytes: number;
  private readonly blocks = new Map<string, Block>();
  private readonly open = new Set<Closable>();
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get(table: number, offset: number): Block | undefined {
    const key = `${table} ${offset}`;
    const block = this.blocks.get(key);
    if (block === undefined) return undefined;
    this.blocks.delete(key);
    this.blocks.set(key, block);
    return block;
  }

  set(table: number, offset: number, block: Block): void {
    const key = `${table} ${offset}`;
    const before = this.blocks.get(key);
    if (before !== undefined) this.bytes -= before.sizeBytes;
    this.blocks.set(key, block);
    this.bytes += block.sizeBytes;
    for (const [oldest, { sizeBytes }] of this.blocks) {
      if (this.bytes <= this.maxBytes) break;
      this.blocks.delete(oldest);
      this.bytes -= sizeBytes;
    }
  }

  /** Notes that a table is open; those that were not used for longest are closed. */
  used(table: Closable): void {
    this.open.delete(table);
    this.open.add(table);
    if (this.open.size <= OPEN_TABLES) return;
    for (const oldest of this.open) {
      this.open.delete(oldest);
      oldest.close();
      return;
    }
  }

  forget(table: Closable): void {
    this.open.delete(table);
  }

  clear(): void {
    this.blocks.clear();
    this.bytes = 0;
    this.open.clear();
  }
}
