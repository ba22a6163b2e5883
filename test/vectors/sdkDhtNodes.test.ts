/** Routing tables and answers of DHT nodes as the Python lbry-sdk has them. */
import { Announcements } from '../../src/daemon/dht/announcements.js';
import { Answers } from '../../src/daemon/dht/answers.js';
import type { Dict } from '../../src/daemon/dht/bencode.js';
import { contactAt, type Contact } from '../../src/daemon/dht/contact.js';
import { decodeDatagram, encodeDatagram, type ResponseDatagram } from '../../src/daemon/dht/datagrams.js';
import { PeerBook } from '../../src/daemon/dht/peerBook.js';
import { RoutingTable } from '../../src/daemon/dht/routingTable.js';
import { Rpc } from '../../src/daemon/dht/rpc.js';
import { Tokens } from '../../src/daemon/dht/tokens.js';
import { systemRandom } from '../../src/daemon/base/clock.js';
import { FakeClock } from '../support/fakeClock.js';
import { AcceptedDifferences } from '../support/acceptedDifferences.js';
import { checkAccepted, checkSdkVectors, differs, firstOf, type SdkLine } from './sdkVectors.js';

const accepted = new AcceptedDifferences('sdkDhtNodes');

const hex = (text: unknown): Buffer => Buffer.from(text as string, 'hex');
const fail = (): never => {
  throw new Error('not expected');
};

interface TableStep {
  readonly add?: string;
  readonly remove?: string;
  readonly address: string;
  readonly port: number;
  readonly answers: boolean;
  readonly probed: readonly string[];
  readonly result: boolean | null;
}

async function checkTable(line: SdkLine): Promise<string | null> {
  const clock = new FakeClock();
  const table = new RoutingTable({
    ownId: hex(line['node_id']),
    clock,
    book: new PeerBook(clock),
    splitUnder: line['split_buckets_under_index'] as number,
    isBootstrap: line['bootstrap'] as boolean,
  });
  const answering = new Map<string, boolean>();
  for (const [index, step] of (line['steps'] as TableStep[]).entries()) {
    const probed: string[] = [];
    let result: boolean | null = null;
    if (step.remove !== undefined) {
      const contact = table.get(hex(step.remove));
      if (contact !== null) table.remove(contact);
    } else {
      answering.set(step.add!, step.answers);
      result = await table.add(contactAt(hex(step.add), step.address, step.port), ({ nodeId }) => {
        probed.push(nodeId.toString('hex'));
        return Promise.resolve(answering.get(nodeId.toString('hex'))!);
      });
    }
    const difference = differs([index, probed, result], [index, step.probed, step.result]);
    if (difference !== null) return difference;
  }
  const buckets = table.buckets.map(({ min, max, contacts }) => ({
    range_min: min.toString(16),
    range_max: max.toString(16),
    peers: contacts.map(({ nodeId }) => nodeId.toString('hex')),
  }));
  const closest = line['closest'] as { key: string; asker: string | null; peers: string[] }[];
  const indexes = line['bucket_index'] as { key: string; index: number }[];
  return firstOf(
    differs(buckets, line['buckets']),
    ...closest.map(({ key, asker, peers }) =>
      differs(
        table
          .closest(hex(key), undefined, asker === null ? null : hex(asker))
          .map(({ nodeId }) => nodeId.toString('hex')),
        peers,
      ),
    ),
    ...indexes.map(({ key, index }) => differs(table.indexOf(hex(key)), index)),
  );
}

interface Sent {
  readonly to: string;
  readonly data: string;
}

/** Pages of values of a response; 0 if invalid. */
function pagesOf(data: string): number {
  const datagram = decodeDatagram(hex(data));
  if (datagram.type !== 'response' || !(datagram.response instanceof Map)) return 0;
  return (datagram.response.get('p') as number | undefined) ?? 0;
}

/** A response with the number of values in their place, and without the number of pages. */
function pageShown(data: string, key: string): string {
  const datagram = decodeDatagram(hex(data)) as ResponseDatagram;
  const response: Dict = new Map(datagram.response as Dict);
  response.set(key, (response.get(key) as Buffer[] | undefined)?.length ?? 0);
  response.set('p', 2);
  return encodeDatagram({ ...datagram, response }).toString('hex');
}

/** Compares each sent datagram with the recorded one. */
function sentDiffers(ours: Sent, theirs: Sent, key: string): string | null {
  const difference = differs([ours.to, ours.data], [theirs.to, theirs.data]);
  if (difference === null || ours.to !== theirs.to) return difference;
  const pages = [pagesOf(ours.data), pagesOf(theirs.data)];
  if (pages.every((count) => count >= 2)) {
    const isSame = pageShown(ours.data, key) === pageShown(theirs.data, key);
    const row = pages[0] === pages[1] ? 'order of peers over pages' : 'number of pages of peers';
    return accepted.unless(isSame, row, difference);
  }
  return difference;
}

const keyAsked = (data: string): string => {
  try {
    const datagram = decodeDatagram(hex(data));
    const [key] = datagram.type === 'request' ? datagram.args : [];
    return Buffer.isBuffer(key) ? key.toString('latin1') : '';
  } catch {
    return '';
  }
};

interface StoredBefore {
  readonly key: string;
  readonly node_id: string;
  readonly address: string;
  readonly udp_port: number;
  readonly tcp_port: number;
}

/** A node in the recorded state, with the datagrams that it sends. */
async function recordedNode(line: SdkLine) {
  const clock = new FakeClock();
  const book = new PeerBook(clock);
  const ownId = hex(line['node_id']);
  // The table must contain all recorded peers in the order of its buckets. Here every full bucket is split, so that all fit.
  const table = new RoutingTable({ ownId, clock, book, splitUnder: 384, isBootstrap: false });
  for (const { node_id, address, udp_port } of line['peers'] as StoredBefore[])
    await table.add(contactAt(hex(node_id), address, udp_port), fail);
  const announcements = new Announcements(clock, book);
  for (const { key, node_id, address, udp_port, tcp_port } of line['stored_before'] as StoredBefore[]) {
    const contact: Contact = contactAt(hex(node_id), address, udp_port);
    book.setTcpPort(contact, tcp_port);
    announcements.add(hex(key), contact, tcp_port);
  }
  const older = line['older_token_secret'] as string | null;
  const answers = new Answers({
    ownId,
    table,
    book,
    announcements,
    tokens: new Tokens(systemRandom, hex(line['token_secret']), older === null ? null : hex(older)),
    ownPlace: () => ({ address: line['external_ip'] as string, tcpPort: line['tcp_port'] as number }),
    hasBlob: (hash) => (line['own_blobs'] as string[]).includes(hash),
  });
  const sent: Sent[] = [];
  let receive: (data: Buffer, address: string, port: number) => void = fail;
  new Rpc({
    clock,
    random: systemRandom,
    port: {
      send: (data, address, port) => void sent.push({ to: `${address}:${port}`, data: data.toString('hex') }),
      listen: (listener) => {
        receive = listener;
      },
      close: () => Promise.resolve(),
    },
    ownId,
    book,
    timeoutMs: () => 5000,
    allowLocalhost: false,
    answer: (asker, request) => answers.answer(asker, request),
    onReply: fail,
    onRequest: () => undefined,
    onBad: fail,
  });
  return { announcements, sent, receive: (...args: Parameters<typeof receive>) => receive(...args) };
}

async function checkNode(line: SdkLine): Promise<string | null> {
  const { announcements, sent, receive } = await recordedNode(line);
  for (const step of line['steps'] as { from: string; data: string; sent: Sent[] }[]) {
    const [address = '', port] = step.from.split(':');
    sent.length = 0;
    receive(hex(step.data), address, Number(port));
    const key = keyAsked(step.data);
    const difference = firstOf(
      differs(sent.length, step.sent.length),
      ...step.sent.map((theirs, n) => (sent[n] ? sentDiffers(sent[n], theirs, key) : null)),
    );
    if (difference !== null) return difference;
  }
  const stored = announcements.keys().map((key) => ({
    key: key.toString('hex'),
    peers: announcements
      .peersOf(key)
      .map(({ contact, tcpPort }) => `${contact.address}:${tcpPort} ${contact.nodeId.toString('hex')}`)
      .sort(),
  }));
  const recorded = (line['stored'] as { key: string; peers: string[] }[]).map(({ key, peers }) => ({
    key,
    peers: [...peers].sort(),
  }));
  const byKey = (a: { key: string }, b: { key: string }): number => (a.key < b.key ? -1 : 1);
  return differs(stored.sort(byKey), recorded.sort(byKey));
}

checkSdkVectors(
  'dht',
  { 'routing table': checkTable, node: checkNode },
  // Checked in `sdkDht.test.ts`.
  [
    'bencode',
    'compact address',
    'datagram',
    'distance',
    'malformed',
    'ping',
    'pong',
    'public address',
    'tracker',
    'tracker peer id',
  ],
);

checkAccepted(accepted);
