/** The bids for a name on its page, in three orders. */
import type { VNode } from 'preact';
import {
  Amount,
  Block,
  ClaimId,
  Coins,
  Pattern,
  Table,
  Tag,
  Title,
  type Column,
} from '../../../page/components.js';
import { integerText } from '../../../page/format.js';
import { claimLink, withQuery } from '../../../page/links.js';
import type { Bid, ListClaimsAnswer } from '../../answers.js';
import { Chips, NameOf } from '../parts.js';

export const ORDERS = [
  ['bid', 'by amount'],
  ['newest', 'newest'],
  ['oldest', 'oldest'],
] as const;

/** The components of a cell are called, not created as elements: that takes half the time, and a page has a hundred rows. */
function bidCell(bid: Bid, answer: ListClaimsAnswer): VNode {
  return (
    <>
      {Pattern({ id: bid.claimId })}{' '}
      {bid.title ? (
        <a href={claimLink(bid.claimId)}>
          <Title text={bid.title} />
        </a>
      ) : (
        ClaimId({ id: bid.claimId })
      )}{' '}
      {bid.kind && <Tag>{bid.kind}</Tag>}{' '}
      {answer.holder?.claimId === bid.claimId && <Tag tone="good">holds the name</Tag>}
      {bid.name !== answer.name && (
        <>
          {' '}
          as <NameOf of={bid} />
        </>
      )}
    </>
  );
}

const SupportsCell = ({ supports, supportAmount }: Bid) =>
  supports === 0 ? (
    <>–</>
  ) : (
    <>
      {integerText(supports)}, <Amount lbc={supportAmount} />
    </>
  );

const ActiveCell = ({ active, validAtHeight }: Bid) =>
  active ? (
    <>since {Block({ height: validAtHeight })}</>
  ) : (
    <Tag tone="warning">from {integerText(validAtHeight)}</Tag>
  );

const columnsOf = (answer: ListClaimsAnswer): readonly Column<Bid>[] => [
  { title: '#', cell: ({ bid }) => integerText(bid + 1) },
  { title: 'Claim', isHead: true, cell: (bid) => bidCell(bid, answer) },
  { title: 'Channel', cell: ({ channelId }) => (channelId ? ClaimId({ id: channelId }) : '–') },
  {
    title: 'Effective',
    unit: 'LBC',
    isNumber: true,
    cell: ({ effectiveAmount }) => Coins({ lbc: effectiveAmount }),
  },
  { title: 'Own', unit: 'LBC', isNumber: true, cell: ({ amount }) => Coins({ lbc: amount }) },
  { title: 'Supports', isNumber: true, cell: SupportsCell },
  { title: 'Active', isTight: true, cell: ActiveCell },
  { title: 'Expires', isNumber: true, cell: ({ expirationHeight }) => integerText(expirationHeight) },
];

interface BidsProps {
  readonly answer: ListClaimsAnswer;
  readonly path: string;
  readonly order: string;
  readonly block: string | undefined;
}

export function Bids({ answer, path, order, block }: BidsProps) {
  return (
    <>
      <Chips
        label="Order of bids"
        items={ORDERS.map(([key, text]) => [
          withQuery(path, { order: key === 'bid' ? undefined : key, block }),
          text,
          key === order,
        ])}
      />
      <Table<Bid>
        caption="Bids"
        empty="No claim bids for this name."
        rows={answer.bids}
        columns={columnsOf(answer)}
      />
    </>
  );
}
