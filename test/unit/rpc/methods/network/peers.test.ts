/** The network methods on a peer layer that records its calls. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RpcMethod } from '../../../../../src/rpc/declare/method.js';
import { addNode } from '../../../../../src/rpc/methods/network/addNode.js';
import { clearBanned } from '../../../../../src/rpc/methods/network/clearBanned.js';
import { disconnectNode } from '../../../../../src/rpc/methods/network/disconnectNode.js';
import { getAddedNodeInfo } from '../../../../../src/rpc/methods/network/getAddedNodeInfo.js';
import { getConnectionCount } from '../../../../../src/rpc/methods/network/getConnectionCount.js';
import { getNetTotals } from '../../../../../src/rpc/methods/network/getNetTotals.js';
import { getNodeAddresses } from '../../../../../src/rpc/methods/network/getNodeAddresses.js';
import { getPeerInfo } from '../../../../../src/rpc/methods/network/getPeerInfo.js';
import { listBanned } from '../../../../../src/rpc/methods/network/listBanned.js';
import { ping } from '../../../../../src/rpc/methods/network/ping.js';
import { setBan } from '../../../../../src/rpc/methods/network/setBan.js';
import { setNetworkActive } from '../../../../../src/rpc/methods/network/setNetworkActive.js';
import type { PeerService, PeerSnapshot } from '../../../../../src/interfaces/peerService.js';
import type { RpcServices } from '../../../../../src/interfaces/services.js';
import type { JsonValue } from '../../../../../src/util/json/json.js';
import { TestChain, type Answer } from '../../../../support/testChain.js';

const PEER: PeerSnapshot = {
  id: 7,
  address: '127.0.0.1:29246',
  boundAddress: '127.0.0.1:40000',
  localAddress: null,
  services: 0x40dn,
  relaysTransactions: true,
  lastSendSec: 1_600_000_001,
  lastReceiveSec: 0,
  bytesSent: 100,
  bytesReceived: 200,
  connectedAtSec: 1_600_000_000,
  timeOffsetSec: -2,
  pingSec: 0.001234,
  minPingSec: 0.001,
  pingWaitSec: null,
  protocolVersion: 70_015,
  userAgent: '/lbcnode:0.1.0/',
  inbound: false,
  manual: true,
  startHeight: 5,
  banScore: 20,
  syncedHeaders: 6,
  syncedBlocks: 5,
  inFlightHeights: [6],
  whitelisted: false,
  minFeeFilterRatePerKb: 1000n,
  sentByCommand: new Map([['version', 100]]),
  receivedByCommand: new Map([
    ['version', 150],
    ['verack', 50],
  ]),
};

describe('network methods', () => {
  let chain: TestChain;
  let asked: unknown[][];
  beforeAll(async () => {
    chain = await TestChain.open();
  });
  afterAll(() => chain.close());
  beforeEach(() => {
    asked = [];
  });

  const note =
    <T>(name: string, answer: T) =>
    (...args: unknown[]): T => {
      asked.push([name, ...args]);
      return answer;
    };
  const service = (changes: Partial<PeerService> = {}): PeerService => ({
    list: () => [PEER],
    ping: note('ping', undefined),
    tryOnce: note('tryOnce', Promise.resolve()),
    addNode: note('addNode', true),
    removeNode: note('removeNode', true),
    addedNodes: () => [
      { name: 'a', connected: { address: '1.2.3.4:29246', inbound: false } },
      { name: 'b', connected: null },
    ],
    disconnectAddress: note('disconnectAddress', true),
    disconnectId: note('disconnectId', true),
    totals: () => ({
      bytesReceived: 2,
      bytesSent: 1,
      timeMs: 3,
      upload: {
        timeframeSec: 86_400,
        target: 10,
        targetReached: false,
        servesHistoricalBlocks: true,
        bytesLeftInCycle: 9,
        secondsLeftInCycle: 8,
      },
    }),
    setActive: note('setActive', undefined),
    isActive: () => false,
    ban: note('ban', 'ok' as const),
    unban: note('unban', 'ok' as const),
    bans: () => [{ subnet: '1.2.3.0/24', createdSec: 1, untilSec: 2, reason: 'manually added' }],
    clearBans: note('clearBans', undefined),
    announce: note('announce', undefined),
    knownAddresses: (count) => [{ timeSec: 5, services: 9n, address: '5.6.7.8', port: 9246 }].slice(0, count),
    ...changes,
  });
  const call = (
    method: RpcMethod,
    params: JsonValue[] = [],
    peers: PeerService | null = service(),
  ): Promise<Answer> =>
    chain.call(method, params, { ...chain.context(), services: { peers } as RpcServices });

  it('list peers, in the declared shapes', async () => {
    expect(await call(getPeerInfo)).toEqual({
      result: [
        {
          id: 7,
          addr: '127.0.0.1:29246',
          addrbind: '127.0.0.1:40000',
          services: '000000000000040d',
          relaytxes: true,
          lastsend: 1_600_000_001,
          lastrecv: 0,
          bytessent: 100,
          bytesrecv: 200,
          conntime: 1_600_000_000,
          timeoffset: -2,
          pingtime: 0.001234,
          minping: 0.001,
          version: 70_015,
          subver: '/lbcnode:0.1.0/',
          inbound: false,
          addnode: true,
          startingheight: 5,
          banscore: 20,
          synced_headers: 6,
          synced_blocks: 5,
          inflight: [6],
          whitelisted: false,
          minfeefilter: 0.00001,
          bytessent_per_msg: { version: 100 },
          bytesrecv_per_msg: { version: 150, verack: 50 },
        },
      ],
    });
    expect(await call(getConnectionCount)).toEqual({ result: 1 });
    expect(await call(getNetTotals)).toMatchObject({
      result: { totalbytesrecv: 2, totalbytessent: 1, uploadtarget: { target: 10, time_left_in_cycle: 8 } },
    });
    expect(await call(ping)).toEqual({ result: null });
    expect(await call(setNetworkActive, [false])).toEqual({ result: false });
    expect(asked).toEqual([['ping'], ['setActive', false]]);
  });

  it('add, remove and disconnect nodes, with the errors of the reference', async () => {
    expect(await call(addNode, ['x', 'add'])).toEqual({ result: null });
    expect(await call(addNode, ['x', 'onetry'])).toEqual({ result: null });
    expect(await call(addNode, ['x', 'remove'])).toEqual({ result: null });
    expect(asked.map(([name]) => name)).toEqual(['addNode', 'tryOnce', 'removeNode']);
    const refusing = service({
      addNode: () => false,
      removeNode: () => false,
      disconnectAddress: () => false,
      disconnectId: () => false,
    });
    expect(await call(addNode, ['x', 'add'], refusing)).toEqual({
      error: { code: -23, message: 'Error: Node already added' },
    });
    expect(await call(addNode, ['x', 'remove'], refusing)).toEqual({
      error: { code: -24, message: 'Error: Node has not been added.' },
    });
    expect(await call(addNode, ['x', 'other'])).toMatchObject({
      error: { code: -1, message: 'command must be add, remove or onetry\nUsage: addnode "node" "command"' },
    });
    expect(await call(getAddedNodeInfo)).toEqual({
      result: [
        {
          addednode: 'a',
          connected: true,
          addresses: [{ address: '1.2.3.4:29246', connected: 'outbound' }],
        },
        { addednode: 'b', connected: false, addresses: [] },
      ],
    });
    expect(await call(getAddedNodeInfo, ['b'])).toMatchObject({ result: [{ addednode: 'b' }] });
    expect(await call(getAddedNodeInfo, ['c'])).toMatchObject({ error: { code: -24 } });
    asked = [];
    expect(await call(disconnectNode, ['1.2.3.4:29246'])).toEqual({ result: null });
    expect(await call(disconnectNode, ['', 3])).toEqual({ result: null });
    expect(asked).toEqual([
      ['disconnectAddress', '1.2.3.4:29246'],
      ['disconnectId', 3n],
    ]);
    expect(await call(disconnectNode, ['1.2.3.4:29246', 3])).toEqual({
      error: { code: -32602, message: 'Only one of address and nodeid should be provided.' },
    });
    expect(await call(disconnectNode, ['', 3], refusing)).toEqual({
      error: { code: -29, message: 'Node not found in connected nodes' },
    });
    expect(await call(disconnectNode)).toMatchObject({
      error: {
        code: -1,
        message: 'address or nodeid must be given\nUsage: disconnectnode ( address nodeid )',
      },
    });
  });

  it('return after the connection attempt', async () => {
    let isTried = false;
    const tryOnce = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      isTried = true;
    };
    expect(await call(addNode, ['x', 'onetry'], service({ tryOnce }))).toEqual({ result: null });
    expect(isTried).toBe(true);
  });

  it('ban and unban, with the errors of the reference', async () => {
    expect(await call(setBan, ['1.2.3.4', 'add', 60, true])).toEqual({ result: null });
    expect(await call(setBan, ['1.2.3.4', 'add'])).toEqual({ result: null });
    expect(await call(setBan, ['1.2.3.4', 'remove'])).toEqual({ result: null });
    expect(asked).toEqual([
      ['ban', '1.2.3.4', 60n, true],
      ['ban', '1.2.3.4', 0n, false],
      ['unban', '1.2.3.4'],
    ]);
    const ban = (outcome: 'invalid' | 'already'): PeerService => service({ ban: () => outcome });
    expect(await call(setBan, ['x', 'add'], ban('invalid'))).toEqual({
      error: { code: -30, message: 'Error: Invalid IP/Subnet' },
    });
    expect(await call(setBan, ['x', 'add'], ban('already'))).toEqual({
      error: { code: -23, message: 'Error: IP/Subnet already banned' },
    });
    expect(await call(setBan, ['x', 'remove'], service({ unban: () => 'absent' }))).toEqual({
      error: {
        code: -30,
        message: 'Error: Unban failed. Requested address/subnet was not previously banned.',
      },
    });
    expect(await call(setBan, ['x', 'other'])).toMatchObject({ error: { code: -1 } });
    expect(await call(listBanned)).toEqual({
      result: [{ address: '1.2.3.0/24', banned_until: 2, ban_created: 1, ban_reason: 'manually added' }],
    });
    expect(await call(clearBanned)).toEqual({ result: null });
  });

  it('return known addresses up to the requested number', async () => {
    expect(await call(getNodeAddresses)).toEqual({
      result: [{ time: 5, services: 9, address: '5.6.7.8', port: 9246 }],
    });
    expect(await call(getNodeAddresses, [0])).toEqual({
      error: { code: -8, message: 'Address count out of range' },
    });
  });

  it('fail with the same error if the peer network is off', async () => {
    for (const method of [getPeerInfo, getConnectionCount, getNetTotals, ping, listBanned, clearBanned]) {
      expect(await call(method, [], null)).toEqual({
        error: { code: -31, message: 'Error: Peer-to-peer functionality missing or disabled' },
      });
    }
  });
});
