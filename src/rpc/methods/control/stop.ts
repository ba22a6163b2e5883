/** `stop`: starts a clean stop of the node. The response is sent before the node stops. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const stop = defineMethod({
  name: 'stop',
  category: 'control',
  chainUse: 'none',
  summary: 'Stop the server.',
  params: [],
  // The reference accepts one argument (formerly "detach") and ignores it.
  maxArgs: 1,
  result: t.str('a message that the server is stopping'),
  examples: [[]],
  run(ctx) {
    ctx.services.lifecycle.requestStop();
    return ctx.profile === 'lbcd' ? 'lbcd stopping.' : 'LBRYcrd server stopping';
  },
});
