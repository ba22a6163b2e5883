/** The query parameters of all pages: accepted and refused values. */
import { describe, expect, it } from 'vitest';
import { PageError } from '../../../src/explorer/pageContext.js';
import { knownSearch, PARAMETERS, refuseUnknownValues } from '../../../src/explorer/pages/pageParameters.js';
import { PAGES } from '../../../src/explorer/pages/pageTable.js';

function refusal(page: string, search: string): PageError | null {
  try {
    refuseUnknownValues(page, `/${page}`, new URLSearchParams(search));
    return null;
  } catch (error) {
    if (error instanceof PageError) return error;
    throw error;
  }
}

/** A value that no parameter accepts, except those that are any text, which have a maximum length. */
const unknownFor = (name: string): string =>
  /^(text|tag|prefix|q|method|p#)$/.test(name) ? '<b>'.repeat(700) : '<b>zz';

const EVERY = Object.entries(PARAMETERS).flatMap(([page, own]) =>
  Object.keys(own)
    .filter((name) => name !== 'back')
    .map((name) => [page, name === 'p#' ? 'p3' : name, name] as const),
);

describe('the parameters of the pages', () => {
  it.each([
    ['names', 'utm_source=mail&prefix=a%20b&x', 'prefix=a%20b'],
    ['names', 'bl%6fck=7&from=1&p0=2', 'bl%6fck=7&from=1'],
    ['console', 'p0=1&p12=&p=3&method=x', 'p0=1&p12=&method=x'],
    ['no-such-page', 'constructor=1&toString&after=2', 'after=2'],
    ['', 'x=1&&', ''],
  ])('/%s?%s has the known query “%s”', (page, search, known) => {
    expect(knownSearch(page, search)).toBe(known);
  });

  it('are declared for each page', () => {
    expect(Object.keys(PARAMETERS).sort()).toEqual([...PAGES.keys(), 'look'].sort());
    expect(EVERY.length).toBeGreaterThan(30);
  });

  it.each(EVERY)('/%s?%s= refuses an unknown value', (page, name, key) => {
    const value = unknownFor(key);
    const error = refusal(page, new URLSearchParams({ other: '1', [name]: value }).toString());
    expect(error).toMatchObject({ status: 400, near: [[`/${page}?other=1`, `The page without “${name}”`]] });
    expect(error!.message).toContain(`“${name}”`);
    expect(error!.message).toContain(value.slice(0, 50));
    expect(error!.message).toContain('must be');
    // A second value of the same parameter is checked as well, and an empty one is absent.
    expect(refusal(page, `${name}=&${name}=${encodeURIComponent(value)}`)).not.toBeNull();
    expect(refusal(page, `${name}=`)).toBeNull();
  });

  it.each([
    ['upcoming', 'kind=takeover&from=12&skip=3&block=7'],
    ['claims', `text=a&tag=b&channel=${'AB'.repeat(20)}&kind=stream&order=name&after=ab0`],
    ['name', `order=newest&before=12-5&block=%20${'ab'.repeat(32)}`],
    ['proof-hex', `root=${'AB'.repeat(32)}`],
    ['console', 'method=getblock&run=1&p0=5&p12=%5B%5D'],
    ['look', 'scheme=dark&images=no&back=/name/x%3Forder%3Dnewest'],
    ['claim', 'description=whole&after=00ff'],
    ['', 'utm_source=mail'],
  ])('/%s?%s is accepted', (page, search) => {
    expect(refusal(page, search)).toBeNull();
  });

  it.each([
    [
      'upcoming',
      'kind=zzz',
      '“zzz” is not a value of “kind”, which must be one of all, takeover, activation, expiration.',
    ],
    ['claim', 'description=part', '“part” is not a value of “description”, which must be “whole”.'],
    ['blocks', 'from=2147483648', 'a whole number of at most 2147483647'],
    ['charts', 'from=zz', 'This page has no parameter “from”.'],
    ['claim', 'block=5', 'This page has no parameter “block”.'],
    ['', 'p0=5', null],
    ['name', 'constructor=5', null],
  ])('/%s?%s gives the message “%s”', (page, search, message) => {
    if (message === null) expect(refusal(page, search)).toBeNull();
    else expect(refusal(page, search)?.message).toContain(message);
  });
});
