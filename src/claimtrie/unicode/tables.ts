/**
 * The Unicode 11 data for name normalization, loaded once from `data/unicode11/tables.txt` into tables. Defines their
 * layout; `normalize.ts` uses them. The runtime's own Unicode version has no effect.
 */
import { readFileSync } from 'node:fs';
import { assert } from '../../util/assert.js';
import { projectFile } from '../../util/project.js';

/** Binary logarithm of the number of consecutive code points in a block. Blocks with equal values are stored once. */
const BLOCK_BITS = 7;
const BLOCK_CODES = 1 << BLOCK_BITS;

/** From this code point on, Unicode 11 has no decompositions, foldings or combining classes. */
export const TABLE_END = 0x30000;

/**
 * Numbers below 65,536 by code point. Most code points have the value 0, so equal blocks of values are stored once. A flat array
 * would take 384 KiB in each thread.
 */
export class CodePointTable {
  /** Start of the block in `values`, by the number of the block. */
  private readonly starts = new Uint16Array(TABLE_END / BLOCK_CODES);
  private readonly values: Uint16Array;

  /** `all`: the value of each code point below `TABLE_END`. */
  constructor(all: Uint16Array) {
    const blocks = new Map<string, number>();
    const values: number[] = [];
    for (let number = 0; number < this.starts.length; number++) {
      const block = all.subarray(number * BLOCK_CODES, (number + 1) * BLOCK_CODES);
      const key = block.join();
      let start = blocks.get(key);
      if (start === undefined) {
        start = values.length;
        blocks.set(key, start);
        values.push(...block);
      }
      assert(start < 0x10000, 'Unicode tables outgrew their arrays');
      this.starts[number] = start;
    }
    this.values = Uint16Array.from(values);
  }

  /** Value of a code point; 0 from `TABLE_END` on. */
  get(code: number): number {
    return code < TABLE_END ? this.values[this.starts[code >> BLOCK_BITS]! + (code & (BLOCK_CODES - 1))]! : 0;
  }
}

export interface UnicodeTables {
  /** Canonical combining class by code point; 0 for starters. */
  readonly combiningClass: CodePointTable;
  /** Position in `sequences` by code point; 0 if the code point does not change. Hangul syllables are computed. */
  readonly decomposition: CodePointTable;
  readonly folding: CodePointTable;
  /** Concatenated sequences: at each position a length, followed by that many code points. */
  readonly sequences: Uint32Array;
}

const DATA_FILE = projectFile('data', 'unicode11', 'tables.txt');

const parseCode = (text: string): number => Number.parseInt(text, 16);

/** Parses the generator's output; see `scripts/generateUnicode.mjs` for its form. */
function parseUnicodeTables(text: string): UnicodeTables {
  const combiningClass = new Uint16Array(TABLE_END);
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
  return {
    combiningClass: new CodePointTable(combiningClass),
    decomposition: new CodePointTable(decomposition),
    folding: new CodePointTable(folding),
    sequences: Uint32Array.from(sequences),
  };
}

export const unicodeTables: UnicodeTables = parseUnicodeTables(readFileSync(DATA_FILE, 'utf8'));
