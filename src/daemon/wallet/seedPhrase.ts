/**
 * Seed phrases in Electrum's format: a number encoded as English words, least significant word first. The hash of a valid
 * phrase starts with a version. The format is not BIP39, but uses its word list. Source: lbry-sdk lbry/wallet/mnemonic.py.
 */
import { createHmac, pbkdf2Sync } from 'node:crypto';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { classOf } from '../../claimtrie/normalize.js';
import { badValue } from '../base/daemonError.js';
import type { DaemonRandom } from '../base/clock.js';

const WORDS: readonly string[] = wordlist;
const BASE = BigInt(WORDS.length);
const INDEX = new Map(WORDS.map((word, index) => [word, BigInt(index)]));

/** Hexadecimal digits with which the hash of a valid phrase begins, for a standard wallet. */
const VERSION_PREFIX = '01';
const VERSION_KEY = 'Seed version';
/** Default passphrase. */
const DEFAULT_PASSPHRASE = 'lbryum';
const ROUNDS = 2048;
const SEED_SIZE = 64;
/** Number of bits of a new phrase: twelve words of eleven bits. */
const NEW_SEED_BITS = 132;
const NEW_SEED_WORDS = 12;

/** Unicode ranges of Chinese, Japanese and Korean characters, first and last code point. Source: `CJK_INTERVALS`. */
const CJK_RANGES: readonly (readonly [number, number])[] = [
  [0x1100, 0x11ff],
  [0x2e80, 0x2eff],
  [0x2f00, 0x2fdf],
  [0x2ff0, 0x2fff],
  [0x3040, 0x30ff],
  [0x3100, 0x318f],
  [0x3190, 0x319f],
  [0x31a0, 0x31bf],
  [0x31c0, 0x31ef],
  [0x31f0, 0x31ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa4d0, 0xa4ff],
  [0xa960, 0xa97f],
  [0xac00, 0xd7af],
  [0xd7b0, 0xd7ff],
  [0xf900, 0xfaff],
  [0xff00, 0xffef],
  [0x16f00, 0x16f9f],
  [0x1b000, 0x1b0ff],
  [0x20000, 0x2a6df],
  [0x2a700, 0x2b73f],
  [0x2b740, 0x2b81f],
  [0x2f800, 0x2fa1d],
  [0xe0100, 0xe01ef],
];

/** Matches the characters that Python's `str.split` treats as white space. */
const WHITE_SPACE = /[\t-\r\u001c- \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;

const splitWords = (text: string): string[] => text.split(WHITE_SPACE).filter((word) => word !== '');

function isCjk(character: string | undefined): boolean {
  const code = character?.codePointAt(0);
  return code !== undefined && CJK_RANGES.some(([first, last]) => code >= first && code <= last);
}

/** Normalizes a phrase: lower case, no accents, single blanks, and no blanks between CJK characters. */
export function normalizePhrase(text: string): string {
  const plain = [...text.normalize('NFKD').toLowerCase()].filter(
    (character) => classOf(character.codePointAt(0)!) === 0,
  );
  const characters = [...splitWords(plain.join('')).join(' ')];
  return characters
    .filter((character, at) => character !== ' ' || !isCjk(characters[at - 1]) || !isCjk(characters[at + 1]))
    .join('');
}

/** Whether the phrase is a valid seed phrase of a standard wallet. */
export function isSeedPhrase(text: string): boolean {
  const digest = createHmac('sha512', VERSION_KEY).update(normalizePhrase(text)).digest('hex');
  return digest.startsWith(VERSION_PREFIX);
}

/** Derives the seed of 64 bytes for the root key. */
export function seedBytes(phrase: string, passphrase = DEFAULT_PASSPHRASE): Buffer {
  return pbkdf2Sync(normalizePhrase(phrase), normalizePhrase(passphrase), ROUNDS, SEED_SIZE, 'sha512');
}

function phraseOfNumber(number: bigint): string {
  const words: string[] = [];
  for (let rest = number; rest > 0n; rest /= BASE) words.push(WORDS[Number(rest % BASE)]!);
  return words.join(' ');
}

/** Decodes the words of a phrase to a number. Throws `ValueError` for an unknown word. */
export function numberOfPhrase(phrase: string): bigint {
  return splitWords(phrase).reduceRight((number, word) => {
    const index = INDEX.get(word);
    if (index === undefined) throw badValue(`'${word}' is not in list`);
    return number * BASE + index;
  }, 0n);
}

/** Returns the first valid phrase whose number is greater than `entropy`, a random number. */
export function phraseAbove(entropy: bigint): string {
  for (let number = entropy + 1n; ; number++) {
    const phrase = phraseOfNumber(number);
    if (isSeedPhrase(phrase)) return phrase;
  }
}

/** Creates a new seed phrase of twelve words. */
export function newSeedPhrase(random: DaemonRandom): string {
  const least = BASE ** BigInt(NEW_SEED_WORDS - 1);
  const byteCount = Math.ceil(NEW_SEED_BITS / 8);
  for (;;) {
    const drawn =
      BigInt(`0x${random.bytes(byteCount).toString('hex')}`) & ((1n << BigInt(NEW_SEED_BITS)) - 1n);
    if (drawn >= least) return phraseAbove(drawn);
  }
}
