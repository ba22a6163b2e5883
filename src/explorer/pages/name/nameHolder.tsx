/** Head of the page of a name: the owner, the amount that a new bid needs, and the next change of the owner. */
import { Amount, Block, ClaimId, Notice, Pattern, Section, Title } from '../../../page/components.js';
import { amountText, blocksText, countText, integerText } from '../../../page/format.js';
import { claimLink } from '../../../page/links.js';
import type { Bid, ClaimAnswer, ListClaimsAnswer, UpcomingEvent } from '../../answers.js';
import { titleOf } from '../claim/claimTable.js';
import { Signer } from '../claim/signer.js';

/** The title of the controlling claim, whose bid is `bid`; undefined if neither the bid nor the claim itself has it. */
export function titleOfHolder(bid: Bid | undefined, owner: ClaimAnswer | null): string | undefined {
  return bid?.title ?? titleOf(owner?.value) ?? undefined;
}

/** Shows the claim that controls the name, with its channel and its amount. */
function Owner({ answer, owner }: Pick<HolderProps, 'answer' | 'owner'>) {
  const { holder, lastTakeoverHeight } = answer;
  if (holder === undefined) return null;
  const title = titleOfHolder(holder, owner);
  return (
    <div class="lead">
      <Pattern id={holder.claimId} />
      <div>
        <a href={claimLink(holder.claimId)}>
          <strong>
            <Title text={title ?? holder.claimId} />
          </strong>
        </a>
        {owner && <Signer claim={owner} />}
        <br />
        <Amount lbc={holder.effectiveAmount} /> effective
        {lastTakeoverHeight !== undefined && (
          <>
            , since block <Block height={lastTakeoverHeight} />
          </>
        )}
      </div>
    </div>
  );
}

function NewBid({ answer, spacingSec }: { readonly answer: ListClaimsAnswer; readonly spacingSec: number }) {
  const { holder, newBid } = answer;
  if (holder === undefined) return <Notice>A claim of any amount takes this name at once.</Notice>;
  const delay =
    newBid.delay === 0
      ? 'at once'
      : `after ${countText(newBid.delay, 'block')} (${blocksText(newBid.delay, spacingSec)})`;
  return (
    <Notice>
      To take the name over, a new claim must have more than{' '}
      <strong>{amountText(newBid.mustExceed)} LBC</strong>. It counts {delay}, from block{' '}
      {integerText(newBid.validAtHeight)} on.
    </Notice>
  );
}

interface TakeoverProps {
  readonly takeover: UpcomingEvent;
  readonly height: number;
  readonly spacingSec: number;
}

function NextTakeover({ takeover, height, spacingSec }: TakeoverProps) {
  const { claimId, effectiveAmount } = takeover;
  const blocks = takeover.height - height;
  return (
    <Notice tone="warning">
      <strong>Changes hands</strong> in {countText(blocks, 'block')} ({blocksText(blocks, spacingSec)}):{' '}
      {claimId === undefined ? (
        'the last claim ends, and the name is free.'
      ) : (
        <>
          <ClaimId id={claimId} /> takes it over
          {effectiveAmount !== undefined && (
            <>
              {' '}
              with <Amount lbc={effectiveAmount} />
            </>
          )}
          .
        </>
      )}
    </Notice>
  );
}

interface HolderProps {
  readonly answer: ListClaimsAnswer;
  /** The controlling claim with its channel, if it names a channel. */
  readonly owner: ClaimAnswer | null;
  readonly spacingSec: number;
  /** Number of operations on the name in the mempool. */
  readonly waiting: number;
}

export function Holder({ answer, owner, spacingSec, waiting }: HolderProps) {
  const takeover = answer.coming?.find(({ event }) => event === 'takeover');
  return (
    <Section title={answer.holder ? 'Held by' : 'No claim holds this name'}>
      <Owner answer={answer} owner={owner} />
      <NewBid answer={answer} spacingSec={spacingSec} />
      {takeover && <NextTakeover takeover={takeover} height={answer.height} spacingSec={spacingSec} />}
      {waiting > 0 && (
        <p>
          <a href="#waiting">{countText(waiting, 'operation')} for this name</a>{' '}
          {waiting === 1 ? 'waits' : 'wait'} in the mempool.
        </p>
      )}
    </Section>
  );
}
