import { afterAll, beforeAll, expect, it } from 'vitest';
import { getNetworkInfo } from '../../../../../src/rpc/methods/network/getNetworkInfo.js';
import { TestChain } from '../../../../support/testChain.js';

let chain: TestChain;
beforeAll(async () => {
  chain = await TestChain.open();
});
afterAll(() => chain.close());

it('getnetworkinfo returns the values of the network, in the order of the reference', async () => {
  const answer = await chain.call(getNetworkInfo);
  const network = (name: string, limited: boolean, proxy: string): unknown => ({
    name,
    limited,
    reachable: !limited,
    proxy,
    proxy_randomize_credentials: proxy !== '',
  });
  expect(answer).toEqual({
    result: {
      version: 10_000,
      subversion: '/lbcnode:0.1.0/',
      protocolversion: 70_015,
      localservices: '000000000000040d',
      localrelay: true,
      timeoffset: -1,
      networkactive: true,
      connections: 3,
      networks: [
        network('ipv4', false, ''),
        network('ipv6', true, ''),
        network('onion', false, '127.0.0.1:9050'),
      ],
      relayfee: 0.00001,
      incrementalfee: 0.00001,
      localaddresses: [{ address: '203.0.113.1', port: 29_246, score: 4 }],
      warnings: 'a warning',
    },
  });
  expect(Object.keys(answer.result as object)).toEqual([
    'version',
    'subversion',
    'protocolversion',
    'localservices',
    'localrelay',
    'timeoffset',
    'networkactive',
    'connections',
    'networks',
    'relayfee',
    'incrementalfee',
    'localaddresses',
    'warnings',
  ]);
});
