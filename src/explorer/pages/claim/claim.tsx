/** `/claim/<id>`: the value of a claim, its signing channel and its supports; for a channel also the claims that it signed. */
import { claimLink } from '../../../page/links.js';
import type { ClaimAnswer, ClaimStatusAnswer } from '../../answers.js';
import { AskError } from '../../explorerRpcClient.js';
import { notFound, searchFor, type Page } from '../../pageContext.js';
import { takenFrom } from '../../takenBlocks.js';
import { claimIdsOf, isMissing, orNull, unknownObject } from '../parts.js';
import { ended, takenBack } from './claimEnded.js';
import { living } from './claimLiving.js';

export const claim: Page = async (context) => {
  const { ask, parts } = context;
  const [wanted = ''] = parts;
  if (!/^[0-9a-f]{40}$/i.test(wanted)) {
    const isStart = /^[0-9a-f]{1,39}$/i.test(wanted);
    const ids = isStart ? await claimIdsOf(ask, wanted.toLowerCase()) : [];
    throw notFound(
      'This is not a claim id',
      `A claim is identified by 40 hexadecimal digits.${ids.length === 0 ? '' : ' The ids of these claims begin with these digits.'}`,
      [...ids.map((id) => [claimLink(id), `The claim ${id}`] as const), ...searchFor(wanted)],
    );
  }
  const id = wanted.toLowerCase();
  const answer = await orNull(ask<ClaimAnswer>('getclaim', id));
  if (!isMissing(answer)) return living(context, answer);
  if (answer.code !== -5) throw answer;
  const status = await orNull(ask<ClaimStatusAnswer>('getclaimstatus', id));
  if (!isMissing(status)) return ended(status, context);
  if (status instanceof AskError && status.code !== -5 && status.code !== -32601) throw status;
  const gone = takenFrom(context.taken, ({ event, claimId }) => event === 'claim' && claimId === id);
  if (gone.length > 0) return takenBack(id, gone);
  throw unknownObject(context, 'claim', {
    title: 'There is no such claim',
    message: 'No claim that this node knows has this id.',
    near: searchFor(id),
  });
};
