/**
 * Splits settings that hold arguments of a program into these. No shell runs them, so that nothing in a file name is a command.
 * Source of the rules: Python shlex.py `split` in POSIX mode.
 */

/** Throws `Error` where a quotation mark is not closed. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quote === "'" ? char === quote : quote === '"' && char === quote) quote = null;
    else if (char === '\\' && quote !== "'") {
      const next = text[++at] ?? '';
      // Within double quotes a backslash stands for itself unless it protects one of these.
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
