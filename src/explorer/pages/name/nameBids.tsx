/** The bids for a name on the page of the name, in three sort orders. */
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
  type TableColumn,
} from '../../../page/components.js';
import { integerText } from '../../../page/format.js';
import { claimLink, withQuery } from '../../../page/links.js';
import { markup } from '../../../page/markup.js';
import type { KeptRows } from '../../keptRows.js';
import type { Bid, ListClaimsAnswer } from '../../answers.js';
import { Chips, ClaimRef, NameOf } from '../parts.js';

export const ORDERS = [
  ['bid', 'by amount'],
  ['newest', 'newest'],
  ['oldest', 'oldest'],
] as const;

function bidCell(bid: Bid, answer: ListClaimsAnswer): VNode {
  const link = bid.title
    ? markup`<a href="${claimLink(bid.claimId)}">${Title({ text: bid.title })}</a>`
    : ClaimId({ id: bid.claimId });
  const kind = bid.kind && Tag({ children: bid.kind });
  const holds = answer.holder?.claimId === bid.claimId && Tag({ tone: 'good', children: 'holds the name' });
  const spelling = bid.name !== answer.name && markup` as ${NameOf({ of: bid })}`;
  return markup`${Pattern({ id: bid.claimId })} ${link} ${kind} ${holds}${spelling}`;
}

const SupportsCell = ({ supports, supportAmount }: Bid) =>
  supports === 0 ? '–' : [integerText(supports), ', ', Amount({ lbc: supportAmount })];

const ActiveCell = ({ active, validAtHeight }: Bid) =>
  active
    ? ['since ', Block({ height: validAtHeight })]
    : Tag({ tone: 'warning', children: `from ${integerText(validAtHeight)}` });

const ChannelCell = ({ channelId, isChannelUnmade }: Bid) =>
  channelId ? ClaimRef({ id: channelId, isUnmade: isChannelUnmade }) : '–';

const columnsOf = (answer: ListClaimsAnswer): readonly TableColumn<Bid>[] => [
  { title: '#', cell: ({ bid }) => integerText(bid + 1) },
  { title: 'Claim', isHead: true, cell: (bid) => bidCell(bid, answer) },
  { title: 'Named channel', cell: ChannelCell },
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
  readonly rows: KeptRows;
  readonly answer: ListClaimsAnswer;
  readonly path: string;
  readonly order: string;
  readonly block: string | undefined;
}

export function Bids({ rows, answer, path, order, block }: BidsProps) {
  const holder = answer.holder?.claimId;
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
        kept={(bid, make) =>
          rows.of(JSON.stringify(['bid', bid, holder === bid.claimId, bid.name === answer.name]), make)
        }
      />
    </>
  );
}
