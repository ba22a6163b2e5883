/** `getclaimsforname`: every claim and support of a name. The declaration for lbcd's clients is in `lbcdGetClaimsForName.ts`. */
import { hashToHex } from '../../../util/bytes.js';
import { whenResolved } from '../../../util/maybePromise.js';
import { documentedName, NAME_SCHEMA } from '../../format/claimsDocumented.js';
import { LBRYCRD_NAME_SCHEMA, lbrycrdName } from '../../format/claimsLbrycrd.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { nameAt, NAME_HEX_PARAM, NAME_PARAM } from './answers.js';
import { atBlock, blockParam } from './atBlock.js';

export const getClaimsForName = defineMethod({
  name: 'getclaimsforname',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary: 'Returns all claims and supports for a name.',
  params: [NAME_PARAM, blockParam('blockhash (optional parameter 2)'), NAME_HEX_PARAM],
  result: t.union([
    { when: 'in the documented profile', schema: NAME_SCHEMA },
    { when: 'in the lbrycrd profile', schema: LBRYCRD_NAME_SCHEMA },
  ]),
  examples: [['"mindblown"']],
  profiles: ['documented', 'lbrycrd'],
  run(ctx, { name, hex, blockhash }) {
    const { services, profile } = ctx;
    return atBlock(services, blockhash, ({ id, height }) =>
      whenResolved(nameAt(ctx, { name, hex }, height), (info) => {
        if (profile === 'lbrycrd') return lbrycrdName(services, info, height);
        return documentedName(services, info, height, hashToHex(services.chain.headers.hash(id)));
      }),
    );
  },
});
