/**
 * Makes text from the chain safe to display. Characters that hide or reorder text are replaced by their code point, and
 * names that could be confused with others are detected. Text from the chain must be treated as hostile until it has passed
 * these functions.
 */

/**
 * Characters that `shownText` replaces: control characters, directional marks (Unicode TR9), zero-width and tag characters,
 * unpaired surrogates. Line breaks and tabs are kept.
 */
const HIDDEN_BELOW_65536 =
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb';
const HIDDEN = new RegExp(`[${HIDDEN_BELOW_65536}]|[\\u{e0000}-\\u{e0fff}]|\\p{Surrogate}`, 'gu');

/**
 * Fast pre-check: finds every character that `HIDDEN` finds, and all other characters from 65,536 on. A search without the
 * flag `u` is ten times as fast, and most texts have no such character.
 */
const PERHAPS_HIDDEN = new RegExp(`[${HIDDEN_BELOW_65536}\\ud800-\\udfff]`);

/** Returns the text with each hidden character replaced by its code point in angle brackets. Cut at `most` characters. */
export function shownText(text: string, most = Infinity): string {
  const cut = text.length > most ? `${[...text.slice(0, most * 2)].slice(0, most).join('')}…` : text;
  if (!PERHAPS_HIDDEN.test(cut)) return cut;
  return cut.replaceAll(
    HIDDEN,
    (character) => `⟨${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}

/** Matches characters outside printable ASCII and line breaks, which are rare in a page. */
const BEYOND_ASCII = /[^\n -~]/g;

/** Whether the markup has a character that `PERHAPS_HIDDEN` finds. Only the few characters outside ASCII are tested. */
function mayHide(html: string): boolean {
  BEYOND_ASCII.lastIndex = 0;
  while (BEYOND_ASCII.test(html)) if (PERHAPS_HIDDEN.test(html[BEYOND_ASCII.lastIndex - 1]!)) return true;
  return false;
}

/**
 * Replaces hidden characters in a whole page of HTML, as a last line of defence. Contents of form fields are not changed, so
 * that they return to the server as typed. Other text in the templates contains no plain quotes, so it cannot be mistaken
 * for a form field.
 */
export const shownMarkup = (html: string): string =>
  mayHide(html)
    ? html
        .split(/( value="[^"]*")/)
        .map((part, index) => (index % 2 === 1 ? part : shownText(part)))
        .join('')
    : html;

/** Returns the text with hidden characters replaced and all white space reduced to single spaces. */
export const shownLine = (text: string, most = Infinity): string =>
  shownText(text.replaceAll(/\s+/g, ' ').trim(), most);

const SCRIPTS = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Hebrew', 'Arabic'].map(
  (name) => [name, new RegExp(`\\p{Script=${name}}`, 'u')] as const,
);

/** Returns a warning if a name could be confused with another name; otherwise null. */
export function nameWarning(name: string): string | null {
  HIDDEN.lastIndex = 0;
  if (HIDDEN.test(name))
    return 'This name has characters that cannot be seen. They are shown by their numbers.';
  const used = SCRIPTS.filter(([, script]) => script.test(name)).map(([script]) => script);
  if (used.length > 1)
    return `This name mixes ${used.join(' and ')} letters. Some of them look alike, so it may imitate another name.`;
  return null;
}
