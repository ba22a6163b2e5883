import { describe, expect, it } from 'vitest';
import {
  decodeLeadingHex,
  leadingInteger,
  noSuchFormat,
  parseHash,
  parseInt32,
  splitFormat,
} from '../../../../src/server/rest/request.js';
import { atOnce, AT_ONCE_SIZE } from '../../../../src/util/slices.js';

describe('splitFormat', () => {
  it.each([
    ['abc.json', 'abc', 'json'],
    ['a.b.hex', 'a.b', 'hex'],
    ['.bin', '', 'bin'],
    ['abc', 'abc', null],
    ['', '', null],
    ['abc.', 'abc', null],
    ['abc.txt', 'abc.txt', null],
    ['abc.JSON', 'abc.JSON', null],
    ['abc.json?x=1', 'abc.json?x=1', null],
    ['abc?x.json', 'abc?x', 'json'],
  ])('splits %j', (path, param, format) => {
    expect(splitFormat(path)).toEqual({ param, format });
  });

  it('lists the existing formats', () => {
    expect(noSuchFormat()).toMatchObject({
      status: 404,
      message: 'output format not found (available: .bin, .hex, .json)',
    });
  });
});

describe('numbers and hashes in paths', () => {
  it.each([
    ['12', 12],
    ['-3', -3],
    [' \t+5x', 5],
    ['007', 7],
    ['-0', 0],
    ['abc', 0],
    ['', 0],
    ['1e3', 1],
    ['0x10', 0],
  ])('reads the integer at the beginning of %j', (text, number) => {
    expect(leadingInteger(text)).toBe(number);
  });

  it.each([
    ['0', 0],
    ['+7', 7],
    ['-2147483648', -2147483648],
    ['2147483647', 2147483647],
    ['2147483648', null],
    ['', null],
    [' 1', null],
    ['1 ', null],
    ['1x', null],
    ['0x1', null],
    ['--1', null],
  ])('reads %j completely', (text, number) => {
    expect(parseInt32(text)).toBe(number);
  });

  it('accepts 64 digits as a hash, in wire order, and nothing else', () => {
    const text = `${'00'.repeat(31)}aB`;
    expect(parseHash(text)).toEqual(Buffer.concat([Buffer.of(0xab), Buffer.alloc(31)]));
    for (const wrong of ['', text.slice(1), `${text}0`, `${text.slice(1)}g`])
      expect(parseHash(wrong)).toBeNull();
  });
});

describe('decodeLeadingHex', () => {
  it.each([
    ['0aFf', '0aff'],
    [' 0a\n\tff ', '0aff'],
    ['0aff1', '0aff'],
    ['0agg', '0a'],
    ['0a f f', '0a'],
    ['0a\0ff', '0a'],
    ['', ''],
    ['xx', ''],
  ])('reads %j', (text, hex) => {
    expect(atOnce(decodeLeadingHex(Buffer.from(text))).toString('hex')).toBe(hex);
  });

  it.each(['ab', 'ab ', ' '])('pauses in long texts of %j', (part) => {
    const text = Buffer.from(part.repeat(400_000));
    const work = decodeLeadingHex(text);
    let pauses = 0;
    while (work.next().done !== true) pauses++;
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(text.length / AT_ONCE_SIZE));
  });
});
