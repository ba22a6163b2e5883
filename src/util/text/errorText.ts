/** Limits the length of error texts sent to clients: text quoted in a message may have any length. */

/** Maximum number of characters in an error text. */
export const MAX_ERROR_CHARS = 1000;

/** The text, cut to `MAX_ERROR_CHARS` with an ellipsis if it is longer. */
export function boundedErrorText(text: string): string {
  if (text.length <= MAX_ERROR_CHARS) return text;
  const cut = text.slice(0, MAX_ERROR_CHARS - 1);
  // Half of a surrogate pair is not valid text.
  const last = cut.charCodeAt(cut.length - 1);
  return `${last >= 0xd800 && last < 0xdc00 ? cut.slice(0, -1) : cut}…`;
}
