/** `logging`: returns and changes the enabled debug categories of the log. */
import { yieldIfDue } from '../../../scheduler/yield.js';
import type { JsonValue } from '../../../util/json/json.js';
import { LOG_CATEGORIES } from '../../../util/logging.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod, type RpcContext } from '../../declare/method.js';
import { getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';

export const logging = defineMethod({
  name: 'logging',
  category: 'control',
  chainUse: 'none',
  summary:
    'Gets and sets the logging configuration. Without arguments, returns for every category whether its ' +
    'debug messages are logged; with arguments, categories are switched first. Included categories are ' +
    'applied before excluded ones, so that a category in both lists is excluded.\n' +
    `The categories are: ${LOG_CATEGORIES.join(', ')}.\n` +
    'Special names: "all" and "1" mean all categories, "none" and "0" mean no category.',
  params: [
    // The type is not `array`, because the reference silently ignores values of other types than arrays.
    { name: 'include', type: 'any', description: 'A json array of categories to add to debug logging' },
    { name: 'exclude', type: 'any', description: 'A json array of categories to remove from debug logging' },
  ],
  result: t.union([
    { when: '', schema: t.map('category', t.int('1 if the category is logged, otherwise 0')) },
    { when: 'in the lbrycrd profile', schema: t.map('category', t.bool('whether the category is logged')) },
  ]),
  examples: [[], ['["all"]', '["http"]']],
  async run(ctx, args) {
    await switchCategories(ctx, args.include, true);
    await switchCategories(ctx, args.exclude, false);
    // The reference's help text says 0 and 1, but its result contains booleans.
    const shown = (active: boolean): number | boolean =>
      ctx.profile === 'lbrycrd' ? active : active ? 1 : 0;
    return new Map(ctx.services.logging.categories().map(([name, active]) => [name, shown(active)]));
  },
});

async function switchCategories(
  ctx: RpcContext,
  names: JsonValue | undefined,
  enabled: boolean,
): Promise<void> {
  if (!Array.isArray(names)) return;
  let since = performance.now();
  for (const value of names) {
    since = await yieldIfDue(since);
    const name = getString(value);
    if (!ctx.services.logging.setCategory(name, enabled)) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `unknown logging category ${name}`);
    }
  }
}
