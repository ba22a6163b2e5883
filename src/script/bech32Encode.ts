/**
 * Writing bech32, the form of witness addresses. Reading is the package's business, against which the tests hold this; it
 * writes many more addresses a second. Source: BIP173.
 */
import type { Bytes } from '../util/bytes.js';

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const;
const CHECKSUM_DIGITS = 6;

/** The checksum's state after one more value of five bits. */
function step(state: number, value: number): number {
  const top = state >>> 25;
  let next = ((state & 0x1ffffff) << 5) ^ value;
  for (let bit = 0; bit < GENERATORS.length; bit++) if ((top >>> bit) & 1) next ^= GENERATORS[bit]!;
  return next;
}

function startOf(prefix: string): number {
  let state = 1;
  for (let i = 0; i < prefix.length; i++) state = step(state, prefix.charCodeAt(i) >>> 5);
  state = step(state, 0);
  for (let i = 0; i < prefix.length; i++) state = step(state, prefix.charCodeAt(i) & 31);
  return state;
}

/** The address of a witness program: `hrp`, in lower case, a `1`, version (0 to 16) and program, a checksum. */
export function encodeWitnessAddress(hrp: string, version: number, program: Bytes): string {
  let state = step(startOf(hrp), version);
  let text = `${hrp}1${ALPHABET[version]!}`;
  let bits = 0;
  let held = 0;
  const put = (value: number): void => {
    state = step(state, value);
    text += ALPHABET[value]!;
  };
  for (let i = 0; i < program.length; i++) {
    bits = ((bits << 8) | program[i]!) & 0xfff;
    for (held += 8; held >= 5; held -= 5) put((bits >>> (held - 5)) & 31);
  }
  if (held > 0) put((bits << (5 - held)) & 31);
  for (let i = 0; i < CHECKSUM_DIGITS; i++) state = step(state, 0);
  state ^= 1;
  for (let i = CHECKSUM_DIGITS - 1; i >= 0; i--) text += ALPHABET[(state >>> (5 * i)) & 31]!;
  return text;
}
