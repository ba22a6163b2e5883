/**
 * Names of files: names that every system accepts, and names from a descriptor or a claim.
 * Source: lbry-sdk lbry/stream/descriptor.py `sanitize_file_name`, lbry/stream/managed_stream.py `suggested_file_name`.
 */
import { decodeClaim } from '../../metadata/claim.js';

const FALLBACK_NAME = 'lbry_download';
/** Maximum size of a file name in UTF-8 on the usual file systems. Source: Linux include/uapi/linux/limits.h `NAME_MAX`. */
const MAX_NAME_BYTES = 255;

/** Matches the end of a text, and the position before a final newline, like Python's `$`. */
const END = String.raw`(?=\n?$)`;
const FORBIDDEN = new RegExp(
  [
    String.raw`[<>:"/\\|?*]+`,
    String.raw`[\x00-\x1f]+`,
    String.raw`[ \t]*\.+[ \t]*${END}`,
    String.raw`^[ \t]+`,
    String.raw`[ \t]+${END}`,
    ...['CON', 'PRN', 'AUX', 'NUL', 'COM[1-9]', 'LPT[1-9]'].map((name) => `^${name}${END}`),
  ].join('|'),
  'g',
);

/**
 * Splits a file name into base and extension. The extension begins at the last dot, unless the name has only dots before it.
 * Source: CPython `posixpath.splitext`.
 */
export function splitExtension(name: string): readonly [base: string, extension: string] {
  const start = name.lastIndexOf('/') + 1;
  const dot = name.lastIndexOf('.');
  if (dot < start || /^\.*$/.test(name.slice(start, dot))) return [name, ''];
  return [name.slice(0, dot), name.slice(dot)];
}

/**
 * Removes characters and device names that an operating system refuses in file names. Returns `lbry_download` if nothing
 * remains before the extension.
 */
export function safeFileName(name: string): string {
  const [base, extension] = splitExtension(name).map((part) => part.replace(FORBIDDEN, '')) as [
    string,
    string,
  ];
  return (base || FALLBACK_NAME) + (extension.length > 1 ? extension : '');
}

/** `base` and `end` as one name. The base loses its last characters if the name would be too long for a file system. */
export function fittingName(base: string, end: string): string {
  const bytes = Buffer.from(base);
  let room = MAX_NAME_BYTES - Buffer.byteLength(end);
  if (bytes.length <= room) return base + end;
  // An ending that is longer than the limit is cut too.
  if (room <= 0) return fittingName(base + end, '');
  while ((bytes[room]! & 0xc0) === 0x80) room--;
  return bytes.toString('utf8', 0, room) + end;
}

/** File name in a claim's value (hexadecimal digits); empty if the value names no file. */
function claimedName(value: string): string {
  if (value === '') return '';
  try {
    const { type } = decodeClaim(Buffer.from(value, 'hex')).claim;
    return type.case === 'stream' ? (type.value.source?.name ?? '') : '';
  } catch {
    return '';
  }
}

/** Returns the name of a stream: from its descriptor or, if empty, from its claim. */
export const streamNameOf = (inDescriptor: string, claimValue: string): string =>
  inDescriptor.trim() === '' ? claimedName(claimValue) : inDescriptor;

/**
 * Returns the file name under which a stream is saved if the user specifies none. lbry-sdk cannot save a stream with a name
 * of more than 255 bytes.
 */
export const suggestedNameOf = (inDescriptor: string, claimValue: string): string =>
  fittingName(...splitExtension(safeFileName(streamNameOf(inDescriptor, claimValue))));
