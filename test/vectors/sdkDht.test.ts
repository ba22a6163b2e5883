/** Bencoding, datagrams, addresses and tracker packets as the Python lbry-sdk writes and reads them. */
import {
  commonBits,
  compareDistance,
  decodeCompactAddress,
  distance,
  encodeCompactAddress,
  isPeerPort,
  isPublicAddress,
} from '../../src/daemon/dht/addresses.js';
import { bdecode, bencode, DecodeError, type BValue, type DictKey } from '../../src/daemon/dht/bencode.js';
import { decodeDatagram, encodeDatagram, type Datagram } from '../../src/daemon/dht/datagrams.js';
import {
  decodeAnnounceResponse,
  decodeConnectResponse,
  decodeTrackerError,
  encodeAnnounce,
  encodeConnect,
  trackerPeerId,
} from '../../src/daemon/dht/reach/trackerPackets.js';
import { pingBytes, readPong } from '../../src/daemon/ledger/hub/hubPing.js';
import { isPing } from '../../src/hub/session/statusPort.js';
import { AcceptedDifferences } from '../support/acceptedDifferences.js';
import { checkAccepted, checkSdkVectors, differs, firstOf, type SdkLine } from './sdkVectors.js';

const accepted = new AcceptedDifferences('sdkDht');

const hex = (text: unknown): Buffer => Buffer.from(text as string, 'hex');
const keyShown = (key: DictKey): unknown =>
  typeof key === 'string' ? { x: Buffer.from(key, 'latin1').toString('hex') } : shown(key);

/** A value as the recordings show it. */
function shown(value: BValue): unknown {
  if (typeof value === 'bigint') return { i: value.toString() };
  if (Buffer.isBuffer(value)) return { x: value.toString('hex') };
  if (value instanceof Map) return { d: [...value].map(([key, item]) => [keyShown(key), shown(item)]) };
  return Array.isArray(value) ? (value as BValue[]).map(shown) : value;
}

/** The recorded value as ours. */
function taken(value: unknown): BValue {
  if (Array.isArray(value)) return value.map(taken);
  if (typeof value !== 'object' || value === null) return value as BValue;
  const { x, i, d } = value as { x?: string; i?: string; d?: [unknown, unknown][] };
  if (x !== undefined) return hex(x);
  if (i !== undefined) return BigInt(i);
  return new Map(
    d!.map(([key, item]): [DictKey, BValue] => {
      const own = taken(key);
      return [Buffer.isBuffer(own) ? own.toString('latin1') : (own as DictKey), taken(item)];
    }),
  );
}

const CLASSES = { request: 'RequestDatagram', response: 'ResponseDatagram', error: 'ErrorDatagram' } as const;
const TYPES = { request: 0, response: 1, error: 2 } as const;

function datagramShown(datagram: Datagram): unknown {
  const { type, rpcId, nodeId } = datagram;
  const head = {
    class: CLASSES[type],
    packet_type: TYPES[type],
    rpc_id: rpcId.toString('hex'),
    node_id: nodeId.toString('hex'),
  };
  if (datagram.type === 'request')
    return { ...head, method: shown(datagram.method), args: shown(datagram.args) };
  if (datagram.type === 'response') return { ...head, response: shown(datagram.response) };
  return { ...head, response: datagram.text, exception_type: datagram.exceptionType };
}

/** The result of parsing, or that it is refused. Other exceptions fail the test. */
function verdict(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof DecodeError || error instanceof RangeError) return 'refused';
    throw error;
  }
}
/** Exceptions of lbry-sdk for invalid bytes: bencoding, addresses, packets with fixed fields. */
const SENSELESS: readonly unknown[] = ['DecodeError', 'ValueError', 'error'];

/** Compares our result with the recorded value or error. Null if they are equal. */
function readDiffers(ours: unknown, recorded: unknown): string | null {
  const { error } = recorded as { error?: string };
  if (error === undefined) return differs(ours, recorded);
  if (ours !== 'refused') return differs(ours, recorded);
  return SENSELESS.includes(error) ? null : accepted.accept('refusal by another exception');
}

/** Checks that a decoded datagram is encoded to the same bytes. */
function againDiffers(data: Buffer): string | null {
  if (verdict(() => decodeDatagram(data)) === 'refused') return null;
  const datagram = decodeDatagram(data);
  return accepted.unless(
    datagram.type === 'error' && !/^[ -~]*$/.test(datagram.exceptionType + datagram.text),
    'error text beyond ASCII',
    differs(encodeDatagram(datagram).toString('hex'), data.toString('hex')),
  );
}

/** A negative length, which ours refuses. */
const NEGATIVE_LENGTH = '2d313a61';

function checkCompactAddress({ data, decoded, usable_as_tcp_peer }: SdkLine): string | null {
  const ours = verdict(() => {
    const { nodeId, address, port } = decodeCompactAddress(hex(data));
    return { node_id: nodeId.toString('hex'), address, port };
  });
  const difference = readDiffers(ours, decoded);
  if (difference !== null || ours === 'refused') return difference;
  const { address, port, nodeId } = decodeCompactAddress(hex(data));
  return firstOf(
    differs(isPublicAddress(address) && isPeerPort(port), usable_as_tcp_peer === true),
    differs(encodeCompactAddress({ nodeId, address, port }).toString('hex'), data),
  );
}

interface Packet {
  readonly message: string;
  readonly [field: string]: unknown;
}

const number = (bytes: string): number => Buffer.from(bytes.split('.').map(Number)).readUInt32BE(0);

function trackerDecoded(message: string, data: Buffer): unknown {
  if (message === 'ConnectResponse') {
    const { transactionId, connectionId } = decodeConnectResponse(data);
    return {
      message,
      action: data.readUInt32BE(0),
      transaction_id: transactionId,
      connection_id: String(connectionId),
    };
  }
  if (message === 'AnnounceResponse') {
    const { transactionId, intervalSec, leechers, seeders, peers } = decodeAnnounceResponse(data);
    return {
      message,
      action: data.readUInt32BE(0),
      transaction_id: transactionId,
      interval: intervalSec,
      leechers,
      seeders,
      peers: peers.map(({ address, port }) => ({ message: 'CompactPeer', address: number(address), port })),
    };
  }
  const { transactionId, message: text } = decodeTrackerError(data);
  return { message, action: data.readUInt32BE(0), transaction_id: transactionId, text: text.toString('hex') };
}

const READ: readonly string[] = ['ConnectResponse', 'AnnounceResponse', 'ErrorResponse'];
/** The field of an error's text holds bytes. */
const plainError = (result: unknown): unknown => {
  const { value } = (result ?? {}) as { value?: Packet & { text?: string } };
  if (value?.message !== 'ErrorResponse') return result;
  const [last] = Object.values(value).slice(-1);
  return {
    value: {
      ...Object.fromEntries(Object.entries(value).slice(0, 3)),
      text: typeof last === 'string' ? last : (last as { x: string }).x,
    },
  };
};

function trackerWritten(sent: Packet): Buffer {
  if (sent.message === 'ConnectRequest') return encodeConnect(sent['transaction_id'] as number);
  return encodeAnnounce({
    connectionId: BigInt(sent['connection_id'] as string),
    transactionId: sent['transaction_id'] as number,
    infoHash: taken(sent['info_hash']) as Buffer,
    peerId: taken(sent['peer_id']) as Buffer,
    event: sent['event'] as number,
    key: sent['key'] as number,
    peersWanted: sent['num_want'] as number,
    port: sent['port'] as number,
  });
}

/** Requests are only written, answers only read; scrape is not used. */
function checkTracker({ sent, data, decoded, cut, cut_decoded }: SdkLine): string | null {
  const packet = sent as Packet;
  const { message } = packet;
  if (READ.includes(message))
    return firstOf(
      readDiffers(plainError(verdict(() => trackerDecoded(message, hex(data)))), plainError(decoded)),
      readDiffers(plainError(verdict(() => trackerDecoded(message, hex(cut)))), plainError(cut_decoded)),
    );
  const isWritten =
    (message === 'ConnectRequest' && packet['connection_id'] === '4497486125440') ||
    (message === 'AnnounceRequest' &&
      ['downloaded', 'left', 'uploaded', 'ip_addr'].every((field) => Number(packet[field]) === 0));
  if (!isWritten) return accepted.accept('tracker packet that lbcnet does not send');
  return differs(trackerWritten(packet).toString('hex'), data);
}

interface RecordedPong {
  readonly height: number;
  readonly address: string;
  readonly available: boolean;
  readonly country: { readonly value?: string; readonly error?: string };
}

/** The daemon must read the answers of hubs. */
function checkPong({ data, decoded }: SdkLine): string | null {
  const facts = readPong(hex(data));
  const { value, error } = decoded as { value?: RecordedPong; error?: string };
  if (value === undefined || facts === null) return differs([facts, 'error'], [null, error]);
  return firstOf(
    differs(
      [facts.height, facts.ownAddress, facts.isAvailable],
      [value.height, value.address, value.available],
    ),
    accepted.unless(
      facts.country === 'UNKNOWN_COUNTRY' && value.country.error === 'ValueError',
      'number of no country',
      differs(facts.country, value.country.value),
    ),
  );
}

/** The daemon must make the requests of clients, and the hub must read them. */
function checkPing({ data, decoded }: SdkLine): string | null {
  if (decoded === undefined) return differs(pingBytes().toString('hex'), data);
  return differs(isPing(hex(data)), (decoded as { error?: string }).error === undefined);
}

checkSdkVectors(
  'dht',
  {
    datagram: ({ data, decoded }) =>
      firstOf(
        readDiffers(
          verdict(() => datagramShown(decodeDatagram(hex(data)))),
          decoded,
        ),
        againDiffers(hex(data)),
      ),
    malformed: ({ data, bdecoded, datagram }) =>
      firstOf(
        accepted.unless(
          data === NEGATIVE_LENGTH && verdict(() => bdecode(hex(data))) === 'refused',
          'text of a negative length',
          readDiffers(
            verdict(() => shown(bdecode(hex(data)))),
            bdecoded,
          ),
        ),
        readDiffers(
          verdict(() => datagramShown(decodeDatagram(hex(data)))),
          datagram,
        ),
      ),
    bencode: ({ value, data, decoded }) =>
      firstOf(
        differs(bencode(taken(value)).toString('hex'), data),
        readDiffers(
          verdict(() => shown(bdecode(hex(data)))),
          decoded,
        ),
      ),
    'compact address': checkCompactAddress,
    'public address': ({ text, public: isPublic, with_localhost }) =>
      firstOf(
        differs(isPublicAddress(text as string), isPublic),
        accepted.unless(
          text === '::1' && !isPublicAddress(text, true),
          'IPv6 address of this machine',
          differs(isPublicAddress(text as string, true), with_localhost === true),
        ),
      ),
    distance: ({ key, a, b, to_a, to_b, a_is_closer, common_bits_with_a }) =>
      firstOf(
        differs(
          [distance(hex(key), hex(a)), distance(hex(key), hex(b))].map((d) => d.toString('hex')),
          [to_a, to_b],
        ),
        differs(compareDistance(hex(key), hex(a), hex(b)) < 0, a_is_closer),
        differs(commonBits(hex(key), hex(a)), common_bits_with_a),
      ),
    tracker: checkTracker,
    'tracker peer id': ({ node_id, peer_id }) =>
      differs(trackerPeerId(node_id as string, '0.113.0').toString(), peer_id),
    ping: checkPing,
    pong: checkPong,
  },
  // Checked in `sdkDhtNodes.test.ts`.
  ['node', 'routing table'],
);

checkAccepted(accepted);
