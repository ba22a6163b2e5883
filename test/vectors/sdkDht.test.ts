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
} from '../../src/daemon/dht/trackerPackets.js';
import { checkSdkVectors, differs, firstOf, type SdkLine } from './sdkVectors.js';

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

/** What reading gives, or that it is refused; other exceptions fail the test. */
function verdict(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof DecodeError || error instanceof RangeError) return 'refused';
    throw error;
  }
}
const recorded = (result: unknown): unknown =>
  (result as { error?: string }).error === undefined ? result : 'refused';

/** Written again; null where a text of an error is not ASCII: its length is written wrong, so reading cuts it. */
function againOf(data: Buffer): string | null {
  if (verdict(() => decodeDatagram(data)) === 'refused') return null;
  const datagram = decodeDatagram(data);
  if (datagram.type === 'error' && !/^[ -~]*$/.test(datagram.exceptionType + datagram.text)) return null;
  return encodeDatagram(datagram).toString('hex');
}

/** A negative length, which ours refuses. */
const NEGATIVE_LENGTH = '2d313a61';

function checkCompactAddress({ data, decoded, usable_as_tcp_peer }: SdkLine): string | null {
  const ours = verdict(() => {
    const { nodeId, address, port } = decodeCompactAddress(hex(data));
    return { node_id: nodeId.toString('hex'), address, port };
  });
  const difference = differs(ours, recorded(decoded));
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
  const { value } = result as { value?: Packet & { text?: string } };
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
      differs(plainError(verdict(() => trackerDecoded(message, hex(data)))), plainError(recorded(decoded))),
      differs(
        plainError(verdict(() => trackerDecoded(message, hex(cut)))),
        plainError(recorded(cut_decoded)),
      ),
    );
  const isWritten =
    (message === 'ConnectRequest' && packet['connection_id'] === '4497486125440') ||
    (message === 'AnnounceRequest' &&
      ['downloaded', 'left', 'uploaded', 'ip_addr'].every((field) => Number(packet[field]) === 0));
  return isWritten ? differs(trackerWritten(packet).toString('hex'), data) : null;
}

checkSdkVectors(
  'dht',
  {
    datagram: ({ data, decoded }) =>
      firstOf(
        differs(
          verdict(() => datagramShown(decodeDatagram(hex(data)))),
          recorded(decoded),
        ),
        differs(againOf(hex(data)) ?? data, data),
      ),
    malformed: ({ data, bdecoded, datagram }) =>
      firstOf(
        differs(
          verdict(() => shown(bdecode(hex(data)))),
          data === NEGATIVE_LENGTH ? 'refused' : recorded(bdecoded),
        ),
        differs(
          verdict(() => datagramShown(decodeDatagram(hex(data)))),
          recorded(datagram),
        ),
      ),
    bencode: ({ value, data, decoded }) =>
      firstOf(
        differs(bencode(taken(value)).toString('hex'), data),
        differs(
          verdict(() => shown(bdecode(hex(data)))),
          recorded(decoded),
        ),
      ),
    'compact address': checkCompactAddress,
    'public address': ({ text, public: isPublic, with_localhost }) =>
      firstOf(
        differs(isPublicAddress(text as string), isPublic),
        // Sockets of the DHT are IPv4 ones, so `::1` is not taken.
        differs(isPublicAddress(text as string, true), with_localhost === true && text !== '::1'),
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
  },
  // Checked in `sdkDhtNodes.test.ts`; the UDP packets of hubs belong to the ledger.
  ['node', 'routing table', 'ping', 'pong'],
);
