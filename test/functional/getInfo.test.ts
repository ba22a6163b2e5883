/** `lbcnode-cli -getinfo` against a real node. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADDRESS, program, startRegtest, type RegtestNode } from './support/node.js';

let node: RegtestNode;
beforeAll(async () => {
  node = await startRegtest({
    args: ['-proxy=127.0.0.1:9050', '-uacomment=test', '-minrelaytxfee=0.0002', '-wallet=own'],
  });
});
afterAll(() => node.stop());

function cli(...words: string[]): string {
  return execFileSync(
    process.execPath,
    [
      program('lbcnode-cli'),
      '-regtest',
      `-datadir=${node.dataDir}`,
      `-rpcport=${node.rpcPort}`,
      '-rpcuser=regtest',
      '-rpcpassword=regtest',
      ...words,
    ],
    { encoding: 'utf8' },
  );
}

it('-getinfo prints what the reference prints', async () => {
  await node.rpc('generatetoaddress', [2, ADDRESS]);
  const oldest = (await node.rpc<{ keypoololdest: number }>('getwalletinfo')).keypoololdest;
  expect(JSON.parse(cli('-getinfo'))).toMatchObject({
    walletversion: 169900,
    balance: 0,
    keypoololdest: oldest,
    keypoolsize: 5,
    paytxfee: 0,
  });
  // Without a wallet its entries are null, as lbrycrd-cli prints them.
  await node.rpc('unloadwallet', ['own']);
  expect(cli('-getinfo')).toBe(`{
  "version": 10000,
  "protocolversion": 70015,
  "walletversion": null,
  "balance": null,
  "blocks": 2,
  "timeoffset": 0,
  "connections": 0,
  "proxy": "127.0.0.1:9050",
  "difficulty": 3.051711610163642e-05,
  "testnet": false,
  "keypoololdest": null,
  "keypoolsize": null,
  "paytxfee": null,
  "relayfee": 0.00020000,
  "warnings": ""
}
`);
});

it('getnetworkinfo follows the options', async () => {
  const info = await node.rpc<Record<string, unknown>>('getnetworkinfo');
  expect(info['subversion']).toMatch(/^\/lbcnode:[0-9.]+\(test\)\/$/);
  expect(info['localservices']).toMatch(/^[0-9a-f]{16}$/);
  expect(info).toMatchObject({
    relayfee: 0.0002,
    incrementalfee: 0.00001,
    connections: 0,
    localaddresses: [],
  });
  expect(info['networks']).toEqual(
    ['ipv4', 'ipv6', 'onion'].map((name) => ({
      name,
      limited: false,
      reachable: true,
      proxy: '127.0.0.1:9050',
      proxy_randomize_credentials: true,
    })),
  );
});
