import { describe, expect, it } from 'vitest';
import { wrapLines } from '../../../../src/util/text/wrapLines.js';

describe('wrapLines', () => {
  it('breaks at spaces and fills a line up to the width', () => {
    expect(wrapLines('one two three', 7)).toEqual(['one two', 'three']);
  });

  it('gives a longer word a line of its own', () => {
    expect(wrapLines('a disestablishment b', 4)).toEqual(['a', 'disestablishment', 'b']);
  });

  it('keeps line breaks and empty lines', () => {
    expect(wrapLines('one\n\ntwo three', 5)).toEqual(['one', '', 'two', 'three']);
  });
});
