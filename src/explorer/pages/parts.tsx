/** Components that several pages share: texts of events and claim operations, and hints on node options that add data. */
import { isUtf8 } from 'node:buffer';
import type { ComponentChildren, VNode } from 'preact';
import { ClaimId, Coins, Hash, Name, Notice, Tag, Title, Tx } from '../../page/components.js';
import { blocksText, countText, integerText, type Lbc } from '../../page/format.js';
import { blockLink, claimLink, nameLink, txLink } from '../../page/links.js';
import { markup } from '../../page/markup.js';
import { shownName } from '../../page/text.js';
import type { NamePieces, OutputClaim } from '../answers.js';
import type { Topic } from '../live.js';
import type { TakenBlock } from '../messages.js';
import { RPC_ERROR } from '../../rpc/declare/errors.js';
import { formatCoins } from '../../util/json/json.js';
import { AskError } from '../explorerRpcClient.js';
import { messageOf } from '../nodeErrors.js';
import {
  badRequest,
  notFound,
  searchFor,
  type Near,
  type PageContext,
  type PageError,
} from '../pageContext.js';

/** Text of an event in the past tense, by the type of the event. */
const PAST: Readonly<Record<string, string>> = {
  claim: 'claimed',
  update: 'updated',
  support: 'supported',
  abandon: 'abandoned',
  activation: 'became active',
  expiration: 'expired',
  takeover: 'changed hands',
  arrival: 'joined another spelling',
  departure: 'left for another spelling',
};

/** Texts for the claim operation of an unconfirmed transaction, in the present tense. */
const WAITING: Readonly<Record<string, string>> = {
  claim: 'claims',
  update: 'updates',
  support: 'supports',
  abandon: 'abandons',
};

const FUTURE: Readonly<Record<string, string>> = {
  activation: 'becomes active',
  expiration: 'expires',
  takeover: 'changes hands',
};

const toneOf = (event: string): 'info' | 'good' | 'warning' =>
  event === 'takeover' ? 'warning' : event === 'claim' || event === 'activation' ? 'good' : 'info';

export function EventTag({
  event,
  isSupport,
  isFuture,
  isWaiting,
}: {
  readonly event: string;
  readonly isSupport?: boolean | undefined;
  readonly isFuture?: boolean;
  /** Whether the transaction of the event is in the mempool. */
  readonly isWaiting?: boolean;
}): VNode {
  const words = (isFuture ? FUTURE : isWaiting ? WAITING : PAST)[event] ?? event;
  const children = isSupport && event !== 'support' ? `support ${words}` : words;
  return Tag({ tone: toneOf(event), children });
}

export const NameOf = ({ of }: { readonly of: NamePieces }): VNode =>
  Name({ name: of.name, hex: of.namehex });

interface ClaimRefProps {
  readonly id: string;
  /** Whether no claim has the id, so that no page shows it. */
  readonly isUnmade?: boolean | undefined;
}

/** Links to a claim that a support or a value names, if a claim with this id exists or existed. */
export const ClaimRef = ({ id, isUnmade }: ClaimRefProps): VNode =>
  isUnmade ? markup`${Hash({ hash: id })} ${Tag({ children: 'no such claim' })}` : ClaimId({ id });

/** Shows the claim that an event concerns; for a takeover also the previous owner. */
export function EventSubject({
  event,
}: {
  readonly event: {
    readonly event: string;
    readonly claimId?: string | undefined;
    readonly formerClaimId?: string | undefined;
    readonly isUnmade?: boolean | undefined;
  };
}): VNode {
  const claimOf = (id: string | undefined): VNode | string => (id ? ClaimId({ id }) : 'no claim');
  if (event.event === 'takeover') return markup`${claimOf(event.formerClaimId)} → ${claimOf(event.claimId)}`;
  return event.claimId === undefined ? markup`` : ClaimRef({ id: event.claimId, isUnmade: event.isUnmade });
}

export function OptionalCoins({ lbc }: { readonly lbc: Lbc | undefined }): VNode | null {
  return lbc === undefined ? null : Coins({ lbc });
}

/** An amount in satoshis. If a double would round it, a string with its digits. */
export type Satoshis = number | string;

export const lbcOf = (satoshis: Satoshis | bigint): Lbc => formatCoins(BigInt(satoshis));

/** Words for the claim operation of an output, and for an input that spends such an output. */
const OPERATIONS: Readonly<Record<string, readonly [made: string, spent: string]>> = {
  claim: ['claims', 'spends the claim'],
  update: ['updates', 'spends the claim'],
  support: ['supports', 'spends a support of'],
};

interface ClaimLineProps {
  readonly claim: OutputClaim;
  /** Whether the output is spent by the input in which the line is. */
  readonly isSpent?: boolean;
}

/** Shows a claim operation of an output in one line. */
export function ClaimLine({ claim, isSpent = false }: ClaimLineProps): VNode {
  const words = OPERATIONS[claim.op]?.[isSpent ? 1 : 0] ?? claim.op;
  // A claim in a coinbase, or an update that spends no claim, may have an id that no page shows.
  const isMade = claim.state !== 'refused';
  return (
    <span>
      {words} <NameOf of={claim} />{' '}
      {isMade ? <ClaimRef id={claim.claimId} isUnmade={claim.isUnmade} /> : <Hash hash={claim.claimId} />}
      {claim.kind && (
        <>
          {' '}
          <Tag>{claim.kind}</Tag>
        </>
      )}
      {claim.title && (
        <>
          {' '}
          “<Title text={claim.title} />”
        </>
      )}
      {claim.isControlling && (
        <>
          {' '}
          <Tag tone="good">holds the name</Tag>
        </>
      )}
      {claim.state && claim.state !== 'active' && (
        <>
          {' '}
          <Tag>{claim.state}</Tag>
        </>
      )}
    </span>
  );
}

export type OrError<Result> = Result | AskError;

/**
 * Resolves to the result of a request, or to the error that the RPC method returned. Throws other errors. `cursor` is the
 * cursor in the request, from the address of the page. If the method refuses the cursor, its error is thrown.
 */
export async function orNull<Result>(question: Promise<Result>, cursor?: string): Promise<OrError<Result>> {
  try {
    return await question;
  } catch (error) {
    const isRefusedCursor =
      cursor !== undefined && error instanceof AskError && error.code === RPC_ERROR.INVALID_PARAMETER;
    if (error instanceof AskError && !isRefusedCursor) return error;
    throw error;
  }
}

/** Explains why the transaction of the genesis block has no page. Source: lbrycrd rpc/rawtransaction.cpp `getrawtransaction`. */
export const GENESIS_TRANSACTION =
  'The node does not index the transaction of the genesis block. It has no page of its own.';

/** Why a transaction is not found although it may exist. With `-prune` the index of transactions cannot be turned on. */
export const WITHOUT_TXINDEX =
  'It may exist: without the index of transactions the node finds only transactions in the mempool and those with an unspent ' +
  'output. With -txindex, which needs a node without -prune, it finds all.';

/** Maximum number of claims that are offered for the first digits of an id. */
const MAX_OFFERED = 10;
/** Minimum number of digits that the methods accept. */
const LEAST_DIGITS = 3;

/** Returns ids of claims that begin with these digits. Without the claim search at most one is found. */
export async function claimIdsOf(ask: PageContext['ask'], digits: string): Promise<string[]> {
  if (digits.length < LEAST_DIGITS) return [];
  const [first, found] = await Promise.all([
    orNull(ask<{ readonly claimId?: string }>('getclaimbyid', digits)),
    orNull(
      ask<{ claims: readonly { readonly claim_id: string }[] }>('searchclaims', {
        claim_id: digits,
        limit: MAX_OFFERED,
      }),
    ),
  ]);
  const ids = isMissing(found) ? [] : found.claims.map(({ claim_id: id }) => id);
  const id = isMissing(first) ? undefined : first.claimId;
  return [...new Set(id === undefined ? ids : [id, ...ids])].slice(0, MAX_OFFERED);
}

/** Notice in place of data that is unknown during the sync. */
export const NotYet = (): VNode => (
  <Notice>Not yet: this is known when the node has downloaded the chain.</Notice>
);

/** Formats the distance to a future height, in blocks and in time. */
export const InBlocks = ({
  blocks,
  spacingSec,
}: {
  readonly blocks: number;
  readonly spacingSec: number;
}): VNode => (
  <>
    {countText(blocks, 'block')} <span class="under">{blocksText(blocks, spacingSec)}</span>
  </>
);

/** Notice with the reason why data of the page is missing. */
export function Missing({ error }: { readonly error: AskError }): VNode {
  return <Notice>{messageOf(error)}</Notice>;
}

export const isMissing = (answer: unknown): answer is AskError => answer instanceof AskError;

/**
 * Returns the query parameter `block`, a height or hash; undefined if it is absent. The page shows the state after this block.
 * Throws `PageError` if it is above the tip.
 */
export function blockOf(context: PageContext): string | number | undefined {
  const { query, tip } = context;
  const text = query.get('block')?.trim() ?? '';
  if (text === '') return undefined;
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  if (Number(text) > tip.height) throw noBlockYet(context, Number(text));
  return Number(text);
}

/** Maximum distance in seconds of a block whose time a page estimates. */
const MAX_EXPECTED_SEC = 366 * 86_400;

/** Says how far the sync is. */
const progressOf = ({ tip, headers }: PageContext): string =>
  `The node is at block ${integerText(tip.height)} of ${integerText(headers)}`;

type Unknown = Readonly<{ title: string; message: string; near: readonly Near[] }>;

/**
 * Error page for an object that the node does not know. It becomes the page of the object when a block, or the mempool, has the
 * object. During a sync the object may be in a later block.
 */
export function unknownObject(
  context: PageContext,
  kind: 'block' | 'claim' | 'transaction',
  { title, message, near }: Unknown,
): PageError {
  const topics: readonly Topic[] = kind === 'block' ? ['tip'] : ['tip', 'mempool'];
  if (!context.isSyncing) return notFound(title, message, near, topics);
  return notFound(
    `The node does not know this ${kind}`,
    `${progressOf(context)}, so a newer ${kind} is not known yet.`,
    near,
    topics,
  );
}

/**
 * Error page for a height above the tip. It says when the block is expected, unless blocks are made on demand (regtest). During a
 * sync it says how far the node is, because the block may exist.
 */
export function noBlockYet(context: PageContext, height: number): PageError {
  const { tip, headers, network, isSyncing, spacingSec } = context;
  const near: readonly Near[] = [
    [blockLink('tip'), 'The latest block'],
    [nameLink(String(height)), `The name ${height}`],
  ];
  if (isSyncing && height <= headers)
    return notFound('The node has not downloaded this block yet', `${progressOf(context)}.`, near, ['tip']);
  const blocks = height - tip.height;
  const isExpected = network !== 'regtest' && blocks * spacingSec <= MAX_EXPECTED_SEC;
  return unknownObject(context, 'block', {
    title: 'The block does not exist yet',
    message: `The chain ends at block ${integerText(tip.height)}.${
      isExpected ? ` Block ${integerText(height)} is expected in ${blocksText(blocks, spacingSec)}.` : ''
    }`,
    near,
  });
}

/** Says that the page shows an earlier block. Shows nothing if the answer is for a newer block, whose hint has not arrived yet. */
export function AsOf({
  height,
  now,
  path,
}: {
  readonly height: number;
  readonly now: number;
  readonly path: string;
}): VNode | null {
  if (height >= now) return null;
  return (
    <Notice tone="warning">
      This is how it was after block {height}. <a href={path}>Show how it is now</a>
    </Notice>
  );
}

interface AsOfFormProps {
  readonly path: string;
  /** The block (hash or height) that the form contains. */
  readonly shown: string;
  /** Further parameters of the page that the form keeps. */
  readonly kept?: Readonly<Record<string, string>>;
}

/** A form field for the block whose state the page should show. */
export function AsOfForm({ path, shown, kept = {} }: AsOfFormProps): VNode {
  return (
    <form class="as-of" action={path} method="get">
      {Object.entries(kept).map(
        ([name, value]) => value !== '' && <input type="hidden" name={name} value={value} />,
      )}
      <label for="as-of">As of block</label>
      <input
        id="as-of"
        type="text"
        name="block"
        value={shown}
        maxlength={64}
        placeholder="height or hash"
        autocomplete="off"
      />
      <button type="submit" class="plain">
        Show
      </button>
    </form>
  );
}

/** Shows which blocks a reorg disconnected, and their events for the name or claim of the page. */
export function TakenBack({ blocks }: { readonly blocks: readonly TakenBlock[] }): VNode {
  return (
    <>
      {blocks.map(({ height, hash, events }) => (
        <Notice tone="warning">
          Block <a href={blockLink(hash)}>{integerText(height)}</a> was disconnected from the chain. Taken
          back:{' '}
          {events.slice(0, 20).map(({ event, claimId, formerClaimId, isSupport }) => (
            <>
              <EventTag event={event} isSupport={isSupport} />{' '}
              <EventSubject event={{ event, claimId, formerClaimId }} />{' '}
            </>
          ))}
          {events.length > 20 && `and ${integerText(events.length - 20)} more`}
        </Notice>
      ))}
    </>
  );
}

/** Maximum length of a name in bytes. Source: lbrycrd nameclaim.h `MAX_CLAIM_NAME_SIZE`. */
export const MAX_NAME_BYTES = 255;
/**
 * Maximum length of a normalized name. UTF-8 in the form NFD is at most three times as long. Source: Unicode FAQ
 * "Normalization", expansion factors.
 */
const MAX_NORMALIZED_BYTES = 3 * MAX_NAME_BYTES;

/** Whether a text can be a name or a normalized name. */
export const canBeName = (text: string): boolean => Buffer.byteLength(text) <= MAX_NORMALIZED_BYTES;

/** Whether a text is too long for a name. It can still be the normalized form of a name. */
export const isLongName = (text: string): boolean => Buffer.byteLength(text) > MAX_NAME_BYTES;

export const nameTooLong = (text: string): PageError =>
  badRequest(`A name has at most ${MAX_NAME_BYTES} bytes.`, searchFor(text));

/** Returns the name in the path; with `isHex` it is the name's bytes in hex. Throws `PageError` if it is malformed. */
export function nameOfPath({ parts }: PageContext, isHex: boolean): string {
  const [name = ''] = parts;
  if (parts.length > 1)
    throw badRequest('A slash in a name is written %2F.', [
      [nameLink(parts.join('/')), `The name ${shownName(parts.join('/'), 60)}`],
    ]);
  // `/name-hex/` is the page of the empty name.
  if (isHex && !/^([0-9a-f]{2})*$/i.test(name))
    throw badRequest('The bytes of a name are given as pairs of hexadecimal digits.');
  // Bytes that are not UTF-8 are never normalized.
  if (isHex ? name.length / 2 > MAX_NAME_BYTES : !canBeName(name)) throw nameTooLong(isHex ? '' : name);
  return name;
}

export const hexOf = (text: string): string => Buffer.from(text).toString('hex');

/** Returns the text that the hexadecimal digits encode; null if the bytes are not UTF-8. */
export function textOfHex(digits: string): string | null {
  const bytes = Buffer.from(digits, 'hex');
  return isUtf8(bytes) ? bytes.toString() : null;
}

/** Links that switch between views of a page; the current view is marked. */
export function Chips({
  label,
  items,
}: {
  readonly label: string;
  readonly items: readonly (readonly [href: string, text: ComponentChildren, isCurrent: boolean])[];
}): VNode {
  return (
    <nav aria-label={label}>
      <ul class="chips">
        {items.map(([href, text, isCurrent]) => (
          <li>
            <a href={href} aria-current={isCurrent ? 'true' : undefined}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

export { claimLink, nameLink, txLink, Tx };
