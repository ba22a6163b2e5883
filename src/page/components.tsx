/** Components of all pages. Escaping is Preact's; texts from the chain go through `shownText`. */
import type { ComponentChildren, VNode } from 'preact';
import { agoText, amountText, isoTime, timeText } from './format.js';
import { addressLink, blockLink, claimLink, nameLink, txLink } from './links.js';
import { shownLine, shownText } from './text.js';

/** Maximum length of a title shown. */
const MAX_TITLE = 200;
const MAX_NAME = 120;

export function Name({ name, hex }: { readonly name: string; readonly hex?: string | undefined }): VNode {
  return (
    <a class="name" href={nameLink(name, hex)}>
      <bdi>{shownLine(name, MAX_NAME) || '(empty name)'}</bdi>
    </a>
  );
}

/** One line of text from the chain. */
export function Title({ text }: { readonly text: string }): VNode {
  return <bdi>{shownLine(text, MAX_TITLE)}</bdi>;
}

/** A text from the chain with its line breaks; cut at 5,000 characters. */
export function LongText({ text, most = 5000 }: { readonly text: string; readonly most?: number }): VNode {
  return <p class="long">{<bdi>{shownText(text, most)}</bdi>}</p>;
}

export function Amount({ lbc }: { readonly lbc: number }): VNode {
  const [whole, decimals] = amountText(lbc).split('.');
  return (
    <span class="amount">
      {whole}
      <small>.{decimals}</small> <abbr title="LBRY credits">LBC</abbr>
    </span>
  );
}

interface HashProps {
  readonly hash: string;
  readonly href?: string;
  /** Shown whole. */
  readonly isWhole?: boolean;
}

/** A hash with its middle omitted; screen readers and the tooltip have the complete hash. */
export function Hash({ hash, href, isWhole = false }: HashProps): VNode {
  const text = isWhole || hash.length <= 20 ? hash : `${hash.slice(0, 8)}…${hash.slice(-6)}`;
  const shown = <code class={isWhole ? 'hash whole' : 'hash'}>{text}</code>;
  return href === undefined ? (
    <span title={hash}>{shown}</span>
  ) : (
    <a href={href} title={hash}>
      {shown}
    </a>
  );
}

export const Tx = ({ txid }: { readonly txid: string }): VNode => <Hash hash={txid} href={txLink(txid)} />;
export const ClaimId = ({ id }: { readonly id: string }): VNode => <Hash hash={id} href={claimLink(id)} />;
export const Block = ({ height }: { readonly height: number }): VNode => (
  <a href={blockLink(height)}>{height.toLocaleString('en')}</a>
);
/** A link to an output, given by transaction and output number. */
export const Output = ({ txid, n }: { readonly txid: string; readonly n: number }): VNode => (
  <a href={txLink(txid, n)} title={`${txid}:${n}`}>
    <code class="hash">
      {txid.slice(0, 8)}…:{n}
    </code>
  </a>
);
export const Address = ({ address }: { readonly address: string }): VNode => (
  <a class="hash" href={addressLink(address)}>
    <code>{address}</code>
  </a>
);

/** A point in time: relative, with the exact time as a tooltip. */
export function Time({ sec, now }: { readonly sec: number; readonly now: number }): VNode {
  return (
    <time dateTime={isoTime(sec)} title={timeText(sec)}>
      {agoText(sec, now)}
    </time>
  );
}

/** A link to another host; only this component creates such links. Null if the URL is not HTTPS. */
export function Outside({
  url,
  children,
}: {
  readonly url: string;
  readonly children: ComponentChildren;
}): VNode {
  const isSafe = URL.canParse(url) && new URL(url).protocol === 'https:';
  if (!isSafe) return <span>{children}</span>;
  return (
    <a href={url} rel="noopener noreferrer nofollow ugc">
      {children} <span aria-hidden="true">↗</span>
      <span class="unseen">(another site)</span>
    </a>
  );
}

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row, index: number) => ComponentChildren;
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean;
  /** Cells do not wrap. */
  readonly isTight?: boolean;
  /** The cell names the row. */
  readonly isHead?: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Shown in place of rows when there are none. */
  readonly empty: ComponentChildren;
  readonly idOf?: (row: Row) => string | undefined;
}

/** A table in a scrollable element that can be reached by keyboard. */
export function Table<Row>({ caption, columns, rows, empty, idOf }: TableProps<Row>): VNode {
  if (rows.length === 0) return <p class="quiet">{empty}</p>;
  return (
    <div class="scroller" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber, isTight }) => (
              <th scope="col" class={isNumber ? 'number' : isTight ? 'tight' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr id={idOf?.(row)}>
              {columns.map(({ cell, isNumber, isHead, isTight }) =>
                isHead ? (
                  <th scope="row">{cell(row, index)}</th>
                ) : (
                  <td class={isNumber ? 'number' : isTight ? 'tight' : undefined}>{cell(row, index)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A list of names and values. A value that is null or undefined is omitted. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }): VNode {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined && value !== false)
        .map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A text with a copy button, if scripts are enabled. */
export function Copied({ text }: { readonly text: string }): VNode {
  return (
    <span class="copied">
      <code class="whole">
        <bdi>{shownLine(text, 300)}</bdi>
      </code>
      <span data-copy={text}></span>
    </span>
  );
}

/** Figures in a row, for the head of a page. */
export function Figures({
  items,
}: {
  readonly items: readonly (readonly [string, ComponentChildren])[];
}): VNode {
  return (
    <ul class="figures">
      {items.map(([name, value]) => (
        <li>
          <span>{name}</span>
          <strong>{value}</strong>
        </li>
      ))}
    </ul>
  );
}

interface SectionProps {
  readonly title: string;
  readonly id?: string;
  readonly more?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Section({ title, id, more, children }: SectionProps): VNode {
  return (
    <section id={id}>
      <header>
        <h2>{title}</h2>
        {more}
      </header>
      {children}
    </section>
  );
}

export type Tone = 'info' | 'good' | 'warning';
const SIGNS: Readonly<Record<Tone, string>> = { info: '›', good: '✓', warning: '⚠' };

/** A note whose kind is shown by a sign and a word, not by its colour alone. */
export function Notice({
  tone = 'info',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <p class={`notice ${tone}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span> <span>{children}</span>
    </p>
  );
}

export function Tag({
  tone = 'info',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}): VNode {
  return <span class={`tag ${tone}`}>{children}</span>;
}

/** Links to the previous and next pages. */
export function Pager({
  next,
  first,
}: {
  readonly next?: string | undefined;
  readonly first?: string | undefined;
}): VNode | null {
  if (next === undefined && first === undefined) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {first !== undefined && <a href={first}>First page</a>}
      {next !== undefined && (
        <a rel="next" href={next}>
          Next page
        </a>
      )}
    </nav>
  );
}

/** Number of squares in a row of the pattern; the right half mirrors the left one. */
const CELLS = 5;

/** A picture for a claim, generated from its id: two claims of one name look different. */
export function Pattern({ id }: { readonly id: string }): VNode {
  const bytes = id.match(/../g)?.map((pair) => parseInt(pair, 16)) ?? [];
  const hue = (((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)) % 12;
  // One path for all squares: a page has a hundred patterns. Squares overlap a little, so that no gap shows between them.
  let squares = '';
  for (let row = 0; row < CELLS; row++)
    for (let column = 0; column < 3; column++) {
      if (((bytes[2 + row * 3 + column] ?? 0) & 1) === 0) continue;
      squares += `M${column} ${row}h1.02v1.02h-1.02z`;
      if (column < 2) squares += `M${CELLS - 1 - column} ${row}h1.02v1.02h-1.02z`;
    }
  return (
    <svg class={`pattern hue-${hue}`} viewBox="0 0 5 5" aria-hidden="true" focusable="false">
      <path d={squares} />
    </svg>
  );
}
