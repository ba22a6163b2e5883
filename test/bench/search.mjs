#!/usr/bin/env node
// The search index over synthetic claims (searchClaims.mjs), and the hub over a chain of claims (searchHub.mjs), each at two
// sizes, a tenth and the whole, with what ten times as many claims make of each figure. Of the index: documents a second of
// the first build, decoding included and the making of the claims left out; bytes a claim and the memory of the process
// with its threads; the median and the 99th of a hundred of each of twelve typical searches with other values each time;
// a word in a third of all documents; and how long a block of 1,000 operations takes to be followed.
//
//   npm run bench:search [-- --claims 1000000 --chain 100000 --keep folder]
//
// `--claims 0` and `--chain 0` leave out one or the other. A folder that is kept is measured again without building.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const claims = Number(option('claims', '1000000'));
const chain = Number(option('chain', '100000'));
const kept = option('keep', null);
const folder = kept ?? mkdtempSync(join(tmpdir(), 'bench-search-'));
mkdirSync(folder, { recursive: true });
if (kept === null) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

async function runScript(script, scriptArgs) {
  const child = spawn(process.execPath, [join(here, script), ...scriptArgs.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (piece) => (text += piece));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${script} ended with ${code}`);
  return JSON.parse(text);
}

const number = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value >= 10 ? 1 : 2);

async function compare(script, count, argsOf) {
  const sizes = [count / 10, count];
  const [small, large] = [
    await runScript(script, argsOf(sizes[0])),
    await runScript(script, argsOf(sizes[1])),
  ];
  const title = small.name ?? 'the hub';
  const line = (cells) =>
    console.log(
      cells[0].padEnd(56) +
        cells
          .slice(1)
          .map((cell) => cell.padStart(12))
          .join(''),
    );
  line([title, ...sizes.map((size) => size.toLocaleString('en-US')), 'ratio']);
  for (const [what, value] of Object.entries(large)) {
    if (typeof value !== 'number') continue;
    const before = small[what];
    line([
      what,
      before === undefined ? '' : number(before),
      number(value),
      before ? (value / before).toFixed(2) : '',
    ]);
  }
}

if (claims > 0)
  await compare('searchIndex.mjs', claims, (count) => [count, join(folder, `search-${count}.sqlite`)]);
if (chain > 0) await compare('searchHub.mjs', chain, (count) => [count]);
