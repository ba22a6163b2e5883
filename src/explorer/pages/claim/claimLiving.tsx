/** The page of a claim that bids, is pending, or waits in the mempool. */
import type { ComponentChildren } from 'preact';
import {
  Amount,
  Block,
  ClaimId,
  Copied,
  Facts,
  Hash,
  LongText,
  Name,
  Notice,
  Output,
  Pattern,
  Section,
  Tag,
  Time,
  Title,
} from '../../../page/components.js';
import { amountText, blocksText, countText, integerText, placeText } from '../../../page/format.js';
import { claimLink, nameLink, withQuery } from '../../../page/links.js';
import { meaningOf } from '../../../page/terms.js';
import { nameWarning, shownLine } from '../../../page/text.js';
import type {
  ClaimAnswer,
  ClaimStatusAnswer,
  ListClaimsAnswer,
  MempoolClaims,
  SupportsAnswer,
} from '../../answers.js';
import type { PageContext, PageResult } from '../../pageContext.js';
import { RPC_ERROR } from '../../../rpc/declare/errors.js';
import { takenFrom } from '../../takenBlocks.js';
import { isMissing, Missing, orNull, TakenBack, type OrError } from '../parts.js';
import { doubtfulIds, marked, unmadeAmong } from '../unmadeClaims.js';
import { Waiting } from '../waiting.js';
import { ClaimOutputs, outputsOf, type FoundOutputs } from './claimOutputs.js';
import { Supports } from './claimSupports.js';
import { Signer } from './signer.js';
import { ClaimTable, signedBy, titleOf } from './claimTable.js';
import { collectionOf, CollectionClaims, type Collection } from './collection.js';
import { partOf, Picture, RawValue, Tags, textOf, valueRows } from './claimValue.js';

const SUPPORTS = 100;
const CLAIMS = 50;
/** Maximum number of bids for the name among which the claim is searched to show its rank. */
const PLACES = 100;
/** Maximum number of characters of a description that the page shows at first, and on request. */
const CUT_DESCRIPTION = 5000;
const MAX_DESCRIPTION = 100_000;
/**
 * Number of blocks before the expiry at which the page of a claim shows a warning. On a network with a shorter lifetime of
 * claims, the warning is shown in the last tenth of the lifetime.
 */
const SOON_BLOCKS = 20_160;
const SOON_SHARE = 0.1;

/** Supports of a claim that exists only in the mempool: the methods return no supports of it before it is in a block. */
const NO_SUPPORTS = { total: 0, active: 0, amount: 0, supports: [] };

interface Shown {
  readonly claim: ClaimAnswer;
  readonly supports: OrError<SupportsAnswer>;
  /** Claims that a channel has signed; null if the claim is not a channel. */
  readonly claims: OrError<{ readonly claims: readonly ClaimAnswer[] }> | null;
  /** Claims that a collection lists; null if the claim is not a collection. */
  readonly collection: Collection | null;
  readonly bids: OrError<ListClaimsAnswer>;
  readonly status: OrError<ClaimStatusAnswer>;
  readonly outputs: FoundOutputs;
  /** State of the reposted claim, if it does not exist now; null otherwise. */
  readonly reposted: OrError<ClaimStatusAnswer> | null;
  /** Operations on the claim in the mempool. */
  readonly waiting: OrError<MempoolClaims>;
  readonly after: string | undefined;
}

async function read({ ask, query }: PageContext, claim: ClaimAnswer): Promise<Shown> {
  const { claim_id: id, name, namehex } = claim;
  const after = query.get('after') || undefined;
  const [supports, claims, collection, bids, status, outputs, reposted, waiting] = await Promise.all([
    claim.creation_height === 0
      ? { ...NO_SUPPORTS, name }
      : orNull(
          ask<SupportsAnswer>('listsupports', id, SUPPORTS, ...(after === undefined ? [] : [after])),
          after,
        ),
    claim.value_type === 'channel'
      ? orNull(
          ask<{ claims: ClaimAnswer[] }>('searchclaims', {
            ...signedBy(id),
            order_by: ['release_time'],
            limit: CLAIMS,
          }),
        )
      : null,
    claim.value_type === 'collection' ? collectionOf(ask, claim.value) : null,
    orNull(
      namehex === undefined
        ? ask<ListClaimsAnswer>('listclaims', name, PLACES)
        : ask<ListClaimsAnswer>('listclaims', namehex, PLACES, null, 'bid', null, true),
    ),
    orNull(ask<ClaimStatusAnswer>('getclaimstatus', id)),
    outputsOf(ask, id, { txid: claim.txid, n: claim.nout }),
    claim.is_reposted_claim_gone === true
      ? orNull(ask<ClaimStatusAnswer>('getclaimstatus', claim.reposted_claim_id))
      : null,
    orNull(ask<MempoolClaims>('listmempoolclaims', null, id)),
  ]);
  const listed = isMissing(supports) ? [] : supports.supports;
  const named = claim.signing_channel === undefined ? claim.channel_id : undefined;
  const unmade = await unmadeAmong(ask, [named, ...doubtfulIds(listed)]);
  return {
    claim: named !== undefined && unmade.has(named) ? { ...claim, isChannelUnmade: true } : claim,
    supports: isMissing(supports) ? supports : { ...supports, supports: marked(listed, unmade) },
    claims,
    collection,
    bids,
    status,
    outputs,
    reposted,
    waiting,
    after,
  };
}

/** Whether `getclaimstatus` has answered that the chain never had the claim. */
const isNeverMade = (status: OrError<ClaimStatusAnswer> | null): boolean =>
  isMissing(status) && status.code === RPC_ERROR.INVALID_ADDRESS_OR_KEY;

const isActiveAt = (
  { is_waiting: isWaiting, activation_height: height }: ClaimAnswer,
  tip: number,
): boolean => isWaiting !== true && height <= tip;

function State({ claim, tip }: { readonly claim: ClaimAnswer; readonly tip: number }) {
  if (claim.is_waiting === true) return <Tag tone="warning">waits in the mempool</Tag>;
  if (claim.is_controlling) return <Tag tone="good">holds the name</Tag>;
  return isActiveAt(claim, tip) ? <Tag>bids</Tag> : <Tag tone="warning">pending</Tag>;
}

interface HeadProps {
  readonly shown: Shown;
  readonly context: PageContext;
  /** Whether the title and the value are those of an update in the mempool. */
  readonly isUpdateWaiting: boolean;
}

function Head({ shown, context, isUpdateWaiting }: HeadProps) {
  const { claim } = shown;
  const { claim_id: id, name, namehex } = claim;
  const { tip, taken, spacingSec } = context;
  const warning = nameWarning(name);
  const soon = Math.min(SOON_BLOCKS, (claim.expiration_height - claim.height) * SOON_SHARE);
  const blocksLeft = claim.is_waiting === true ? Infinity : claim.expiration_height - tip.height;
  return (
    <>
      <div class="lead">
        <Pattern id={id} />
        <div>
          <h1>
            <Title text={titleOf(claim.value) ?? name} />
          </h1>
          <Tag>{claim.value_type ?? 'unknown kind'}</Tag> <State claim={claim} tip={tip.height} />{' '}
          {isUpdateWaiting && <Tag tone="warning">an update waits</Tag>} at <Name name={name} hex={namehex} />
          <Signer claim={claim} />
        </div>
      </div>
      {warning && <Notice tone="warning">{warning}</Notice>}
      {claim.value_type === undefined && (
        <p class="quiet">Its value is not metadata of LBRY. The section “Data of the claim” has the bytes.</p>
      )}
      {claim.value_type !== undefined && meaningOf(claim.value_type) && (
        <p class="quiet">
          {claim.value_type}: {meaningOf(claim.value_type)?.replace(/^./, (first) => first.toLowerCase())}.
        </p>
      )}
      <TakenBack
        blocks={takenFrom(taken, ({ claimId, formerClaimId }) => claimId === id || formerClaimId === id)}
      />
      {blocksLeft < soon && (
        <Notice tone="warning">
          It expires in {countText(blocksLeft, 'block')} ({blocksText(blocksLeft, spacingSec)}). Its owner
          keeps it by an update.
        </Notice>
      )}
      {claim.value_type !== undefined && claim.value === undefined && (
        <Notice>
          The fields of its value cannot be shown, because some of them have no text form. The section “Data
          of the claim” has the bytes.
        </Notice>
      )}
      {shown.reposted !== null && (
        <Notice tone="warning">
          {isNeverMade(shown.reposted)
            ? 'This node knows no claim with the reposted id.'
            : 'The reposted claim has ended.'}
        </Notice>
      )}
    </>
  );
}

interface AtBlockProps {
  readonly height: number;
  readonly now: number;
  readonly spacingSec: number;
}

/** Shows a future height with its distance in time. */
const AtBlock = ({ height, now, spacingSec }: AtBlockProps) => (
  <>
    block {integerText(height)}{' '}
    <span class="under">
      in {countText(height - now, 'block')}, {blocksText(height - now, spacingSec)}
    </span>
  </>
);

/** Links to the claim that a repost shows, by its title if it exists. A claim that never existed has no page. */
function Reposted({ shown: { claim, reposted }, id }: { readonly shown: Shown; readonly id: string }) {
  const { reposted_claim: of } = claim;
  if (of === undefined) return isNeverMade(reposted) ? <Hash hash={id} /> : <ClaimId id={id} />;
  return (
    <a href={claimLink(id)}>
      <Title text={titleOf(of.value) ?? of.name} />
    </a>
  );
}

/** Rank, amounts and heights of the claim. */
function bidRows(shown: Shown, context: PageContext): [string, ComponentChildren][] {
  const { claim, bids } = shown;
  const { tip, nowSec, spacingSec } = context;
  const isWaiting = claim.is_waiting === true;
  const isActive = isActiveAt(claim, tip.height);
  const place = isMissing(bids)
    ? undefined
    : bids.bids.find(({ claimId }) => claimId === claim.claim_id)?.bid;
  const rank = place === undefined ? `below the first ${PLACES}` : placeText(place + 1);
  const activation = claim.activation_height;
  return [
    [
      'Place',
      !isMissing(bids) && !isWaiting && (
        <a href={nameLink(claim.name, claim.namehex)}>
          {rank} of {countText(bids.claims, 'bid')}
        </a>
      ),
    ],
    ['Effective amount', <Amount lbc={claim.effective_amount} />],
    ['Own amount', <Amount lbc={claim.amount} />],
    ['Supports', <Amount lbc={claim.support_amount} />],
    [
      isActive ? 'Active since' : 'Becomes active',
      isWaiting ? (
        'not before its block'
      ) : isActive ? (
        <>
          block <Block height={activation} />
        </>
      ) : (
        <AtBlock height={activation} now={tip.height} spacingSec={spacingSec} />
      ),
    ],
    [
      'Expires',
      !isWaiting && <AtBlock height={claim.expiration_height} now={tip.height} spacingSec={spacingSec} />,
    ],
    ['Made', <Time sec={claim.creation_timestamp} now={nowSec} />],
    ['Latest output', <Output txid={claim.txid} n={claim.nout} />],
    ['Reposted', claim.reposted > 0 && countText(claim.reposted, 'time')],
    ['Claims in the channel', claim.value_type === 'channel' && integerText(claim.claims_in_channel)],
    ['Reposts', claim.reposted_claim_id && <Reposted shown={shown} id={claim.reposted_claim_id} />],
  ];
}

function ChannelClaims({
  shown: { claim, claims },
  nowSec,
}: {
  readonly shown: Shown;
  readonly nowSec: number;
}) {
  if (claims === null) return null;
  return (
    <Section
      title="Claims of the channel"
      more={
        <a href={withQuery('/claims', { channel: claim.claim_id, order: 'name' })}>
          All claims of the channel
        </a>
      }
    >
      {isMissing(claims) ? (
        <Missing error={claims} />
      ) : (
        <ClaimTable
          claims={claims.claims}
          nowSec={nowSec}
          caption="Claims that the channel signed"
          empty="The channel has signed no claim."
        />
      )}
    </Section>
  );
}

interface DescriptionProps {
  readonly text: string;
  /** Whether the visitor requested the whole text. */
  readonly isWhole: boolean;
  readonly path: string;
}

/** Shows a description. A long one is cut, and a link leads to the whole text. */
function Description({ text, isWhole, path }: DescriptionProps) {
  return (
    <>
      <LongText text={text} most={isWhole ? MAX_DESCRIPTION : CUT_DESCRIPTION} />
      {!isWhole && text.length > CUT_DESCRIPTION && (
        <p>
          <a href={withQuery(path, { description: 'whole' })}>Show the whole description</a>
        </p>
      )}
    </>
  );
}

function Contents({ claim, context }: { readonly claim: ClaimAnswer; readonly context: PageContext }) {
  const { value, claim_id: id } = claim;
  const description = textOf(partOf(value, 'description'));
  const isWhole = context.query.get('description') === 'whole';
  const isText = claim.namehex === undefined;
  return (
    <>
      <Section title="Content">
        <Picture value={value} context={context} path={claimLink(id)} />
        {description && <Description text={description} isWhole={isWhole} path={claimLink(id)} />}
        <Tags value={value} />
        <Facts rows={valueRows(value)} />
      </Section>
      <Section title="URLs">
        <Facts
          rows={[
            ['Claim id', <Copied text={id} />],
            ['Short', isText && <Copied text={claim.short_url} />],
            ['Canonical', isText && <Copied text={claim.canonical_url} />],
            ['Permanent', isText && <Copied text={claim.permanent_url} />],
          ]}
        />
        {!isText && <p class="quiet">The bytes of its name are not text, so no URL contains them.</p>}
      </Section>
    </>
  );
}

/**
 * Returns the claim with its place on the chain. While an update waits in the mempool, `getclaim` returns the output of the update,
 * although the claim bids with its output of the chain.
 */
function bidding(claim: ClaimAnswer, status: OrError<ClaimStatusAnswer>): ClaimAnswer {
  if (claim.is_waiting !== true || isMissing(status) || status.effectiveAmount === undefined) return claim;
  return {
    ...claim,
    is_waiting: false,
    amount: status.amount,
    effective_amount: status.effectiveAmount,
    activation_height: status.validAtHeight,
    expiration_height: status.expirationHeight,
    is_controlling: status.isControlling === true,
  };
}

export async function living(context: PageContext, latest: ClaimAnswer): Promise<PageResult> {
  const found = await read(context, latest);
  const claim = bidding(found.claim, found.status);
  const shown = { ...found, claim };
  const { after, status, outputs, waiting } = shown;
  const description = textOf(partOf(claim.value, 'description'));
  return {
    title: shownLine(titleOf(claim.value) ?? claim.name, 100),
    description: description ?? `A claim of the name ${claim.name} for ${amountText(claim.amount)} LBC.`,
    topics: ['tip', 'mempool'],
    isLively: true,
    body: (
      <>
        <Head shown={shown} context={context} isUpdateWaiting={claim !== found.claim} />
        {!isMissing(waiting) && <Waiting {...waiting} />}
        <Section title="Its bid for the name">
          <Facts rows={bidRows(shown, context)} />
        </Section>
        <Contents claim={claim} context={context} />
        <ChannelClaims shown={shown} nowSec={context.nowSec} />
        {shown.collection !== null && <CollectionClaims {...shown.collection} />}
        <Supports supports={shown.supports} path={claimLink(claim.claim_id)} after={after} />
        {after === undefined && <ClaimOutputs found={outputs} />}
        <RawValue value={claim.value} hex={isMissing(status) ? undefined : status.value} />
      </>
    ),
  };
}
