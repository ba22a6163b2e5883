/** Fuzz target: name normalization. */
import { decomposeCodePoints, foldCodePoints, normalizeName } from '../../../src/claimtrie/normalize.js';
import { TABLE_END, unicodeTables } from '../../../src/claimtrie/unicode/tables.js';
import { decodeUtf8, encodeUtf8 } from '../../../src/claimtrie/unicode/utf8.js';
import { toHex } from '../../../src/util/bytes.js';
import type { Random } from '../../differential/support.js';
import { law, type Target } from '../support/campaign.js';
import { mutateBytes, noise } from '../support/mutate.js';

/** Code points that normalization changes. All of them exist in Unicode 11, so later versions treat them alike. */
const MOVED: readonly number[] = Array.from({ length: TABLE_END }, (_, code) => code).filter(
  (code) =>
    unicodeTables.combiningClass.get(code) !== 0 ||
    unicodeTables.decomposition.get(code) !== 0 ||
    unicodeTables.folding.get(code) !== 0,
);
const isMoved = new Uint8Array(0x110000);
for (const code of MOVED) isMoved[code] = 1;
/** Hangul syllables and ASCII exist in all versions too. */
isMoved.fill(1, 0xac00, 0xac00 + 11172);
isMoved.fill(1, 0, 0x80);

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function checkUnicode(codes: readonly number[]): void {
  const decomposed = decomposeCodePoints(codes);
  if (codes.every((code) => isMoved[code] === 1)) {
    const expected = [...String.fromCodePoint(...codes).normalize('NFD')].map((char) => char.codePointAt(0)!);
    law(decomposed.length === expected.length && decomposed.every((code, i) => code === expected[i]), 'NFD');
  }
  const again = decomposeCodePoints(decomposed);
  law(
    again.length === decomposed.length && again.every((code, i) => code === decomposed[i]),
    'NFD once is enough',
  );
  const folded = foldCodePoints(decomposed);
  const twice = foldCodePoints(folded);
  law(
    twice.length === folded.length && twice.every((code, i) => code === folded[i]),
    'folding once is enough',
  );
}

export function checkName(name: Buffer): string {
  const before = Buffer.from(name);
  const normalized = Buffer.from(normalizeName(name));
  law(name.equals(before), 'the name is left as it was');
  const codes: number[] = [];
  const valid = decodeUtf8(name, codes);
  law(valid === isUtf8(name), 'what is well-formed UTF-8');
  if (!valid) {
    law(normalized.equals(before), 'invalid UTF-8 stays as it is');
    return 'invalid UTF-8';
  }
  law(encodeUtf8(codes).equals(before), 'UTF-8 round trip');
  law(isUtf8(normalized), 'the result is well-formed');
  checkUnicode(codes);
  // Only one mark folds to a letter (U+0345). It has the highest combining class, so no mark follows it that would have to be
  // moved.
  law(Buffer.from(normalizeName(normalized)).equals(normalized), 'normalizing once is enough');
  if (codes.every((code) => code < 0x80)) {
    law(normalized.toString('latin1') === before.toString('latin1').toLowerCase(), 'ASCII is lower-cased');
    return 'ASCII';
  }
  return normalized.equals(before) ? 'unchanged' : 'changed';
}

function randomCode(random: Random): number {
  switch (random.below(8)) {
    case 0:
      return random.below(0x80);
    case 1:
      return 0xac00 + random.below(11172);
    case 2:
      return random.pick([
        0x345, 0x345, 0x1100, 0x1161, 0x11a7, 0x11a8, 0x300, 0x328, 0x3b1, 0x390, 0xdf, 0x130, 0x1e9e,
      ]);
    case 3: {
      const code = random.below(0x110000);
      return code >= 0xd800 && code < 0xe000 ? 0xfffd : code;
    }
    default:
      return random.pick(MOVED);
  }
}

export const nameTarget: Target<Buffer> = {
  name: 'name',
  make(random) {
    if (random.chance(10)) return noise(random, 255);
    const codes = Array.from({ length: random.below(random.chance(20) ? 90 : 12) }, () => randomCode(random));
    const name = encodeUtf8(codes);
    return random.chance(5) ? mutateBytes(random, name) : name;
  },
  check: checkName,
  show: toHex,
};
