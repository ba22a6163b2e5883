/** Messages about command lines that cannot be parsed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { JsonObject } from '../../../../src/util/json/json.js';
import { shownAnswer, withLocalPaths } from '../../../../src/daemon/main/callDaemon.js';
import { parseCommandLine } from '../../../../src/daemon/main/commandLine.js';

function refusal(...words: string[]): string[] {
  const command = parseCommandLine(words);
  if (command.kind !== 'wrong') throw new Error(`understood as ${command.kind}`);
  return command.text.split('\n');
}

describe('a command that does not exist', () => {
  it.each([
    [['chanel'], "The command 'chanel' does not exist. Did you mean 'channel'?"],
    [['chanel', 'create', '@me'], "The command 'chanel' does not exist. Did you mean 'channel create'?"],
    [['chanel', 'lsit'], "The command 'chanel' does not exist. Did you mean 'channel list'?"],
    [['chanel', '--help'], "The command 'chanel' does not exist. Did you mean 'channel'?"],
    [['channel', 'crate'], "The command 'channel crate' does not exist. Did you mean 'channel create'?"],
    [
      ['channel_create', '@me'],
      "The command 'channel_create' does not exist. Did you mean 'channel create'?",
    ],
    [['resovle', 'one'], "The command 'resovle' does not exist. Did you mean 'resolve'?"],
    [['strat'], "The command 'strat' does not exist. Did you mean 'start'?"],
    [['qqqqqqqq'], "The command 'qqqqqqqq' does not exist."],
  ])('%j is reported with a suggestion', (words, problem) => {
    expect(refusal(...words)[0]).toBe(problem);
  });

  it('is reported before a short usage', () => {
    expect(refusal('qqqqqqqq')).toEqual([
      "The command 'qqqqqqqq' does not exist.",
      '',
      'Usage:  lbcnet [--help] [--version] [--api HOST:PORT] COMMAND ...',
      "Run 'lbcnet --help' for more information.",
    ]);
    expect(refusal('channel', 'qqqqqqqq').slice(2)).toEqual([
      'Usage:  lbcnet channel [--help] COMMAND ...',
      "Run 'lbcnet channel --help' for more information.",
    ]);
  });
});

describe('an option that does not exist', () => {
  it('is reported before the usage of the command', () => {
    expect(refusal('--nosuch', 'status')[0]).toContain('--nosuch');
  });
});

describe('the help of a command', () => {
  const helpOf = (...words: string[]): string => {
    const command = parseCommandLine([...words, '--help']);
    if (command.kind !== 'text') throw new Error(`understood as ${command.kind}`);
    return command.text;
  };

  it('describes the error that a call may return instead of its result', () => {
    const [, returned] = helpOf('peer', 'ping').split('\n\nReturns:\n');
    expect(returned!.split('\n\n')[0]!.split('\n')).toEqual([
      '    (string) pong [if the peer answers]',
      '    (object) an error [otherwise]',
      '    error                       (string) reason: timeout, or peer not found',
    ]);
  });

  it.each([['get'], ['file', 'list'], ['file', 'save']])('lists the fields of a file: %s %s', (...words) => {
    const text = helpOf(...words.filter(Boolean));
    for (const field of ['streaming_url', 'blobs_remaining', 'is_fully_reflected'])
      expect(text.split(`\n    ${field} `), field).toHaveLength(2);
  });
});

describe('start', () => {
  function started(...words: string[]): Extract<ReturnType<typeof parseCommandLine>, { kind: 'start' }> {
    const command = parseCommandLine(['start', ...words]);
    if (command.kind !== 'start') throw new Error(`understood as ${JSON.stringify(command)}`);
    return command;
  }

  it('accepts the command line of the revivel companion', () => {
    const command = started(
      ...['--data-dir', '/d', '--config', '/d/daemon_settings.yml', '--api', '127.0.0.1:5279'],
      ...['--rpcuser', 'user', '--rpcpass', 'secret', '--lbryum-server', 's1.lbry.network:50001'],
      ...['--lbryum-server', 'a-hub1.odysee.com:50001', '--allowed-origin', 'chrome-extension://abc/'],
    );
    expect(Object.fromEntries(command.given)).toEqual({
      data_dir: '/d',
      config: '/d/daemon_settings.yml',
      api: '127.0.0.1:5279',
      lbryum_servers: ['s1.lbry.network:50001', 'a-hub1.odysee.com:50001'],
      allowed_origin: 'chrome-extension://abc/',
    });
    expect(command.warnings).toEqual([
      "Command line: the option '--rpcuser' does not exist and is ignored.",
      "Command line: the option '--rpcpass' does not exist and is ignored.",
    ]);
  });

  it.each([
    [['--nosuch=1'], "Command line: the option '--nosuch' does not exist and is ignored."],
    [
      ['--data-dri', '/d'],
      "Command line: the option '--data-dri' does not exist and is ignored. Did you mean --data-dir?",
    ],
    [['--', '--quiet', 'x'], "Command line: the words after '--' are ignored: --quiet x."],
    [['one', 'two', '--quiet'], "Command line: 'one two' belongs to no option and is ignored."],
    [['-x', '5'], "Command line: the option '-x' does not exist and is ignored."],
  ])('%j is ignored with a warning', (words, warning) => {
    expect(started(...words).warnings).toEqual([warning]);
  });

  it('understands abbreviations, and prefers the options of lbrynet', () => {
    const { given, isQuiet, withNode } = started('--qui', '--with', '--tcp=5', '--no-save-f', '--max-conn=3');
    expect(Object.fromEntries(given)).toEqual({
      tcp_port: '5',
      save_files: false,
      max_connections_per_download: '3',
    });
    expect([isQuiet, withNode]).toEqual([true, true]);
    // `reflector_blocked` and others are options of ours.
    expect(started('--reflector-s', 'a:1').given.get('reflector_servers')).toEqual(['a:1']);
    expect(started('--reflector').isReflector).toBe(true);
  });

  it.each([
    ['--quiet=1', '--quiet does not accept a value.'],
    ['--with=1', '--with-node does not accept a value.'],
    ['--no-save-files=1', '--no-save-files does not accept a value.'],
  ])('refuses a value after %s', (word, problem) => {
    expect(refusal('start', word)[0]).toBe(problem);
  });

  it('accepts a value after --verbose, and takes --reflector=… as an abbreviation, as lbrynet', () => {
    expect(started('--verb=lbry.stream').isVerbose).toBe(true);
    const { given, isReflector } = started('--reflector=localhost:5566');
    expect(given.get('reflector_servers')).toEqual(['localhost:5566']);
    expect(isReflector).toBe(false);
  });

  it('refuses an abbreviation that could mean several options', () => {
    expect(refusal('start', '--download', '1')[0]).toBe(
      "The option '--download' could mean --download-dir, --download-timeout.",
    );
    expect(refusal('start', '--tcp-port')[0]).toBe('--tcp-port needs a value.');
    expect(refusal('start', '--data-dir', '--quiet')[0]).toBe('--data-dir needs a value.');
    expect(refusal('start', '--initial-headers', '--quiet')[0]).toBe('--initial-headers needs a FILE.');
  });

  it('takes a word with a dash as a value if it is a negative number or has a blank', () => {
    const { given } = started(
      '--tcp-port',
      '-5',
      '--volume-filter',
      '-af loudnorm',
      '--download-timeout',
      '-.5',
    );
    expect(Object.fromEntries(given)).toEqual({
      tcp_port: '-5',
      volume_filter: '-af loudnorm',
      download_timeout: '-.5',
    });
  });

  it('uses the last of a repeated option, and every item of a list', () => {
    const { given } = started('--tcp-port=1', '--tcp-port=2', '--wallets=a', '--wallets', 'b');
    expect(Object.fromEntries(given)).toEqual({ tcp_port: '2', wallets: ['a', 'b'] });
  });
});

describe('a path', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnet-paths-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['film.mp4', join(folder, 'film.mp4')],
    ['./films/../film.mp4', join(folder, 'film.mp4')],
    ['elsewhere.mp4', 'elsewhere.mp4'],
    ['/film.mp4', '/film.mp4'],
    ['', ''],
  ])('%j is absolute if it exists in the current folder', (given, sent) => {
    writeFileSync(join(folder, 'film.mp4'), '');
    const params = new JsonObject([
      ['name', 'film.mp4'],
      ['file_path', given],
    ]);
    expect(withLocalPaths(params, folder).entries).toEqual([
      ['name', 'film.mp4'],
      ['file_path', sent],
    ]);
  });
});

describe('an answer', () => {
  it.each([
    ['status', '{"jsonrpc": "2.0", "result": null}', 'null', false],
    ['status', '{"jsonrpc": "2.0", "result": "ok"}', '"ok"', false],
    ['status', '{"error": {"code": -32500}}', '{\n  "code": -32500\n}', true],
    ['get', '{"result": {"error": "stream not found"}}', '{\n  "error": "stream not found"\n}', true],
    ['peer_ping', '{"result": {"error": "timeout"}}', '{\n  "error": "timeout"\n}', true],
    ['get', '{"result": {"error": "x", "outpoint": "y"}}', '{\n  "error": "x",\n  "outpoint": "y"\n}', false],
    ['preference_get', '{"result": {"error": "sound"}}', '{\n  "error": "sound"\n}', false],
    ['resolve', '{"result": {"error": {"name": "a"}}}', '{\n  "error": {\n    "name": "a"\n  }\n}', false],
    ['status', '<html>', 'The daemon’s response is not JSON.', true],
    ['status', null, "Could not connect to daemon. Are you sure it's running?", true],
  ])('of %s: %j is printed, and determines the exit code', (method, answer, text, isError) => {
    expect(shownAnswer(answer, method)).toEqual({ text, isError });
  });
});
