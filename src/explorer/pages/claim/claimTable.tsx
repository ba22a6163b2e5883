/** Table of claims with the columns title, channel and amount. */
import type { ComponentChildren, VNode } from 'preact';
import { Coins, Pattern, Table, Tag, Time, Title } from '../../../page/components.js';
import { claimLink } from '../../../page/links.js';
import type { ClaimAnswer } from '../../answers.js';
import { NameOf } from '../parts.js';

/** Title in the value of a claim; null if the value has no title. */
export function titleOf(value: unknown): string | null {
  const title = (value as { title?: unknown } | null | undefined)?.title;
  return typeof title === 'string' && title !== '' ? title : null;
}

/**
 * Search conditions for the claims of a channel. Any claim can name a channel, so those without a valid signature are left
 * out.
 */
export const signedBy = (channelId: string) => ({
  channel_ids: [channelId],
  has_channel_signature: true,
  signature_valid: true,
});

/** Text in place of found claims. */
export const NoneFound = (): VNode => (
  <>
    No claim with metadata matches. Claims without metadata are on the pages of their{' '}
    <a href="/names">names</a>.
  </>
);

interface ClaimTableProps {
  readonly claims: readonly ClaimAnswer[];
  readonly nowSec: number;
  readonly caption: string;
  readonly empty: ComponentChildren;
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
        { title: 'Name', cell: (claim) => <NameOf of={claim} /> },
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
