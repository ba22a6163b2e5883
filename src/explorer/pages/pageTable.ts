/** Table of the pages, by the first segment of their paths. */
import type { Page } from '../pageContext.js';
import { address } from './address.js';
import { block } from './block.js';
import { blocks } from './blocks.js';
import { claim } from './claim/claim.js';
import { claims } from './claims.js';
import { charts } from './charts.js';
import { consolePage } from './console.js';
import { find, lbry } from './find.js';
import { help } from './help.js';
import { home } from './home.js';
import { mempool } from './mempool.js';
import { name, nameHex } from './name/name.js';
import { names } from './names.js';
import { nodePage } from './nodePage.js';
import { proof, proofHex } from './proof.js';
import { tx } from './tx.js';
import { upcoming } from './upcoming.js';

/** Pages whose paths have one more segment, which identifies the shown object. */
const OF_ONE = ['address', 'block', 'claim', 'charts', 'tx'];
/** Pages that parse all segments of their paths themselves. */
const OF_MANY = ['lbry', 'name', 'name-hex', 'proof', 'proof-hex'];

/** Returns the page for the segments of a path; undefined if there is none. */
export function pageOf([first = '', ...more]: readonly string[]): Page | undefined {
  const most = OF_MANY.includes(first) ? Infinity : OF_ONE.includes(first) ? 1 : 0;
  return more.length > most ? undefined : PAGES.get(first);
}

export const PAGES: ReadonlyMap<string, Page> = new Map([
  ['', home],
  ['address', address],
  ['block', block],
  ['blocks', blocks],
  ['claim', claim],
  ['claims', claims],
  ['charts', charts],
  ['console', consolePage],
  ['find', find],
  ['help', help],
  ['lbry', lbry],
  ['mempool', mempool],
  ['name', name],
  ['name-hex', nameHex],
  ['names', names],
  ['node', nodePage],
  ['proof', proof],
  ['proof-hex', proofHex],
  ['tx', tx],
  ['upcoming', upcoming],
]);
