/** Tests of docs/scaling.md: two nodes behind a proxy, and two hubs with one PostgreSQL database. */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { create } from '@bufbuild/protobuf';
import { encodeClaim } from '../../src/metadata/claim.js';
import { ClaimSchema } from '../../src/metadata/messages/claim_pb.js';
import { toHex } from '../../src/util/bytes.js';
import { newPostgresTarget, postgresUrl } from '../support/searchBackends.js';
import { HubClient } from './support/hubClient.js';
import { connect, PeerGroup, until, untilSameTip } from './support/network.js';
import { ADDRESS, freePort, HANG_MS, type RegtestNode } from './support/node.js';
import { runToEnd } from './support/process.js';

const STREAM = create(ClaimSchema, { title: 'a title', type: { case: 'stream', value: {} } });
const VALUE = toHex(encodeClaim({ channelId: null, signature: null, claim: STREAM }));
const CLAIMS = 12;

/** A proxy that sends requests in turn to the nodes whose `/health` answers 200. */
class Proxy {
  readonly server = createServer((incoming, outgoing) => void this.serve(incoming, outgoing));
  private readonly nodes: readonly RegtestNode[];
  private turn = 0;
  readonly served = new Map<RegtestNode, number>();

  constructor(nodes: readonly RegtestNode[]) {
    this.nodes = nodes;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async next(): Promise<RegtestNode> {
    for (let tries = 0; tries < this.nodes.length; tries++) {
      const node = this.nodes[this.turn++ % this.nodes.length]!;
      const health = fetch(`http://127.0.0.1:${node.rpcPort}/health`);
      if (await health.then(({ status }) => status === 200).catch(() => false)) return node;
    }
    throw new Error('no node is healthy');
  }

  private async serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const node = await this.next();
    this.served.set(node, (this.served.get(node) ?? 0) + 1);
    const { method, url, headers } = incoming;
    const onward = request(
      { host: '127.0.0.1', port: node.rpcPort, method, path: url, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(onward);
  }

  async call(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const { port } = this.server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from('regtest:regtest').toString('base64')}` },
      body: JSON.stringify({ id: 1, method, params }),
    });
    const { result, error } = (await answer.json()) as { result: unknown; error: unknown };
    expect(error, method).toBeNull();
    return result;
  }
}

async function claim(node: RegtestNode, first: number): Promise<void> {
  for (let n = first; n < first + CLAIMS; n++) await node.rpc('claimname', [`name${n}`, VALUE, 0.01]);
  await node.rpc('generatetoaddress', [1, ADDRESS]);
}

describe('two nodes behind a proxy', () => {
  const group = new PeerGroup();
  const indexes = ['-claimindex', '-txindex', '-addressindex'];
  let first: RegtestNode;
  let second: RegtestNode;
  let proxy: Proxy;

  beforeAll(async () => {
    first = await group.start({ args: indexes });
    second = await group.start({ args: indexes });
    await connect(second, first);
    await first.rpc('generatetoaddress', [110, await first.rpc('getnewaddress')]);
    await claim(first, 0);
    await untilSameTip([first, second]);
    proxy = new Proxy([first, second]);
    await proxy.open();
  }, HANG_MS);
  afterAll(async () => {
    proxy.close();
    await group.close();
  });

  it('give equal answers about the chain, from both in turn', async () => {
    const tip = await first.rpc('getbestblockhash');
    for (const [method, ...params] of [
      ['getblock', tip, 2],
      ['getclaimsforname', 'name3'],
      ['getnameproof', 'name3', tip],
      ['resolve', 'lbry://name3'],
      ['listnames', '', 5],
      ['gettxoutsetinfo'],
      ['getaddressbalance', ADDRESS],
    ] as const) {
      const answers = [await proxy.call(method, params), await proxy.call(method, params)].map((answer) => {
        // The size on disk differs between the nodes.
        delete (answer as { disk_size?: number }).disk_size;
        return answer;
      });
      expect(answers[0], method).toEqual(answers[1]);
    }
    expect(proxy.served.get(first)).toBe(proxy.served.get(second));
  });

  it('continue a list of one block, although one of them is a block ahead', async () => {
    type Page = { blockhash: string; height: number; names: { name: string }[]; next?: string };
    const page = await first.rpc<Page>('listnames', ['', 5]);
    await second.rpc('setnetworkactive', [false]);
    await until('the disconnection', async () => (await second.rpc('getconnectioncount')) === 0);
    await claim(first, CLAIMS);
    expect(await first.rpc('getblockcount')).toBe(page.height + 1);
    expect(await second.rpc('getblockcount')).toBe(page.height);
    const names = [...page.names];
    for (let node = second, { next } = page; next !== undefined; node = node === first ? second : first) {
      const more = await node.rpc<Page>('listnames', ['', 5, next, page.blockhash]);
      expect(more.blockhash).toBe(page.blockhash);
      names.push(...more.names);
      ({ next } = more);
    }
    expect(names.map(({ name }) => name)).toEqual(
      Array.from({ length: CLAIMS }, (_, n) => `name${n}`).sort(),
    );
    const calls: [method: string, params: readonly unknown[]][] = [
      ['getnamehistory', ['name3', 0, page.blockhash]],
      ['listupcoming', [1000, 'all', 100, page.height + 1, page.blockhash]],
    ];
    for (const [method, params] of calls)
      expect(await first.rpc(method, params), method).toEqual(await second.rpc(method, params));
    await second.rpc('setnetworkactive', [true]);
    await connect(second, first);
    await untilSameTip([first, second]);
  });

  it('have one chain and their own wallets; a transaction reaches both mempools', async () => {
    const txid = await first.rpc<string>('sendtoaddress', [ADDRESS, 0.5]);
    await until('the transaction', async () => (await second.rpc<string[]>('getrawmempool')).includes(txid));
    expect(await first.rpc('gettransaction', [txid])).toMatchObject({ txid });
    await expect(second.rpc('gettransaction', [txid])).rejects.toThrow(
      'Invalid or non-wallet transaction id',
    );
    const deltas = async (): Promise<unknown[]> =>
      Promise.all(
        [first, second].map(async (node) => {
          const entry = await node.rpc<{ fee: number; modifiedfee: number }>('getmempoolentry', [txid]);
          return entry.modifiedfee > entry.fee;
        }),
      );
    await first.rpc('prioritisetransaction', [txid, 0, 100_000]);
    expect(await deltas()).toEqual([true, false]);
    await first.rpc('setban', ['192.0.2.1', 'add']);
    expect(await first.rpc('listbanned')).toHaveLength(1);
    expect(await second.rpc('listbanned')).toEqual([]);
  });

  it('share no folder: a second process is refused', () => {
    const { status, stderr } = runToEnd(first.dataDir, []);
    expect(stderr).toContain('Cannot obtain a lock on data directory');
    expect(status).toBe(1);
  });

  it('answer through the proxy when one of them has stopped', async () => {
    await second.stop();
    group.nodes.splice(group.nodes.indexOf(second), 1);
    const height = await first.rpc('getblockcount');
    for (let n = 0; n < 4; n++) expect(await proxy.call('getblockcount')).toBe(height);
  });
});

describe.runIf(postgresUrl() !== null)('two hubs on one PostgreSQL database', () => {
  const group = new PeerGroup();
  let target: Awaited<ReturnType<typeof newPostgresTarget>>;
  let first: RegtestNode;
  let second: RegtestNode;
  const ports: number[] = [];

  async function startHub(): Promise<RegtestNode> {
    const port = await freePort();
    ports.push(port);
    const hub = ['-hub', `-hubport=${port}`, '-hubudpport=0'];
    const search = [`-claimsearchurl=${target.url}`, `-claimsearchschema=${target.schema}`];
    return group.start({ args: [...hub, ...search] });
  }

  /** Ids that a search by a hub finds when its index is at the height. */
  async function found(port: number, node: RegtestNode, height: number): Promise<string[]> {
    type Page = { height: number; claims: { claim_id: string }[] };
    let page: Page | null = null;
    await until('the search index', async () => {
      page = await node.rpc<Page>('searchclaims', [{ order_by: 'name', limit: 50 }]).catch(() => null);
      return page?.height === height;
    });
    const client = await HubClient.open(port);
    await client.call('server.version', ['scaling', '0.107.0']);
    const outputs = await client.call('blockchain.claimtrie.search', { order_by: ['name'], limit: 50 });
    client.socket.destroy();
    expect(Buffer.from(String(outputs), 'base64').length).toBeGreaterThan(CLAIMS * 20);
    return [String(outputs), ...page!.claims.map(({ claim_id }) => claim_id)];
  }

  beforeAll(async () => {
    target = await newPostgresTarget();
    first = await startHub();
    second = await startHub();
    await connect(second, first);
    await first.rpc('generatetoaddress', [110, await first.rpc('getnewaddress')]);
    await claim(first, 0);
    await untilSameTip([first, second]);
  }, HANG_MS);
  afterAll(async () => {
    await group.close();
    await target.remove();
  });

  it('find the same claims, and the other one continues to write when the writer is killed', async () => {
    const height = await first.rpc<number>('getblockcount');
    const pages = [await found(ports[0]!, first, height), await found(ports[1]!, second, height)];
    expect(pages[0]).toHaveLength(CLAIMS + 1);
    expect(pages[1]).toEqual(pages[0]);
    const own = await second.rpc<string>('getnewaddress');
    await first.rpc('sendtoaddress', [own, 5]);
    await first.rpc('generatetoaddress', [1, ADDRESS]);
    await untilSameTip([first, second]);

    const client = await HubClient.open(ports[0]!);
    await client.call('server.version', ['scaling', '0.107.0']);
    const before = await client.call('blockchain.address.subscribe', [own]);
    group.nodes.splice(group.nodes.indexOf(first), 1);
    await first.kill();
    await client.closed;
    const moved = await HubClient.open(ports[1]!);
    await moved.call('server.version', ['scaling', '0.107.0']);
    expect(await moved.call('blockchain.address.subscribe', [own])).toEqual(before);
    moved.socket.destroy();
    await claim(second, CLAIMS);
    const later = await found(ports[1]!, second, height + 2);
    expect(later).toHaveLength(2 * CLAIMS + 1);
  });
});
