/** `stop`: begins a clean stop of the node; the answer still gets out. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const stop = defineMethod({
  name: 'stop',
  category: 'control',
  chainUse: 'none',
  summary: 'Stop the server.',
  params: [],
  // The reference takes (and ignores) one argument, "detach" of old.
  maxArgs: 1,
  result: t.str('a farewell'),
  examples: [[]],
  run(ctx) {
    ctx.services.lifecycle.requestStop();
    return ctx.profile === 'lbcd' ? 'lbcd stopping.' : 'LBRYcrd server stopping';
  },
});
