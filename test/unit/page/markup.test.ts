import { Fragment, h, type ComponentChildren } from 'preact';
import { render } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { markup } from '../../../src/page/markup.js';

const Bold = ({ children }: { readonly children: ComponentChildren }) => h('b', null, children);
const bold = (text: string) => h(Bold, null, text);
const hostile = '"><script>&';

describe('markup', () => {
  it('escapes values between tags and in attributes', () => {
    expect(render(markup`<a href="${hostile}">${hostile}</a>`)).toBe(
      '<a href="&quot;>&lt;script>&amp;">&quot;>&lt;script>&amp;</a>',
    );
  });

  it.each([
    ['numbers', 0, '0'],
    ['nothing', [null, undefined, true, false], ''],
    ['lists', ['a', ['<', 1]], 'a&lt;1'],
    ['other markup', markup`<i>${'&'}</i>`, '<i>&amp;</i>'],
    ['elements', bold('<'), '<b>&lt;</b>'],
    ['fragments', h(Fragment, null, '<'), '&lt;'],
    ['lists with elements', ['<', bold('1'), markup`<i>2</i>`, [bold('3')]], '&lt;<b>1</b><i>2</i><b>3</b>'],
    ['markup with elements', markup`<i>${bold('1')}&</i>`, '<i><b>1</b>&</i>'],
    ['components that return markup', h(Fragment, null, markup`<i></i>`), '<i></i>'],
  ])('accepts %s', (_, value: ComponentChildren, html) => {
    expect(render(markup`<p>${value}</p>`)).toBe(`<p>${html}</p>`);
    expect(render(h('p', null, markup`${value}`))).toBe(`<p>${html}</p>`);
  });
});
