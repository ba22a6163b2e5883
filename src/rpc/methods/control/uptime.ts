/** `uptime`: seconds since the start of the node, by the mock time if a test has set one. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const uptime = defineMethod({
  name: 'uptime',
  category: 'control',
  explorer: 'page',
  chainUse: 'none',
  summary: 'Returns the total uptime of the server.',
  params: [],
  // The reference accepts one argument and ignores it.
  maxArgs: 1,
  result: t.int('the number of seconds that the server has been running'),
  examples: [[]],
  run: ({ services }) => services.clock.nowSec() - services.lifecycle.startTimeSec,
});
