/** Large answers of `resolve`: many URLs of one claim, and texts that are longer than any URL. */
import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { Reorganisation } from '../../../../../src/chain/reorganisation.js';
import type { ClaimRecord, ResolvedUrl } from '../../../../../src/index/claims/claimReader.js';
import { encodeClaim } from '../../../../../src/metadata/claim.js';
import { ClaimSchema } from '../../../../../src/metadata/messages/claim_pb.js';
import { regtestParams } from '../../../../../src/params/regtest.js';
import { invokeMethod } from '../../../../../src/rpc/call/callMethod.js';
import { resolve } from '../../../../../src/rpc/methods/claimindex/resolve.js';
import type { RpcServices } from '../../../../../src/interfaces/services.js';
import { toPlain } from '../../../../../src/util/json/json.js';
import { parseJson } from '../../../../../src/util/json/jsonParse.js';
import { jsonChunks } from '../../../../../src/util/json/jsonStream.js';
import { keyOf, Random, randomClaims } from '../../../../support/claimSearchModel.js';
import { testContext, testServices } from '../../support.js';

const claim = randomClaims(new Random(1), 1)[0]!.record;
const channel = { ...claim, claimId: Buffer.alloc(20, 7), name: Buffer.from('@c') };
const value = encodeClaim({
  channelId: null,
  signature: null,
  claim: create(ClaimSchema, { title: 'a title', type: { case: 'stream', value: {} } }),
});

/** An index in which all URLs resolve to one claim. It records the requested values. */
function indexOfOne() {
  const asked: string[] = [];
  const found: ResolvedUrl = { claim, channel, reposted: null, repostedChannel: null, failure: null };
  const claimIndex = {
    resolve: async (urls: readonly string[]) => urls.map(() => found),
    value: async (id: ClaimRecord['claimId']) => {
      asked.push(keyOf(id));
      return value;
    },
  };
  const services = {
    ...testServices(),
    claimIndex,
    indexes: () => [{ name: 'claimindex', synced: true, height: 9, failure: null }],
    params: regtestParams,
    chain: {
      headers: { timeSec: () => 5 },
      chain: { index: { active: { at: () => 0 } }, reorganisation: new Reorganisation() },
    },
  } as unknown as RpcServices;
  const call = (urls: string[]) => invokeMethod(resolve, testContext({ services }), [urls]);
  return { call, asked };
}

it('a claim is read once for all URLs that resolve to it', async () => {
  const { call, asked } = indexOfOne();
  const urls = Array.from({ length: 1000 }, (_, n) => `name#${n.toString(16)}`);
  let text = '';
  for await (const chunk of jsonChunks(await call(urls))) text += chunk;
  const answer = toPlain(parseJson(text)) as Record<string, Record<string, Record<string, unknown>>>;
  expect(Object.keys(answer)).toEqual(urls);
  expect(answer['name#3e7']!['value']).toEqual({ title: 'a title' });
  expect(answer['name#3e7']).toEqual(answer['name#0']);
  expect(answer['name#0']!['signing_channel']!['value']).toEqual({ title: 'a title' });
  expect(asked).toEqual([keyOf(claim.claimId), keyOf(channel.claimId)]);
});

it('text that is longer than a URL is refused', async () => {
  const { call } = indexOfOne();
  await call(['x'.repeat(8320)]);
  await expect(call(['one', 'x'.repeat(8321)])).rejects.toMatchObject({
    message: 'A URL has at most 8320 characters',
  });
});
