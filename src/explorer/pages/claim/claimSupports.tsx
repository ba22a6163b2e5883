/** The supports of a claim on its page. */
import {
  Address,
  Block,
  Coins,
  Notice,
  Output,
  Pager,
  Section,
  Table,
  Tag,
} from '../../../page/components.js';
import { integerText } from '../../../page/format.js';
import { withQuery } from '../../../page/links.js';
import type { SupportsAnswer } from '../../answers.js';
import type { AskError } from '../../explorerRpcClient.js';
import { ClaimRef, isMissing } from '../parts.js';

type Support = SupportsAnswer['supports'][number];

const ActiveCell = ({ active, validAtHeight }: Support) =>
  active ? (
    <>
      since <Block height={validAtHeight} />
    </>
  ) : (
    <Tag tone="warning">from {integerText(validAtHeight)}</Tag>
  );

/** The channel that a support names, or its address. `listsupports` does not verify the signature. */
const FromCell = ({ channelId, isChannelUnmade, address }: Support) =>
  channelId ? (
    <>
      names the channel <ClaimRef id={channelId} isUnmade={isChannelUnmade} />
    </>
  ) : address ? (
    <Address address={address} />
  ) : (
    <>–</>
  );

interface SupportsProps {
  readonly supports: SupportsAnswer | AskError;
  readonly path: string;
  readonly after: string | undefined;
}

export function Supports({ supports, path, after }: SupportsProps) {
  if (isMissing(supports))
    return (
      <Section title="Supports" id="supports">
        <Notice>{supports.message}</Notice>
      </Section>
    );
  return (
    <Section title={`Supports (${integerText(supports.total)})`} id="supports">
      <Table
        caption="Supports"
        empty="Nothing supports this claim."
        rows={supports.supports}
        columns={[
          { title: 'Output', isHead: true, cell: ({ txid, n }) => <Output txid={txid} n={n} /> },
          { title: 'Amount', unit: 'LBC', isNumber: true, cell: ({ amount }) => <Coins lbc={amount} /> },
          { title: 'Active', isTight: true, cell: ActiveCell },
          { title: 'Expires', isNumber: true, cell: ({ expirationHeight }) => integerText(expirationHeight) },
          { title: 'From', cell: FromCell },
        ]}
      />
      <Pager
        next={supports.next && withQuery(path, { after: supports.next })}
        first={after === undefined ? undefined : path}
      />
    </Section>
  );
}
