/** The claims that a collection lists, on its page. */
import { ClaimId, Section, Table, Tag, Title } from '../../../page/components.js';
import { countText, integerText } from '../../../page/format.js';
import { claimLink } from '../../../page/links.js';
import type { ClaimAnswer } from '../../answers.js';
import type { PageContext } from '../../pageContext.js';
import { isMissing, NameOf, orNull } from '../parts.js';
import { titleOf } from './claimTable.js';
import { partOf } from './claimValue.js';

/** Maximum number of claims of a collection that its page lists. The data of the claim contains all of them. */
const LISTED = 50;
const CLAIM_ID = /^[0-9a-f]{40}$/;

interface Listed {
  readonly id: string;
  /** Null if the node does not know the claim, or if it cannot search. */
  readonly claim: ClaimAnswer | null;
}

export interface Collection {
  readonly listed: readonly Listed[];
  readonly total: number;
}

/** Reads the claims that the value of a collection lists, in its order. */
export async function collectionOf(ask: PageContext['ask'], value: unknown): Promise<Collection> {
  const all = partOf(value, 'claims');
  const ids = (Array.isArray(all) ? all : []).map(String).filter((id) => CLAIM_ID.test(id));
  const shown = ids.slice(0, LISTED);
  const found =
    shown.length === 0
      ? null
      : await orNull(
          ask<{ claims: ClaimAnswer[] }>('searchclaims', {
            claim_ids: [...new Set(shown)],
            limit: LISTED,
            order_by: [],
          }),
        );
  const claims = found === null || isMissing(found) ? [] : found.claims;
  const byId = new Map(claims.map((claim) => [claim.claim_id, claim]));
  return { listed: shown.map((id) => ({ id, claim: byId.get(id) ?? null })), total: ids.length };
}

export function CollectionClaims({ listed, total }: Collection) {
  return (
    <Section title={`Claims of the collection (${integerText(total)})`}>
      <Table<Listed>
        caption="Claims that the collection lists, in its order"
        empty="The collection lists no claim."
        rows={listed}
        columns={[
          { title: '#', cell: (_, index) => integerText(index + 1) },
          {
            title: 'Claim',
            isHead: true,
            cell: ({ id, claim }) =>
              claim === null ? (
                <ClaimId id={id} />
              ) : (
                <a href={claimLink(id)}>
                  <Title text={titleOf(claim.value) ?? claim.name} />
                </a>
              ),
          },
          { title: 'Name', cell: ({ claim }) => (claim === null ? '–' : <NameOf of={claim} />) },
          { title: 'Kind', cell: ({ claim }) => (claim?.value_type ? <Tag>{claim.value_type}</Tag> : '–') },
        ]}
      />
      {total > listed.length && (
        <p class="quiet">{countText(total - listed.length, 'more claim')}: see the data of the claim.</p>
      )}
    </Section>
  );
}
