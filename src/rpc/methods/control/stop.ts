/** `stop`: starts a clean stop of the node; the response is still sent. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const stop = defineMethod({
  name: 'stop',
  category: 'control',
  chainUse: 'none',
  summary: 'Stop the server.',
  params: [],
  // The reference accepts and ignores one argument, formerly "detach".
  maxArgs: 1,
  result: t.str('a farewell'),
  examples: [[]],
  run(ctx) {
    ctx.services.lifecycle.requestStop();
    return ctx.profile === 'lbcd' ? 'lbcd stopping.' : 'LBRYcrd server stopping';
  },
});
