/** The width of text on a terminal, and functions that fit text into it. */

/** Columns assumed for a terminal of unknown width. */
export const USUAL_COLUMNS = 80;

/** Indentation of continuation rows. */
export const ROW_INDENT = '    ';

/**
 * Maximum columns that a text can take: a character outside ASCII counts two, the widest possible. Text is therefore cut too
 * early at worst, and never overflows.
 */
export function mostColumns(text: string): number {
  let columns = 0;
  for (const character of text) columns += character.charCodeAt(0) < 0x7f ? 1 : 2;
  return columns;
}

/** Text without characters that move the cursor or end the line. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}

/** The text, or as much of its beginning as fits before an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (mostColumns(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const character of text) {
    width += mostColumns(character);
    if (width + ELLIPSIS.length > columns) break;
    kept += character;
  }
  return (kept + ELLIPSIS).slice(0, Math.max(0, columns));
}
const ELLIPSIS = '...';

/** A command at the end of a line, after a colon. */
const COMMAND = /: ((?:cd|node|npm|lbcnode|lbcnode-cli) .*)$/;

/**
 * Rows of at most this many columns, wrapped at spaces if possible; all except the first begin with `indent`. A command at
 * the end stays in one piece, if necessary on its own row, so that it can be copied completely.
 */
export function wrapTo(text: string, columns: number, indent: string): string[] {
  const rows: string[] = [];
  let row = '';
  const command = COMMAND.exec(text)?.[1];
  const words =
    command === undefined ? text.split(' ') : [...text.slice(0, -command.length - 1).split(' '), command];
  for (const word of words) {
    const longer = row === '' ? word : `${row} ${word}`;
    // A word too long for a row is left to the terminal to wrap.
    if (row.trim() === '' || mostColumns(longer) <= columns) row = longer;
    else {
      rows.push(row);
      row = indent + word;
    }
  }
  rows.push(row);
  return rows;
}
