/**
 * Makes text from the chain safe to display. Characters that hide or reorder text are replaced by their code point, and
 * names that could be confused with others are detected. Text from the chain must be treated as hostile until it has passed
 * these functions.
 */

/**
 * Characters that `shownText` replaces: control characters, directional marks (Unicode TR9), zero-width and tag characters,
 * characters that control the layout of shorthand and music, unpaired surrogates. Line breaks and tabs are not replaced.
 */
const HIDDEN_BELOW_65536 =
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb';
const HIDDEN = new RegExp(
  `[${HIDDEN_BELOW_65536}]|[\\u{1bca0}-\\u{1bca3}]|[\\u{1d173}-\\u{1d17a}]|[\\u{e0000}-\\u{e0fff}]|\\p{Surrogate}`,
  'gu',
);

/**
 * Fast pre-check: finds every character that `HIDDEN` finds, and all other characters from 65,536 on. A search without the
 * flag `u` is ten times as fast, and most texts have no such character.
 */
const PERHAPS_HIDDEN = new RegExp(`[${HIDDEN_BELOW_65536}\\ud800-\\udfff]`);

/** The code point of a character in angle brackets. */
const shownCode = (character: string): string =>
  `⟨${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`;

/**
 * Returns the text with each hidden character replaced by its code point in angle brackets. The result is cut to `most`
 * characters.
 */
export function shownText(text: string, most = Infinity): string {
  const cut = text.length > most ? `${[...text.slice(0, most * 2)].slice(0, most).join('')}…` : text;
  if (!PERHAPS_HIDDEN.test(cut)) return cut;
  return cut.replaceAll(HIDDEN, shownCode);
}

const [TAB, LINE_BREAK, SPACE, DELETE] = [0x09, 0x0a, 0x20, 0x7f] as const;

/**
 * Whether UTF-8 may have a hidden character. Finds every character that `HIDDEN` finds, and some others of the blocks U+1000,
 * U+F000, U+1B000, U+1D000 and U+E0000. U+FFFD stands for an unpaired surrogate. A loop over the bytes takes a fifth of the time of a regular
 * expression.
 */
function mayHide(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte >= SPACE && byte < DELETE) continue;
    if (byte < SPACE ? byte !== TAB && byte !== LINE_BREAK : mayStartHidden(bytes, at, byte)) return true;
  }
  return false;
}

/** Whether the character that begins with `byte`, which is not below 0x7f, may be hidden. */
function mayStartHidden(bytes: Uint8Array, at: number, byte: number): boolean {
  const [next = 0, third = 0] = [bytes[at + 1], bytes[at + 2]];
  switch (byte) {
    case DELETE:
    case 0xe1:
    case 0xef:
    case 0xf3:
      return true;
    case 0xc2:
      return next < 0xa0 || next === 0xad;
    case 0xcd:
      return next === 0x8f;
    case 0xd8:
      return next === 0x9c;
    case 0xe2:
      return (
        (next === 0x80 && ((third >= 0x8b && third <= 0x8f) || (third >= 0xa8 && third <= 0xae))) ||
        (next === 0x81 && third >= 0xa0)
      );
    case 0xe3:
      return next === 0x85 && third === 0xa4;
    case 0xf0:
      return next === 0x9b || next === 0x9d;
    default:
      return false;
  }
}

/**
 * Encodes a whole page of HTML as UTF-8, with hidden characters replaced, as a last line of defence. Contents of form fields
 * are not changed, so that they return to the server as typed, nor are proofs and texts to copy, which the browser reads. Other
 * text in the templates contains no plain quotes, so it cannot be mistaken for such an attribute.
 */
export function shownMarkup(html: string): Buffer {
  const bytes = Buffer.from(html);
  if (!mayHide(bytes)) return bytes;
  const parts = html.split(/( (?:value|data-proof|data-copy)="[^"]*")/);
  return Buffer.from(parts.map((part, index) => (index % 2 === 1 ? part : shownText(part))).join(''));
}

/** Returns the text with hidden characters replaced and all white space reduced to single spaces. */
export const shownLine = (text: string, most = Infinity): string =>
  shownText(text.replaceAll(/\s+/g, ' ').trim(), most);

/**
 * White space that a line does not show, or shows as another one: at the ends, several in a row, and any character other than
 * the plain space. U+2800 is a Braille pattern without dots.
 */
const BLANK = /^ | $| (?= )|[^\S ]|\u2800/gu;
/** The same pattern without the flag `g`. With that flag, `test` would continue at the position of the previous match. */
const HAS_BLANK = new RegExp(BLANK.source, 'u');

/**
 * Returns a name with each hidden character and each blank that cannot be seen replaced by its code point, so that different
 * names look different. The result is cut to `most` characters.
 */
export function shownName(name: string, most = Infinity): string {
  const shown = shownText(name, most);
  return HAS_BLANK.test(shown) ? shown.replaceAll(BLANK, shownCode) : shown;
}

const SCRIPTS = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Cherokee',
  'Hebrew',
  'Arabic',
  'Coptic',
  'Lisu',
  'Georgian',
].map((name) => [name, new RegExp(`\\p{Script=${name}}`, 'u')] as const);

/** Returns a warning if a name could be confused with another name; otherwise null. */
export function nameWarning(name: string): string | null {
  HIDDEN.lastIndex = 0;
  if (HIDDEN.test(name) || HAS_BLANK.test(name))
    return 'This name has characters that cannot be seen. They are shown by their numbers.';
  const used = SCRIPTS.filter(([, script]) => script.test(name)).map(([script]) => script);
  if (used.length > 1)
    return `This name mixes ${used.join(' and ')} letters. Some of them look alike, so it may imitate another name.`;
  return null;
}
