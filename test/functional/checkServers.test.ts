/** The script that lists which default servers answer, with fake servers on this machine. */
import { execFile } from 'node:child_process';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { decodeDatagram, encodeDatagram } from '../../src/daemon/dht/datagrams.js';
import { formatFrame, FrameReader } from '../../src/net/framing.js';
import { versionCodec, type VersionMessage } from '../../src/net/messages/version.js';
import { mainParams } from '../../src/params/main.js';
import { Reader } from '../../src/util/reader.js';
import { Writer } from '../../src/util/writer.js';
import { projectFile } from '../../src/util/project.js';

const HOST = '127.0.0.1';
const folder = mkdtempSync(join(tmpdir(), 'lbcnode-servers-'));
const servers: Server[] = [];
const sockets: UdpSocket[] = [];
const sourced = { source: 'a file', date: '2026-01' };

async function tcp(onData: (socket: Socket, data: Buffer) => void): Promise<object> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => onData(socket, data));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  return { host: HOST, port: (server.address() as AddressInfo).port, ...sourced };
}

async function udp(answer: (data: Buffer) => Buffer): Promise<object> {
  const socket = createSocket('udp4');
  sockets.push(socket);
  socket.on('message', (data, { port, address }) => socket.send(answer(data), port, address));
  await new Promise<void>((resolve) => socket.bind(0, HOST, resolve));
  return { host: HOST, port: socket.address().port, ...sourced };
}

function answerVersion(socket: Socket, data: Buffer): void {
  const frames = new FrameReader(mainParams.magic);
  frames.push(data);
  const theirs = versionCodec.parse(new Reader(frames.next()!.payload));
  const writer = new Writer(256);
  const ours: VersionMessage = { ...theirs, userAgent: '/stand-in:1/', startHeight: 77 };
  versionCodec.format(writer, ours);
  socket.write(formatFrame(mainParams.magic, 'version', writer.finish()));
}

function connectAnswer(data: Buffer): Buffer {
  const answer = Buffer.alloc(16);
  data.copy(answer, 4, 12, 16);
  return answer;
}

function pong(data: Buffer): Buffer {
  const { rpcId, nodeId } = decodeDatagram(data);
  return encodeDatagram({ type: 'response', rpcId, nodeId, response: Buffer.from('pong') });
}

function run(facts: object): Promise<{ code: number; lines: string[] }> {
  const path = join(folder, 'facts.json');
  writeFileSync(path, JSON.stringify(facts));
  return new Promise((resolve) => {
    execFile(process.execPath, [projectFile('scripts', 'checkServers.mjs'), path], (error, stdout) =>
      resolve({
        code: error === null ? 0 : Number(error.code),
        lines: stdout
          .trimEnd()
          .split('\n')
          .map((line) => line.replace(/:\d+: /, ': ')),
      }),
    );
  });
}

let facts: Record<string, object[]>;
let http: ReturnType<typeof createHttpServer>;
beforeAll(async () => {
  http = createHttpServer((_request, response) => response.writeHead(404).end());
  await new Promise<void>((resolve) => http.listen(0, HOST, resolve));
  facts = {
    peers: [await tcp(answerVersion)],
    hubs: [await tcp((socket) => socket.write('{"id":0,"result":["stand-in","0.200.0"]}\n'))],
    dhtNodes: [await udp(pong)],
    reflectors: [await tcp((socket) => socket.write('{"version":1}'))],
    blobPeers: [await tcp((socket) => socket.write('{"available_blobs":[]}'))],
    httpBlobServers: [{ url: `http://${HOST}:${(http.address() as AddressInfo).port}`, ...sourced }],
    trackers: [await udp(connectAnswer)],
  };
});
afterAll(() => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.close();
  http.close();
  rmSync(folder, { recursive: true });
});

it('reports the result of each kind of server', async () => {
  expect(await run(facts)).toEqual({
    code: 0,
    lines: [
      'ok      peer 127.0.0.1: /stand-in:1/ at block 77',
      'ok      hub 127.0.0.1: version 0.200.0',
      'ok      DHT node 127.0.0.1: pong',
      'ok      reflector 127.0.0.1: version 1',
      'ok      blob peer 127.0.0.1: answers',
      'ok      HTTP blob server http://127.0.0.1: status 404',
      'ok      tracker 127.0.0.1: connected',
      '7 of 7 servers answer.',
    ],
  });
});

it('names silent servers with their source, and fails if all servers of a kind are silent', async () => {
  const closed = (await tcp(() => undefined)) as { port: number };
  await new Promise((resolve) => servers.pop()!.close(resolve));
  const { code, lines } = await run({ hubs: [...facts['hubs']!, closed], reflectors: [closed] });
  expect(lines).toEqual([
    'ok      hub 127.0.0.1: version 0.200.0',
    'silent  hub 127.0.0.1: ECONNREFUSED (named by a file, 2026-01)',
    'silent  reflector 127.0.0.1: ECONNREFUSED (named by a file, 2026-01)',
    '1 of 3 servers answer.',
    'No server answers of: reflector.',
  ]);
  expect(code).toBe(1);
});

it('exits with a usage line if the file cannot be read', async () => {
  const failed = promisify(execFile)(process.execPath, [
    projectFile('scripts', 'checkServers.mjs'),
    join(folder, 'absent.json'),
  ]);
  await expect(failed).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /absent\.json cannot be read: ENOENT.*\nUsage: npm run check-servers /,
    ) as string,
  });
});
