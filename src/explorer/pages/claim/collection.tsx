/** The claims that a collection lists, on its page. */
import { ClaimId, Hash, Section, Table, Tag, Title } from '../../../page/components.js';
import { countText, integerText } from '../../../page/format.js';
import { claimLink } from '../../../page/links.js';
import type { ClaimAnswer, ClaimStatusAnswer } from '../../answers.js';
import type { PageContext } from '../../pageContext.js';
import { RPC_ERROR } from '../../../rpc/declare/errors.js';
import { isMissing, NameOf, orNull } from '../parts.js';
import { titleOf } from './claimTable.js';
import { partOf } from './claimValue.js';

/** Maximum number of claims of a collection that its page lists. The data of the claim contains all of them. */
const LISTED = 50;
const CLAIM_ID = /^[0-9a-f]{40}$/;

interface Listed {
  readonly id: string;
  /** Null if the claim does not exist, or if the node cannot search. */
  readonly claim: ClaimAnswer | null;
  /** State of a claim that was not found; null if it was found, or if its state is not known. */
  readonly status: ClaimStatusAnswer | 'never' | null;
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
  const statuses = await statusesOf(
    ask,
    shown.filter((id) => !byId.has(id)),
  );
  return {
    listed: shown.map((id) => ({ id, claim: byId.get(id) ?? null, status: statuses.get(id) ?? null })),
    total: ids.length,
  };
}

/** Reads the states of claims, also of ended ones, one after the other. Ends with the first one that the index does not give. */
async function statusesOf(
  ask: PageContext['ask'],
  ids: readonly string[],
): Promise<Map<string, NonNullable<Listed['status']>>> {
  const statuses = new Map<string, NonNullable<Listed['status']>>();
  for (const id of new Set(ids)) {
    const status = await orNull(ask<ClaimStatusAnswer>('getclaimstatus', id));
    if (!isMissing(status)) statuses.set(id, status);
    else if (status.code === RPC_ERROR.INVALID_ADDRESS_OR_KEY) statuses.set(id, 'never');
    else break;
  }
  return statuses;
}

function ClaimCell({ id, claim, status }: Listed) {
  if (status === 'never')
    return (
      <>
        <Hash hash={id} /> <Tag>not known</Tag>
      </>
    );
  const title = claim === null ? status?.title : titleOf(claim.value);
  const name = claim?.name ?? status?.name;
  if (name === undefined) return <ClaimId id={id} />;
  return (
    <>
      <a href={claimLink(id)}>
        <Title text={title ?? name} />
      </a>
      {status?.endedHeight !== undefined && (
        <>
          {' '}
          <Tag tone="warning">ended</Tag>
        </>
      )}
    </>
  );
}

function KindCell({ claim, status }: Listed) {
  const kind = claim?.value_type ?? (status === 'never' ? undefined : status?.kind);
  return kind === undefined ? <>–</> : <Tag>{kind}</Tag>;
}

function NameCell({ claim, status }: Listed) {
  const named = claim ?? status;
  return named === null || named === 'never' ? <>–</> : <NameOf of={named} />;
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
            cell: (one) => <ClaimCell {...one} />,
          },
          { title: 'Name', cell: (one) => <NameCell {...one} /> },
          { title: 'Kind', cell: (one) => <KindCell {...one} /> },
        ]}
      />
      {total > listed.length && (
        <p class="quiet">{countText(total - listed.length, 'more claim')}: see the data of the claim.</p>
      )}
    </Section>
  );
}
