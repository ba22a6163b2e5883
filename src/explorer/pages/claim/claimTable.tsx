/** Table of claims with the columns title, channel and amount. */
import type { VNode } from 'preact';
import { Coins, Name, Pattern, Table, Tag, Time, Title } from '../../../page/components.js';
import { claimLink } from '../../../page/links.js';
import type { ClaimAnswer } from '../../answers.js';

/** Title in the value of a claim; null if the value has no title. */
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
            <span class="row">
              <Pattern id={id} />
              <a class="title" href={claimLink(id)}>
                <Title text={titleOf(value) ?? name} />
              </a>
            </span>
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
          unit: 'LBC',
          isNumber: true,
          cell: (claim) => <Coins lbc={claim.effective_amount || claim.amount} />,
        },
        {
          title: 'Made',
          isTight: true,
          cell: ({ creation_timestamp: sec }) => <Time sec={sec} now={nowSec} />,
        },
      ]}
    />
  );
}

/** Narrow table of claims: the title, with name and channel below it. */
export function ClaimList({ claims, nowSec, caption, empty }: ClaimTableProps): VNode {
  return (
    <Table
      caption={caption}
      empty={empty}
      rows={claims}
      columns={[
        {
          title: 'Claim',
          isHead: true,
          cell: ({ claim_id: id, value, name, signing_channel: channel }) => (
            <span class="row">
              <Pattern id={id} />
              <span>
                <a class="title" href={claimLink(id)}>
                  <Title text={titleOf(value) ?? name} />
                </a>
                <span class="under">
                  <Name name={name} />
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
          ),
        },
        {
          title: 'Amount',
          unit: 'LBC',
          isNumber: true,
          cell: (claim) => <Coins lbc={claim.effective_amount || claim.amount} />,
        },
        {
          title: 'Made',
          isTight: true,
          cell: ({ creation_timestamp: sec }) => <Time sec={sec} now={nowSec} />,
        },
      ]}
    />
  );
}
