/**
 * Generates data/unicode11/tables.txt, the Unicode 11 data that name normalization needs.
 *
 *   node scripts/generateUnicode.mjs <nfc.txt> <CaseFolding.txt>
 *
 * Both inputs come with the source of ICU 62 or 63 (Unicode 11): `data/unidata/norm2/nfc.txt` has the combining classes and
 * the canonical decompositions one step deep, `data/unidata/CaseFolding.txt` the foldings. Other Unicode versions are
 * refused: the tables are a consensus rule, and newer characters must not be changed.
 *
 * The output has three sections with hexadecimal code points, sorted:
 *   [combining]  first-last class            classes other than 0, runs of one class in a line
 *   [decompose]  code sequence               canonical decompositions to the end; Hangul is left to arithmetic
 *   [fold]       first-last/step +delta      simple foldings of even spacing and equal distance
 *                code sequence               full foldings to several code points
 */
import { readFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '11.0.0';
const OUTPUT = fileURLToPath(new URL('../data/unicode11/tables.txt', import.meta.url));

const [nfcPath, foldingPath] = process.argv.slice(2);
if (!nfcPath || !foldingPath) {
  console.error('usage: node scripts/generateUnicode.mjs <nfc.txt> <CaseFolding.txt>');
  process.exit(2);
}

const nfcText = readFileSync(nfcPath, 'utf8');
const foldingText = readFileSync(foldingPath, 'utf8');
if (!nfcText.includes(`* Unicode ${VERSION}`)) throw new Error(`${nfcPath} is not of Unicode ${VERSION}`);
if (!foldingText.startsWith(`# CaseFolding-${VERSION}.txt`))
  throw new Error(`${foldingPath} is not of Unicode ${VERSION}`);

const parseCode = (text) => Number.parseInt(text, 16);
const parseCodes = (text) => text.trim().split(/\s+/).map(parseCode);
const show = (code) => code.toString(16);
const showAll = (codes) => codes.map(show).join(' ');
const byCode = ([a], [b]) => a - b;

const classes = new Map();
const steps = new Map();
for (const line of nfcText.split('\n')) {
  const text = line.replace(/#.*/, '').trim();
  if (text === '' || text.startsWith('*')) continue;
  const match = /^([0-9A-F]+)(?:\.\.([0-9A-F]+))?([:=>])(.+)$/.exec(text);
  if (!match) throw new Error(`not understood: ${line}`);
  const [, first, last = first, kind, value] = match;
  for (let code = parseCode(first); code <= parseCode(last); code++) {
    if (kind === ':') classes.set(code, Number(value));
    else steps.set(code, parseCodes(value));
  }
}

const decomposeFully = (code) => {
  const step = steps.get(code);
  return step ? step.flatMap(decomposeFully) : [code];
};

const simple = new Map();
const full = new Map();
for (const line of foldingText.split('\n')) {
  const match = /^([0-9A-F]+); ([CF]); ([0-9A-F ]+);/.exec(line);
  if (!match) continue;
  const [, code, status, mapping] = match;
  if (status === 'C') simple.set(parseCode(code), parseCode(mapping));
  else full.set(parseCode(code), parseCodes(mapping));
}

const lines = [`# Unicode ${VERSION}; made by scripts/generateUnicode.mjs, which explains the form.`];

lines.push('[combining]');
const sortedClasses = [...classes].filter(([, value]) => value !== 0).sort(byCode);
for (let i = 0; i < sortedClasses.length;) {
  const [first, value] = sortedClasses[i];
  let length = 1;
  while (sortedClasses[i + length]?.[0] === first + length && sortedClasses[i + length][1] === value)
    length++;
  lines.push(`${show(first)}-${show(first + length - 1)} ${value}`);
  i += length;
}

lines.push('[decompose]');
for (const code of [...steps.keys()].sort((a, b) => a - b))
  lines.push(`${show(code)} ${showAll(decomposeFully(code))}`);

lines.push('[fold]');
const sortedSimple = [...simple].sort(byCode);
for (let i = 0; i < sortedSimple.length;) {
  const [first, target] = sortedSimple[i];
  const delta = target - first;
  const step = sortedSimple[i + 1]?.[0] === first + 1 ? 1 : 2;
  let length = 1;
  for (;;) {
    const next = sortedSimple[i + length];
    if (!next || next[0] !== first + length * step || next[1] - next[0] !== delta) break;
    length++;
  }
  const last = first + (length - 1) * step;
  lines.push(`${show(first)}-${show(last)}/${step} ${delta < 0 ? '' : '+'}${delta}`);
  i += length;
}
for (const [code, mapping] of [...full].sort(byCode)) lines.push(`${show(code)} ${showAll(mapping)}`);

mkdirSync(dirname(OUTPUT), { recursive: true });
writeFileSync(OUTPUT, lines.join('\n') + '\n');
console.log(
  `${OUTPUT}: ${classes.size} combining classes, ${steps.size} decompositions, ${simple.size + full.size} foldings`,
);
