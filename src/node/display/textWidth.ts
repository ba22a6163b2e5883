/** Width of text on a terminal, and functions that fit text into a width. */

/** Columns assumed for a terminal of unknown width. */
export const USUAL_COLUMNS = 80;

/** Indentation of wrapped continuation rows. */
export const ROW_INDENT = '    ';

/**
 * Returns an upper bound of the columns that a text takes: a character outside ASCII counts two columns. A text may
 * therefore be cut although it fits, but never overflows.
 */
export function mostColumns(text: string): number {
  let columns = 0;
  for (const character of text) columns += character.charCodeAt(0) < 0x7f ? 1 : 2;
  return columns;
}

/** Replaces control characters, which could move the cursor or end the line. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}

/** Returns the text. If it exceeds `columns` columns, it is cut and ends with an ellipsis. */
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

/** Matches a command after a colon at the end of a line. */
const COMMAND = /: ((?:cd|node|npm|lbcnode|lbcnode-cli) .*)$/;

/**
 * Wraps text at spaces into rows of at most `columns` columns. All rows except the first begin with `indent`. A command at
 * the end is not split, and gets its own row if necessary, so that it can be copied in one piece.
 */
export function wrapTo(text: string, columns: number, indent: string): string[] {
  const rows: string[] = [];
  let row = '';
  const command = COMMAND.exec(text)?.[1];
  const words =
    command === undefined ? text.split(' ') : [...text.slice(0, -command.length - 1).split(' '), command];
  for (const word of words) {
    const longer = row === '' ? word : `${row} ${word}`;
    // A word that is longer than a row is not split; the terminal wraps it.
    if (row.trim() === '' || mostColumns(longer) <= columns) row = longer;
    else {
      rows.push(row);
      row = indent + word;
    }
  }
  rows.push(row);
  return rows;
}
