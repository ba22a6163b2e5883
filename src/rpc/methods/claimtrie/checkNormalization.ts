/** `checknormalization`: the normalized form of a name. */
import { normalizeNameInSlices } from '../../../claimtrie/normalizeSlices.js';
import { inSlices } from '../../../scheduler/slices.js';
import { nameText } from '../../format/claimsText.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { givenName, hexParam } from './hexNames.js';

export const checkNormalization = defineMethod({
  name: 'checknormalization',
  category: 'claimtrie',
  explorer: 'console',
  chainUse: 'none',
  summary: 'Given an unnormalized name of a claim, returns the normalized version of it.',
  params: [
    { name: 'name', type: 'string', required: true, description: 'The name to normalize' },
    hexParam('name'),
  ],
  result: t.str('the normalized name'),
  examples: [['"MindBlown"']],
  run: async (_ctx, { name, hex }) =>
    nameText(await inSlices(normalizeNameInSlices(givenName('name', name, hex)))),
});
