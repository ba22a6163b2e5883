/**
 * Parses replies of Tor's control port. A reply line has a type and arguments `KEY=value`, whose values may be quoted. Text
 * is latin1. Source: Tor control-spec.txt sections 2.1, 3.21, 3.24, 3.27; Core torcontrol.cpp `SplitTorReplyLine`,
 * `ParseTorReplyMapping`.
 */

/** Splits a reply line at its first space: `AUTH METHODS=NULL` into `AUTH` and `METHODS=NULL`. */
export function splitReplyLine(line: string): { type: string; rest: string } {
  const space = line.indexOf(' ');
  return space < 0 ? { type: line, rest: '' } : { type: line.slice(0, space), rest: line.slice(space + 1) };
}

/**
 * Returns the arguments up to the first one that does not have the form `KEY=value`. Returns an empty map if the text is
 * malformed.
 */
export function parseReplyArguments(text: string): Map<string, string> {
  const found = new Map<string, string>();
  // Matches a key, then either a quoted value in which a backslash escapes the next character, or a value without spaces.
  const argument = /([^= ]*)=(?:"((?:\\[^]|[^"\\])*)"|((?!")[^ ]*)) ?/y;
  while (argument.lastIndex < text.length) {
    const at = argument.lastIndex;
    const match = argument.exec(text);
    if (match === null) return /^[^= ]* /.test(text.slice(at)) ? found : new Map();
    const [, key = '', quoted, plain = ''] = match;
    found.set(key, quoted === undefined ? plain : unescape(quoted));
  }
  return found;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/**
 * Decodes C escapes: one to three octal digits (of three digits the first is at most 3). Any other escaped character
 * represents itself.
 */
function unescape(text: string): string {
  return text.replace(/\\([0-3][0-7]{2}|[0-7]{1,2}|[^])/g, (_, code: string) => {
    if (/^[0-7]/.test(code)) return String.fromCharCode(parseInt(code, 8));
    return ESCAPES[code] ?? code;
  });
}

/** Returns the text as a quoted string. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
