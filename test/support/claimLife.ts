/** Random claim operations: transactions that create, update, support and spend claims, with few names that collide. */
import { createHash } from 'node:crypto';
import type {
  ClaimBlock,
  ClaimEntryKind,
  ClaimOutput,
  ClaimSpend,
  ClaimTx,
} from '../../src/claimtrie/types.js';

/** A small and fast generator with a seed: mulberry32. */
export function randomOf(seed: number): (count: number) => number {
  let state = seed >>> 0;
  return (count) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  };
}

/** Names that are prefixes of each other, names that normalize to the same name, the empty name, and one that is not UTF-8. */
export const LIFE_NAMES = [
  ...['', 'a', 'A', 'ab', 'aB', 'AB', 'abc', 'abC', 'abd', 'b', 'ba', 'Ba', 'bab', 'test', 'TEST', 'tester'],
  ...['é', 'é', 'É', 'ss', 'ß', 'ẞ', 'ΑΣ', 'ας', 'a\0b', 'a\0', 'İ'],
].map((name) => Buffer.from(name));
LIFE_NAMES.push(Buffer.from([0xff, 0x41]), Buffer.from([0x61, 0xff]), Buffer.from([0x41, 0xff]));

interface Coin {
  txid: Buffer;
  n: number;
  coinHeight: number;
  kind: ClaimEntryKind;
  hasMetadata: boolean;
  name: Buffer;
  claimId: Buffer;
  amount: bigint;
}

export class ClaimLife {
  private readonly random: (count: number) => number;
  private readonly names: readonly Buffer[];
  private serial = 0;
  /** Unspent outputs by height, for disconnecting. */
  private coins: Coin[] = [];
  private readonly past: Coin[][] = [];

  constructor(seed: number, names: readonly Buffer[] = LIFE_NAMES) {
    this.random = randomOf(seed);
    this.names = names;
  }

  chance(percent: number): boolean {
    return this.random(100) < percent;
  }

  pick(count: number): number {
    return this.random(count);
  }

  /** A block of up to `transactions` transactions. */
  block(height: number, transactions: number): ClaimBlock {
    this.past.push(this.coins.slice());
    const txs: ClaimTx[] = [];
    for (let i = this.random(transactions + 1); i > 0; i--) txs.push(this.transaction(height, txs.length));
    return { height, transactions: txs };
  }

  disconnect(): void {
    this.coins = this.past.pop()!;
  }

  private transaction(height: number, number: number): ClaimTx {
    const txid = createHash('sha256').update(`life ${this.serial++}`).digest();
    const spends: ClaimSpend[] = [];
    for (let i = this.random(3); i > 0 && this.coins.length > 0; i--) {
      // Newer outputs are drawn more often, so that some are created and spent in one block, or spent while pending.
      const back = this.chance(30) ? Math.min(this.coins.length, 4) : this.coins.length;
      const [coin] = this.coins.splice(this.coins.length - 1 - this.random(back), 1);
      spends.push(coin!);
    }
    const outputs: ClaimOutput[] = [];
    for (const spend of spends) {
      if (spend.kind === 'support' || !this.chance(60)) continue;
      const name = this.chance(85) ? spend.name : this.name();
      outputs.push(this.output(outputs.length, 'update', name, spend.claimId));
    }
    for (let i = this.random(3); i > 0; i--) {
      const other = this.coins[this.random(this.coins.length || 1)];
      const kind: ClaimEntryKind = this.chance(50) ? 'claim' : this.chance(85) ? 'support' : 'update';
      if (kind === 'claim') outputs.push(this.output(outputs.length, kind, this.name()));
      else if (other) {
        const name = this.chance(80) ? Buffer.from(other.name) : this.name();
        outputs.push(this.output(outputs.length, kind, name, other.claimId));
      }
    }
    for (const output of outputs) {
      this.coins.push({
        txid,
        n: output.n,
        coinHeight: height,
        kind: output.kind,
        hasMetadata: output.hasMetadata,
        name: Buffer.from(output.name),
        claimId: Buffer.from(output.claimId ?? idOf(txid, output.n)),
        amount: output.amount,
      });
    }
    return { txid, txOffset: 120 + 250 * number, spends, outputs };
  }

  private name(): Buffer {
    return this.names[this.random(this.names.length)]!;
  }

  private output(n: number, kind: ClaimEntryKind, name: Uint8Array, claimId?: Uint8Array): ClaimOutput {
    const amount = this.chance(10) ? 0n : BigInt(1 + this.random(4)) * (this.chance(5) ? 2n ** 54n : 1000n);
    const hasMetadata = kind === 'support' && this.chance(30);
    return { n, kind, hasMetadata, name, amount, ...(claimId ? { claimId } : {}) };
  }
}

function idOf(txid: Buffer, n: number): Buffer {
  const index = Buffer.alloc(4);
  index.writeUInt32BE(n);
  const first = createHash('sha256').update(txid).update(index).digest();
  return createHash('ripemd160').update(first).digest();
}
