import { describe, expect, it } from 'vitest';
import { formatUrl, parseUrl } from '../../../src/metadata/url.js';

const segment = (name: string, claimId: string | null = null, amountOrder: number | null = null) => ({
  name,
  claimId,
  amountOrder,
});

describe('URLs', () => {
  it.each([
    ['a', null, segment('a'), 'lbry://a'],
    ['lbry://a#0f', null, segment('a', '0f'), 'lbry://a:0f'],
    ['lbry://a$12', null, segment('a', null, 12), 'lbry://a$12'],
    ['@c', segment('@c'), null, 'lbry://@c'],
    ['@c:1/s$2', segment('@c', '1'), segment('s', null, 2), 'lbry://@c:1/s$2'],
    ['lbry://@c$3/s:abc', segment('@c', null, 3), segment('s', 'abc'), 'lbry://@c$3/s:abc'],
    ['日本語/'.slice(0, -1), null, segment('日本語'), 'lbry://日本語'],
    ['\u{1F389}', null, segment('\u{1F389}'), 'lbry://\u{1F389}'],
    ['lbry:ab', null, segment('lbry', 'ab'), 'lbry://lbry:ab'],
    ['a\n', null, segment('a'), 'lbry://a'],
  ])('reads %j', (text, channel, stream, written) => {
    expect(parseUrl(text)).toEqual({ channel, stream });
    expect(formatUrl({ channel, stream })).toBe(written);
    expect(parseUrl(written)).toEqual({ channel, stream });
  });

  it.each([
    '',
    'lbry://',
    '@',
    '@c/',
    'a/b',
    '@c/@d',
    '@c/s/t',
    'a:',
    'a:G',
    'a:AB',
    `a:${'0'.repeat(41)}`,
    'a$0',
    'a$01',
    'a:1$2',
    'a b',
    'a\n\n',
    'lbry:///a',
    'http://a',
    'a?b',
    '\ud800',
    '\uffff',
  ])('refuses %j', (text) => {
    expect(parseUrl(text)).toBeNull();
  });

  it('accepts any number as the position by amount', () => {
    expect(parseUrl(`a$1${'0'.repeat(400)}`)?.stream?.amountOrder).toBe(Number.MAX_VALUE);
  });
});
