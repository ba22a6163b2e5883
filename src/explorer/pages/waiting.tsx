/** Table of claim operations in the mempool for a name or a claim. */
import { Coins, Notice, Section, Table, Tx } from '../../page/components.js';
import { countText, integerText } from '../../page/format.js';
import type { MempoolClaims } from '../answers.js';
import { ClaimRef, EventTag } from './parts.js';

export function Waiting({ total, claims }: MempoolClaims) {
  if (total === 0) return null;
  return (
    <Section title={`Waiting in the mempool (${integerText(total)})`} id="waiting">
      <Table
        caption="Operations in the mempool"
        empty=""
        rows={claims}
        columns={[
          {
            title: 'What',
            isHead: true,
            cell: ({ event, isSupport }) => <EventTag event={event} isSupport={isSupport} isWaiting />,
          },
          {
            title: 'Claim',
            cell: ({ claimId, isUnmade }) => <ClaimRef id={claimId} isUnmade={isUnmade} />,
          },
          { title: 'Amount', unit: 'LBC', isNumber: true, cell: ({ amount }) => <Coins lbc={amount} /> },
          { title: 'Transaction', cell: ({ transaction }) => <Tx txid={transaction} /> },
        ]}
      />
      {claims.length < total && (
        <Notice>
          {countText(total - claims.length, 'more operation')}: see the <a href="/mempool">mempool</a>.
        </Notice>
      )}
    </Section>
  );
}
