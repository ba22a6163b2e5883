/** lbcd's `normalize`: the normalized form of a name. */
import { normalizeNameInSlices } from '../../../../claimtrie/normalizeSlices.js';
import { inSlices } from '../../../../scheduler/slices.js';
import { nameTextWithReplacements } from '../../../format/claimsText.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { givenName, hexParam } from '../hexNames.js';

export const normalize = defineMethod({
  name: 'normalize',
  category: 'claimtrie',
  chainUse: 'none',
  summary: 'Returns the normalized version of a name.',
  params: [
    { name: 'name', type: 'string', required: true, description: 'The name to normalize' },
    hexParam('name'),
  ],
  result: t.object({ normalizedname: t.str('the normalized name') }),
  examples: [['"MindBlown"']],
  profiles: ['lbcd'],
  run: async (_ctx, { name, hex }) => ({
    normalizedname: nameTextWithReplacements(
      await inSlices(normalizeNameInSlices(givenName('name', name, hex))),
    ),
  }),
});
