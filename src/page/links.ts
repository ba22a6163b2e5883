/** Addresses of the explorer's pages. All parts are URL-encoded here. */

/** Half of a surrogate pair cannot be encoded and is replaced by U+FFFD. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Path parts that browsers resolve themselves. */
const DOTS = /^\.{1,2}$/;

/** The page of a name; a name that is not UTF-8, or that a browser would resolve, is given by its bytes in hex. */
export function nameLink(name: string, nameHex?: string): string {
  if (nameHex !== undefined) return `/name-hex/${nameHex}`;
  if (DOTS.test(name)) return `/name-hex/${Buffer.from(name).toString('hex')}`;
  return `/name/${encoded(name)}`;
}

export const claimLink = (claimId: string): string => `/claim/${encoded(claimId)}`;
export const txLink = (txid: string, output?: number): string =>
  `/tx/${encoded(txid)}${output === undefined ? '' : `#out-${output}`}`;
export const blockLink = (block: string | number): string => `/block/${encoded(String(block))}`;
export const addressLink = (address: string): string => `/address/${encoded(address)}`;

/** A path with parameters; those without a value are omitted. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}
