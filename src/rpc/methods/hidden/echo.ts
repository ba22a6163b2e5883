/** `echo` and `echojson`: return their arguments. They differ only in how the command line client converts words. */
import type { JsonValue } from '../../../util/json/json.js';
import { defineMethod, type ParamDecl, type RpcMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

function echoParams(cli: 'string' | 'json'): ParamDecl[] {
  return Array.from({ length: 10 }, (_, index) => ({
    name: `arg${index}`,
    type: 'any',
    cli,
    description: 'Anything',
  }));
}

function echoMethod(name: string, cli: 'string' | 'json'): RpcMethod {
  return defineMethod({
    name,
    category: 'hidden',
    chainUse: 'none',
    summary:
      'Simply echo back the input arguments. This command is for testing.\n' +
      'The difference between echo and echojson is that echojson has argument conversion enabled in the command-line ' +
      'client. There is no server-side difference.',
    params: echoParams(cli),
    maxArgs: Infinity,
    result: t.array(t.any('an argument')),
    examples: [cli === 'string' ? ['"my message"', '"1"'] : ['1', '[1, true]']],
    run: (_ctx, _args, positional): JsonValue[] => [...positional],
  });
}

export const echo = echoMethod('echo', 'string');
export const echoJson = echoMethod('echojson', 'json');
