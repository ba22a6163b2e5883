/** Parsing of arguments by usage lines. */
import { describe, expect, it } from 'vitest';
import { UsageError, UsagePattern } from '../../../../src/daemon/main/usagePattern.js';

const match = (usage: string, ...words: string[]): object =>
  Object.fromEntries(new UsagePattern(usage).match(words));

describe('a usage line', () => {
  it('accepts an argument by position or by name', () => {
    const usage = '(<name> | --name=<name>) [--preview]';
    expect(match(usage, 'a')).toEqual({ '<name>': 'a', '--name': null, '--preview': false });
    expect(match(usage, '--name', 'a', '--preview')).toEqual({
      '<name>': null,
      '--name': 'a',
      '--preview': true,
    });
    expect(match(usage, '--nam=a')).toMatchObject({ '--name': 'a' });
  });

  it('collects repeated options', () => {
    expect(match('<url>... [--tag=<tag>...]', 'a', '--tag=x', 'b', '--tag=y')).toEqual({
      '<url>': ['a', 'b'],
      '--tag': ['x', 'y'],
    });
    expect(match('[--tag=<tag>...]')).toEqual({ '--tag': [] });
  });

  it('refuses exclusive, missing and surplus arguments', () => {
    for (const [usage, words] of [
      ['[--a | --b]', ['--a', '--b']],
      ['<x> <y>', ['1']],
      ['<x>', ['1', '2']],
      ['[--a]', ['--c']],
      ['[<x>]', ['--x=1']],
      ['[--a]', ['-a']],
    ] as const)
      expect(() => match(usage, ...words), usage).toThrow(UsageError);
  });

  it('reports why arguments do not match', () => {
    for (const [usage, words, reason] of [
      ['[--a | --b]', ['--a', '--b'], '--b is given more than once, or beside an option that excludes it.'],
      ['[--a=<a>]', ['--a=1', '--a=2'], '--a is given more than once, or beside an option that excludes it.'],
      ['<x> <y>', ['1'], 'Missing: <y>.'],
      ['(<x> | --x=<x>) [--y]', ['--y'], 'Missing: <x> or --x.'],
      ['<x>... [--y]', [], 'Missing: <x>.'],
      ['<x>', ['1', '2'], "Unexpected argument '2'."],
      ['[--page=<page>]', ['--pgae=1'], "The option '--pgae' does not exist. Did you mean '--page'?"],
      ['[<x>]', ['--x=1'], "<x> needs the option '--x'."],
      ['[--a]', ['-a'], "The option '-a' does not exist. Did you mean '--a'?"],
      ['<x>', ['--y'], "The option '--y' does not exist."],
    ] as const)
      expect(() => match(usage, ...words), usage).toThrow(new UsageError(reason));
  });

  it('reports an error of an option', () => {
    expect(() => match('[--a=<a>]', '--a')).toThrow('--a requires argument');
    expect(() => match('[--flag]', '--flag=1')).toThrow('--flag must not have an argument');
    expect(() => match('[--one=<a>] [--only=<b>]', '--on=1')).toThrow(
      '--on is not a unique prefix: --one, --only?',
    );
  });

  it('treats all arguments after -- as positional', () => {
    expect(() => match('<x>', '--', '--y')).toThrow(UsageError);
    expect(match('<x> <y>', '--', '--y')).toEqual({ '<x>': '--', '<y>': '--y' });
  });
});
