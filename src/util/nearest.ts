/** Finds the known word that the user probably meant by a mistyped word. */

/** Number of characters of a word for which one edit is allowed; at most `MAX_EDITS` edits are allowed. */
const CHARACTERS_PER_EDIT = 3;
const MAX_EDITS = 3;
/** Minimum length in characters of a word that may count as the prefix of a longer word. */
const MIN_PREFIX = 4;

/**
 * Returns the word of `known` that is nearest to `word`, ignoring case; null if no word is near. The distance is the number
 * of edits: a character inserted, deleted or replaced, or two adjacent characters swapped. If the nearest word needs more
 * than one edit, the shortest word with the prefix `word` has priority.
 */
export function nearestWord(word: string, known: Iterable<string>): string | null {
  const wanted = word.toLowerCase();
  let best: string | null = null;
  let fewest = Math.min(MAX_EDITS, Math.max(1, Math.floor(wanted.length / CHARACTERS_PER_EDIT)));
  let longer: string | null = null;
  for (const candidate of known) {
    const text = candidate.toLowerCase();
    if (Math.abs(text.length - wanted.length) <= fewest) {
      const edits = editDistance(wanted, text);
      // `edits < wanted.length` excludes words of one character, to which any other character would be near.
      if (edits < wanted.length && (edits < fewest || (edits === fewest && best === null))) {
        [best, fewest] = [candidate, edits];
      }
    }
    const isPrefix = wanted.length >= MIN_PREFIX && text.startsWith(wanted);
    if (isPrefix && (longer === null || candidate.length < longer.length)) longer = candidate;
  }
  // A truncated word needs many edits, so another word may be nearer by chance.
  return longer !== null && (best === null || fewest > 1) ? longer : best;
}

/** Number of edits that change one text into the other (optimal string alignment). */
export function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      let edits = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        edits = Math.min(edits, before[j - 2]! + 1);
      next.push(edits);
    }
    [before, row] = [row, next];
  }
  return row[to.length]!;
}

/** Returns the text ` Did you mean <word>?` for the end of a message; empty if no known word is near. `show` formats the word. */
export function suggestion(
  word: string,
  known: Iterable<string>,
  show = (near: string): string => near,
): string {
  const near = nearestWord(word, known);
  return near === null ? '' : ` Did you mean ${show(near)}?`;
}
