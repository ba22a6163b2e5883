/** Seeded random blocks, transactions and mutations, for the tests that compare the addon with its fallbacks. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { loadNative, type NativeAddon } from '../../src/native/binding.js';
import { formatTransaction, type Transaction } from '../../src/primitives/transaction.js';
import { Writer } from '../../src/util/writer.js';

export const native = loadNative();

/** The addon. For tests that are skipped without the addon. */
export function addon(): NativeAddon {
  if (!native) throw new Error('the native addon is not there');
  return native;
}

/** xorshift128+-like generator, the same numbers for the same seed everywhere. */
export class Random {
  private a: number;
  private b: number;

  constructor(seed: number) {
    this.a = (seed ^ 0x9e3779b9) | 1;
    this.b = (seed * 0x85ebca6b) ^ 0xc2b2ae35;
    for (let i = 0; i < 8; i++) this.u32();
  }

  u32(): number {
    let x = this.a;
    const y = this.b;
    this.a = y;
    x ^= x << 13;
    x ^= x >>> 17;
    this.b = x ^ y ^ (y >>> 9) ^ (x << 5);
    return Math.imul(this.b + y, 0x2545f491) >>> 0;
  }

  /** 0 to `end` - 1. */
  below(end: number): number {
    return this.u32() % end;
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }

  bytes(length: number): Buffer {
    const out = Buffer.allocUnsafe(length);
    for (let i = 0; i < length; i++) out[i] = this.u32() >>> 24;
    return out;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  amount(): bigint {
    return BigInt(this.u32()) * BigInt(this.below(1 << 20));
  }
}

function push(data: Uint8Array): Buffer {
  if (data.length < 0x4c) return Buffer.concat([Buffer.of(data.length), data]);
  if (data.length < 0x100) return Buffer.concat([Buffer.of(0x4c, data.length), data]);
  return Buffer.concat([Buffer.of(0x4d, data.length & 0xff, data.length >> 8), data]);
}

/** A claim, support or update prefix, sometimes a malformed one. */
export function randomClaimPrefix(random: Random): Buffer {
  const name = push(random.bytes(random.below(30)));
  const id = push(random.bytes(random.chance(8) ? 19 : 20));
  const value = push(random.bytes(random.below(300)));
  const forms = [
    [Buffer.of(0xb5), name, value, Buffer.of(0x6d, 0x75)],
    [Buffer.of(0xb6), name, id, Buffer.of(0x6d, 0x75)],
    [Buffer.of(0xb6), name, id, value, Buffer.of(0x6d, 0x6d)],
    [Buffer.of(0xb7), name, id, value, Buffer.of(0x6d, 0x6d)],
    [Buffer.of(0xb7), name, id, Buffer.of(0x6d, 0x75)],
    [Buffer.of(0xb5), name, Buffer.of(0x51), value, Buffer.of(0x6d, 0x75)],
    [Buffer.of(0xb5, 0x4e), random.bytes(4), name, value],
  ];
  return Buffer.concat(random.chance(4) ? random.pick(forms) : forms[random.below(4)]!);
}

/** A script of one of the kinds that the parser or the coin table handles separately. */
export function randomScript(random: Random): Buffer {
  const kinds: (() => Buffer)[] = [
    () => Buffer.concat([Buffer.of(0x76, 0xa9, 20), random.bytes(20), Buffer.of(0x88, 0xac)]),
    () => Buffer.concat([Buffer.of(0xa9, 20), random.bytes(20), Buffer.of(0x87)]),
    () => Buffer.concat([Buffer.of(0, 20), random.bytes(20)]),
    () => Buffer.concat([Buffer.of(0, 32), random.bytes(32)]),
    () => Buffer.concat([Buffer.of(33, 2), random.bytes(32), Buffer.of(0xac)]),
    () => Buffer.concat([Buffer.of(0x6a), random.bytes(random.below(40))]),
    () => random.bytes(random.below(80)),
    () => Buffer.alloc(0),
    () => random.bytes(random.below(21)),
    () =>
      Buffer.from(random.bytes(random.below(60)).map((byte) => random.pick([0xac, 0xad, 0xae, 0xaf, byte]))),
    () => Buffer.concat([randomClaimPrefix(random), randomScript(random)]),
  ];
  if (random.chance(200)) return Buffer.alloc(20005 + random.below(2), 0x51);
  return random.pick(kinds)();
}

export interface TxShape {
  inputs: { hash: Uint8Array; index: number }[];
  outputs: number;
  witness: boolean;
}

export function randomTx(random: Random, shape: TxShape): Transaction {
  return {
    version: random.pick([1, 2, -1, random.u32() | 0]),
    inputs: shape.inputs.map((prevout) => ({
      prevout,
      scriptSig: random.chance(3) ? Buffer.alloc(0) : randomScript(random),
      sequence: random.pick([0xffffffff, 0xfffffffe, 0, random.u32()]),
      witness: shape.witness
        ? Array.from({ length: random.below(4) }, () =>
            random.bytes(random.below(random.chance(9) ? 600 : 80)),
          )
        : [],
    })),
    outputs: Array.from({ length: shape.outputs }, () => ({
      value: random.amount(),
      script: randomScript(random),
    })),
    lockTime: random.pick([0, random.u32()]),
  };
}

export function randomOutPoint(random: Random): { hash: Buffer; index: number } {
  return { hash: random.bytes(32), index: random.pick([0, 1, random.below(9), random.u32()]) };
}

export function coinbaseTx(random: Random, outputs = 1 + random.below(3)): Transaction {
  const tx = randomTx(random, {
    inputs: [{ hash: Buffer.alloc(32), index: 0xffffffff }],
    outputs,
    witness: random.chance(2),
  });
  tx.inputs[0]!.scriptSig = random.bytes(2 + random.below(99));
  return tx;
}

/** A block with a random header. */
export function formatRawBlock(random: Random, txs: readonly Uint8Array[]): Buffer {
  return Buffer.concat([random.bytes(112), new Writer(9).compactSize(txs.length).finish(), ...txs]);
}

export function randomBlock(random: Random, txCount: number): Buffer {
  const txs = [formatTransaction(coinbaseTx(random))];
  while (txs.length < txCount) {
    const shape = {
      inputs: Array.from({ length: 1 + random.below(4) }, () => randomOutPoint(random)),
      outputs: random.below(5),
      witness: random.chance(2),
    };
    txs.push(formatTransaction(randomTx(random, shape)));
  }
  return formatRawBlock(random, txs);
}

/** A copy in which a few bytes are changed, removed or repeated, or which is truncated. */
export function mutate(random: Random, bytes: Buffer): Buffer {
  let out = Buffer.from(bytes);
  for (let i = 1 + random.below(3); i > 0 && out.length > 0; i--) {
    const at = random.below(out.length);
    const length = 1 + random.below(4);
    switch (random.below(6)) {
      case 0:
        out = out.subarray(0, at);
        break;
      case 1:
        out = Buffer.concat([out.subarray(0, at), out.subarray(at + length)]);
        break;
      case 2:
        out = Buffer.concat([out.subarray(0, at), random.bytes(length), out.subarray(at)]);
        break;
      case 3:
        out[at] = random.pick([0, 1, 2, 0xfc, 0xfd, 0xfe, 0xff]);
        break;
      default:
        out[at] = random.u32();
    }
  }
  return out;
}

/** Blocks of the recorded benchmark chain; empty if the recordings are absent. */
export function recordedBlocks(): Buffer[] {
  const path = fileURLToPath(new URL('../../../shared/bench/bench-40x1000.dat.gz', import.meta.url));
  if (!existsSync(path)) return [];
  const file = gunzipSync(readFileSync(path));
  const blocks: Buffer[] = [];
  for (let at = 0; at + 8 <= file.length;) {
    const size = file.readUInt32LE(at + 4);
    blocks.push(file.subarray(at + 8, at + 8 + size));
    at += 8 + size;
  }
  return blocks;
}
