/**
 * `validateaddress` in the lbrycrd profile: with `-deprecatedrpc=validateaddress` the answer also contains the fields of
 * `getaddressinfo`. Source: lbrycrd rpc/misc.cpp `validateaddress`.
 */
import { t } from '../../../../schema/schema.js';
import { defineMethod } from '../../../declare/method.js';
import { validated, VALIDATED, VALIDATE_ADDRESS } from '../../util/validateAddress.js';
import { addressInfo, ADDRESS_INFO } from './getAddressInfo.js';

const WITH_OPTION = 'if the address is valid, with -deprecatedrpc=validateaddress';

/** Fields that only `getaddressinfo` has. */
const OTHER_FIELDS = Object.entries(ADDRESS_INFO)
  .filter(([name]) => !(name in VALIDATED))
  .map(([name, field]) => [name, field.kind === 'optional' ? field : t.optional(field, WITH_OPTION)]);

export const validateAddressInWallet = defineMethod({
  ...VALIDATE_ADDRESS,
  chainUse: 'none',
  profiles: ['lbrycrd'],
  result: t.object({ ...VALIDATED, ...Object.fromEntries(OTHER_FIELDS) }),
  run(ctx, { address }) {
    const answer = validated(ctx.services, address);
    const hasWallets = (ctx.services.wallets?.all().length ?? 0) > 0;
    if (answer['isvalid'] !== true || !hasWallets || !ctx.isDeprecatedEnabled('validateaddress'))
      return answer;
    return { isvalid: true, ...addressInfo(ctx, address) };
  },
});
