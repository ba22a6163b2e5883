/** A bound on texts of errors that go to clients: what a message quotes may be of any length. */

/** The most characters of an error's text. */
export const MAX_ERROR_CHARS = 1000;

/** The text, cut to `MAX_ERROR_CHARS` with an ellipsis at its end where it is longer. */
export function boundedErrorText(text: string): string {
  if (text.length <= MAX_ERROR_CHARS) return text;
  const cut = text.slice(0, MAX_ERROR_CHARS - 1);
  // Half of a surrogate pair is not valid text.
  const last = cut.charCodeAt(cut.length - 1);
  return `${last >= 0xd800 && last < 0xdc00 ? cut.slice(0, -1) : cut}…`;
}
