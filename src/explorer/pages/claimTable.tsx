/** Claims in a table: what they are, whose, for how much. */
import type { VNode } from 'preact';
import { Amount, Name, Pattern, Table, Tag, Time, Title } from '../../page/components.js';
import { claimLink } from '../../page/links.js';
import type { ClaimAnswer } from '../answers.js';

/** The title of a claim's value; null where it has none. */
export function titleOf(value: unknown): string | null {
  const title = (value as { title?: unknown } | null | undefined)?.title;
  return typeof title === 'string' && title !== '' ? title : null;
}

interface ClaimTableProps {
  readonly claims: readonly ClaimAnswer[];
  readonly nowSec: number;
  readonly caption: string;
  readonly empty: string;
}

export function ClaimTable({ claims, nowSec, caption, empty }: ClaimTableProps): VNode {
  return (
    <Table
      caption={caption}
      empty={empty}
      rows={claims}
      columns={[
        {
          title: 'Claim',
          isHead: true,
          cell: ({ claim_id: id, value, name }) => (
            <>
              <Pattern id={id} />{' '}
              <a href={claimLink(id)}>
                <Title text={titleOf(value) ?? name} />
              </a>
            </>
          ),
        },
        { title: 'Name', cell: ({ name }) => <Name name={name} /> },
        { title: 'Kind', cell: ({ value_type: kind }) => (kind ? <Tag>{kind}</Tag> : 'not known') },
        {
          title: 'Channel',
          cell: ({ signing_channel: channel }) =>
            channel ? (
              <a href={claimLink(channel.claim_id)}>
                <Title text={channel.name} />
              </a>
            ) : (
              '–'
            ),
        },
        {
          title: 'Amount',
          isNumber: true,
          cell: (claim) => <Amount lbc={claim.effective_amount || claim.amount} />,
        },
        { title: 'Made', cell: ({ creation_timestamp: sec }) => <Time sec={sec} now={nowSec} /> },
      ]}
    />
  );
}
