/**
 * Set of the scripts for which a scan searches, possibly millions. It is sharded, because the growth of a single large set
 * would block the event loop.
 */
import { toLatin1, type Bytes } from '../../util/bytes.js';

const SHARDS = 256;

export class ScriptSet {
  /**
   * Scripts as latin1 strings, sharded by two of their bytes. In all common script types these bytes belong to a hash or
   * key, so they are evenly distributed.
   */
  private readonly shards = Array.from({ length: SHARDS }, () => new Set<string>());
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(script: Bytes): void {
    const shard = this.shardOf(script);
    const before = shard.size;
    shard.add(toLatin1(script));
    this.count += shard.size - before;
  }

  has(script: Bytes): boolean {
    return this.shardOf(script).has(toLatin1(script));
  }

  private shardOf(script: Bytes): Set<string> {
    const { length } = script;
    return this.shards[((script[length >> 1] ?? 0) ^ (script[length - 3] ?? 0)) % SHARDS]!;
  }
}
