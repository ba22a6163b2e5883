/** Formats text for the user. On a terminal, lines are wrapped at spaces. */
import { mostColumns, ROW_INDENT, USUAL_COLUMNS, wrapTo } from './textWidth.js';

/** Returns the lines of a text as they are written to the stream. Text for a file or a pipe stays unchanged. */
export function fitted(
  text: string,
  stream: { readonly isTTY?: boolean; readonly columns?: number },
): string {
  if (stream.isTTY !== true) return text;
  const columns = stream.columns || USUAL_COLUMNS;
  const rowsOf = (line: string): string[] =>
    mostColumns(line) <= columns ? [line] : wrapTo(line, columns, ROW_INDENT);
  return text.split('\n').flatMap(rowsOf).join('\n');
}
