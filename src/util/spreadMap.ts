/**
 * A map with text keys for very many entries, divided into many small maps. A single large map is rebuilt as a whole when it
 * grows, which blocks the event loop. The order of entries is not kept, so the map cannot be iterated.
 */

/** Number of small maps. With a million entries each small map has a few thousand. */
const PARTS = 256;

export class SpreadMap<V> {
  private readonly parts: Map<string, V>[] = [];

  private part(key: string): Map<string, V> {
    let hash = key.length;
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
    return (this.parts[(hash ^ (hash >>> 15)) & (PARTS - 1)] ??= new Map<string, V>());
  }

  get(key: string): V | undefined {
    return this.part(key).get(key);
  }

  has(key: string): boolean {
    return this.part(key).has(key);
  }

  set(key: string, value: V): void {
    this.part(key).set(key, value);
  }
}
