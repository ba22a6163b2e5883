/**
 * A wallet's keys by id (latin1). If the wallet was opened from its image file, a private key is read from disk when it is
 * first needed (`packedKeys.ts`).
 */
import type { OwnKey } from './ownKey.js';
import type { PackedKeys } from './packedKeys.js';

export class KeyTable {
  private readonly held = new Map<string, OwnKey>();
  /** Ids of the keys in `held` that are not in `packed`. */
  private readonly others = new Set<string>();
  private packed: PackedKeys | null = null;
  private read: (number: number) => OwnKey = () => {
    throw new Error('the key table is not initialized');
  };

  /** Initializes the table with keys on disk. `read` reads a key by its number. */
  begin(packed: PackedKeys, read: (number: number) => OwnKey): void {
    this.packed = packed;
    this.read = read;
  }

  get size(): number {
    return this.others.size + (this.packed?.count ?? 0);
  }

  has(id: string): boolean {
    return this.held.has(id) || this.packedNumber(id) >= 0;
  }

  private packedNumber(id: string): number {
    return this.packed?.find(id) ?? -1;
  }

  get(id: string): OwnKey | undefined {
    const held = this.held.get(id);
    if (held !== undefined) return held;
    const number = this.packedNumber(id);
    if (number < 0) return undefined;
    const own = this.read(number);
    this.held.set(id, own);
    return own;
  }

  /** The public key with this id. The private key is not read. */
  publicKey(id: string): Buffer | undefined {
    const held = this.held.get(id);
    if (held !== undefined) return held.publicKey;
    const number = this.packedNumber(id);
    return number < 0 ? undefined : this.packed!.publicKey(number);
  }

  set(id: string, own: OwnKey): void {
    this.held.set(id, own);
    if (this.packedNumber(id) < 0) this.others.add(id);
  }

  *keys(): Generator<string> {
    for (let number = 0; number < (this.packed?.count ?? 0); number++) yield this.packed!.id(number);
    yield* this.others;
  }

  /** Iterates over all keys, including their private keys. Keys may be set during the iteration. */
  *entries(): Generator<[id: string, own: OwnKey]> {
    for (const id of this.keys()) yield [id, this.get(id)!];
  }

  /** Ids of the keys that are not in `packed`. */
  added(): Iterable<string> {
    return this.others;
  }

  get isAsItBegan(): boolean {
    return this.packed !== null && this.others.size === 0;
  }

  /** Iterates over the keys that are in memory. */
  inMemory(): Iterable<OwnKey> {
    return this.held.values();
  }

  *values(): Generator<OwnKey> {
    for (const [, own] of this.entries()) yield own;
  }
}

/** Map from the ids of P2WPKH scripts to the ids of their keys. */
export class WitnessKeys {
  private readonly held = new Map<string, string>();
  private packed: PackedKeys | null = null;

  begin(packed: PackedKeys): void {
    this.packed = packed;
  }

  get(scriptId: string): string | undefined {
    const held = this.held.get(scriptId);
    if (held !== undefined || this.packed === null) return held;
    const number = this.packed.findScript(scriptId);
    return number < 0 ? undefined : this.packed.id(number);
  }

  has(scriptId: string): boolean {
    return this.held.has(scriptId) || (this.packed?.findScript(scriptId) ?? -1) >= 0;
  }

  set(scriptId: string, keyId: string): void {
    if (!this.has(scriptId)) this.held.set(scriptId, keyId);
  }

  *keys(): Generator<string> {
    for (const [scriptId] of this.entries()) yield scriptId;
  }

  *entries(): Generator<[scriptId: string, keyId: string]> {
    const { packed } = this;
    for (let number = 0; number < (packed?.count ?? 0); number++)
      if (packed!.hasScript(number)) yield [packed!.scriptId(number), packed!.id(number)];
    yield* this.held;
  }
}
