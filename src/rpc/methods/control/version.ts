/** `version`: the version of lbcd's JSON-RPC interface that the lbcd profile implements. Source: lbcd rpcserver.go. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

const INTERFACE = [1, 3, 0] as const;

export const version = defineMethod({
  name: 'version',
  category: 'control',
  chainUse: 'none',
  summary: 'Returns the version of the JSON-RPC interface.',
  params: [],
  result: t.map(
    'lbcdjsonrpcapi',
    t.object({
      versionstring: t.str('the version'),
      major: t.int('major version'),
      minor: t.int('minor version'),
      patch: t.int('patch version'),
      prerelease: t.str('pre-release identifier'),
      buildmetadata: t.str('build metadata'),
    }),
  ),
  examples: [[]],
  profiles: ['lbcd'],
  run() {
    const [major, minor, patch] = INTERFACE;
    const versionstring = INTERFACE.join('.');
    return { lbcdjsonrpcapi: { versionstring, major, minor, patch, prerelease: '', buildmetadata: '' } };
  },
});
