/**
 * Query parameters of the pages and their accepted values. `refuseUnknownValues` checks them before a page is rendered, so the
 * pages read only accepted values. An empty value counts as absent, because forms send empty fields.
 */
import { localPath } from '../siteRequests.js';
import { badRequest, MAX_INTEGER } from '../pageContext.js';
import { shownLine } from '../../page/text.js';
import { KINDS as CLAIM_KINDS, MAX_TEXT, ORDERS as CLAIM_ORDERS } from './claims.js';
import { MAX_VALUE_CHARS } from './console.js';
import { MAX_QUERY } from './find.js';
import { ORDERS as BID_ORDERS } from './name/nameBids.js';
import { placeOf } from './name/nameHistory.js';
import { KINDS as UPCOMING_KINDS } from './upcoming.js';

/** The accepted values of a parameter. */
interface Accepted {
  /** Description of the values, which continues the sentence “… must be”. */
  readonly values: string;
  readonly accepts: (value: string) => boolean;
}

const oneOf = (...known: readonly string[]): Accepted => ({
  values: known.length === 1 ? `“${known[0]}”` : `one of ${known.join(', ')}`,
  accepts: (value) => known.includes(value),
});
const matching = (values: string, pattern: RegExp): Accepted => ({
  values,
  accepts: (value) => pattern.test(value.trim()),
});
const textOf = (most: number): Accepted => ({
  values: `a text of at most ${most} characters`,
  accepts: (value) => value.length <= most,
});

const INTEGER: Accepted = {
  values: `a whole number of at most ${MAX_INTEGER}`,
  accepts: (value) => /^[0-9]{1,10}$/.test(value) && Number(value) <= MAX_INTEGER,
};
const BLOCK = matching('the height or the hash of a block', /^([0-9]{1,10}|[0-9a-f]{64})$/i);
const CLAIM_ID = matching('a claim id of 40 hexadecimal digits', /^[0-9a-f]{40}$/i);
const ROOT = matching('64 hexadecimal digits', /^[0-9a-f]{64}$/i);
const HEX = matching('pairs of hexadecimal digits', /^([0-9a-f]{2})+$/i);
const PLACE: Accepted = {
  values: 'a place in the history, as in the link “Older events”',
  accepts: (value) => placeOf(value) !== null,
};
/** A cursor. The method that returned it checks its contents. */
const CURSOR = matching('the value in the link “Next page”', /^[\w.:=+/-]{1,1000}$/);

type Parameters = Readonly<Record<string, Accepted>>;

const OF_NAME: Parameters = {
  order: oneOf(...BID_ORDERS.map(([key]) => key)),
  after: CURSOR,
  before: PLACE,
  block: BLOCK,
};
const OF_PROOF: Parameters = { block: BLOCK, root: ROOT };
const NONE: Parameters = {};

/** Parameters by the first segment of the path. In the console `p#` stands for `p0`, `p1` and so on, the arguments of the method. */
export const PARAMETERS: Readonly<Record<string, Parameters>> = {
  '': NONE,
  address: { after: CURSOR, coins: CURSOR },
  block: { after: INTEGER, tx: INTEGER },
  blocks: { from: INTEGER },
  claim: { after: CURSOR, description: oneOf('whole') },
  claims: {
    text: textOf(MAX_TEXT),
    tag: textOf(MAX_TEXT),
    channel: CLAIM_ID,
    kind: oneOf(...CLAIM_KINDS),
    order: oneOf(...CLAIM_ORDERS.map(([key]) => key)),
    after: CURSOR,
  },
  charts: NONE,
  console: { method: textOf(MAX_VALUE_CHARS), run: oneOf('1'), 'p#': textOf(MAX_VALUE_CHARS) },
  find: { q: textOf(MAX_QUERY) },
  help: NONE,
  lbry: NONE,
  look: { scheme: oneOf('system', 'light', 'dark'), images: oneOf('yes', 'no'), back: textOf(Infinity) },
  mempool: { after: CURSOR },
  name: OF_NAME,
  'name-hex': OF_NAME,
  names: { prefix: textOf(MAX_VALUE_CHARS), after: HEX, block: BLOCK },
  node: NONE,
  proof: OF_PROOF,
  'proof-hex': OF_PROOF,
  tx: { from: INTEGER },
  upcoming: {
    kind: oneOf(...UPCOMING_KINDS.map(([key]) => key)),
    from: INTEGER,
    skip: INTEGER,
    block: BLOCK,
  },
};

/** Parameters of all pages. */
const ALL: ReadonlySet<string> = new Set(Object.values(PARAMETERS).flatMap(Object.keys));

/** Returns the name under which the parameters of a page contain a name from an address. */
const keyOf = (page: string, name: string): string =>
  page === 'console' ? name.replace(/^p[0-9]+$/, 'p#') : name;

/**
 * Returns the query without parameters that no page has. They do not change the page, so that it is cached once for all of their
 * values. Parameters of other pages stay, because `refuseUnknownValues` refuses them.
 */
export function knownSearch(page: string, search: string): string {
  const isKnown = ([name]: readonly [string, string]): boolean =>
    ALL.has(name) || Object.hasOwn(PARAMETERS[page] ?? NONE, keyOf(page, name));
  const isPieceKnown = (piece: string): boolean => [...new URLSearchParams(piece)].some(isKnown);
  return search.split('&').filter(isPieceKnown).join('&');
}

/** Maximum number of characters of a refused value that the page of the error shows. */
const MAX_SHOWN = 60;

/** Returns the address of the page without one of its parameters. */
function without(path: string, query: URLSearchParams, name: string): string {
  const left = new URLSearchParams(query);
  left.delete(name);
  return localPath(left.size === 0 ? path : `${path}?${left}`);
}

/**
 * Throws `PageError` if a parameter has a value that the page does not accept. A parameter of another page is refused as well:
 * otherwise a visitor could take the page for the block or for the part of the list that the address names. Other unknown
 * parameters are ignored.
 */
export function refuseUnknownValues(page: string, path: string, query: URLSearchParams): void {
  const own = PARAMETERS[page] ?? NONE;
  for (const [name, value] of query) {
    if (value === '') continue;
    const key = keyOf(page, name);
    const accepted = Object.hasOwn(own, key) ? own[key] : undefined;
    if (accepted?.accepts(value)) continue;
    const near = [[without(path, query, name), `The page without “${shownLine(name, MAX_SHOWN)}”`]] as const;
    if (accepted !== undefined)
      throw badRequest(
        `“${shownLine(value, MAX_SHOWN)}” is not a value of “${name}”, which must be ${accepted.values}.`,
        near,
      );
    if (ALL.has(name)) throw badRequest(`This page has no parameter “${name}”.`, near);
  }
}
