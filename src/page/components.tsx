/** Components shared by all pages. Preact escapes HTML; texts from the chain are additionally passed through `shownText`. */
import type { ComponentChildren, VNode } from 'preact';
import { agoText } from './age.js';
import { amountText, integerText, isoTime, timeText, type Lbc } from './format.js';
import { addressLink, blockLink, claimLink, lbryLink, nameLink, txLink } from './links.js';
import { markup } from './markup.js';
import { meaningOf } from './terms.js';
import { shownLine, shownName, shownText } from './text.js';

/** Maximum number of characters of a title or name that a page shows. */
const MAX_TITLE = 200;
const MAX_NAME = 120;

export function Name({ name, hex }: { readonly name: string; readonly hex?: string | undefined }): VNode {
  const shown = shownName(name, MAX_NAME) || '(empty name)';
  return markup`<a class="name" href="${nameLink(name, hex)}"><bdi>${shown}</bdi></a>`;
}

/** Shows a text from the chain in one line. */
export function Title({ text }: { readonly text: string }): VNode {
  return markup`<bdi>${shownLine(text, MAX_TITLE)}</bdi>`;
}

/** Shows a text from the chain with its line breaks, cut at `most` characters. */
export function LongText({ text, most }: { readonly text: string; readonly most: number }): VNode {
  return <p class="long">{<bdi>{shownText(text, most)}</bdi>}</p>;
}

export function Amount({ lbc }: { readonly lbc: Lbc }): VNode {
  const [whole, decimals] = amountText(lbc).split('.');
  return markup`<span class="amount">${whole}<small>.${decimals}</small> <abbr title="LBRY credits">LBC</abbr></span>`;
}

/** Shows an amount without unit, for a column whose header contains the unit. */
export function Coins({ lbc }: { readonly lbc: Lbc }): VNode {
  const text = amountText(lbc);
  const point = text.indexOf('.');
  return markup`${text.slice(0, point)}<small>${text.slice(point)}</small>`;
}

interface HashProps {
  readonly hash: string;
  readonly href?: string;
  /** Whether the hash is shown in full. */
  readonly isWhole?: boolean;
}

/** Shows a hash without its middle part. The tooltip and screen readers have the complete hash. */
export function Hash({ hash, href, isWhole = false }: HashProps): VNode {
  const text = isWhole || hash.length <= 20 ? hash : `${hash.slice(0, 8)}…${hash.slice(-6)}`;
  const shown = markup`<code class="${isWhole ? 'hash whole' : 'hash'}">${text}</code>`;
  return href === undefined
    ? markup`<span title="${hash}">${shown}</span>`
    : markup`<a href="${href}" title="${hash}">${shown}</a>`;
}

export const Tx = ({ txid }: { readonly txid: string }): VNode => Hash({ hash: txid, href: txLink(txid) });
export const ClaimId = ({ id }: { readonly id: string }): VNode => Hash({ hash: id, href: claimLink(id) });
export const Block = ({ height }: { readonly height: number }): VNode =>
  markup`<a href="${blockLink(height)}">${integerText(height)}</a>`;
/** Links to an output, which is identified by transaction and output number. */
export const Output = ({ txid, n }: { readonly txid: string; readonly n: number }): VNode =>
  markup`<a href="${txLink(txid, n)}" title="${txid}:${n}"><code class="hash">${txid.slice(0, 8)}…:${n}</code></a>`;
export const Address = ({ address }: { readonly address: string }): VNode =>
  markup`<a class="hash" href="${addressLink(address)}"><code>${address}</code></a>`;

/** Shows a time relative to the current time, with the exact time as tooltip. */
export function Time({ sec, now }: { readonly sec: number; readonly now: number }): VNode {
  return markup`<time datetime="${isoTime(sec)}" title="${timeText(sec)}" data-age>${agoText(sec, now)}</time>`;
}

/** Shows a time in UTC. The tooltip has the time in the visitor's time zone if scripts are enabled. */
export function UtcTime({ sec }: { readonly sec: number }): VNode {
  const text = timeText(sec);
  return markup`<time datetime="${isoTime(sec)}" title="${text}">${text}</time>`;
}

/**
 * Links to a URL from the chain: to another host if the URL is HTTPS, to a page of this site if it is an LBRY URL. Other URLs
 * are shown as text. Only this component creates links to other hosts.
 */
export function Outside({
  url,
  children,
}: {
  readonly url: string;
  readonly children: ComponentChildren;
}): VNode {
  const inner = lbryLink(url);
  if (inner !== null) return <a href={inner}>{children}</a>;
  const isSafe = URL.canParse(url) && new URL(url).protocol === 'https:';
  if (!isSafe) return <span>{children}</span>;
  return (
    <a href={url} rel="noopener noreferrer nofollow ugc">
      {children} <span aria-hidden="true">↗</span>
      <span class="unseen">(another site)</span>
    </a>
  );
}

export interface TableColumn<Row> {
  readonly title: string;
  /** Unit of all values of the column, shown in its header. */
  readonly unit?: string;
  readonly cell: (row: Row, index: number) => ComponentChildren;
  /** Whether the column contains numbers, which are then right-aligned. */
  readonly isNumber?: boolean;
  /** Whether text in the cells does not wrap. */
  readonly isTight?: boolean;
  /** Whether the cell is the header of its row. */
  readonly isHead?: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** Content shown instead of the table if it has no rows. */
  readonly empty: ComponentChildren;
  readonly idOf?: (row: Row) => string | undefined;
  /** Cache of rendered rows: returns the row, which `make` renders. */
  readonly kept?: ((row: Row, make: () => VNode) => VNode) | undefined;
}

/**
 * Maximum number of columns of a table that is not stretched to the width of the page, because its columns would be too far
 * apart to be read.
 */
const NARROW_COLUMNS = 2;

const classOf = ({ isNumber, isTight }: Pick<TableColumn<never>, 'isNumber' | 'isTight'>): VNode | null =>
  isNumber ? markup` class="number"` : isTight ? markup` class="tight"` : null;
const unitOf = ({ unit }: Pick<TableColumn<never>, 'unit'>): VNode | null =>
  unit === undefined ? null : markup`<small> ${unit}</small>`;

/** Tooltip of a column: the meaning of its title. */
function hintOf({ title }: Pick<TableColumn<never>, 'title'>): VNode | null {
  const meaning = meaningOf(title);
  return meaning === undefined ? null : markup` title="${meaning}"`;
}

/** Shows a table in a scrollable element that can be focused by keyboard. */
export function Table<Row>({ caption, columns, rows, empty, idOf, kept }: TableProps<Row>): VNode {
  if (rows.length === 0) return <p class="quiet">{empty}</p>;
  const heads = columns.map(
    (column) =>
      markup`<th scope="col"${classOf(column)}${hintOf(column)}>${column.title}${unitOf(column)}</th>`,
  );
  const open = columns.map((column) => {
    const tag = column.isHead ? markup`<th scope="row"` : markup`<td`;
    return markup`${tag}${column.isHead && column.isNumber ? null : classOf(column)}>`;
  });
  const close = columns.map(({ isHead }) => (isHead ? markup`</th>` : markup`</td>`));
  const lineOf = (row: Row, index: number): VNode => {
    const id = idOf?.(row);
    const cells = columns.map(({ cell }, column) => [open[column]!, cell(row, index), close[column]!]);
    return markup`<tr${id === undefined ? null : markup` id="${id}"`}>${cells}</tr>`;
  };
  const lines = rows.map((row, index) =>
    kept === undefined ? lineOf(row, index) : kept(row, () => lineOf(row, index)),
  );
  const narrow = columns.length <= NARROW_COLUMNS ? markup` class="narrow"` : null;
  return markup`<div class="scroller" role="region" aria-label="${caption}" tabindex="0"><table${narrow}><caption class="unseen">${caption}</caption><thead><tr>${heads}</tr></thead><tbody>${lines}</tbody></table></div>`;
}

/** Shows a list of names and values. A row whose value is null or undefined is omitted. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }): VNode {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined && value !== false)
        .map(([name, value]) => (
          <div>
            <dt title={meaningOf(name)}>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Shows a text with a copy button. The button appears only if scripts are enabled. */
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

/** Shows key figures side by side at the top of a page. */
export function Figures({
  items,
}: {
  readonly items: readonly (readonly [string, ComponentChildren])[];
}): VNode {
  return (
    <ul class="figures">
      {items.map(([name, value]) => (
        <li>
          <span title={meaningOf(name)}>{name}</span>
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

/** Shows a note. A sign and a word, in addition to the colour, show how serious it is. */
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
  return markup`<span class="tag ${tone}">${children}</span>`;
}

/** Links to the previous and next pages of a list. */
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

/** Number of squares per row and column of the picture that is generated for an id. The right half mirrors the left half. */
const CELLS = 5;

/**
 * Shows a picture generated from a claim id, so that claims of the same name can be distinguished. All squares are drawn as
 * one path of thick lines, because a page may have a hundred pictures.
 */
export function Pattern({ id }: { readonly id: string }): VNode {
  const byte = (at: number): number => parseInt(id.slice(2 * at, 2 * at + 2), 16) || 0;
  let lines = '';
  for (let row = 0; row < CELLS; row++) {
    const isSet = (column: number): boolean =>
      (byte(2 + row * 3 + Math.min(column, CELLS - 1 - column)) & 1) === 1;
    for (let column = 0; column < CELLS; column++) {
      const from = column;
      while (column < CELLS && isSet(column)) column++;
      if (column > from) lines += `M${from} ${row}h${column - from}`;
    }
  }
  const hue = ((byte(0) << 8) | byte(1)) % 12;
  return markup`<svg class="pattern hue-${hue}" viewBox="0 -.5 5 5" aria-hidden="true" focusable="false"><path d="${lines}"></path></svg>`;
}
