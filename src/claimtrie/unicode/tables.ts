/**
 * The Unicode 11 data for name normalization, loaded once from `data/unicode11/tables.txt` into flat arrays. Defines their
 * layout; `normalize.ts` uses them. The runtime's own Unicode version has no effect.
 */
import { readFileSync } from 'node:fs';
import { assert } from '../../util/assert.js';
import { projectFile } from '../../util/project.js';

/** From this code point on, Unicode 11 has no decompositions, foldings or combining classes. */
export const TABLE_END = 0x30000;

export interface UnicodeTables {
  /** Canonical combining class by code point below `TABLE_END`; 0 for starters. */
  readonly combiningClass: Uint8Array;
  /**
   * Position in `sequences` by code point below `TABLE_END`; 0 if the code point does not change. Hangul syllables are
   * computed.
   */
  readonly decomposition: Uint16Array;
  readonly folding: Uint16Array;
  /** Concatenated sequences: at each position a length, followed by that many code points. */
  readonly sequences: Uint32Array;
}

const DATA_FILE = projectFile('data', 'unicode11', 'tables.txt');

const parseCode = (text: string): number => Number.parseInt(text, 16);

/** Parses the generator's output; see `scripts/generateUnicode.mjs` for its form. */
function parseUnicodeTables(text: string): UnicodeTables {
  const combiningClass = new Uint8Array(TABLE_END);
  const decomposition = new Uint16Array(TABLE_END);
  const folding = new Uint16Array(TABLE_END);
  // Position 0 is reserved, so that 0 can mean "none".
  const sequences: number[] = [0];

  const addSequence = (table: Uint16Array, code: number, sequence: readonly number[]): void => {
    assert(code < TABLE_END && sequences.length < 0x10000, 'Unicode tables outgrew their arrays');
    table[code] = sequences.length;
    sequences.push(sequence.length, ...sequence);
  };

  let section = '';
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('[')) {
      section = line;
      continue;
    }
    const [keys, ...values] = line.split(' ');
    const [first, last, step] = keys!.split(/[-/]/);
    const code = parseCode(first!);
    if (section === '[combining]') {
      combiningClass.fill(Number(values[0]), code, parseCode(last!) + 1);
    } else if (section === '[decompose]') {
      addSequence(decomposition, code, values.map(parseCode));
    } else if (last === undefined) {
      addSequence(folding, code, values.map(parseCode));
    } else {
      for (let at = code; at <= parseCode(last); at += Number(step))
        addSequence(folding, at, [at + Number(values[0])]);
    }
  }
  return { combiningClass, decomposition, folding, sequences: Uint32Array.from(sequences) };
}

export const unicodeTables: UnicodeTables = parseUnicodeTables(readFileSync(DATA_FILE, 'utf8'));
