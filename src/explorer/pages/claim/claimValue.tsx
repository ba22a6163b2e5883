/** The value of a claim as its page shows it: fields, tags, picture, raw value. */
import type { ComponentChildren } from 'preact';
import { Hash, Outside, Section } from '../../../page/components.js';
import { durationText } from '../../../page/age.js';
import { sizeText, timeText } from '../../../page/format.js';
import { withQuery } from '../../../page/links.js';
import { shownLine, shownText } from '../../../page/text.js';
import type { PageContext } from '../../pageContext.js';
import { MAX_TEXT } from '../claims.js';

/** Maximum number of characters of the decoded value and of its bytes in hex; longer texts are truncated. */
const MAX_VALUE_CHARS = 100_000;
const MAX_HEX_CHARS = 10_000;
const MAX_DEPTH = 20;
const MAX_TAGS = 50;

type Value = Readonly<Record<string, unknown>>;

export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;
const numberOf = (value: unknown): number | null => {
  const number = typeof value === 'string' && /^-?[0-9]+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
};
export const partOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Value)[key] : undefined;

/** Shows a hash or key as hexadecimal digits, and any other value as text. */
function hashOf(value: unknown): ComponentChildren {
  const text = textOf(value);
  return text !== null && /^[0-9a-f]{1,200}$/i.test(text) ? <Hash hash={text} isWhole /> : text;
}

/** Writes a decimal number without exponent: `1E-8` as `0.00000001`. Returns other texts unchanged. */
function withoutExponent(text: string): string {
  const [, whole, part = '', exponent] = /^(\d+)(?:\.(\d+))?e([+-]?\d{1,2})$/i.exec(text) ?? [];
  if (whole === undefined) return text;
  const decimals = part.length - Number(exponent);
  if (decimals <= 0) return `${whole}${part}${'0'.repeat(-decimals)}`;
  const digits = `${whole}${part}`.padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, '');
}

/** The price of a stream; null without a price. */
function feeText(fee: unknown): string | null {
  const [currency, amount] = [textOf(partOf(fee, 'currency')), textOf(partOf(fee, 'amount'))];
  if (currency === null || amount === null) return null;
  return `${withoutExponent(amount)} ${currency}`;
}

/**
 * The release time; null without one. If it is outside the range of dates, its number of seconds is shown as it is in the value,
 * because a conversion to a number could round it.
 */
function releaseText(value: unknown): string | null {
  const seconds = numberOf(value);
  if (seconds === null) return null;
  const text = timeText(seconds);
  return text === String(seconds) ? `${String(value)} seconds after 1970` : text;
}

/** A link to a URL in the value of a claim. */
const LinkRow = ({ url }: { readonly url: string }) => (
  <Outside url={url}>
    <bdi>{shownLine(url, 120)}</bdi>
  </Outside>
);

/** Converts the fields of a claim's value to rows of a table. */
export function valueRows(value: unknown): [string, ComponentChildren][] {
  const source = partOf(value, 'source');
  const media = partOf(value, 'video') ?? partOf(value, 'image') ?? partOf(value, 'audio');
  const [width, height] = [numberOf(partOf(media, 'width')), numberOf(partOf(media, 'height'))];
  const duration = numberOf(partOf(media, 'duration'));
  const size = numberOf(partOf(source, 'size'));
  const website = textOf(partOf(value, 'website_url'));
  const licenceUrl = textOf(partOf(value, 'license_url'));
  const languages = partOf(value, 'languages');
  const rows: [string, string | null | ComponentChildren][] = [
    ['Author', textOf(partOf(value, 'author'))],
    ['Released', releaseText(partOf(value, 'release_time'))],
    ['Kind of file', textOf(partOf(source, 'media_type'))],
    ['File name', textOf(partOf(source, 'name'))],
    ['Size', size === null ? null : sizeText(size)],
    ['Dimensions', width === null || height === null || width === 0 ? null : `${width} × ${height}`],
    ['Duration', duration === null || duration === 0 ? null : durationText(duration)],
    ['Price', feeText(partOf(value, 'fee'))],
    ['Languages', Array.isArray(languages) ? languages.slice(0, 20).map(String).join(', ') : null],
    ['Licence', textOf(partOf(value, 'license'))],
    ['E-mail', textOf(partOf(value, 'email'))],
    ['Stream hash', hashOf(partOf(source, 'sd_hash'))],
    ['File hash', hashOf(partOf(source, 'hash'))],
    ['Public key', hashOf(partOf(value, 'public_key'))],
  ];
  return [
    ...rows.map(([name, text]): [string, ComponentChildren] => [
      name,
      typeof text === 'string' ? <bdi>{shownLine(text, 300)}</bdi> : text,
    ]),
    ['Text of the licence', licenceUrl && <LinkRow url={licenceUrl} />],
    ['Website', website && <LinkRow url={website} />],
  ];
}

/** A tag with a link to the claims that have it. `/claims` refuses longer texts. */
function TagOfClaim({ tag }: { readonly tag: string }) {
  const text = <bdi>{shownLine(tag, 60)}</bdi>;
  if (tag.length > MAX_TEXT) return <span class="tag info">{text}</span>;
  return (
    <a class="tag info" href={withQuery('/claims', { tag })}>
      {text}
    </a>
  );
}

export function Tags({ value }: { readonly value: unknown }) {
  const tags = partOf(value, 'tags');
  if (!Array.isArray(tags) || tags.length === 0) return null;
  return (
    <p>
      {tags.slice(0, MAX_TAGS).map((tag) => (
        <>
          <TagOfClaim tag={String(tag)} />{' '}
        </>
      ))}
    </p>
  );
}

export function Picture({
  value,
  context,
  path,
}: {
  readonly value: unknown;
  readonly context: PageContext;
  readonly path: string;
}) {
  const url = textOf(partOf(partOf(value, 'thumbnail'), 'url'));
  if (url === null || !context.showsImages || !URL.canParse(url) || new URL(url).protocol !== 'https:')
    return null;
  if (context.wantsImages)
    return (
      <>
        <img
          class="thumbnail"
          src={url}
          alt="The claim's picture"
          width="320"
          height="180"
          loading="lazy"
          referrerpolicy="no-referrer"
        />
        <p>
          <a rel="nofollow" href={withQuery('/look', { images: 'no', back: path })}>
            Stop loading pictures from their hosts
          </a>
        </p>
      </>
    );
  return (
    <p class="quiet">
      The claim has a picture at <bdi>{new URL(url).host}</bdi>. Its host would learn your address and when
      you look.{' '}
      <a rel="nofollow" href={withQuery('/look', { images: 'yes', back: path })}>
        Show pictures from their hosts
      </a>
    </p>
  );
}

/** Returns the value without the parts that are nested deeper than `MAX_DEPTH`. */
function cutDeep(value: unknown, depth = MAX_DEPTH): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  if (Array.isArray(value)) return value.map((item) => cutDeep(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutDeep(item, depth - 1)]));
}

/** Shows the complete value as JSON and as bytes. */
export function RawValue({ value, hex }: { readonly value: unknown; readonly hex: string | undefined }) {
  if (value === undefined && hex === undefined) return null;
  return (
    <Section title="Data of the claim">
      {value !== undefined && (
        <details>
          <summary>As JSON</summary>
          <pre tabIndex={0}>
            <code>{shownText(JSON.stringify(cutDeep(value), null, 2), MAX_VALUE_CHARS)}</code>
          </pre>
        </details>
      )}
      {hex !== undefined && (
        <details>
          <summary>As hexadecimal bytes</summary>
          <pre tabIndex={0} class="wrapped">
            <code>{hex.length > MAX_HEX_CHARS ? `${hex.slice(0, MAX_HEX_CHARS)}…` : hex}</code>
          </pre>
        </details>
      )}
    </Section>
  );
}
