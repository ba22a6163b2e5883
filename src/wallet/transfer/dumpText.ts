/**
 * Formats and parses the lines of a wallet dump. The line of a key contains the private key, the creation time, the purpose,
 * and after a number sign the addresses. The line of a script contains the script in hex instead of the key. Source: lbrycrd
 * wallet/rpcdump.cpp `EncodeDumpString`, `DecodeDumpString`, `DecodeDumpTime`.
 */
import type { AddressPrefixes } from '../../script/address.js';
import { decodeSecret, type DecodedSecret } from '../../script/wif.js';
import { fromHex, isHex } from '../../util/bytes.js';

const MS_A_SECOND = 1000;

/** Source: `FormatISO8601DateTime`. */
export function formatDumpTime(timeSec: number): string {
  return new Date(timeSec * MS_A_SECOND).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Parses a time into seconds since 1970; 0 for an invalid time. */
export function parseDumpTime(text: string): number {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z/.test(text)) return 0;
  const ms = Date.parse(text.slice(0, 20));
  return Number.isNaN(ms) ? 0 : ms / MS_A_SECOND;
}

/** Encodes a text as one word. UTF-8 bytes that would end the word, or that are not ASCII, become `%` and two hex digits. */
export function encodeDumpText(text: string): string {
  let encoded = '';
  for (const byte of Buffer.from(text, 'utf8')) {
    const isPlain = byte > 32 && byte < 128 && byte !== 0x25;
    encoded += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`;
  }
  return encoded;
}

/** Decodes a word. As in the reference, the two characters after a `%` are always parsed as hex digits. */
export function decodeDumpText(encoded: string): string {
  const bytes = Buffer.from(encoded, 'utf8');
  const decoded: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0x25 && at + 2 < bytes.length) {
      decoded.push(((digitOf(bytes[at + 1]!) << 4) | digitOf(bytes[at + 2]!)) & 0xff);
      at += 2;
    } else decoded.push(bytes[at]!);
  }
  return Buffer.from(decoded).toString('utf8');
}

const digitOf = (char: number): number => (char >> 6) * 9 + ((char - 0x30) & 15);

export type DumpLine =
  | {
      readonly kind: 'key';
      readonly secret: DecodedSecret;
      readonly timeSec: number;
      /** Label of the key's address; null for keys without a label (change keys and pool keys). */
      readonly label: string | null;
    }
  | { readonly kind: 'script'; readonly script: Buffer; readonly timeSec: number };

/** Parses a line. Null for comments, and for lines without a key or script of this network. */
export function parseDumpLine(line: string, prefixes: AddressPrefixes): DumpLine | null {
  if (line === '' || line.startsWith('#')) return null;
  const [first, time, ...words] = line.split(' ');
  if (first === undefined || time === undefined) return null;
  const timeSec = parseDumpTime(time);
  const secret = decodeSecret(first, prefixes);
  if (secret !== null) return { kind: 'key', secret, timeSec, label: labelIn(words) };
  if (first === '' || !isHex(first)) return null;
  return { kind: 'script', script: fromHex(first), timeSec };
}

function labelIn(words: readonly string[]): string | null {
  let label: string | null = '';
  for (const word of words) {
    if (word.startsWith('#')) break;
    if (word === 'change=1' || word === 'reserve=1') label = null;
    if (word.startsWith('label=')) label = decodeDumpText(word.slice('label='.length));
  }
  return label;
}
