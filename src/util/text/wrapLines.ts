/**
 * Breaks text at spaces into lines of at most `width` UTF-16 code units. A longer word gets a line of its own. Line breaks of
 * the text are kept.
 */
export function wrapLines(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else {
        line = line === '' ? word : `${line} ${word}`;
      }
    }
    return [...lines, line];
  });
}
