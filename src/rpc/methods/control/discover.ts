/** `rpc.discover`: returns the OpenRPC document, a machine-readable description of every method. */
import { defineMethod } from '../../declare/method.js';
import { openRpcDocument } from '../../reference/openRpc.js';
import { examplesFor } from '../../reference/recordedExamples.js';
import { t } from '../../../schema/schema.js';
import { programVersion } from '../../../util/project.js';

export const discover = defineMethod({
  name: 'rpc.discover',
  category: 'control',
  chainUse: 'none',
  summary: 'Returns the OpenRPC document that describes the methods of the profile in use.',
  params: [],
  result: t.openObject({
    openrpc: t.str('version of the OpenRPC format'),
    info: t.openObject({ title: t.str(), version: t.str('the version of the program') }),
    methods: t.array(t.openObject({ name: t.str('the name of the method') }, 'a method')),
  }),
  examples: [[]],
  run: ({ table, profile }) =>
    openRpcDocument(table.list(profile), {
      version: programVersion(),
      examples: examplesFor(profile),
      profile,
    }),
});
