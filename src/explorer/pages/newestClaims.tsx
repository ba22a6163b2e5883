/** The claims that were created last, as a narrow table of the home page. */
import { Coins, Pattern, Table, Tag, Time, Title } from '../../page/components.js';
import { integerText } from '../../page/format.js';
import { claimLink } from '../../page/links.js';
import type { ClaimAnswer, NewClaim } from '../answers.js';
import type { PageContext } from '../pageContext.js';
import { isMissing, NameOf, orNull, type OrError } from './parts.js';

const NEWEST = 10;

interface Listed extends NewClaim {
  /** The claim with its verified channel; null if the claim search is off or does not have the claim. */
  readonly found: ClaimAnswer | null;
}

/** Maximum number of calls. Each call reads the changes of up to 1,000 blocks, which may have no new claims. */
const MOST_CALLS = 4;

interface NewestAnswer {
  readonly claims: readonly NewClaim[];
  readonly next?: number;
  readonly skip?: number;
}

interface Found {
  readonly claims: readonly Listed[];
  /** Claims up to this height were not searched; undefined if the list is full or has all claims. */
  readonly until?: number | undefined;
}

export type Newest = OrError<Found>;

/** Reads the claims that were created last, from the mempool and the tip downwards. */
async function newestAnswers(ask: PageContext['ask']): Promise<NewestAnswer> {
  const found = await ask<NewestAnswer>('listnewclaims', NEWEST);
  let { claims, next, skip } = found;
  for (let calls = 1; calls < MOST_CALLS && claims.length < NEWEST && next !== undefined; calls++) {
    const page = await ask<NewestAnswer>('listnewclaims', NEWEST - claims.length, next, skip ?? 0);
    claims = [...claims, ...page.claims];
    ({ next, skip } = page);
  }
  return { claims, ...(claims.length < NEWEST && next !== undefined && { next }) };
}

/** Reads the newest claims. The claim search, which has only claims with metadata, adds the channels. */
export async function newestOf({ ask }: Pick<PageContext, 'ask'>): Promise<Newest> {
  const newest = await orNull(newestAnswers(ask));
  if (isMissing(newest)) return newest;
  const ids = newest.claims.filter(({ channelId }) => channelId !== undefined).map(({ claimId }) => claimId);
  const search = { claim_ids: ids, limit: NEWEST, order_by: [] };
  const signed =
    ids.length === 0 ? null : await orNull(ask<{ claims: readonly ClaimAnswer[] }>('searchclaims', search));
  const byId = new Map(
    signed === null || isMissing(signed) ? [] : signed.claims.map((claim) => [claim.claim_id, claim]),
  );
  const claims = newest.claims.map((claim) => ({ ...claim, found: byId.get(claim.claimId) ?? null }));
  return { claims, until: newest.next };
}

function ClaimCell({ claim }: { readonly claim: Listed }) {
  const { claimId, title, kind, createdHeight, found } = claim;
  const channel = found?.signing_channel;
  return (
    <span class="row">
      <Pattern id={claimId} />
      <span>
        <a class="title" href={claimLink(claimId)}>
          {title === undefined ? `Claim ${claimId.slice(0, 8)}…` : <Title text={title} />}
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

interface NewestClaimsProps extends Found {
  readonly nowSec: number;
}

export function NewestClaims({ claims, until, nowSec }: NewestClaimsProps) {
  return (
    <>
      <Table<Listed>
        caption="The newest claims"
        empty={until === undefined ? 'There are no claims.' : 'No claim was made lately.'}
        rows={claims}
        columns={[
          { title: 'Claim', isHead: true, cell: (claim) => <ClaimCell claim={claim} /> },
          { title: 'Amount', unit: 'LBC', isNumber: true, cell: ({ amount }) => <Coins lbc={amount} /> },
          { title: 'Made', isTight: true, cell: ({ time }) => <Time sec={time} now={nowSec} /> },
        ]}
      />
      {until !== undefined && (
        <p class="quiet">
          Claims up to block {integerText(until)} are not listed here. The <a href="/names">names</a> lead to
          them.
        </p>
      )}
    </>
  );
}
