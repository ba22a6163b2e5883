/** Field arithmetic in lanes against whole numbers, with limbs as large and as small as they may be. */
import { describe, expect, it } from 'vitest';
import { LANE_FIELD } from '../../src/native/binding.js';
import { Random, addon, native } from './support.js';

const P = 2n ** 256n - 0x1000003d1n;
const LANES = 8;
const LIMBS = 5;
/** Limb 4 of an element between operations is below this, the others below 2^52. */
const TOP_END = 2n ** 48n + 2n ** 10n;
const PRIME_LIMBS = Array.from({ length: LIMBS }, (_, i) => (P >> BigInt(52 * i)) & (2n ** 52n - 1n));

const modP = (value: bigint): bigint => ((value % P) + P) % P;

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = modP(base), left = exponent; left > 0n; left >>= 1n, square = (square * square) % P)
    if ((left & 1n) === 1n) result = (result * square) % P;
  return result;
}

type Element = readonly bigint[];

const valueOf = (limbs: Element): bigint =>
  limbs.reduce((sum, limb, i) => sum + (limb << BigInt(52 * i)), 0n);

/** Limbs of which many are zero, full or those of p. */
function randomElement(random: Random): Element {
  const whole = random.below(6);
  return Array.from({ length: LIMBS }, (_, i) => {
    const end = i === LIMBS - 1 ? TOP_END : 2n ** 52n;
    const kind = whole < 3 ? whole : random.below(6);
    if (kind === 0) return 0n;
    if (kind === 1) return end - 1n;
    if (kind === 2) return PRIME_LIMBS[i]!;
    if (kind === 3) return BigInt(random.below(4));
    if (kind === 4) return end - 1n - BigInt(random.below(4));
    return BigInt(`0x${random.bytes(8).toString('hex')}`) % end;
  });
}

function pack(elements: readonly Element[]): Buffer {
  const out = Buffer.alloc(8 * LANES * LIMBS);
  elements.forEach((limbs, lane) => {
    limbs.forEach((limb, i) => out.writeBigUInt64LE(limb, 8 * (LANES * i + lane)));
  });
  return out;
}

function unpack(bytes: Buffer): Element[] {
  return Array.from({ length: LANES }, (_, lane) =>
    Array.from({ length: LIMBS }, (__, i) => bytes.readBigUInt64LE(8 * (LANES * i + lane))),
  );
}

const EXPECTED: Partial<Record<keyof typeof LANE_FIELD, (a: bigint, b: bigint) => bigint>> = {
  multiply: (a, b) => a * b,
  square: (a) => a * a,
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  subtractEightfold: (a, b) => a - 8n * b,
  negate: (a) => -a,
  timesThree: (a) => 3n * a,
  timesSixteen: (a) => 16n * a,
};

describe.skipIf(!native || native.ecdsa.lanes === 0)('field arithmetic in lanes', () => {
  it('computes modulo p and keeps limbs within bounds', () => {
    const random = new Random(400);
    for (let round = 0; round < 400; round++) {
      const a = Array.from({ length: LANES }, () => randomElement(random));
      const b = Array.from({ length: LANES }, () => randomElement(random));
      for (const [name, compute] of Object.entries(EXPECTED)) {
        const operation = LANE_FIELD[name as keyof typeof LANE_FIELD];
        unpack(addon().ecdsa.laneField(operation, pack(a), pack(b))).forEach((limbs, lane) => {
          const expected = modP(compute(valueOf(a[lane]!), valueOf(b[lane]!)));
          const isCarried = limbs.every((limb, i) => limb < (i < LIMBS - 1 ? 2n ** 52n : TOP_END));
          if (modP(valueOf(limbs)) !== expected || !isCarried)
            expect.fail(`${name} of ${a[lane]!.join()} and ${b[lane]!.join()} is ${limbs.join()}`);
        });
      }
    }
  });

  it('knows zero and odd remainders, also of what is p or more', () => {
    const random = new Random(401);
    const limbsOf = (value: bigint): Element =>
      Array.from({ length: LIMBS }, (_, i) =>
        i === LIMBS - 1 ? value >> 208n : (value >> BigInt(52 * i)) & (2n ** 52n - 1n),
      );
    let zeros = 0;
    for (let round = 0; round < 200; round++) {
      const elements = Array.from({ length: LANES }, () =>
        random.chance(2)
          ? limbsOf(random.pick([0n, P, 2n ** 256n]) + BigInt(random.below(3)))
          : randomElement(random),
      );
      const ask = (operation: number): boolean[] =>
        unpack(addon().ecdsa.laneField(operation, pack(elements), pack([]))).map((limbs) => limbs[0] === 1n);
      const remainders = elements.map((limbs) => modP(valueOf(limbs)));
      expect(ask(LANE_FIELD.isZero)).toEqual(remainders.map((value) => value === 0n));
      expect(ask(LANE_FIELD.isOdd)).toEqual(remainders.map((value) => (value & 1n) === 1n));
      zeros += remainders.filter((value) => value === 0n).length;
    }
    expect(zeros).toBeGreaterThan(100);
  });

  it('takes square roots', () => {
    const random = new Random(402);
    for (let round = 0; round < 20; round++) {
      const elements = Array.from({ length: LANES }, () => randomElement(random));
      const roots = unpack(addon().ecdsa.laneField(LANE_FIELD.squareRoot, pack(elements), pack([])));
      roots.forEach((root, lane) =>
        expect(modP(valueOf(root))).toBe(power(valueOf(elements[lane]!), (P + 1n) / 4n)),
      );
    }
  });

  it('refuses what it does not have', () => {
    expect(() => addon().ecdsa.laneField(11, pack([]), pack([]))).toThrow();
    expect(() => addon().ecdsa.laneField(0, pack([]), Buffer.alloc(319))).toThrow(TypeError);
  });
});
