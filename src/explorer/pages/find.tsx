/** `/find?q=`: search. `/lbry/<url>`: redirect to the page of an LBRY URL. */
import { Notice, Section } from '../../page/components.js';
import { addressLink, blockLink, claimLink, nameLink, txLink, withQuery } from '../../page/links.js';
import { parseUrl } from '../../metadata/url.js';
import { shownLine, shownName } from '../../page/text.js';
import type { ClaimAnswer } from '../answers.js';
import type { Page, PageContext, PageResult, Redirect } from '../pageContext.js';
import { ClaimTable, NoneFound } from './claim/claimTable.js';
import {
  canBeName,
  claimIdsOf,
  isLongName,
  isMissing,
  MAX_NAME_BYTES,
  Missing,
  orNull,
  textOfHex,
  WITHOUT_TXINDEX,
} from './parts.js';

/** Maximum number of characters of a search. */
export const MAX_QUERY = 2000;
const FOUND = 20;
/** Minimum number of hexadecimal digits for a search by the start of a claim id. */
const PREFIX_DIGITS = 6;

type Found = Redirect | null;

/** A name with claims. With `hex`, the bytes of a name that is not text. */
interface KnownName {
  readonly name: string;
  readonly hex?: string | undefined;
}

async function ofHash({ ask }: PageContext, hash: string): Promise<Found> {
  const [block, tx] = await Promise.all([
    orNull(ask('getblockheader', hash)),
    orNull(ask('gettxinfo', hash, 0, 1)),
  ]);
  if (!isMissing(block)) return { redirect: blockLink(hash) };
  return isMissing(tx) ? null : { redirect: txLink(hash) };
}

/** Returns the name if a URL (`lbry://name`) consists of a name alone; null otherwise. */
function nameOfUrl(url: string): string | null {
  const parsed = url.startsWith('lbry://') ? parseUrl(url) : null;
  const segment = parsed?.channel ?? parsed?.stream ?? null;
  const isWhole = segment?.claimId === null && segment.amountOrder === null;
  return isWhole && (parsed?.channel === null || parsed?.stream === null) ? segment.name : null;
}

/** Returns the claim of a URL. If no claim has the name of the URL, returns the page of the name. */
async function ofUrl({ ask }: PageContext, url: string): Promise<Found> {
  const answer = await orNull(
    ask<Readonly<Record<string, ClaimAnswer | { error: unknown }>>>('resolve', url),
  );
  if (isMissing(answer)) return null;
  const [found] = Object.values(answer);
  if (found !== undefined && 'claim_id' in found) return { redirect: claimLink(found.claim_id) };
  const name = nameOfUrl(url);
  return name === null || !canBeName(name) ? null : { redirect: nameLink(name) };
}

/** Whether a text can be the height of a block, which may be above the tip. */
const isHeight = (text: string): boolean => /^[0-9]{1,9}$/.test(text);

/** Whether a text is the height of a block of the chain. */
const isBlockHeight = (text: string, { tip }: PageContext): boolean =>
  isHeight(text) && Number(text) <= tip.height;

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);

/** Returns a redirect to the page of the hash, claim id, URL or address that a text is; null if it is none of them. */
async function target(context: PageContext, text: string): Promise<Found> {
  const { ask } = context;
  const lower = text.toLowerCase();
  if (isHash(lower)) {
    const found = await ofHash(context, lower);
    if (found) return found;
  }
  if (/^[0-9a-f]{40}$/.test(lower)) {
    const found = await orNull(ask('getclaim', lower));
    const ended = isMissing(found) ? await orNull(ask('getclaimstatus', lower)) : null;
    if (!isMissing(found) || !isMissing(ended)) return { redirect: claimLink(lower) };
  }
  if (/^(lbry:\/\/|@)/.test(text) || /^[^\s]+[#:$][0-9a-f]+/.test(text)) {
    const found = await ofUrl(context, text);
    if (found) return found;
  }
  if (/^[a-zA-Z0-9]{26,90}$/.test(text)) {
    const validity = await orNull(ask<{ isvalid: boolean }>('validateaddress', text));
    if (!isMissing(validity) && validity.isvalid) return { redirect: addressLink(text) };
  }
  return null;
}

interface ObjectsProps {
  readonly text: string;
  /** Names with claims that the text can mean. */
  readonly names: readonly KnownName[];
  /** Ids of claims that begin with the text. */
  readonly claimIds: readonly string[];
  /** Whether the text is the height of a block. */
  readonly isBlock: boolean;
}

/** Links to the objects that the text can identify. */
function Objects({ text, names, claimIds, isBlock }: ObjectsProps) {
  const free: KnownName[] = [];
  if (!isLongName(text)) free.push({ name: text });
  const fromUrl = nameOfUrl(text);
  if (fromUrl !== null && !isLongName(fromUrl)) free.push({ name: fromUrl });
  if (canBeHexName(text)) free.push({ name: text, hex: text.toLowerCase() });
  const isListed = ({ name, hex }: KnownName): boolean =>
    names.some((known) => known.name === name && known.hex === hex);
  return (
    <ul class="chips">
      {isBlock && (
        <li>
          <a href={blockLink(text)}>The block {text}</a>
        </li>
      )}
      {[...free.filter((one) => !isListed(one)), ...names].map(({ name, hex }) => (
        <li>
          <a href={nameLink(name, hex)}>
            The name <bdi>{shownName(name, 60)}</bdi>
            {hex !== undefined && ' in hexadecimal bytes'}
          </a>
        </li>
      ))}
      {claimIds.map((id) => (
        <li>
          <a href={claimLink(id)}>The claim {id.slice(0, 12)}…</a>
        </li>
      ))}
    </ul>
  );
}

/** Says that no block and no transaction has this hash, and why the transaction may exist nevertheless. */
const UnknownHash = ({ lacking }: Pick<PageContext, 'lacking'>) => (
  <Notice tone="warning">
    This node knows no block and no transaction with this hash.
    {lacking.includes('txindex') && ` ${WITHOUT_TXINDEX}`}
  </Notice>
);

async function results(context: PageContext, text: string, known: readonly KnownName[]): Promise<PageResult> {
  const { ask, nowSec } = context;
  const [names, claims, claimIds, url] = await Promise.all([
    orNull(
      ask<{ names: { name: string; namehex?: string; normalized_name: string }[] }>(
        'listnames',
        text.slice(0, 255),
        FOUND,
      ),
    ),
    orNull(ask<{ claims: ClaimAnswer[]; total: number }>('searchclaims', { text, limit: FOUND })),
    new RegExp(`^[0-9a-f]{${PREFIX_DIGITS},40}$`, 'i').test(text) ? claimIdsOf(ask, text.toLowerCase()) : [],
    text.startsWith('lbry://') ? orNull(ask('resolve', text)) : null,
  ]);
  const found = isMissing(names) ? [] : names.names;
  return {
    title: `Search: ${shownLine(text, 60)}`,
    description: 'Matching names and claims.',
    topics: ['tip', 'mempool'],
    isLively: true,
    searched: text,
    body: (
      <>
        <h1>
          Search for <bdi>{shownLine(text, 100)}</bdi>
        </h1>
        {isMissing(url) && <Missing error={url} />}
        {isHash(text) && <UnknownHash {...context} />}
        <Objects text={text} names={known} claimIds={claimIds} isBlock={isBlockHeight(text, context)} />
        <Section
          title="Names that begin with it"
          more={<a href={withQuery('/names', { prefix: text.slice(0, 255) })}>All these names</a>}
        >
          {found.length === 0 ? (
            <p class="quiet">No claim holds a name that begins with it.</p>
          ) : (
            <ul class="chips">
              {found.map(({ name, namehex }) => (
                <li>
                  <a href={nameLink(name, namehex)}>
                    <bdi>{shownName(name, 60)}</bdi>
                  </a>
                </li>
              ))}
            </ul>
          )}
        </Section>
        <Section
          title="Matching claims"
          more={<a href={withQuery('/claims', { text: text.slice(0, 300) })}>All matching claims</a>}
        >
          {isMissing(claims) ? (
            <Missing error={claims} />
          ) : (
            <ClaimTable
              claims={claims.claims}
              nowSec={nowSec}
              caption="Matching claims"
              empty={<NoneFound />}
            />
          )}
        </Section>
      </>
    ),
  };
}

/** Whether a claim has this name, which is text or bytes in hex. */
async function isClaimed({ ask }: PageContext, name: string, isHex = false): Promise<boolean> {
  const found = orNull(ask<{ claims: number }>('listclaims', name, 1, null, 'bid', null, isHex));
  const answer = await found;
  return !isMissing(answer) && answer.claims > 0;
}

/** Whether a text can be a name that is not text, with its bytes in hex. */
const canBeHexName = (text: string): boolean =>
  /^([0-9a-f]{2})+$/i.test(text) && text.length / 2 <= MAX_NAME_BYTES && textOfHex(text) === null;

/** Names with claims that a text can mean: the text, the text with the blanks that were entered at its ends, or bytes in hex. */
async function namesOf(context: PageContext, text: string, typed: string): Promise<KnownName[]> {
  const names: KnownName[] = [...new Set([text, typed])]
    .filter((name) => name !== '' && canBeName(name))
    .map((name) => ({ name }));
  if (canBeHexName(text)) names.push({ name: text, hex: text.toLowerCase() });
  const areClaimed = await Promise.all(
    names.map(({ name, hex }) => isClaimed(context, hex ?? name, hex !== undefined)),
  );
  return names.filter((_, index) => areClaimed[index]);
}

export const find: Page = async (context) => {
  const typed = context.query.get('q') ?? '';
  const text = typed.trim().replace(/^lbry:\/\//i, 'lbry://');
  const found = await target(context, text);
  if (found) return found;
  const names = await namesOf(context, text, typed);
  const [name] = names;
  // The page of a height above the tip says where the chain ends.
  if (isHeight(text) && name === undefined) return { redirect: blockLink(text) };
  if (isBlockHeight(text, context)) return results(context, text, names);
  if (name !== undefined && names.length === 1) return { redirect: nameLink(name.name, name.hex) };
  return text === '' ? { redirect: '/' } : results(context, text, names);
};

/** `/lbry/<url>`: redirects to the page of an LBRY URL. */
export const lbry: Page = async (context) => {
  const url = `lbry://${context.parts.join('/')}`.slice(0, MAX_QUERY);
  return (await ofUrl(context, url)) ?? { redirect: withQuery('/find', { q: url }) };
};
