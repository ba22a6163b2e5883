#!/usr/bin/env node
// Updates two facts of data/networks/main.json from a synced node: `npm run record-block -- http://user:password@host:9245
// [facts file]`. The block is 2,016 blocks below the tip, deep enough that no reorganisation reaches it.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DEPTH = 2016;
const CHAINS = { main: ['main', 'lbrycrd'] };

const [place, path = join(dirname(fileURLToPath(import.meta.url)), '..', 'data', 'networks', 'main.json')] =
  process.argv.slice(2);

function fail(text) {
  console.error(`Error: ${text}`);
  process.exit(1);
}
if (place === undefined) fail('Name the node: http://user:password@host:port');
const url = new URL(place);
const authorization = `Basic ${Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`).toString('base64')}`;

async function call(method, ...params) {
  const response = await fetch(url.origin, {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify({ id: 0, method, params }),
  });
  const { result, error } = await response
    .json()
    .catch(() => ({ error: { message: `status ${response.status}` } }));
  if (error) fail(`${method}: ${error.message}`);
  return result;
}

const info = await call('getblockchaininfo');
if (!CHAINS.main.includes(info.chain))
  fail(`the node is on the chain ${info.chain}, not on the main network`);
if (info.initialblockdownload || info.blocks < info.headers) fail('the node is not synced yet');
const height = info.blocks - DEPTH;
const facts = JSON.parse(readFileSync(path, 'utf8'));
if (height < facts.assumeValid.height)
  fail(`height ${height} is below that of the facts, ${facts.assumeValid.height}`);
const hash = await call('getblockhash', height);
const { chainwork } = await call('getblockheader', hash, true);
const source = `a synced node, ${DEPTH} blocks below its tip`;
const date = new Date().toISOString().slice(0, 10);
facts.assumeValid = { hash, height, source, date };
facts.minimumChainWork = { work: chainwork.slice(-20), height, source, date };
writeFileSync(path, `${JSON.stringify(facts, null, 2)}\n`);
console.log(`Block ${height} ${hash} with work ${chainwork} is recorded.`);
