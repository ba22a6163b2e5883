/** URLs of the explorer's pages. The functions of this module URL-encode all path segments. */

/** Encodes a path segment. An unpaired surrogate cannot be encoded and is replaced by U+FFFD. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Matches the path segments `.` and `..`, which browsers remove from a URL. */
const DOTS = /^\.{1,2}$/;

/** Whether the text of a name cannot be a path segment. The path of the empty name would be that of the list of names. */
const isWrittenInHex = (name: string): boolean => name === '' || DOTS.test(name);

/**
 * Returns the path of a name's page. A name that is not UTF-8, or that a browser would change in a URL, is written as hex
 * bytes.
 */
export function nameLink(name: string, nameHex?: string): string {
  if (nameHex !== undefined) return `/name-hex/${nameHex}`;
  if (isWrittenInHex(name)) return `/name-hex/${Buffer.from(name).toString('hex')}`;
  return `/name/${encoded(name)}`;
}

/** Returns the path of the proof of a name, which is given as text or as hex bytes. */
export function proofLink(name: string, isHex: boolean): string {
  if (isHex) return `/proof-hex/${encoded(name)}`;
  return isWrittenInHex(name)
    ? proofLink(Buffer.from(name).toString('hex'), true)
    : `/proof/${encoded(name)}`;
}

export const claimLink = (claimId: string): string => `/claim/${encoded(claimId)}`;
export const txLink = (txid: string, output?: number): string =>
  `/tx/${encoded(txid)}${output === undefined ? '' : `#out-${output}`}`;
export const blockLink = (block: string | number): string => `/block/${encoded(String(block))}`;
export const addressLink = (address: string): string => `/address/${encoded(address)}`;

/** Returns the path of a page for an LBRY URL (`lbry://@channel#1/name`); null if the text is not such a URL. */
export function lbryLink(url: string): string | null {
  const [, rest] = /^lbry:\/\/(.+)$/is.exec(url.trim()) ?? [];
  const parts = rest?.split('/');
  if (parts === undefined || parts.some((part) => part === '' || DOTS.test(part))) return null;
  return `/lbry/${parts.map(encoded).join('/')}`;
}

/** Returns a path with query parameters. Parameters without a value are omitted. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}
