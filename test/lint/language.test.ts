/**
 * Words that comments, documents and test titles must not have, with better ones. CONTRIBUTING.md ("Language") has the reasons, a
 * glossary and examples.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Each pattern with the words to use instead. Case is ignored, and a space also stands for a line break. */
const BANNED: readonly (readonly [pattern: string, better: string])[] = [
  ['told of|tells? of|telling of', 'reported, announced, notified of, shows'],
  ['hears?', 'receives, is notified of'],
  ['whoever', 'the caller, the peer, the code that'],
  ['nobody', 'no caller, no peer, no one'],
  ['anew', 'again, rebuilt, rewritten, starts over'],
  ['of which', 'a sentence of its own, or "whose"'],
  ['(?<!there )(?:is|are|was|were) no (?!longer|more|one|faster|use)[a-z-]+', 'is not a …, are not …'],
  ['in the midst', 'in the middle of, during'],
  ['twins?', 'fallback implementation, counterpart'],
  ['desk', 'RPC server'],
  ['rooms? of the (?:node|daemon)', 'module'],
  ['chain moment', 'tip snapshot'],
  ['coin pile', 'UTXO pool'],
  ['row tables?', 'memtable'],
  ['sets? aside|setting aside', 'quarantine'],
];
/** Words that names of variables, functions, classes and files must not contain, with the terms of the glossary. */
const BANNED_NAMES: Readonly<Record<string, string>> = {
  twin: 'fallback, counterpart',
  twins: 'fallbacks, counterparts',
  desk: 'RPC server',
  breathe: 'yield',
  unsteady: 'flaky',
  dear: 'expensive',
  dearer: 'more expensive',
  crime: 'violation',
  crimes: 'violations',
  purse: 'coins',
  purses: 'coins',
  deed: 'operation, command',
  deeds: 'operations, commands',
  fate: 'outcome, status',
  fates: 'outcomes',
  told: 'announced, reported, notified, logged, sent',
  untold: 'unreported, unlogged',
  hear: 'receive, be notified of',
  hears: 'receives, is notified of',
  heard: 'received',
  nobody: 'none, unknown, no owner',
  whoever: 'caller, peer',
  anew: 'again, rebuilt, rewritten',
  midst: 'middle, during',
  damage: 'corruption',
  damaged: 'corrupt',
  'call turns': 'call queue',
  'chain turns': 'chain queue',
  'chain moment': 'tip snapshot',
  'coin pile': 'UTXO pool',
  'row table': 'memtable',
  'recent rows': 'row cache',
  'net part': 'message handler',
  'turn line': 'fair queue',
  'wallet at work': 'loaded wallet',
  'tx outline': 'transaction summary',
  'outbound care': 'stale-tip eviction',
  'set aside': 'quarantine',
  'wrong passwords': 'auth throttle',
  'sent ahead': 'pipelining limit',
};
const BETTER = new Map(BANNED.map(([pattern, better]) => [new RegExp(`\\b(?:${pattern})\\b`, 'gi'), better]));

const GENERATED = /^docs\/(rpc|options|lbcnet-api)\.md$|^src\/metadata\/messages\//;

interface Text {
  readonly line: number;
  readonly text: string;
}

/** Paragraphs of a document, without code and without the examples of CONTRIBUTING.md. */
function paragraphs(content: string): Text[] {
  const hidden = (found: string): string => found.replace(/[^\n]/g, ' ');
  const prose = content
    .replace(/^```[\s\S]*?^```/gm, hidden)
    .replace(/`[^`\n]*`/g, hidden)
    .replace(/^\| before [\s\S]*?\n\n/m, hidden);
  const found: Text[] = [];
  let line = 1;
  for (const text of prose.split('\n\n')) {
    found.push({ line, text });
    line += text.split('\n').length + 1;
  }
  return found;
}

/** Comments of a source file; those on consecutive lines are one. Code within backquotes is left out. */
function comments(content: string): Text[] {
  const found: Text[] = [];
  let open: { line: number; lines: string[] } | null = null;
  const close = (): void => {
    if (open) found.push({ line: open.line, text: open.lines.join('\n').replace(/`[^`]*`/g, '') });
    open = null;
  };
  content.split('\n').forEach((text, index) => {
    const own = /^\s*(?:\/\/+|\/\*+|\*(?!\w))\s?(.*)$/.exec(text);
    const behind = own ? null : /\s\/\/ (.*)$/.exec(text);
    if (!own) close();
    if (own) {
      open ??= { line: index + 1, lines: [] };
      open.lines.push(own[1]!);
    } else if (behind) found.push({ line: index + 1, text: behind[1]! });
  });
  close();
  return found;
}

/** Comments and documentation strings of scripts in Python and of shells. */
function scriptComments(content: string): Text[] {
  return [...content.matchAll(/"""[\s\S]*?"""|(?:^|\s)#+:? .*$/gm)].map((found) => ({
    line: content.slice(0, found.index).split('\n').length,
    text: found[0].replace(/`[^`]*`/g, ''),
  }));
}

/** Titles of tests and groups. */
function titles(content: string): Text[] {
  const calls = /\b(?:it|describe|test)(?:\.\w+(?:\([^()]*\))?)*\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g;
  return [...content.matchAll(calls)].map((found) => ({
    line: content.slice(0, found.index).split('\n').length,
    text: found[2]!,
  }));
}

/** Texts in the code: string literals of several words. Comments are left out. */
function literals(content: string): Text[] {
  return content
    .split('\n')
    .flatMap((line, index) =>
      /^\s*(?:\/\/|\/?\*)/.test(line)
        ? []
        : [...line.matchAll(/(['"`])((?:\\.|(?!\1)[^\\])+)\1/g)]
            .filter(([, , text]) => /\w \w/.test(text!))
            .map(([, , text]) => ({ line: index + 1, text: text! })),
    );
}

/** Banned words in the names of the code. Comments and texts are left out. */
function bannedNames(code: string): string[] {
  const names = code
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .replace(/(^|\s)\/\/.*$/gm, ' ')
    .replace(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g, ' ')
    .match(/[A-Za-z_]\w*/g);
  return [...new Set(names)].filter((name) => {
    const words = ` ${(name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).join(' ').toLowerCase()} `;
    return Object.keys(BANNED_NAMES).some((banned) => words.includes(` ${banned} `));
  });
}

function filesBelow(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((name) => pattern.test(name) && !GENERATED.test(name) && !name.includes('node_modules'));
}

function problemsIn(name: string, texts: readonly Text[]): string[] {
  return texts.flatMap(({ line, text }) =>
    [...BETTER].flatMap(([pattern, better]) =>
      [...text.matchAll(new RegExp(pattern.source.replaceAll(' ', '\\s+'), 'gi'))].map(
        (found) =>
          `${name}:${line + text.slice(0, found.index).split('\n').length - 1}: "${found[0]}", better: ${better}`,
      ),
    ),
  );
}

const check = (names: readonly string[], read: (content: string) => Text[]): string[] =>
  names.flatMap((name) => problemsIn(name, read(readFileSync(join(ROOT, name), 'utf8'))));

const SOURCES = ['src', 'native', 'scripts', 'launcher', 'test', 'contrib']
  .flatMap((folder) => filesBelow(folder, /\.(tsx?|mjs|mts|cpp|h|c)$/))
  .filter((name) => name !== 'test/lint/language.test.ts');

const SCRIPTS = [
  '.ci/run',
  ...['test', 'findings', 'contrib'].flatMap((folder) =>
    filesBelow(folder, /\.(py|sh|bash|service|conf|yml)$/),
  ),
];

describe('plain words', () => {
  it('are in the documents', () => {
    const top = readdirSync(ROOT).filter((name) => /^[A-Z].*\.md$/.test(name) && !/NOTICES/.test(name));
    const docs = [...filesBelow('docs', /\.md$/), ...filesBelow('man', /\.\d$/)];
    expect(check([...top, ...docs], paragraphs)).toEqual([]);
  });

  it('are in the comments', () => {
    expect(SOURCES.length).toBeGreaterThan(2000);
    expect(check(SOURCES, comments)).toEqual([]);
    expect(SCRIPTS.length).toBeGreaterThan(20);
    expect(check(SCRIPTS, scriptComments)).toEqual([]);
  });

  it('are in the names of the code and of its files', () => {
    const found = SOURCES.flatMap((name) =>
      [
        ...bannedNames(readFileSync(join(ROOT, name), 'utf8')),
        ...bannedNames(name.replaceAll(/\W/g, ' ')),
      ].map((banned) => `${name}: ${banned}`),
    );
    expect(found).toEqual([]);
    expect(
      bannedNames("const isDear = 'twin'; // a deed\nclass PEER_CRIMES {} clearDesktop(`fate`);"),
    ).toEqual(['isDear', 'PEER_CRIMES']);
  });

  it('are in the messages and helps of the programs', () => {
    expect(check(SOURCES, literals)).toEqual([]);
  });

  it('are in the titles of tests', () => {
    const tests = filesBelow('test', /\.test\.ts$/);
    expect(check(tests, titles)).toEqual([]);
  });

  it('are reported with the line of a banned word', () => {
    const text = '/** Told of each block,\n * and in the midst\n * of it. */\ncode(); // whoever\n';
    expect(problemsIn('a.ts', comments(text)).map((line) => line.replace(/, better.*/, ''))).toEqual([
      'a.ts:1: "Told of"',
      'a.ts:2: "in the midst"',
      'a.ts:4: "whoever"',
    ]);
    expect(problemsIn('a.md', paragraphs('One\n\nThat is no\nsentence, there is no twin.'))).toHaveLength(2);
    expect(literals("fail('It hears', x); // 'anew a'\n// 'of which'")).toEqual([
      { line: 1, text: 'It hears' },
      { line: 1, text: 'anew a' },
    ]);
    expect(scriptComments('x = 1  # anew\n"""Hears\nit."""').map(({ line }) => line)).toEqual([1, 2]);
    expect(titles("it.each([1])(\n  'hears nothing', () => 1)")).toEqual([
      { line: 1, text: 'hears nothing' },
    ]);
  });
});

describe('subjects of commits', () => {
  it('have one form', async () => {
    const script = pathToFileURL(join(ROOT, 'scripts/lint/checkCommits.mjs')).href;
    const { problemOf } = (await import(script)) as { problemOf: (subject: string) => string | null };
    expect(problemOf('net: rename NetPart to MessageHandler')).toBeNull();
    expect(problemOf('index/claims: bring the fill behind the tip')).toBeNull();
    expect(problemOf('fixed a bug')).toMatch(/form/);
    for (const summary of [
      'renamed a class',
      'renames a class',
      'the class has a new name',
      'new name of a class',
      'typo',
      'fast claims',
      'renaming of a class',
    ])
      expect(problemOf(`net: ${summary}`), summary).toMatch(/imperative/);
    for (const summary of [
      'compress a table',
      'process blocks in order',
      'focus the field',
      'feed the parser',
    ])
      expect(problemOf(`net: ${summary}`), summary).toBeNull();
    const verbs = readFileSync(join(ROOT, 'scripts/lint/commitVerbs.txt'), 'utf8').split('\n').slice(1, -1);
    expect(verbs).toEqual([...new Set(verbs)].sort());
    for (const verb of verbs) expect(problemOf(`net: ${verb} a class`)).toBeNull();
    expect(problemOf('net: rename a class.')).toMatch(/full stop/);
    expect(problemOf(`net: rename ${'x'.repeat(72)}`)).toMatch(/characters/);
  });
});

describe('drawn comments', () => {
  it('are whole comments without marks and directives', async () => {
    const script = pathToFileURL(join(ROOT, 'scripts/lint/drawComments.mjs')).href;
    const { commentsOf } = (await import(script)) as {
      commentsOf: (content: string) => { line: number; text: string }[];
    };
    const code = [
      '/** One comment',
      ' * of two lines. */',
      'f(); // Behind code.',
      '/* eslint-disable no-var */',
      '// First line,',
      '// second line.',
      "const url = 'https://example.com'; /** In the middle. */ let x;",
      '/** Above a field. */ a: 1,',
      'const y = a * b;',
      '/**',
      ' * A list:',
      ' *',
      ' * - an item',
      ' */',
    ].join('\n');
    expect(commentsOf(code)).toEqual([
      { line: 1, text: 'One comment\nof two lines.' },
      { line: 3, text: 'Behind code.' },
      { line: 5, text: 'First line,\nsecond line.' },
      { line: 8, text: 'Above a field.' },
      { line: 10, text: 'A list:\n\n- an item' },
    ]);
  });
});
