/** The examples of a method reference: its sections, their command lines, and the curl line of each. */
import { execFileSync } from 'node:child_process';

export interface DocExample {
  /** Heading of the section, such as `getbestblock (lbcd)`. */
  readonly section: string;
  /** The command line in the document. */
  readonly line: string;
  /** The arguments after the program, as a shell splits them. */
  readonly words: readonly string[];
  /** The body that its curl line sends. */
  readonly body: string;
}

interface Lines {
  readonly section: string;
  readonly line: string;
  readonly curl: string;
}

/** Headings of the methods of a reference, in their order. The types that follow the methods have no examples. */
export function sectionsOf(reference: string): string[] {
  const [methods = ''] = reference.split('\n## types\n');
  return [...methods.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading!);
}

/** Every example `> PROGRAM …` of a reference. Throws if a command line has no curl line, or a curl line no command line. */
export function examplesOf(reference: string, program: string): DocExample[] {
  const found: Lines[] = [];
  let section = '';
  let line: string | null = null;
  for (const text of reference.split('\n')) {
    if (text.startsWith('### ')) section = text.slice(4);
    if (!text.startsWith('> ')) continue;
    const isCurl = text.startsWith('> curl ');
    if (isCurl === (line === null)) throw new Error(`${section}: the example has no counterpart: ${text}`);
    if (!isCurl && !text.startsWith(`> ${program} `))
      throw new Error(`${section}: calls another program: ${text}`);
    if (line === null) line = text.slice(2);
    else {
      found.push({ section, line, curl: text.slice(2) });
      line = null;
    }
  }
  const words = splitByShell(found.flatMap((example) => [example.line, example.curl]));
  return found.map(({ section: heading, line: written }, n) => ({
    section: heading,
    line: written,
    words: words[2 * n]!.slice(1),
    body: valueOf(words[2 * n + 1]!, '--data-binary'),
  }));
}

function valueOf(words: readonly string[], option: string): string {
  const value = words[words.indexOf(option) + 1];
  if (!words.includes(option) || value === undefined)
    throw new Error(`${option} is missing: ${words.join(' ')}`);
  return value;
}

/** The arguments of each command line by the rules of `sh`, in one process. */
function splitByShell(lines: readonly string[]): string[][] {
  const script = lines
    .map((line) => `set -- ${line}\nfor word in "$@"; do printf '%s\\0' "$word"; done; printf '\\n\\0'\n`)
    .join('');
  const words = execFileSync('sh', ['-eu'], { input: script, encoding: 'utf8', maxBuffer: 1 << 26 });
  const split: string[][] = [];
  let line: string[] = [];
  for (const word of words.split('\0').slice(0, -1)) {
    if (word === '\n') {
      split.push(line);
      line = [];
    } else line.push(word);
  }
  if (split.length !== lines.length)
    throw new Error(`a shell reads ${split.length} of ${lines.length} lines`);
  return split;
}
