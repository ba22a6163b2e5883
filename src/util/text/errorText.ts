/** Limits the length of error texts that are sent to clients, because a message may quote a text of any length. */

/** Maximum number of characters in an error text. */
export const MAX_ERROR_CHARS = 1000;

/** Returns the text. A text longer than `MAX_ERROR_CHARS` is cut off and ends with an ellipsis. */
export function boundedErrorText(text: string): string {
  if (text.length <= MAX_ERROR_CHARS) return text;
  const cut = text.slice(0, MAX_ERROR_CHARS - 1);
  // The cut must not leave half of a surrogate pair, which is not valid text.
  const last = cut.charCodeAt(cut.length - 1);
  return `${last >= 0xd800 && last < 0xdc00 ? cut.slice(0, -1) : cut}…`;
}
