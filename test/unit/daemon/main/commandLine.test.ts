/** What is said of a command line that cannot be understood. */
import { describe, expect, it } from 'vitest';
import { shownAnswer } from '../../../../src/daemon/main/callDaemon.js';
import { parseCommandLine } from '../../../../src/daemon/main/commandLine.js';

function refusal(...words: string[]): string[] {
  const command = parseCommandLine(words);
  if (command.kind !== 'wrong') throw new Error(`understood as ${command.kind}`);
  return command.text.split('\n');
}

describe('a command that does not exist', () => {
  it.each([
    [['chanel'], "There is no command 'chanel'. Did you mean 'channel'?"],
    [['chanel', 'create', '@me'], "There is no command 'chanel'. Did you mean 'channel create'?"],
    [['chanel', 'lsit'], "There is no command 'chanel'. Did you mean 'channel list'?"],
    [['chanel', '--help'], "There is no command 'chanel'. Did you mean 'channel'?"],
    [['channel', 'crate'], "There is no command 'channel crate'. Did you mean 'channel create'?"],
    [['channel_create', '@me'], "There is no command 'channel_create'. Did you mean 'channel create'?"],
    [['resovle', 'one'], "There is no command 'resovle'. Did you mean 'resolve'?"],
    [['strat'], "There is no command 'strat'. Did you mean 'start'?"],
    [['qqqqqqqq'], "There is no command 'qqqqqqqq'."],
  ])('%j is named with what was meant', (words, problem) => {
    expect(refusal(...words)[0]).toBe(problem);
  });

  it('is named before the usage, which is short', () => {
    expect(refusal('qqqqqqqq')).toEqual([
      "There is no command 'qqqqqqqq'.",
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
  it('is named before the usage of what was called', () => {
    expect(refusal('--nosuch', 'status')[0]).toContain('--nosuch');
    const start = refusal('start', '--nosuch=1');
    expect(start[0]).toContain('--nosuch');
    expect(start.slice(2)).toEqual([
      'Usage:  lbcnet start [--config FILE] [--data-dir DIR] [--wallet-dir DIR] [--download-dir DIR] ...',
      "Run 'lbcnet start --help' for more information.",
    ]);
  });
});

describe('an answer', () => {
  it.each([
    ['{"jsonrpc": "2.0", "result": null}', 'null', false],
    ['{"jsonrpc": "2.0", "result": "ok"}', '"ok"', false],
    ['{"error": {"code": -32500}}', '{\n  "code": -32500\n}', true],
    ['<html>', 'The daemon’s answer is no JSON.', true],
    [null, "Could not connect to daemon. Are you sure it's running?", true],
  ])('%j is shown, and fails the program or not', (answer, text, isError) => {
    expect(shownAnswer(answer)).toEqual({ text, isError });
  });
});
