/** `uptime`: time since the start of the node, by the mocked clock if one is set. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const uptime = defineMethod({
  name: 'uptime',
  category: 'control',
  explorer: 'page',
  chainUse: 'none',
  summary: 'Returns the total uptime of the server.',
  params: [],
  // The reference accepts and ignores one argument.
  maxArgs: 1,
  result: t.int('the number of seconds that the server has been running'),
  examples: [[]],
  run: ({ services }) => services.clock.nowSec() - services.lifecycle.startTimeSec,
});
