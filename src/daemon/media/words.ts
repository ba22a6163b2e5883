/**
 * Splits a setting into arguments of a program. No shell is used, so a file name cannot contain commands. Source of the
 * rules: Python shlex.py `split` in POSIX mode.
 */

/** Splits a text. Throws `Error` for an unclosed quotation mark. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quote === "'" ? char === quote : quote === '"' && char === quote) quote = null;
    else if (char === '\\' && quote !== "'") {
      const next = text[++at] ?? '';
      // Within double quotes a backslash escapes only a double quote or a backslash. Before other characters it is a
      // normal character.
      word = `${word ?? ''}${quote === '"' && next !== '"' && next !== '\\' ? '\\' : ''}${next}`;
    } else if (quote !== null) word = `${word ?? ''}${char}`;
    else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = `${word ?? ''}${char}`;
  }
  if (quote !== null) throw new Error('a quotation mark is not closed');
  return word === null ? words : [...words, word];
}
