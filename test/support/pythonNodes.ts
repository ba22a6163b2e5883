/**
 * DHT nodes of the Python lbry-sdk in one process on the loopback interface. Each command is a line. `LBRYNET` is the program
 * `lbrynet` of a checkout that can run, with `python` in the same folder.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

const PROGRAM = `
import asyncio, json, socket, sys
import lbry.wallet
from lbry.conf import Config
from lbry.dht import constants, peer as dht_peer
from lbry.dht.node import Node
from lbry.dht.peer import PeerManager
from lbry.extras.daemon.storage import SQLiteStorage

dht_peer.ALLOW_LOCALHOST = True
HOST = '127.0.0.1'
nodes = []

def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]

async def start(count, seeds):
    loop = asyncio.get_running_loop()
    for _ in range(count):
        port = free_port()
        storage = SQLiteStorage(Config(), ':memory:', loop, loop.time)
        await storage.open()
        node = Node(loop, PeerManager(loop), node_id=constants.generate_id(), udp_port=port, internal_udp_port=port,
                    peer_port=port, external_ip=HOST, storage=storage)
        node.protocol.ping_queue._default_delay = .5
        node.start(HOST, [(HOST, seed) for seed in seeds])
        nodes.append(node)
        await node.joined.wait()
    return [node.protocol.udp_port for node in nodes]

async def refresh():
    await asyncio.gather(*[node.refresh_node(True) for node in nodes])

async def announce(index, blob_hash):
    return len(await nodes[index].announce_blob(blob_hash))

async def find(index, blob_hash):
    found = set()
    finder = nodes[index].get_iterative_value_finder(bytes.fromhex(blob_hash))
    async for peers in finder:
        found.update(peer.tcp_port for peer in peers)
    return sorted(found)

async def table(index):
    return sorted(peer.udp_port for peer in nodes[index].protocol.routing_table.get_peers())

async def jump(seconds):
    loop = asyncio.get_running_loop()
    earlier = loop.time
    loop.time = lambda: earlier() + seconds

async def change_tokens():
    for node in nodes:
        node.protocol.change_token()

async def main():
    loop = asyncio.get_running_loop()
    commands = {'jump': jump, 'change_tokens': change_tokens,
                'start': start, 'refresh': refresh, 'announce': announce, 'find': find, 'table': table}
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        if not line:
            break
        name, arguments = json.loads(line)
        try:
            answer = {'result': await commands[name](*arguments)}
        except Exception as error:
            answer = {'error': repr(error)}
        print(json.dumps(answer), flush=True)
    for node in nodes:
        node.stop()

asyncio.run(main())
`;

export class PythonNodes {
  private readonly process: ChildProcess;
  private readonly lines: Interface;
  private readonly waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  private errors = '';

  constructor(lbrynet: string) {
    this.process = spawn(join(dirname(lbrynet), 'python'), ['-W', 'ignore', '-c', PROGRAM], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.process.stderr!.on('data', (data: Buffer) => {
      this.errors = (this.errors + data.toString()).slice(-5000);
    });
    this.lines = createInterface({ input: this.process.stdout! });
    this.lines.on('line', (line) => this.waiting.shift()?.resolve(line));
    this.process.on('exit', () => {
      for (const { reject } of this.waiting.splice(0)) reject(new Error(`Python ended: ${this.errors}`));
    });
  }

  /** Starts nodes that know the nodes at the given ports. Resolves to their own ports when all have joined. */
  start(count: number, seeds: readonly number[]): Promise<number[]> {
    return this.call('start', [count, seeds]) as Promise<number[]>;
  }

  async refresh(): Promise<void> {
    await this.call('refresh', []);
  }

  /** Resolves to the number of nodes that store it. */
  announce(index: number, hash: Buffer): Promise<number> {
    return this.call('announce', [index, hash.toString('hex')]) as Promise<number>;
  }

  /** Resolves to the TCP ports of the nodes that announced the hash, sorted. */
  find(index: number, hash: Buffer): Promise<number[]> {
    return this.call('find', [index, hash.toString('hex')]) as Promise<number[]>;
  }

  /** Advances the clock of all nodes. Timers with a longer delay do not become due. */
  async jump(seconds: number): Promise<void> {
    await this.call('jump', [seconds]);
  }

  /** Gives all nodes a new secret for tokens. lbry-sdk does this only when a program calls for it. */
  async changeTokens(): Promise<void> {
    await this.call('change_tokens', []);
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null) {
      const exited = once(this.process, 'exit');
      this.process.stdin!.end();
      await exited;
    }
    this.lines.close();
  }

  private async call(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.process.exitCode !== null) throw new Error(`Python ended: ${this.errors}`);
    const line = new Promise<string>((resolve, reject) => {
      this.waiting.push({ resolve, reject });
    });
    this.process.stdin!.write(`${JSON.stringify([name, args])}\n`);
    const answer = JSON.parse(await line) as { result?: unknown; error?: string };
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.result;
  }
}
