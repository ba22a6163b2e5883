/** Responses of a node to requests. Source: lbry-sdk lbry/dht/protocol/protocol.py `KademliaRPC`, `_handle_rpc`. */
import { createHash } from 'node:crypto';
import { encodeCompactAddress } from './addresses.js';
import type { Announcements } from './announcements.js';
import type { BValue, Dict } from './bencode.js';
import type { Contact } from './contact.js';
import { ID_BYTES, type RequestDatagram } from './datagrams.js';
import { K } from './kademlia.js';
import type { PeerBook } from './peerBook.js';
import type { RoutingTable } from './routingTable.js';
import type { Tokens } from './tokens.js';

/** A request that was refused and is answered with an error. `name` is the name of a Python exception. */
export class DhtRefusal extends Error {
  override readonly name = 'Refusal';
  readonly type: string;

  constructor(type: string, text: string) {
    super(text);
    this.type = type;
  }
}

export const INVALID_TOKEN = 'Invalid token';

export interface AnswersDeps {
  readonly ownId: Buffer;
  readonly table: RoutingTable;
  readonly book: PeerBook;
  readonly announcements: Announcements;
  readonly tokens: Tokens;
  /** External address and ports at which this node serves blobs; null while unknown. */
  readonly ownPlace: () => { readonly address: string; readonly tcpPort: number } | null;
  /** Whether this node has the blob (hexadecimal digits). */
  readonly hasBlob: (hash: string) => boolean;
}

const shortHex = (id: Buffer): string => id.subarray(0, 4).toString('hex');

/**
 * Reads a hash of 48 bytes. Throws the same errors as Python's `len` and lbry-sdk's checks. `fault` is the prefix of the
 * error text.
 */
function hashOf(value: BValue | undefined, fault: string): Buffer {
  if (value === undefined) throw new DhtRefusal('IndexError', 'tuple index out of range');
  if (typeof value === 'number' || typeof value === 'bigint')
    throw new DhtRefusal('TypeError', "object of type 'int' has no len()");
  if (Buffer.isBuffer(value) && value.length === ID_BYTES) return value;
  const size = value instanceof Map ? value.size : (value as Buffer | readonly BValue[]).length;
  throw new DhtRefusal('ValueError', `${fault}: ${size}`);
}

export class Answers {
  readonly #deps: AnswersDeps;

  constructor(deps: AnswersDeps) {
    this.#deps = deps;
  }

  /** Computes the answer to a request, and stores an announcement. Throws `DhtRefusal`. */
  answer(asker: Contact, { method, args }: RequestDatagram): BValue {
    const { ownId } = this.#deps;
    if (asker.nodeId.equals(ownId)) {
      const id = shortHex(ownId);
      throw new DhtRefusal('AssertionError', `('${id}', '${id}')`);
    }
    const values = args.slice(0, -1);
    const named = args.at(-1) as Dict;
    const name = Buffer.isBuffer(method) ? method.toString('latin1') : '';
    switch (name) {
      case 'ping':
        return Buffer.from('pong');
      case 'store':
        return this.#store(asker, values);
      case 'findNode':
        return this.#findNode(asker, hashOf(values[0], 'invalid contact node_id length'));
      case 'findValue':
        return this.#findValue(
          asker,
          hashOf(values[0], 'invalid blob_exchange hash length'),
          named.get('p') ?? 0,
        );
      default:
        throw new DhtRefusal('AttributeError', `Invalid method: ${name}`);
    }
  }

  #store(asker: Contact, values: readonly BValue[]): BValue {
    const { tokens, announcements, book } = this.#deps;
    if (values.length < 5)
      throw new DhtRefusal('ValueError', `not enough values to unpack (expected 5, got ${values.length})`);
    const [, token, port] = values;
    const key = hashOf(values[0], 'invalid length of blob hash');
    if (typeof port !== 'number' && typeof port !== 'bigint')
      throw new DhtRefusal('TypeError', "'<' not supported between instances of 'int' and 'bytes'");
    const tcpPort = Number(port);
    // QUIRK: lbry-sdk refuses the port 65,535 too.
    if (!(tcpPort > 0 && tcpPort < 65_535)) throw new DhtRefusal('ValueError', `invalid tcp port: ${port}`);
    if (!Buffer.isBuffer(token) || !tokens.isValid(token, asker.address))
      throw new DhtRefusal('ValueError', INVALID_TOKEN);
    book.setTcpPort(asker, tcpPort);
    announcements.add(key, asker, tcpPort);
    return Buffer.from('OK');
  }

  #findNode(asker: Contact, key: Buffer): BValue {
    return this.#deps.table
      .closest(key, K, asker.nodeId)
      .map(({ nodeId, address, udpPort }) => [nodeId, address, udpPort]);
  }

  #findValue(asker: Contact, key: Buffer, pageValue: BValue): BValue {
    if (typeof pageValue !== 'number' && typeof pageValue !== 'bigint')
      throw new DhtRefusal('TypeError', "'>' not supported between instances of 'bytes' and 'int'");
    const page = Math.max(0, Number(pageValue));
    const answer: Dict = new Map<string, BValue>([
      ['token', this.#deps.tokens.tokenFor(asker.address)],
      ['protocolVersion', 1],
    ]);
    if (page === 0) answer.set('contacts', this.#findNode(asker, key));
    const peers = this.#peersFor(asker, key);
    // QUIRK: lbry-sdk reports too few pages from 17 peers on.
    answer.set('p', Math.ceil(peers.length / K));
    const shown = peers.slice(page * K, page * K + K);
    if (shown.length > 0) answer.set(key.toString('latin1'), shown);
    return answer;
  }

  /** Returns the compact addresses of the peers that have announced the blob, in the same order for each page. */
  #peersFor(asker: Contact, key: Buffer): Buffer[] {
    const { announcements, book, ownPlace, hasBlob, ownId } = this.#deps;
    const askerPort = book.tcpPortOf(asker);
    const peers = announcements
      .peersOf(key)
      .filter(({ contact, tcpPort }) => contact.key !== asker.key || tcpPort !== askerPort)
      .map(({ contact: { nodeId, address }, tcpPort }) =>
        encodeCompactAddress({ nodeId, address, port: tcpPort }),
      );
    const place = ownPlace();
    if (peers.length < K && place !== null && hasBlob(key.toString('hex')))
      peers.push(encodeCompactAddress({ nodeId: ownId, address: place.address, port: place.tcpPort }));
    return peers.length > K ? this.#shuffled(peers) : peers;
  }

  /**
   * Sorts peers by hashes over the peer and the node's own id. So each node uses a different order, and a new peer does not
   * change the order of the others.
   */
  #shuffled(peers: readonly Buffer[]): Buffer[] {
    return peers
      .map((peer) => [createHash('sha256').update(this.#deps.ownId).update(peer).digest(), peer] as const)
      .sort(([a], [b]) => a.compare(b))
      .map(([, peer]) => peer);
  }
}
