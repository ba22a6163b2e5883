/** Text for the user of a command: on a terminal broken at spaces so that no word is cut at its edge. */
import { mostColumns, ROW_INDENT, USUAL_COLUMNS, wrapTo } from './textWidth.js';

/** The lines of a text as a stream takes them; what goes to a file or a pipe stays as it is. */
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
