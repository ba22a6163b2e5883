/**
 * Parses replies of Tor's control port: a type and arguments `KEY=value`, with quoted values if necessary. Text is latin1.
 * Source: Tor control-spec.txt sections 2.1, 3.21, 3.24, 3.27; Core torcontrol.cpp `SplitTorReplyLine`,
 * `ParseTorReplyMapping`.
 */

/** `AUTH METHODS=NULL` as `AUTH` and `METHODS=NULL`. */
export function splitReplyLine(line: string): { type: string; rest: string } {
  const space = line.indexOf(' ');
  return space < 0 ? { type: line, rest: '' } : { type: line.slice(0, space), rest: line.slice(space + 1) };
}

/** The arguments up to the first one not of the form `KEY=value`; empty if the text is malformed. */
export function parseReplyArguments(text: string): Map<string, string> {
  const found = new Map<string, string>();
  // A key, then a quoted value in which a backslash escapes the next character, or a value without spaces.
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

/** C escapes: up to three octal digits, the first of three at most 3; any other character stands for itself. */
function unescape(text: string): string {
  return text.replace(/\\([0-3][0-7]{2}|[0-7]{1,2}|[^])/g, (_, code: string) => {
    if (/^[0-7]/.test(code)) return String.fromCharCode(parseInt(code, 8));
    return ESCAPES[code] ?? code;
  });
}

/** A quoted string. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
