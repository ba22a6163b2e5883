/** `help`: the list of methods, or one method's help text. */
import { helpAnswer } from '../../reference/helpText.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const help = defineMethod({
  name: 'help',
  category: 'control',
  chainUse: 'none',
  summary: 'List all commands, or get help for a specified command.',
  params: [
    {
      name: 'command',
      type: 'string',
      default: '',
      defaultText: 'all commands',
      nullIsValue: true,
      description: 'The command to get help on',
    },
  ],
  result: t.str('the help text'),
  examples: [[], ['"getblock"']],
  run: (ctx, args) => helpAnswer(ctx.table, ctx.profile, args.command),
});
