/** The pages of claims that do not exist any more: abandoned, expired, or removed by a reorg. */
import {
  Address,
  Amount,
  Block,
  Facts,
  Hash,
  Name,
  Notice,
  Output,
  Pattern,
  Section,
  Tag,
  Title,
  Tx,
} from '../../../page/components.js';
import { integerText } from '../../../page/format.js';
import { shownLine } from '../../../page/text.js';
import type { ClaimStatusAnswer } from '../../answers.js';
import type { TakenBlock } from '../../messages.js';
import type { PageContext, PageResult } from '../../pageContext.js';
import { ClaimRef, TakenBack } from '../parts.js';
import { unmadeAmong } from '../unmadeClaims.js';
import { ClaimOutputs, outputsOf, type ClaimEnd } from './claimOutputs.js';
import { RawValue } from './claimValue.js';

function How({ status }: { readonly status: ClaimStatusAnswer }) {
  const { state, spentBy, endedHeight, txid, outputHeight } = status;
  return (
    <Notice tone="warning">
      {state === 'expired' ? 'It expired' : spentBy ? 'It was abandoned' : 'It ended'}
      {endedHeight !== undefined && (
        <>
          {' '}
          in block <Block height={endedHeight} />
        </>
      )}
      {spentBy && (
        <>
          {' '}
          by transaction <Tx txid={spentBy} />
        </>
      )}
      {state !== 'expired' && endedHeight === outputHeight && (
        <>
          . Transaction <Tx txid={txid} /> of the same block made this output, so it was never active
        </>
      )}
      . Nothing can be bid on it any more.
    </Notice>
  );
}

function endOf({ state, endedHeight, spentBy }: ClaimStatusAnswer): ClaimEnd | null {
  return endedHeight === undefined ? null : { height: endedHeight, isExpired: state === 'expired', spentBy };
}

/** The page of a claim that was abandoned or has expired. */
export async function ended(status: ClaimStatusAnswer, { ask, tip }: PageContext): Promise<PageResult> {
  const title = status.title ?? status.name;
  const [found, unmade] = await Promise.all([
    outputsOf(ask, status.claimId, { txid: status.txid, n: status.n }),
    unmadeAmong(ask, [status.channelId]),
  ]);
  return {
    title: `${shownLine(title, 80)} (ended)`,
    description: `An ended claim of the name ${shownLine(status.name, 60)}.`,
    topics: ['tip'],
    body: (
      <>
        <div class="lead">
          <Pattern id={status.claimId} />
          <div>
            <h1>
              <Title text={title} />
            </h1>
            <Tag tone="warning">ended</Tag> {status.kind && <Tag>{status.kind}</Tag>} at{' '}
            <Name name={status.name} hex={status.namehex} />
          </div>
        </div>
        <How status={status} />
        <Section title="Its last output">
          <Facts
            rows={[
              ['Claim id', <Hash hash={status.claimId} isWhole />],
              ['Output', <Output txid={status.txid} n={status.n} />],
              ['Amount', <Amount lbc={status.amount} />],
              ['In block', <Block height={status.outputHeight} />],
              [
                'Would have expired',
                status.state !== 'expired' && `block ${integerText(status.expirationHeight)}`,
              ],
              ['Address', status.address && <Address address={status.address} />],
              [
                'Named channel',
                status.channelId && (
                  <ClaimRef id={status.channelId} isUnmade={unmade.has(status.channelId)} />
                ),
              ],
              ['As of block', <Block height={tip.height} />],
            ]}
          />
        </Section>
        <ClaimOutputs found={found} end={endOf(status)} />
        <RawValue value={undefined} hex={status.value} />
      </>
    ),
  };
}

/** Page of a claim that exists only in blocks that a reorg disconnected. */
export function takenBack(id: string, blocks: readonly TakenBlock[]): PageResult {
  return {
    status: 404,
    title: 'Claim removed by a reorganisation',
    description: 'The block that made this claim is no longer in the chain.',
    topics: ['tip', 'mempool'],
    isLively: true,
    body: (
      <>
        <h1>A reorganisation removed this claim</h1>
        <p>
          <Hash hash={id} isWhole />
        </p>
        <TakenBack blocks={blocks} />
        <p>Its transaction may come into another block. This page shows the claim again then.</p>
      </>
    ),
  };
}
