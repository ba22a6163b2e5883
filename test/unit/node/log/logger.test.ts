import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { applyDebugOptions } from '../../../../src/node/options/debugOptions.js';
import {
  createFileLogger,
  LineLogger,
  RECENT_LOG_BYTES,
  shrinkLog,
} from '../../../../src/node/log/logger.js';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../../../../src/node/options/options.js';
import { LOG_CATEGORIES, LogCategorySet } from '../../../../src/util/logging.js';
import { FakeStream } from '../display/fakeStream.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-log-'));
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

function load(...words: string[]): LoadedOptions {
  const command = parseCommandLine([`-datadir=${folder}`, '-regtest', ...words]);
  if (command.action !== 'run') throw new Error('not a run');
  return loadOptions(command.args, folder);
}

function lineLogger(overrides: { timestamps?: boolean; micros?: boolean } = {}): {
  lines: string[];
  logger: LineLogger;
} {
  const lines: string[] = [];
  const logger = new LineLogger({
    timestamps: true,
    micros: false,
    categories: new LogCategorySet(),
    nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5) + 6.789,
    write: (line) => void lines.push(line),
    ...overrides,
  });
  return { lines, logger };
}

describe('lines', () => {
  it('begin with the time', () => {
    const { lines, logger } = lineLogger();
    logger.info('hello');
    expect(lines).toEqual(['2026-01-02T03:04:05Z hello\n']);
  });

  it('have microseconds or no time on request', () => {
    const micros = lineLogger({ micros: true });
    micros.logger.info('x');
    expect(micros.lines[0]).toMatch(/^2026-01-02T03:04:05\.00678[89]Z x\n$/);
    const bare = lineLogger({ timestamps: false });
    bare.logger.info('x');
    expect(bare.lines).toEqual(['x\n']);
  });

  it('mark warnings and errors once', () => {
    const { lines, logger } = lineLogger({ timestamps: false });
    logger.warn('odd');
    logger.warn('Warning: odd');
    logger.error('bad');
    logger.error('Error: bad');
    expect(lines).toEqual(['Warning: odd\n', 'Warning: odd\n', 'Error: bad\n', 'Error: bad\n']);
  });

  it('are written for enabled categories, and created only for them', () => {
    const { lines, logger } = lineLogger({ timestamps: false });
    const make = vi.fn(() => 'made');
    logger.debug('net', make);
    expect(make).not.toHaveBeenCalled();
    expect(logger.setCategory('net', true)).toBe(true);
    logger.debug('net', make);
    logger.debug('net', 'plain');
    logger.debug('rpc', 'other');
    expect(lines).toEqual(['made\n', 'plain\n']);
    expect([logger.willLog('net'), logger.willLog('rpc')]).toEqual([true, false]);
  });
});

describe('categories', () => {
  it('are those of the interface document, claims and the hub', () => {
    expect(LOG_CATEGORIES.join(', ')).toBe(
      'net, tor, mempool, http, bench, zmq, db, rpc, estimatefee, addrman, selectcoins, reindex, cmpctblock, rand, ' +
        'prune, proxy, mempoolrej, libevent, coindb, qt, leveldb, claims, hub, search',
    );
  });

  const on = (debug: string[], exclude: string[] = []): string[] => {
    const set = new LogCategorySet();
    applyDebugOptions(set, debug, exclude);
    return set.categories().flatMap(([name, active]) => (active ? [name] : []));
  };

  it('are switched by -debug and -debugexclude', () => {
    expect(on([])).toEqual([]);
    expect(on(['net', 'rpc'])).toEqual(['net', 'rpc']);
    for (const all of ['', '1', 'all']) expect(on([all]).length).toBe(LOG_CATEGORIES.length);
    expect(on(['1'], ['leveldb', 'net'])).toEqual(
      LOG_CATEGORIES.filter((name) => name !== 'leveldb' && name !== 'net'),
    );
    expect(on(['net', '0'])).toEqual([]);
    expect(on(['none', 'rpc'])).toEqual([]);
    expect(on(['net'], ['all'])).toEqual([]);
  });

  it('warn of unknown names', () => {
    expect(applyDebugOptions(new LogCategorySet(), ['nosuch'], ['neither'])).toEqual([
      'Unsupported logging category -debug=nosuch.',
      'Unsupported logging category -debugexclude=neither.',
    ]);
  });
});

describe('progress', () => {
  it.each([true, false])(
    'is a line of the file, and of a console without a progress line: %s',
    async (isTTY) => {
      const stream = new FakeStream({ isTTY, columns: 80 });
      const log = createFileLogger(load('-logtimestamps=0', '-printtoconsole'), stream);
      log.show(() => 'at 10 %');
      log.logProgress('Importing: 10 %');
      log.logger.info('meanwhile');
      await log.close();
      expect(readFileSync(join(folder, 'regtest', 'debug.log'), 'utf8')).toBe(
        '\n\n\n\n\nImporting: 10 %\nmeanwhile\n',
      );
      expect(stream.screen()).toEqual(isTTY ? ['meanwhile', ''] : ['Importing: 10 %', 'meanwhile', '']);
      expect(stream.written.includes('at 10 %')).toBe(isTTY);
    },
  );

  it('is not on the console if the log is not', async () => {
    const stream = new FakeStream();
    const log = createFileLogger(load('-printtoconsole=0'), stream);
    log.show(() => 'at 10 %');
    log.logProgress('Importing: 10 %');
    await log.close();
    expect(stream.written).toBe('');
  });
});

describe('the file', () => {
  it('is appended to, reopened on SIGHUP and closed', async () => {
    const loaded = load('-printtoconsole=0', '-debug=rpc', '-debug=nosuch');
    const path = join(folder, 'regtest', 'debug.log');
    const first = createFileLogger(loaded);
    first.logger.info('one');
    first.logger.debug('rpc', 'two');
    first.logger.debug('net', 'not this');
    expect(readFileSync(path, 'utf8')).toMatch(/^\n{5}\S+Z one\n\S+Z two\n$/);
    expect(loaded.warnings).toEqual(['Unsupported logging category -debug=nosuch.']);
    renameSync(path, `${path}.1`);
    process.emit('SIGHUP');
    await vi.waitFor(() => expect(existsSync(path)).toBe(true), { timeout: 240_000 });
    first.logger.info('three');
    await first.close();
    first.logger.info('into the void');
    expect(readFileSync(path, 'utf8')).toMatch(/^\S+Z three\n$/);
    const second = createFileLogger(loaded);
    second.logger.info('four');
    await second.close();
    expect(readFileSync(path, 'utf8')).toMatch(/ three\n\n{5}.* four\n$/);
  });

  it('is disabled by -nodebuglogfile, and the console by -daemon', async () => {
    const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const console = createFileLogger(load('-nodebuglogfile'));
    console.logger.info('to the console');
    await console.close();
    expect(out).toHaveBeenCalledTimes(1);
    expect(out.mock.calls[0]?.[0]).toMatch(/Z to the console\n$/);
    const silent = createFileLogger(load('-nodebuglogfile', '-daemon'));
    silent.logger.info('nowhere');
    await silent.close();
    expect(out).toHaveBeenCalledTimes(1);
    expect(existsSync(join(folder, 'regtest', 'debug.log'))).toBe(false);
  });

  it('causes a message if it cannot be written', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => createFileLogger(load('-debuglogfile=../file/x.log'))).toThrow(
      /^Could not open debug log file /,
    );
    expect(() => createFileLogger(load('-debuglogfile=mistyped/x.log'))).toThrow(
      /^Could not open debug log file .*mistyped/,
    );
    expect(existsSync(join(folder, 'regtest', 'mistyped'))).toBe(false);
    const config = join(folder, 'lbcnode.conf');
    writeFileSync(config, '\n[regtest]\ndebuglogfile=mistyped/x.log\n');
    expect(() => createFileLogger(load())).toThrow(
      `Could not open debug log file ${join(folder, 'regtest', 'mistyped', 'x.log')} (${config}, line 3)`,
    );
    writeFileSync(config, 'debuglogfile=../file/x.log\n');
    expect(() => createFileLogger(load())).toThrow(new RegExp(`x\\.log: .* \\(${config}, line 1\\)$`));
  });

  it('is truncated to its end if it is huge', () => {
    const path = join(folder, 'debug.log');
    shrinkLog(path);
    writeFileSync(path, Buffer.alloc(RECENT_LOG_BYTES + 500_000, 'a'));
    shrinkLog(path);
    expect(statSync(path).size).toBe(RECENT_LOG_BYTES + 500_000);
    writeFileSync(path, Buffer.concat([Buffer.alloc(2_000_000, 'a'), Buffer.alloc(RECENT_LOG_BYTES, 'b')]));
    shrinkLog(path);
    const kept = readFileSync(path);
    expect(kept.length).toBe(RECENT_LOG_BYTES);
    expect(kept.every((byte) => byte === 0x62)).toBe(true);
  });
});
