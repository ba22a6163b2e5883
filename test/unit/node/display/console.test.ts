import { describe, expect, it } from 'vitest';
import { Console, type ColorChoice } from '../../../../src/node/display/console.js';
import { FakeStream } from './fakeStream.js';

const STAMP = '2026-01-02T03:04:05Z ';

function open(
  options: ConstructorParameters<typeof FakeStream>[0] = {},
  color: ColorChoice = 'never',
  env = {},
) {
  const stream = new FakeStream(options);
  return { stream, console: new Console(stream, color, env) };
}

describe('a line that is updated in place', () => {
  it('stays below new lines, and is removed at the end', () => {
    const { stream, console } = open();
    console.line('one\n');
    console.setStatus(() => 'at 1 %');
    console.setStatus(() => 'at 2 %');
    console.line('two\n');
    expect(stream.screen()).toEqual(['one', 'two', 'at 2 %']);
    console.setStatus(() => 'at 3 %');
    expect(stream.screen()).toEqual(['one', 'two', 'at 3 %']);
    console.close();
    console.line('three\n');
    expect(stream.screen()).toEqual(['one', 'two', 'three', '']);
    expect(stream.isFollowed).toBe(false);
  });

  it('erases typed characters that a terminal displays', () => {
    const { stream, console } = open();
    console.line('one\n');
    for (const status of [null, () => 'at 1 %']) {
      console.setStatus(status);
      stream.write('^C');
      console.clear();
      console.line('two\n');
    }
    expect(stream.screen()).toEqual(['one', 'two', 'two', '']);
    const other = open({ isTTY: false });
    other.console.clear();
    expect(other.stream.written).toBe('');
  });

  it('is truncated to the width, and again when the width changes', () => {
    const { stream, console } = open({ columns: 12 });
    console.setStatus(() => 'a long story of blocks');
    expect(stream.screen()).toEqual(['a long...']);
    stream.resize(100);
    expect(stream.screen()).toEqual(['a long story of blocks']);
    stream.resize(9);
    expect(stream.screen()).toEqual(['a l...']);
  });

  it('never exceeds the width, for any file name', () => {
    const { stream, console } = open({ columns: 12 });
    console.setStatus(() => '\u5340\u584a\u93c8\u5340\u584a\u93c8\u5340');
    expect(stream.screen()).toEqual(['\u5340\u584a\u93c8...']);
    console.setStatus(() => 'a\n\x1b[2Jb');
    expect(stream.screen()).toEqual(['a??[2Jb']);
  });

  it('receives the width to fill', () => {
    const { stream, console } = open({ columns: 31 });
    console.setStatus((columns) => '#'.repeat(columns));
    expect(stream.screen()).toEqual(['#'.repeat(28)]);
  });

  it('is written only if it changed', () => {
    const { stream, console } = open();
    console.setStatus(() => 'same');
    const { written } = stream;
    console.setStatus(() => 'same');
    expect(stream.written).toBe(written);
  });

  it('is not shown without a terminal, nor on a dumb one', () => {
    for (const { stream, console } of [open({ isTTY: false }), open({}, 'never', { TERM: 'dumb' })]) {
      expect(console.isLive).toBe(false);
      console.setStatus(() => 'at 1 %');
      console.line('a line that is longer than forty columns are\n');
      console.close();
      expect(stream.written).toBe('a line that is longer than forty columns are\n');
    }
  });
});

describe('lines', () => {
  it('keep a command to type in one piece', () => {
    const { stream, console } = open({ columns: 40 });
    console.line('Ask it: lbcnode-cli -regtest getinfo\n');
    console.line('Ask it: node dist/bin/cli.js -regtest getinfo\n');
    console.line('Stop it: Ctrl-C, or type: lbcnode-cli -regtest stop\n');
    expect(stream.screen()).toEqual([
      'Ask it: lbcnode-cli -regtest getinfo',
      'Ask it:',
      '    node dist/bin/cli.js -regtest getinfo',
      'Stop it: Ctrl-C, or type:',
      '    lbcnode-cli -regtest stop',
      '',
    ]);
  });

  it('longer than the width of a terminal are wrapped at spaces', () => {
    const { stream, console } = open({ columns: 30 });
    console.line(`${STAMP}best block ${'f'.repeat(40)} at height 0\n`);
    expect(stream.screen()).toEqual([
      '2026-01-02T03:04:05Z best',
      '    block',
      `    ${'f'.repeat(40)}`,
      '    at height 0',
      '',
    ]);
  });

  it('are coloured on request', () => {
    const grey = `\x1b[90m${STAMP}\x1b[39m`;
    const wanted: [FakeStream, string][] = [];
    for (const [tty, colors, choice, painted] of [
      [true, true, 'auto', true],
      [true, false, 'auto', false],
      [false, true, 'auto', false],
      [false, false, 'always', true],
      [true, true, 'never', false],
    ] as const) {
      const { stream, console } = open({ isTTY: tty, colors, columns: 80 }, choice);
      console.line(`${STAMP}plain\n`);
      console.line(`${STAMP}Warning: odd\n`);
      console.line('Error: bad\n');
      wanted.push([
        stream,
        painted
          ? `${grey}plain\n${grey}\x1b[33mWarning: odd\x1b[39m\n\x1b[31mError: bad\x1b[39m\n`
          : `${STAMP}plain\n${STAMP}Warning: odd\nError: bad\n`,
      ]);
    }
    for (const [stream, text] of wanted) expect(stream.written).toBe(text);
  });
});
