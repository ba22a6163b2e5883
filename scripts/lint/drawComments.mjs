#!/usr/bin/env node
/**
 * Draws comments at random, for a review of the language (CONTRIBUTING.md, "Language"): `drawComments.mjs [--seed=<n>] [--count=<n>]
 * [folder…]`. Each comment of the folders has the same probability. Consecutive comment lines count as one comment. The same seed
 * draws the same comments from the same files. Without `--seed` the script chooses a seed. It prints the seed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCE = /\.(tsx?|m[jt]s|cpp|c|h)$/;
/** Generated code, and comments that only tools read. */
const SKIPPED_FILES = /^src\/metadata\/messages\/|node_modules/;
const DIRECTIVE = /^(eslint-|@ts-|prettier-|clang-format|cspell:|@type \{|@vitest-|NOLINT|namespace )/;

/** Comments of a source file with the numbers of their first lines, without the marks of comments. */
export function commentsOf(content) {
  const found = [];
  /** The comment of the previous line, if the next line can continue it. */
  let open = null;
  content.split('\n').forEach((line, index) => {
    const block = open?.isBlock === true ? /^\s*(?:\*(?!\/))?\s?(.*)$/.exec(line) : null;
    const start = block ?? /^\s*\/\*+\s?(.*)$/.exec(line);
    const slashes = start ? null : /^\s*\/\/+\s?(.*)$/.exec(line);
    const behind = start || slashes ? null : /[\s;,{]\/\/ (.*)$/.exec(line);
    const [text, ...code] = ((start ?? slashes ?? behind)?.[1] ?? '').split('*/');
    if (block || (slashes && open)) open.text += `\n${text}`;
    else if (start || slashes || behind) found.push((open = { line: index + 1, text }));
    if (open) open.isBlock = start !== null;
    if (!start && !slashes) open = null;
    if (start && code.length > 0) open = null;
  });
  return found
    .map(({ line, text }) => ({ line, text: text.trim() }))
    .filter(({ text }) => /[a-z]{2}/i.test(text) && !DIRECTIVE.test(text));
}

/** Pseudorandom numbers from 0 to 1 (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Comments of all source files below the folders. */
function commentsBelow(folders) {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((name) => SOURCE.test(name) && !SKIPPED_FILES.test(name))
      .sort()
      .flatMap((name) =>
        commentsOf(readFileSync(join(ROOT, name), 'utf8')).map((comment) => ({ name, ...comment })),
      ),
  );
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: 'string' }, count: { type: 'string', default: '30' } },
  });
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const folders = positionals.length > 0 ? positionals : ['src', 'native', 'scripts'];
  const comments = commentsBelow(folders);
  console.log(`${values.count} of ${comments.length} comments of ${folders.join(', ')}, seed ${seed}`);
  const random = randomOf(seed);
  for (let left = Math.min(Number(values.count), comments.length); left > 0; left--) {
    const [{ name, line, text }] = comments.splice(Math.floor(random() * comments.length), 1);
    console.log(`\n${name}:${line}\n${text.replace(/^/gm, '  ')}`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
