/** The channel of a claim, in one line with the claim. */
import { Tag, Title } from '../../../page/components.js';
import { claimLink } from '../../../page/links.js';
import type { ClaimAnswer } from '../../answers.js';
import { ClaimRef } from '../parts.js';

/** The channel that signed the claim, or that its value names without a valid signature. */
export function Signer({
  claim: { signing_channel: channel, channel_id: named, isChannelUnmade },
}: {
  readonly claim: ClaimAnswer;
}) {
  if (channel)
    return (
      <>
        {' '}
        in{' '}
        <a href={claimLink(channel.claim_id)}>
          <Title text={channel.name} />
        </a>{' '}
        <Tag tone="good">✓ signature valid</Tag>
      </>
    );
  if (!named) return null;
  return (
    <>
      {' '}
      <Tag tone="warning">signature not valid</Tag> names the channel{' '}
      <ClaimRef id={named} isUnmade={isChannelUnmade} />
    </>
  );
}
