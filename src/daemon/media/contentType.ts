/**
 * Detects the type of a file by its first bytes and returns the usual file extension. The table gives the results of
 * Python's package filetype 1.2.0, which lbry-sdk uses for the media types in claims. Another package would give other
 * results. Source: the Python package filetype, filetype/types/__init__.py, order of `TYPES`; lbry-sdk lbry/schema/mime_types.py `guess_media_type`.
 */
import { open } from 'node:fs/promises';

/** Number of bytes at the start of a file that are examined. Source: filetype/utils.py `_NUM_SIGNATURE_BYTES`. */
export const HEAD_BYTES = 8192;

interface Signature {
  readonly extension: string;
  /** Bytes that the file must contain, by their offset, as hexadecimal digits. Two dots match any byte. */
  readonly at: Readonly<Record<number, string>>;
  /** Minimum size in bytes of a file of this type. */
  readonly leastBytes?: number;
}

type Matcher = Signature | { readonly extension: string; readonly matches: (head: Buffer) => boolean };

const ZIP = '504b0304';
const OLE = 'd0cf11e0a1b11ae1';
const EBML = '1a45dfa3';

function hasBytes(head: Buffer, offset: number, hex: string): boolean {
  const count = hex.length / 2;
  if (head.length < offset + count) return false;
  for (let n = 0; n < count; n++) {
    const byte = hex.slice(2 * n, 2 * n + 2);
    if (byte !== '..' && head[offset + n] !== Number.parseInt(byte, 16)) return false;
  }
  return true;
}

const ascii = (text: string): string => Buffer.from(text, 'latin1').toString('hex');

/** Whether the file is an animated PNG: the chunk `acTL` precedes the image data. */
function isAnimatedPng(head: Buffer): boolean {
  if (head.length <= 8 || !hasBytes(head, 0, '89504e470d0a1a0a')) return false;
  for (let at = 8; at + 8 <= head.length;) {
    const type = head.toString('latin1', at + 4, at + 8);
    if (type === 'IDAT' || type === 'IEND') return false;
    if (type === 'acTL') return true;
    at += 8 + head.readUInt32BE(at) + 4;
  }
  return false;
}

interface FileTypeBox {
  readonly major: string;
  readonly compatible: readonly string[];
}

/** The box `ftyp` at the start of an ISO base media file; null if it is missing or incomplete. */
function fileTypeBox(head: Buffer): FileTypeBox | null {
  if (head.length < 16 || !hasBytes(head, 4, ascii('ftyp'))) return null;
  const length = head.readUInt32BE(0);
  if (head.length < length) return null;
  const brand = (at: number): string => head.toString('latin1', at, at + 4);
  const compatible: string[] = [];
  for (let at = 16; at < length; at += 4) compatible.push(brand(at));
  return { major: brand(8), compatible };
}

/**
 * Returns a matcher for images in ISO base media files. It matches if the major brand is `own`, or is a generic brand and
 * `own` is among the compatible brands.
 */
const image = (own: string) => (head: Buffer) => {
  const box = fileTypeBox(head);
  if (box === null) return false;
  return box.major === own || (['mif1', 'msf1'].includes(box.major) && box.compatible.includes(own));
};

const MP4_BRANDS = ['mp41', 'mp42', 'isom'];

function isMp4(head: Buffer): boolean {
  const box = fileTypeBox(head);
  return box !== null && [box.major, ...box.compatible].some((brand) => MP4_BRANDS.includes(brand));
}

const matroska = (docType: string) => (head: Buffer) =>
  hasBytes(head, 0, EBML) && head.includes(Buffer.from(docType, 'hex'));

const between = (head: Buffer, from: number, to: number, text: string): boolean =>
  head.subarray(from, to).includes(Buffer.from(text, 'latin1'));

const isWord = (head: Buffer): boolean =>
  head.length > 515 &&
  hasBytes(head, 0, OLE) &&
  (hasBytes(head, 512, 'eca5c100') ||
    (head.length > 2142 &&
      between(head, 2075, 2142, '\0\n\0\0\0MSWordDoc\0\x10\0\0\0Word.Document.8\0\xf49\xb2q')));

const isExcel = (head: Buffer): boolean =>
  head.length > 520 &&
  hasBytes(head, 0, OLE) &&
  ((hasBytes(head, 512, 'fdffffff') && (head[518] === 0 || head[518] === 2)) ||
    hasBytes(head, 512, '0908100000060500') ||
    (head.length > 2095 && between(head, 1568, 2095, '\xe2\0\0\0\\\0p\0\x04\0\0Calc')));

const isPowerPoint = (head: Buffer): boolean =>
  head.length > 524 &&
  hasBytes(head, 0, OLE) &&
  (['a0461df0', '006e1ef0', '0f00e803'].some((hex) => hasBytes(head, 512, hex)) ||
    (hasBytes(head, 512, 'fdffffff') && hasBytes(head, 522, '0000')) ||
    (head.length > 2096 && hasBytes(head, 2072, `00b929e811000000${ascii('MS PowerPoint 97')}`)));

/** Offset of the file name in a ZIP entry, counted from the end of the entry's signature. */
const ZIP_NAME = 30;
/** Number of bytes that are searched for the next entry of a ZIP archive. */
const ZIP_REACH = 6000;
/** Extensions of Office Open XML files by the first bytes of file names in the archive. */
const OFFICE_FOLDERS = [
  ['word/', 'docx'],
  ['ppt/', 'pptx'],
  ['xl/', 'xlsx'],
] as const;
const OFFICE_FIRST_NAMES = ['[Content_Types].xml', '_rels/.rels', 'docProps'];

/** Extension of an Office Open XML archive; null if its first five files do not determine it. */
function officeExtension(head: Buffer): string | null {
  if (!hasBytes(head, 0, ZIP)) return null;
  const folderAt = (at: number): string | null =>
    OFFICE_FOLDERS.find(([folder]) => hasBytes(head, at, ascii(folder)))?.[1] ?? null;
  const first = folderAt(ZIP_NAME);
  if (first !== null) return first;
  if (!OFFICE_FIRST_NAMES.some((name) => hasBytes(head, ZIP_NAME, ascii(name)))) return null;
  for (let file = 0, at = 0; file < 4; file++) {
    const end = Math.min(head.length, at + 4 + ZIP_REACH);
    const found = head.subarray(0, end).indexOf(Buffer.from(ZIP, 'hex'), at + 4);
    if (found < 0) return null;
    at = found;
    const extension = folderAt(at + ZIP_NAME);
    if (extension !== null) return extension;
  }
  return null;
}

const office = (extension: string): Matcher => ({
  extension,
  matches: (head) => officeExtension(head) === extension,
});

/** Matches an OpenDocument archive. Its first file, `mimetype`, contains the document type. */
const openDocument = (extension: string, kind: string): Matcher => ({
  extension,
  matches: (head) =>
    hasBytes(head, 0, ZIP) &&
    hasBytes(head, ZIP_NAME, ascii('mimetype')) &&
    hasBytes(head, ZIP_NAME + 8, ascii(`application/vnd.oasis.opendocument.${kind}`)),
});

const isZip = (head: Buffer): boolean =>
  hasBytes(head, 0, '504b') && [3, 5, 7].includes(head[2] ?? 0) && [4, 6, 8].includes(head[3] ?? 0);

const isTiff = (head: Buffer): boolean =>
  head.length > 9 && (hasBytes(head, 0, '49492a00') || hasBytes(head, 0, '4d4d002a'));

const isFont = (signature: string) => (head: Buffer) =>
  hasBytes(head, 0, signature) &&
  [ascii('\0\x01\0\0'), ascii('OTTO'), ascii('true')].some((hex) => hasBytes(head, 4, hex));

function isZstandard(head: Buffer): boolean {
  for (let frame = head; ;) {
    const first = frame[0] ?? 0;
    if (first >= 0x22 && first <= 0x28 && hasBytes(frame, 1, 'b52ffd')) return true;
    // The stream starts with a skippable frame. The search continues after that frame.
    if (frame.length < 8 || (frame.readUInt32LE(0) & 0xfffffff0) >>> 0 !== 0x184d2a50) return false;
    const end = 8 + frame.readUInt32LE(4);
    if (frame.length < end) return false;
    frame = frame.subarray(end);
  }
}

const isEmbeddedFont = (head: Buffer): boolean =>
  hasBytes(head, 34, '4c50') && ['020001', '010000', '020002'].some((hex) => hasBytes(head, 8, hex));

/** Matchers of file types. The first that matches determines the type. */
const MATCHERS: readonly Matcher[] = [
  { extension: 'dwg', at: { 0: '41433130' } },
  { extension: 'xcf', at: { 0: ascii('gimp xcf v') } },
  { extension: 'jpg', at: { 0: 'ffd8ff' } },
  { extension: 'jpx', at: { 0: '0000000c', 16: ascii('ftypjp2 ') }, leastBytes: 51 },
  { extension: 'apng', matches: isAnimatedPng },
  { extension: 'png', at: { 0: '89504e47' } },
  { extension: 'gif', at: { 0: ascii('GIF') } },
  { extension: 'webp', at: { 0: ascii('RIFF'), 8: ascii('WEBPVP') } },
  { extension: 'tif', matches: (head) => isTiff(head) && !hasBytes(head, 8, ascii('CR')) },
  { extension: 'cr2', matches: (head) => isTiff(head) && hasBytes(head, 8, ascii('CR')) },
  { extension: 'bmp', at: { 0: ascii('BM') } },
  { extension: 'jxr', at: { 0: '4949bc' } },
  { extension: 'psd', at: { 0: ascii('8BPS') } },
  { extension: 'ico', at: { 0: '00000100' } },
  { extension: 'heic', matches: image('heic') },
  { extension: 'dcm', at: { 128: ascii('DICM') }, leastBytes: 133 },
  { extension: 'avif', matches: image('avif') },
  { extension: 'aac', at: { 0: 'fff1' } },
  { extension: 'aac', at: { 0: 'fff9' } },
  { extension: 'midi', at: { 0: ascii('MThd') } },
  { extension: 'mp3', at: { 0: ascii('ID3') } },
  { extension: 'mp3', at: { 0: 'fff2' }, leastBytes: 3 },
  { extension: 'mp3', at: { 0: 'fff3' }, leastBytes: 3 },
  { extension: 'mp3', at: { 0: 'fffb' }, leastBytes: 3 },
  { extension: 'm4a', at: { 4: ascii('ftypM4A') } },
  { extension: 'm4a', at: { 0: ascii('M4A ') }, leastBytes: 11 },
  { extension: 'ogg', at: { 0: ascii('OggS') } },
  { extension: 'flac', at: { 0: ascii('fLaC') } },
  { extension: 'wav', at: { 0: ascii('RIFF'), 8: ascii('WAVE') } },
  { extension: 'amr', at: { 0: ascii('#!AMR\n') }, leastBytes: 12 },
  { extension: 'aiff', at: { 0: ascii('FORM'), 8: ascii('AIFF') } },
  // QUIRK: in real 3GPP files a length field precedes this text, so this matcher never matches them.
  { extension: '3gp', at: { 0: ascii('ftyp3gp') } },
  { extension: 'mp4', matches: isMp4 },
  { extension: 'm4v', at: { 0: '0000001c', 4: ascii('ftypM4V') } },
  { extension: 'mkv', matches: matroska(`428288${ascii('matroska')}`) },
  { extension: 'mov', matches: (head) => fileTypeBox(head)?.major === 'qt  ' },
  { extension: 'avi', at: { 0: ascii('RIFF'), 8: ascii('AVI ') } },
  { extension: 'wmv', at: { 0: '3026b2758e66cf11a6d9' } },
  {
    extension: 'mpg',
    matches: (head) => hasBytes(head, 0, '000001') && (head[3] ?? 0) >= 0xb0 && (head[3] ?? 0) <= 0xbf,
  },
  { extension: 'webm', matches: matroska(`428284${ascii('webm')}`) },
  { extension: 'flv', at: { 0: '464c5601' } },
  { extension: 'woff', matches: isFont(ascii('wOFF')) },
  { extension: 'woff2', matches: isFont(ascii('wOF2')) },
  { extension: 'ttf', at: { 0: '0001000000' } },
  { extension: 'otf', at: { 0: '4f54544f00' } },
  { extension: 'doc', matches: isWord },
  office('docx'),
  openDocument('odt', 'text'),
  { extension: 'xls', matches: isExcel },
  office('xlsx'),
  openDocument('ods', 'spreadsheet'),
  { extension: 'ppt', matches: isPowerPoint },
  office('pptx'),
  openDocument('odp', 'presentation'),
  { extension: 'br', at: { 0: 'ceb2cf81' } },
  { extension: 'rpm', at: { 0: 'edabeedb' } },
  { extension: 'epub', at: { 0: ZIP, 30: ascii('mimetypeapplication/epub+zip') } },
  { extension: 'zip', matches: isZip },
  { extension: 'tar', at: { 257: ascii('ustar') } },
  { extension: 'rar', at: { 0: '526172211a0700' } },
  { extension: 'rar', at: { 0: '526172211a0701' } },
  { extension: 'gz', at: { 0: '1f8b08' } },
  { extension: 'bz2', at: { 0: ascii('BZh') } },
  { extension: '7z', at: { 0: '377abcaf271c' } },
  { extension: 'pdf', at: { 0: ascii('%PDF') } },
  { extension: 'pdf', at: { 0: `efbbbf${ascii('%PDF')}` } },
  { extension: 'exe', at: { 0: ascii('MZ') } },
  { extension: 'swf', at: { 0: ascii('CWS') } },
  { extension: 'swf', at: { 0: ascii('FWS') } },
  { extension: 'rtf', at: { 0: ascii('{\\rtf') } },
  { extension: 'nes', at: { 0: '4e45531a' } },
  { extension: 'crx', at: { 0: ascii('Cr24') } },
  { extension: 'cab', at: { 0: ascii('MSCF') } },
  { extension: 'cab', at: { 0: '49536328' } },
  { extension: 'eot', matches: isEmbeddedFont },
  { extension: 'ps', at: { 0: ascii('%!') } },
  { extension: 'xz', at: { 0: 'fd377a585a00' } },
  { extension: 'sqlite', at: { 0: ascii('SQLi') } },
  { extension: 'deb', at: { 0: ascii('!<arch>\ndebian-binary') } },
  { extension: 'ar', at: { 0: ascii('!<arch>') } },
  { extension: 'Z', at: { 0: '1fa0' } },
  { extension: 'Z', at: { 0: '1f9d' } },
  { extension: 'lzo', at: { 0: '894c5a4f000d0a1a' } },
  { extension: 'lz', at: { 0: ascii('LZIP') } },
  { extension: 'elf', at: { 0: '7f454c46' }, leastBytes: 53 },
  { extension: 'lz4', at: { 0: '04224d18' } },
  { extension: 'zst', matches: isZstandard },
  { extension: 'wasm', at: { 0: '0061736d01000000' } },
];

/** File name extension for the first `HEAD_BYTES` bytes of a file; null if the type is unknown. */
export function contentExtension(head: Buffer): string | null {
  const found = MATCHERS.find((matcher) =>
    'matches' in matcher
      ? matcher.matches(head)
      : head.length >= (matcher.leastBytes ?? 0) &&
        Object.entries(matcher.at).every(([offset, hex]) => hasBytes(head, Number(offset), hex)),
  );
  return found?.extension ?? null;
}

/** Resolves to the file extension for the content of a file. Rejects with a system error if the file cannot be read. */
export async function contentExtensionOf(path: string): Promise<string | null> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
    return contentExtension(head.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
