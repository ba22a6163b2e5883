#!/usr/bin/env node
// Measures how long the hub takes to add up 8,000 supports of one claim by the channels that signed them
// (`lbcnode.claimtrie.support_sum`): none signed, and all signed by one channel. The first call after a start, the first one
// after a block, and later ones, by the clock and by the processor time of the node (Linux only).
//
//   npm run bench:support-sums -- [--supports 8000]
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { claimIdsOf, claimPrefixes, OutputMaker, supportPrefixes } from './crowdedNames.mjs';
import { dist } from './searchClaims.mjs';

const { freePort, startRegtest } = await dist('testing/index.js');
const { ecdsaBackend } = await dist('crypto/ecdsa.js');
const { sha256 } = await dist('crypto/hash.js');
const { encodeClaim } = await dist('metadata/claim.js');
const { supportSignatureDigest } = await dist('metadata/channelSignature.js');
const { encodeSupport } = await dist('metadata/support.js');
const { ClaimSchema, SupportSchema } = await dist('metadata/messages/claim_pb.js');
const { buildClaimPrefix, buildSupportPrefix } = await dist('script/claimScript.js');

const at = process.argv.indexOf('--supports');
const SUPPORTS = at < 0 ? 8000 : Number(process.argv[at + 1]);
const OUTPUTS_A_TRANSACTION = 250;
const LATER_CALLS = 9;
const KEY = sha256(Buffer.from('the key of the channel'));
const printed = (bytes) => Buffer.from(bytes).reverse().toString('hex');
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const folder = mkdtempSync(join(tmpdir(), 'bench-sums-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let node;
let hubPort;
async function start() {
  hubPort = await freePort();
  node = await startRegtest({
    dataDir: folder,
    args: ['-hub', `-hubport=${hubPort}`, '-rpccache=0', '-blockmintxfee=0'],
  });
}
const rpc = (method, params = []) => node.rpc(method, params);

async function ask(claimId) {
  const socket = connect(hubPort, '127.0.0.1');
  await once(socket, 'connect');
  const cpu = workedMs();
  const since = performance.now();
  socket.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'lbcnode.claimtrie.support_sum', params: [claimId] })}\n`,
  );
  let text = '';
  for await (const piece of socket.setEncoding('utf8')) {
    text += piece;
    if (text.endsWith('\n')) break;
  }
  const took = { ms: performance.now() - since, cpuMs: workedMs() - cpu };
  const { error } = JSON.parse(text);
  if (error) throw new Error(error.message);
  return took;
}

function workedMs() {
  try {
    const threads = readdirSync(`/proc/${node.pid}/task`);
    const times = threads.map((id) => readFileSync(`/proc/${node.pid}/task/${id}/schedstat`, 'utf8'));
    return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6;
  } catch {
    return NaN;
  }
}

function signedSupports(maker, name, claimId, channelId) {
  return Array.from({ length: SUPPORTS }, (_, n) => {
    const coin = maker.coins[maker.next + Math.floor(n / OUTPUTS_A_TRANSACTION)];
    const support = create(SupportSchema, { comment: `support ${n}` });
    const plain = { channelId, signature: Buffer.alloc(64), support };
    const firstInput = Buffer.concat([coin, Buffer.alloc(4)]);
    const digest = supportSignatureDigest(encodeSupport(plain), firstInput);
    plain.signature = Buffer.from(ecdsaBackend().sign(digest, KEY, null).compact);
    return buildSupportPrefix(Buffer.from(name), claimId, encodeSupport(plain));
  });
}

await start();
const maker = await OutputMaker.start(rpc, (2 * SUPPORTS) / OUTPUTS_A_TRANSACTION + 10);
// Data of supports counts from the all-claims fork on.
for (let left = 360; left > 0; left--) await maker.mine();
const channel = create(ClaimSchema, {
  type: { case: 'channel', value: { publicKey: ecdsaBackend().publicKeyOf(KEY, true) } },
});
const value = encodeClaim({ channelId: null, signature: null, claim: channel });
const [channelId] = claimIdsOf(await maker.make([buildClaimPrefix(Buffer.from('@channel'), value)]), 1);
const [plainId] = claimIdsOf(await maker.make(claimPrefixes('plain', 1)), 1);
await maker.make(supportPrefixes('plain', [plainId], SUPPORTS));
const [signedId] = claimIdsOf(await maker.make(claimPrefixes('signed', 1)), 1);
await maker.make(signedSupports(maker, 'signed', signedId, channelId));

const ROWS = [
  ['plain', plainId],
  ['signed', signedId],
];
await node.stop();
await start();
const cell = ({ ms, cpuMs }) => `${ms.toPrecision(3)} | ${cpuMs.toPrecision(3)}`;
console.log(`${SUPPORTS} supports of a claim`);
console.log('| supports | after a start, ms | CPU ms | after a block, ms | CPU ms | later, ms | CPU ms |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const [name, id] of ROWS) {
  const first = await ask(printed(id));
  const later = [];
  for (let n = 0; n < LATER_CALLS; n++) later.push(await ask(printed(id)));
  const after = [];
  for (let n = 0; n < LATER_CALLS; n++) {
    maker.rpc = rpc;
    await maker.mine();
    after.push(await ask(printed(id)));
  }
  const medians = (all) => ({
    ms: median(all.map(({ ms }) => ms)),
    cpuMs: median(all.map((one) => one.cpuMs)),
  });
  console.log(`| ${name} | ${cell(first)} | ${cell(medians(after))} | ${cell(medians(later))} |`);
}
await node.stop();
