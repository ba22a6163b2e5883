/**
 * lbry-sdk's daemon and ours publish and announce streams, and download them from each other. They find each other only by a DHT on
 * loopback, with ten of our nodes and ten of lbry-sdk. LBRYNET is the path of the program `lbrynet`; without it the tests are
 * skipped. lbry-sdk's DHT refuses peers of this machine, so a wrapper of the program permits them. Takes some minutes of real time,
 * because lbry-sdk announces once a minute.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoopbackNode, type LoopbackNode } from '../support/loopbackNodes.js';
import { PythonNodes } from '../support/pythonNodes.js';
import { ContentWorld, OFFLINE } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';
import { SdkDaemon } from './support/sdkDaemon.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no daemon');

const COUNT = 10;
const PARTS = ['dht', 'hash_announcer', 'peer_protocol_server', 'upnp'];
const WRAPPER = `
import sys
from lbry import utils
from lbry.dht import peer
peer.ALLOW_LOCALHOST = True
async def external_ip(*_):
    return '127.0.0.1', None
utils.get_external_ip = external_ip
from lbry.extras.cli import main
sys.argv[0] = 'lbrynet'
sys.exit(main())
`;

type Daemon = Pick<TestDaemon, 'call'> | SdkDaemon;
interface File {
  readonly sd_hash: string;
  readonly download_path: string;
  readonly completed: boolean;
}

describe.skipIf(!LBRYNET)('a DHT of twenty mixed nodes', () => {
  let world: ContentWorld;
  let pythonNodes: PythonNodes;
  const nodes: LoopbackNode[] = [];
  let ours: TestDaemon;
  let theirs: SdkDaemon;

  beforeAll(async () => {
    world = await ContentWorld.start();
    nodes.push(await startLoopbackNode([]));
    pythonNodes = new PythonNodes(LBRYNET!);
    const ports = await pythonNodes.start(COUNT, [nodes[0]!.port]);
    for (let count = 1; count < COUNT; count++) nodes.push(await startLoopbackNode([ports[count]!]));
    await Promise.all(nodes.map(({ node }) => node.joined()));
    await Promise.all(nodes.map(({ node }) => node.refresh()));
    await pythonNodes.refresh();
    // If lbry-sdk does not know the UDP port of a peer, it assumes the number of the TCP port.
    const port = await freePort();
    ours = await world.daemon('ours', {
      args: [`--udp-port=${port}`, `--tcp-port=${port}`],
      settings: {
        components_to_skip: OFFLINE.filter((name) => !PARTS.includes(name)),
        known_dht_nodes: [`127.0.0.1:${ports[0]}`],
        save_files: true,
      },
    });
    const program = join(world.folder, 'lbrynet');
    writeFileSync(join(world.folder, 'wrapper.py'), WRAPPER);
    const python = join(dirname(LBRYNET!), 'python');
    writeFileSync(program, `#!/bin/sh\nexec ${python} ${join(world.folder, 'wrapper.py')} "$@"\n`);
    chmodSync(program, 0o755);
    // `get` of lbry-sdk needs `exchange_rate_manager`.
    theirs = await SdkDaemon.start(program, [world.hubPort], [...PARTS, 'exchange_rate_manager'], {
      settings: {
        udp_port: await freePort(),
        tcp_port: await freePort(),
        known_dht_nodes: [`127.0.0.1:${nodes[1]!.port}`],
        fixed_peers: [],
        reflector_servers: [],
        reflect_streams: false,
        save_files: true,
      },
    });
    await world.pay(ours, 10);
    const address = await theirs.call<string>('address_unused');
    await world.node.rpc('sendtoaddress', [address, 1]);
    await world.mine(ours);
    await theirs.until('it is paid', async () => {
      const { available } = await theirs.call<{ available: string }>('account_balance');
      return Number(available) >= 1;
    });
  }, HANG_MS);

  afterAll(async () => {
    await theirs?.stop();
    await ours?.stop();
    for (const { node } of nodes) await node.stop();
    await pythonNodes?.stop();
    await world?.stop();
  }, HANG_MS);

  const publish = async (daemon: Daemon, name: string): Promise<Buffer> => {
    const bytes = randomBytes(3_000_000);
    const path = join(world.folder, `${name}.bin`);
    writeFileSync(path, bytes);
    await daemon.call('publish', { name, bid: '0.01', file_path: path });
    await world.mine(ours);
    return bytes;
  };

  /** Waits until another node of the DHT finds the announcement of the stream. */
  const announced = async (daemon: Daemon, name: string): Promise<void> => {
    const { items } = await daemon.call<{ items: readonly File[] }>('file_list', { claim_name: name });
    const hash = Buffer.from(items[0]!.sd_hash, 'hex');
    await until('the stream is announced', async () => {
      for await (const peers of nodes[5]!.node.findPeers(hash, new AbortController().signal))
        if (peers.length > 0) return true;
      return false;
    });
  };

  const download = async (daemon: Daemon, name: string, bytes: Buffer): Promise<void> => {
    const got = await daemon.call<{ error?: string }>('get', { uri: name, timeout: 60 });
    expect(got.error).toBeUndefined();
    let file: File | undefined;
    await until('the file is saved', async () => {
      [file] = (await daemon.call<{ items: readonly File[] }>('file_list', { claim_name: name })).items;
      return file?.completed ?? false;
    });
    expect(readFileSync(file!.download_path).equals(bytes)).toBe(true);
  };

  it('serves a stream of lbry-sdk to our daemon', async () => {
    const bytes = await publish(theirs, 'by-theirs');
    await announced(theirs, 'by-theirs');
    await download(ours, 'by-theirs', bytes);
  });

  it('serves a stream of ours to the daemon of lbry-sdk', async () => {
    const bytes = await publish(ours, 'by-ours');
    await announced(ours, 'by-ours');
    await download(theirs, 'by-ours', bytes);
  });
});
