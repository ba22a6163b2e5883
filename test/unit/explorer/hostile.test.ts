/** Pages rendered from answers in which every text is hostile have the same elements as pages with harmless texts. */
import { describe, expect, it } from 'vitest';
import { documentBytes } from '../../../src/page/document.js';
import { AskError } from '../../../src/explorer/explorerRpcClient.js';
import { ErrorPages } from '../../../src/explorer/errorPages.js';
import { pageErrorOf } from '../../../src/explorer/nodeErrors.js';
import { notFound, PageError, searchFor } from '../../../src/explorer/pageContext.js';
import { refuseUnknownValues } from '../../../src/explorer/pages/pageParameters.js';
import { PAGES } from '../../../src/explorer/pages/pageTable.js';
import {
  ADDRESSES,
  answers,
  CLAIM_STATES,
  contextOf,
  insteadOn,
  PAYLOADS,
  REFUSED,
  type Address,
} from '../../support/hostileAnswers.js';

const assets = { style: '/s.css', script: '/s.js' };
const errorPages = new ErrorPages('main', assets, () => 100);

const pageText = (
  page: string,
  text: string,
  long = text,
  instead: Readonly<Record<string, unknown>> = {},
): Promise<string> =>
  textAt(
    ADDRESSES.find(([one]) => one === page)!,
    text,
    long,
    instead,
  );

/** Renders the page or the error page of an address, as `PageRenderer` and `Site` do. */
async function textAt(
  [page, partsFor, queryFor]: Address,
  text: string,
  long = text,
  instead: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const parts = partsFor(text);
  const query = queryFor?.(text) ?? {};
  const path = `/${[page, ...parts].map((part) => encodeURIComponent(part.toWellFormed())).join('/')}`;
  const frame = { network: 'main', tip: null, nowSec: 100, isIndexable: false, path };
  try {
    refuseUnknownValues(page, path, new URLSearchParams(query));
    const shown = PAGES.get(page);
    if (shown === undefined)
      throw notFound('There is no such page', 'Search.', searchFor(parts.at(-1) ?? ''));
    const result = await shown(contextOf(text, parts, query, long, instead));
    if ('redirect' in result) return `<p>${result.redirect}</p>`;
    const { title, description, topics, searched, body } = result;
    return documentBytes(
      { ...frame, title, description, topics, query: searched },
      { scheme: null },
      assets,
      body,
    ).toString();
  } catch (error) {
    const refused = error instanceof AskError ? pageErrorOf(error, path) : error;
    if (!(refused instanceof PageError)) throw error;
    return errorPages.of(refused, { path, tip: null, look: { scheme: null } }).body.toString();
  }
}

interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** The tags as a browser parses them: an attribute ends at its own quote, and comments and declarations count as tags. */
function tagsOf(html: string): Tag[] {
  const tags: Tag[] = [];
  for (const [whole, closing, name, rest] of html.matchAll(
    /<(\/?)([a-zA-Z!?][^\s>/]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/g,
  )) {
    const attributes = new Map<string, string>();
    for (const [, key, quoted, bare] of (rest ?? '').matchAll(/([^\s=/"'>]+)(?:="([^"]*)"|=([^\s"'>]+))?/g))
      attributes.set(key!.toLowerCase(), quoted ?? bare ?? '');
    if (whole !== '' && closing === '') tags.push({ name: name!.toLowerCase(), attributes });
  }
  return tags;
}

const NEVER = new Set([
  'iframe',
  'object',
  'embed',
  'base',
  'style',
  'math',
  'template',
  'noscript',
  'applet',
  'frame',
]);
const URLS = new Set(['href', 'src', 'action', 'formaction', 'poster', 'xlink:href']);
const INNER = /^(\/(?!\/)|#|$)/;

function faultsOf(html: string): string[] {
  const faults: string[] = [];
  let scripts = 0;
  for (const { name, attributes } of tagsOf(html)) {
    if (NEVER.has(name) || (name.startsWith('!') && name !== '!doctype') || name.startsWith('?'))
      faults.push(`<${name}>`);
    if (name === 'script' && (++scripts > 1 || attributes.get('src') !== '/s.js')) faults.push('a script');
    if (name === 'meta' && /refresh/i.test(attributes.get('http-equiv') ?? '')) faults.push('a refresh');
    for (const [key, value] of attributes) {
      if (/^(on|style$|srcdoc$|autofocus$|formaction$)/.test(key)) faults.push(`${name} ${key}`);
      if (!URLS.has(key)) continue;
      const isInner = INNER.test(value) && !value.includes('\\');
      const isOuter =
        name === 'a' &&
        value.startsWith('https://') &&
        /noopener noreferrer nofollow ugc/.test(attributes.get('rel') ?? '');
      const isPicture = name === 'img' && value.startsWith('https://');
      if (!isInner && !isOuter && !isPicture) faults.push(`${name} ${key}=${value}`);
    }
  }
  // There are no characters left that hide text or change its direction.
  if (
    /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u0000]|[\u{e0000}-\u{e0fff}]/u.test(
      html.replaceAll(/(?:href|value|data-copy|data-proof)="[^"]*"/g, ''),
    )
  )
    faults.push('a hidden character');
  return faults;
}

/** The warning about a name that looks like another name. Pages of harmless names do not have it. */
const NAME_WARNING =
  /<p class="notice warning"><span aria-hidden="true">⚠<\/span> <span>This name (has|mixes) [^<]*<\/span><\/p>/g;

/** The tags of a page with the names of their attributes, without texts. */
const shapeOf = (html: string): readonly string[] =>
  tagsOf(html.replaceAll(NAME_WARNING, '')).map(({ name, attributes }) =>
    [name, ...attributes.keys()].join(' '),
  );

it('finds faults in invalid pages', () => {
  expect(
    faultsOf('<a href="javascript:1">x</a><p onclick="1"><script src="/x.js"></script><base href="/">'),
  ).toHaveLength(4);
  expect(shapeOf('<p class="a">x<b></b></p>')).toEqual(['p class', 'b']);
  expect(faultsOf('<a href="//evil.example">\u202e</a><!-- -->')).toHaveLength(3);
});

describe('pages over hostile texts', () => {
  it('are all tested here', () => {
    // The page `help` has no texts of the chain.
    const tested = new Set([...ADDRESSES, ...REFUSED].map(([page]) => page));
    expect([...PAGES.keys()].filter((page) => !tested.has(page))).toEqual(['help']);
  });

  it.each(ADDRESSES.map(([page]) => page))('/%s', async (page) => {
    const whole = (text: string): Promise<string> => pageText(page, text, text, insteadOn(page, text));
    const harmless = await whole('harmless');
    expect(faultsOf(harmless)).toEqual([]);
    const shape = shapeOf(harmless);
    expect(shape.length).toBeGreaterThan(30);
    for (const text of PAYLOADS) {
      const html = await whole(text);
      expect([text, faultsOf(html)]).toEqual([text, []]);
      expect([text, shapeOf(html)]).toEqual([text, shape]);
      expect(html.length).toBeLessThan(400_000);
    }
  });

  it.each(REFUSED.map((address, n) => [n, address[0], address] as const))(
    'at the refused address %i, /%s',
    async (_, page, address) => {
      const harmless = await textAt(address, 'harmless');
      const isError = harmless.includes('<h1>');
      expect([page, isError || page === 'lbry']).toEqual([page, true]);
      for (const text of PAYLOADS) expect([text, faultsOf(await textAt(address, text))]).toEqual([text, []]);
      // The nodes of a page for an unknown object are those of the error page.
      const missing = new AskError(-5, 'unknown');
      const nothing = Object.fromEntries(Object.keys(answers('')).map((method) => [method, missing]));
      for (const text of PAYLOADS)
        expect([text, faultsOf(await textAt(address, text, text, nothing))]).toEqual([text, []]);
    },
  );

  it.each(ADDRESSES.map(([page]) => page))(
    '/%s if each method fails with a hostile message',
    async (page) => {
      for (const text of PAYLOADS)
        for (const code of [-1, -5, -8, -32603]) {
          const failure = new AskError(code, text);
          const failing = Object.fromEntries(Object.keys(answers('')).map((method) => [method, failure]));
          const html = await pageText(page, text, text, failing);
          expect([text, faultsOf(html)]).toEqual([text, []]);
        }
    },
  );

  it.each(CLAIM_STATES)('/claim of a claim that %s', async (_, instead) => {
    const harmless = await pageText('claim', 'harmless', 'harmless', instead('harmless'));
    // The page is another one than that of a claim without this state.
    expect(harmless).not.toBe(await pageText('claim', 'harmless'));
    expect(harmless).toContain('<h1><bdi>harmless</bdi></h1>');
    for (const text of PAYLOADS) {
      const html = await pageText('claim', text, text, instead(text));
      expect([text, faultsOf(html)]).toEqual([text, []]);
    }
  });

  it.each(['', 'name', 'claim', 'tx', 'block'])('/%s cuts a title of 1 MB', async (page) => {
    const html = await pageText(page, 'short', '<b>'.repeat(350_000));
    expect(html.length).toBeLessThan(250_000);
    expect(faultsOf(html)).toEqual([]);
  });
});
