/** `uptime`: for how long the node has been running, by the mocked clock where there is one. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const uptime = defineMethod({
  name: 'uptime',
  category: 'control',
  explorer: 'page',
  chainUse: 'none',
  summary: 'Returns the total uptime of the server.',
  params: [],
  // The reference takes (and ignores) one argument.
  maxArgs: 1,
  result: t.int('the number of seconds that the server has been running'),
  examples: [[]],
  run: ({ services }) => services.clock.nowSec() - services.lifecycle.startTimeSec,
});
