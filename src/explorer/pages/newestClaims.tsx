/** The claims that were created last, as a narrow table of the home page. */
import { Coins, Pattern, Table, Tag, Time, Title } from '../../page/components.js';
import { claimLink } from '../../page/links.js';
import type { ClaimAnswer, NewClaim } from '../answers.js';
import type { PageContext } from '../pageContext.js';
import { isMissing, NameOf, orNull, type OrError } from './parts.js';

const NEWEST = 10;

interface Listed extends NewClaim {
  /** The claim with its verified channel; null if the claim search is off or does not have the claim. */
  readonly found: ClaimAnswer | null;
}

export type Newest = OrError<readonly Listed[]>;

/** Reads the newest claims. The claim search, which has only claims with metadata, adds the channels. */
export async function newestOf({ ask }: Pick<PageContext, 'ask'>): Promise<Newest> {
  const newest = await orNull(ask<{ claims: readonly NewClaim[] }>('listnewclaims', NEWEST));
  if (isMissing(newest)) return newest;
  const ids = newest.claims.filter(({ channelId }) => channelId !== undefined).map(({ claimId }) => claimId);
  const search = { claim_ids: ids, limit: NEWEST, order_by: [] };
  const signed =
    ids.length === 0 ? null : await orNull(ask<{ claims: readonly ClaimAnswer[] }>('searchclaims', search));
  const byId = new Map(
    signed === null || isMissing(signed) ? [] : signed.claims.map((claim) => [claim.claim_id, claim]),
  );
  return newest.claims.map((claim) => ({ ...claim, found: byId.get(claim.claimId) ?? null }));
}

function ClaimCell({ claim }: { readonly claim: Listed }) {
  const { claimId, title, name, kind, createdHeight, found } = claim;
  const channel = found?.signing_channel;
  return (
    <span class="row">
      <Pattern id={claimId} />
      <span>
        <a class="title" href={claimLink(claimId)}>
          <Title text={title ?? (name || '(empty name)')} />
        </a>
        <span class="under">
          <NameOf of={claim} /> <Tag>{kind ?? 'no metadata'}</Tag>
          {createdHeight === undefined && (
            <>
              {' '}
              <Tag tone="warning">waits</Tag>
            </>
          )}
          {channel && (
            <>
              {' '}
              in{' '}
              <a href={claimLink(channel.claim_id)}>
                <Title text={channel.name} />
              </a>
            </>
          )}
        </span>
      </span>
    </span>
  );
}

interface NewestClaimsProps {
  readonly claims: readonly Listed[];
  readonly nowSec: number;
}

export function NewestClaims({ claims, nowSec }: NewestClaimsProps) {
  return (
    <Table<Listed>
      caption="The newest claims"
      empty="There are no claims."
      rows={claims}
      columns={[
        { title: 'Claim', isHead: true, cell: (claim) => <ClaimCell claim={claim} /> },
        { title: 'Amount', unit: 'LBC', isNumber: true, cell: ({ amount }) => <Coins lbc={amount} /> },
        { title: 'Made', isTight: true, cell: ({ time }) => <Time sec={time} now={nowSec} /> },
      ]}
    />
  );
}
