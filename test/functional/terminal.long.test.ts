/**
 * The output of a first start, an import and a mistyped word, on a terminal and without one. Only terminals get colors and a
 * line that is updated in place, and the output is not wider than the terminal.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, freePort, HANG_MS, program, startRegtest } from './support/node.js';
import { startProcess } from './support/process.js';
import {
  hasTerminals,
  shownOn,
  startInTerminal,
  type Shown,
  type TerminalProcess,
} from './support/terminal.js';

const BLOCKS = 100;
/** Number of blocks with the genesis block, which is in every block file. */
const READ = BLOCKS + 1;
/** Number of copies of the blocks, so that the import takes long enough. */
const TIMES = 1000;
/** Number of further attempts, each with four times as many copies of the blocks, for fast machines. */
const ATTEMPTS = 2;
const CTRL_C = '\x03';
/** A row that may be wider than the terminal: one word, or a command that is not split. */
const IN_ONE_PIECE = /^ *(\S+|(node|lbcnode|lbcnode-cli) .*)$/;
/** The time at the beginning of a line. */
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /;
const isThere = hasTerminals();

let folder: string;
let port: number;
let blocks: Buffer;
const running: TerminalProcess[] = [];

beforeAll(async () => {
  const other = mkdtempSync(join(tmpdir(), 'mined-'));
  const node = await startRegtest({ dataDir: other });
  await node.rpc('generatetoaddress', [BLOCKS, ADDRESS]);
  await node.stop();
  blocks = readFileSync(join(other, 'regtest', 'blocks', 'blk00000.dat'));
  rmSync(other, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), 't-'));
  port = await freePort();
});
afterEach(async () => {
  for (const terminal of running.splice(0)) {
    terminal.kill();
    await terminal.exited;
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let folders = 0;
/** A command that starts a node on a folder of its own. */
function command(...args: string[]): string[] {
  const dataDir = join(folder, String(folders++));
  return [
    process.execPath,
    program('lbcnode'),
    '-regtest',
    `-datadir=${dataDir}`,
    `-rpcport=${port}`,
    '-listen=0',
    '-keypool=5',
    ...args,
  ];
}

function start(words: string[], columns: number, env?: Record<string, string>): TerminalProcess {
  const terminal = startInTerminal(words, columns, env);
  running.push(terminal);
  return terminal;
}

/** A node on a terminal that is stopped by Ctrl-C once it answers. */
async function firstStart(columns: number, env?: Record<string, string>): Promise<Shown> {
  const terminal = start(command(), columns, env);
  await terminal.until(() => /getblockchaininfo\r\n[^]* stop\S*\r\n/.test(terminal.output()));
  terminal.type(CTRL_C);
  expect(await terminal.exited).toBe(0);
  return shownOn(terminal.output());
}

function expectFitting({ rows, renewed, odd }: Shown, columns: number): void {
  const wide = rows.filter((row) => row.length > columns && !IN_ONE_PIECE.test(row));
  expect([...wide, ...renewed.filter((row) => row.length >= columns)]).toEqual([]);
  expect(odd).toEqual([]);
  // The next prompt of a shell has a row of its own.
  expect(rows.at(-1)).toBe('');
}

/** Lines, of whose rows all except the first are indented, without the times before them. */
function linesOf({ rows }: Shown): string[] {
  return rows
    .join('\n')
    .replace(/\n {4}/g, ' ')
    .split('\n')
    .map((line) => line.replace(STAMP, ''));
}

describe.skipIf(!isThere)('on a terminal', () => {
  it.each([80, 40])('of %i columns a first start is coloured and fits', async (columns) => {
    const shown = await firstStart(columns);
    expectFitting(shown, columns);
    expect(shown.isColored).toBe(true);
    const lines = linesOf(shown);
    for (const said of [
      /^lbcnode version /,
      /^Done loading$/,
      /^RPC listens on .*127\.0\.0\.1:/,
      /^Call a method: /,
    ])
      expect(lines).toContainEqual(expect.stringMatching(said));
    expect(lines.slice(-3)).toEqual(['Shutdown: In progress...', 'Shutdown: done', '']);
  });

  it('with colours turned off it prints none', async () => {
    const shown = await firstStart(80, { NO_COLOR: '1' });
    expectFitting(shown, 80);
    expect(shown.isColored).toBe(false);
  });

  it('with TERM=dumb it prints plain lines', async () => {
    const shown = await firstStart(80, { TERM: 'dumb' });
    expect(shown).toMatchObject({ isColored: false, renewed: [], odd: [] });
  });

  it.each([
    {
      columns: 80,
      status: /^Importing blocks\.dat  \d+\.\d %  height \d+  20[\d-]{8}( \d\d:\d\d)?  \d+ tx\/s  .* left$/,
    },
    { columns: 40, status: /^Importing  \d+\.\d %  height \d+(  20[\d-]{8})?$/ },
  ])('of $columns columns an import shows its progress in one line', async ({ columns, status }) => {
    const file = join(folder, 'blocks.dat');
    const seen = (terminal: TerminalProcess): boolean =>
      shownOn(terminal.output()).renewed.some((row) => status.test(row));
    for (let attempt = 0; ; attempt++) {
      writeFileSync(file, Buffer.concat(Array.from({ length: TIMES * 4 ** attempt }, () => blocks)));
      const interrupted = start(command(`-loadblock=${file}`), columns);
      try {
        await interrupted.until(() => seen(interrupted) || interrupted.output().includes('All blocks are'));
        if (!seen(interrupted)) throw new Error(`it was over before that:\n${interrupted.output()}`);
        interrupted.type(CTRL_C);
        expect(await interrupted.exited).toBe(0);
        const shown = shownOn(interrupted.output());
        expectFitting(shown, columns);
        expect(linesOf(shown)).toContainEqual(expect.stringMatching(/interrupted at \d+ blocks/));
        // The progress line is removed before other lines and at the end.
        expect(shown.rows.filter((row) => /%|left/.test(row))).toEqual([]);
        break;
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
        interrupted.kill();
        await interrupted.exited;
      }
    }
    const finished = start(command(`-loadblock=${file}`, '-stopafterblockimport', '-server=0'), columns);
    expect(await finished.exited).toBe(0);
    const shown = shownOn(finished.output());
    expectFitting(shown, columns);
    expect(shown.rows.filter((row) => /%|left/.test(row))).toEqual([]);
    expect(linesOf(shown)).toContainEqual(
      expect.stringMatching(`^Imported ${BLOCKS} new of \\d+ blocks of `),
    );
  });

  it.each([80, 40])('of %i columns a mistyped option is answered with the nearest', async (columns) => {
    for (const name of ['lbcnode', 'lbcnode-cli']) {
      const terminal = start([process.execPath, program(name), '-regtest', '-rpcprot=1', 'stop'], columns);
      expect(await terminal.exited, name).toBe(1);
      const shown = shownOn(terminal.output());
      expectFitting(shown, columns);
      expect(linesOf(shown)).toEqual([
        'Error parsing command line arguments: Invalid parameter -rpcprot. Did you mean -rpcport?',
        '',
      ]);
    }
  });

  it.each([80, 40])('of %i columns a mistyped method is answered with the nearest', async (columns) => {
    const node = await startRegtest();
    try {
      const { username, password } = new URL(node.url);
      const words = [process.execPath, program('lbcnode-cli'), '-regtest', `-rpcport=${node.rpcPort}`];
      const credentials = [`-rpcuser=${username}`, `-rpcpassword=${password}`];
      const terminal = start([...words, ...credentials, 'getblokcount'], columns);
      expect(await terminal.exited).toBe(32601 & 0xff);
      const shown = shownOn(terminal.output());
      expectFitting(shown, columns);
      expect(linesOf(shown).slice(2)).toEqual([
        'Method not found',
        expect.stringMatching(
          /^Did you mean getblockcount\? node \S*lbcnode-cli\.js help lists all commands\.$/,
        ),
        '',
      ]);
    } finally {
      await node.stop();
    }
  });
});

describe('without a terminal', () => {
  const plain = (text: string): void => expect(text).toMatch(/^[\n\x20-\x7e]*$/);

  it('an import prints its progress in plain lines', async () => {
    const dataDir = join(folder, String(folders++));
    const file = join(folder, 'few.dat');
    writeFileSync(file, blocks);
    const node = startProcess(dataDir, [`-loadblock=${file}`, '-stopafterblockimport', '-server=0']);
    expect(await node.exited).toBe(0);
    plain(node.output());
    expect(node.output()).toMatch(new RegExp(`Z Imported ${BLOCKS} new of ${READ} blocks of few\\.dat in `));
  });

  it('a mistyped option is answered in one line', () => {
    for (const name of ['lbcnode', 'lbcnode-cli']) {
      const words = [program(name), '-regtest', '-rpcprot=1', 'stop'];
      const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: HANG_MS });
      expect(status, name).toBe(1);
      expect(stderr).toBe(
        'Error parsing command line arguments: Invalid parameter -rpcprot. Did you mean -rpcport?\n',
      );
    }
  });
});
