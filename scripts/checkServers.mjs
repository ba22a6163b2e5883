#!/usr/bin/env node
// Checks which default servers respond: `npm run check-servers [-- <facts file>]`, to be run by hand on a machine with
// internet access. Sends each server of data/networks/main.json a public request of its protocol, and prints a line for
// each. Exits with 1 when all servers of one kind fail to respond.
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { resolve4, resolve6 } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const fromDist = (...path) => import(join(root, 'dist', ...path));
const { decodeDatagram, encodeDatagram, pingRequest } = await fromDist('daemon', 'dht', 'datagrams.js');
const { decodeConnectResponse, encodeConnect } = await fromDist(
  'daemon',
  'dht',
  'reach',
  'trackerPackets.js',
);
const { FrameReader, formatFrame } = await fromDist('net', 'framing.js');
const { versionCodec } = await fromDist('net', 'messages', 'version.js');
const { NO_ADDRESS } = await fromDist('net', 'netAddress.js');
const { mainParams } = await fromDist('params', 'main.js');
const { Reader } = await fromDist('util', 'reader.js');
const { Writer } = await fromDist('util', 'writer.js');

const TIMEOUT_MS = 10_000;
const AT_A_TIME = 16;
/** Hash of a blob that no server has. Any response to a request for this blob shows that the server runs. */
const NO_BLOB = '0'.repeat(96);

/** Sends bytes over TCP and reads until `read` returns a result. */
function askTcp({ host, port }, question, read) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let bytes = Buffer.alloc(0);
    const end = (error, answer) => {
      clearTimeout(timer);
      socket.destroy();
      if (error) reject(error);
      else resolve(answer);
    };
    const timer = setTimeout(() => end(new Error('no answer in time')), TIMEOUT_MS);
    socket.on('connect', () => socket.write(question));
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      try {
        const answer = read(bytes);
        if (answer !== null) end(null, answer);
      } catch (error) {
        end(error);
      }
    });
    socket.on('error', end);
    socket.on('close', () => end(new Error('the connection was closed')));
  });
}

function askUdp({ host, port }, question, read) {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    const end = (error, answer) => {
      clearTimeout(timer);
      socket.close();
      if (error) reject(error);
      else resolve(answer);
    };
    const timer = setTimeout(() => end(new Error('no answer in time')), TIMEOUT_MS);
    socket.on('error', end);
    socket.on('message', (data) => {
      try {
        end(null, read(data));
      } catch (error) {
        end(error);
      }
    });
    socket.send(question, port, host, (error) => error && end(error));
  });
}

/** The first JSON object of a stream; null while it is incomplete. */
function firstJson(bytes) {
  const text = bytes.toString('latin1');
  const end = text.indexOf('}') + 1;
  return end === 0 ? null : JSON.parse(text.slice(0, end));
}

const version = {
  version: 70015,
  services: 0n,
  timeSec: BigInt(Math.floor(Date.now() / 1000)),
  receiver: NO_ADDRESS,
  receiverServices: 0n,
  sender: NO_ADDRESS,
  senderServices: 0n,
  nonce: randomBytes(8).readBigUInt64LE(),
  userAgent: '/lbcnode-check/',
  startHeight: 0,
  relay: false,
};

async function askDnsSeed({ host }) {
  const lists = await Promise.allSettled([resolve4(host), resolve6(host)]);
  const found = lists.flatMap(({ value = [] }) => value);
  if (found.length === 0) throw lists[0].reason;
  return `${found.length} addresses`;
}

function askPeer(place) {
  const payload = new Writer(256);
  versionCodec.format(payload, version);
  const frames = new FrameReader(mainParams.magic);
  let taken = 0;
  return askTcp(place, formatFrame(mainParams.magic, 'version', payload.finish()), (bytes) => {
    frames.push(bytes.subarray(taken));
    taken = bytes.length;
    const frame = frames.next();
    if (frame?.command !== 'version') return null;
    const { userAgent, startHeight } = versionCodec.parse(new Reader(frame.payload));
    return `${userAgent} at block ${startHeight}`;
  });
}

const askHub = (place) =>
  askTcp(
    place,
    '{"jsonrpc":"2.0","id":0,"method":"server.version","params":["lbcnode-check","0.199.0"]}\n',
    (bytes) => {
      const end = bytes.indexOf('\n');
      if (end < 0) return null;
      const answer = JSON.parse(bytes.toString('utf8', 0, end));
      return answer.error
        ? `refuses: ${answer.error.message}`
        : `version ${answer.result?.[1] ?? answer.result}`;
    },
  );

function askDhtNode(place) {
  const rpcId = randomBytes(20);
  const question = encodeDatagram(pingRequest({ rpcId, nodeId: randomBytes(48) }));
  return askUdp(place, question, (data) => {
    const answer = decodeDatagram(data);
    if (!Buffer.from(answer.rpcId).equals(rpcId)) throw new Error('an answer to another question');
    return 'pong';
  });
}

const askReflector = (place) =>
  askTcp(place, '{"version": 1}', (bytes) => firstJson(bytes) && `version ${firstJson(bytes).version}`);

const askBlobPeer = (place) =>
  askTcp(
    place,
    JSON.stringify({ requested_blobs: [NO_BLOB], lbrycrd_address: true }),
    (bytes) => firstJson(bytes) && 'answers',
  );

async function askHttp({ url }) {
  const { status } = await fetch(`${url}/blob?hash=${NO_BLOB}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return `status ${status}`;
}

function askTracker(place) {
  const id = randomBytes(4).readUInt32BE();
  return askUdp(place, encodeConnect(id), (data) => {
    if (decodeConnectResponse(data).transactionId !== id) throw new Error('an answer to another question');
    return 'connected';
  });
}

const KINDS = [
  ['dnsSeeds', 'DNS seed', askDnsSeed],
  ['peers', 'peer', askPeer],
  ['hubs', 'hub', askHub],
  ['dhtNodes', 'DHT node', askDhtNode],
  ['reflectors', 'reflector', askReflector],
  ['blobPeers', 'blob peer', askBlobPeer],
  ['httpBlobServers', 'HTTP blob server', askHttp],
  ['trackers', 'tracker', askTracker],
];

/** Exits with 2 and a usage line if the file cannot be read. */
function readFacts(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    console.error(`${file} cannot be read: ${error.message}\nUsage: npm run check-servers [-- <facts file>]`);
    process.exit(2);
  }
}

const path = process.argv[2] ?? join(root, 'data', 'networks', 'main.json');
const facts = readFacts(path);
const waiting = KINDS.flatMap(([key, kind, ask]) =>
  (facts[key] ?? []).map((server) => ({ kind, ask, server, line: '' })),
);
const all = [...waiting];
async function work() {
  for (let job = waiting.shift(); job; job = waiting.shift()) {
    const { server, ask } = job;
    const name = server.url ?? (server.port ? `${server.host}:${server.port}` : server.host);
    try {
      job.line = `ok      ${job.kind} ${name}: ${await ask(server)}`;
      job.isOk = true;
    } catch (error) {
      job.line = `silent  ${job.kind} ${name}: ${error.code ?? error.message} (named by ${server.source}, ${server.date})`;
    }
  }
}
await Promise.all(Array.from({ length: AT_A_TIME }, work));
for (const { line } of all) console.log(line);
const silent = KINDS.map(([, kind]) => kind).filter((kind) => {
  const own = all.filter((job) => job.kind === kind);
  return own.length > 0 && !own.some(({ isOk }) => isOk);
});
console.log(`${all.filter(({ isOk }) => isOk).length} of ${all.length} servers answer.`);
if (silent.length > 0) {
  console.log(`No server answers of: ${silent.join(', ')}.`);
  process.exitCode = 1;
}
