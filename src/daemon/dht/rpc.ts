/**
 * Sends requests to other nodes and answers their requests, over a UDP port. Invalid received data never causes an
 * exception. Source: lbry-sdk lbry/dht/protocol/protocol.py `KademliaProtocol`, `RemoteKademliaRPC`.
 */
import type { Clock, DaemonRandom, Timer } from '../base/clock.js';
import { COMPACT_BYTES, decodeCompactAddress, isPeerPort, isPublicAddress } from './addresses.js';
import { INVALID_TOKEN, DhtRefusal } from './answers.js';
import type { BValue } from './bencode.js';
import { toContact, type Contact, type Target } from './contact.js';
import {
  decodeDatagram,
  encodeDatagram,
  findNodeRequest,
  findValueRequest,
  ID_BYTES,
  MAX_DATAGRAM_BYTES,
  pingRequest,
  RPC_ID_BYTES,
  storeRequest,
  type Datagram,
  type ErrorDatagram,
  type RequestDatagram,
  type ResponseDatagram,
} from './datagrams.js';
import { FloodGate } from './floodGate.js';
import { K } from './kademlia.js';
import type { PeerBook } from './peerBook.js';
import type { UdpPort } from './udpPort.js';

/** Maximum number of contacts that are read from one answer; lbry-sdk sends 8. */
const MAX_CONTACTS = 2 * K;
/** Maximum number of requests that wait for an answer. */
const MAX_WAITING = 4096;

/** Error: a request to a node timed out, or was answered with an error or an invalid response. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  readonly reason: 'timeout' | 'error' | 'closed';

  constructor(reason: RequestFailure['reason'], text: string) {
    super(text);
    this.reason = reason;
  }
}

/** A node that has announced a blob. */
export interface BlobPeer {
  readonly nodeId: Buffer;
  readonly address: string;
  readonly tcpPort: number;
}

export interface FoundValue {
  readonly contacts: readonly Contact[];
  readonly peers: readonly BlobPeer[];
  /** Number of pages of peers that the answering node reports. */
  readonly pages: number;
}

export interface RpcDeps {
  readonly clock: Clock;
  readonly random: DaemonRandom;
  readonly port: UdpPort;
  readonly ownId: Buffer;
  readonly book: PeerBook;
  readonly timeoutMs: () => number;
  readonly allowLocalhost: boolean;
  /** Throws `DhtRefusal`. */
  readonly answer: (asker: Contact, request: RequestDatagram) => BValue;
  /** Called with each node that has replied to a request. */
  readonly onReply: (contact: Contact) => void;
  /** Called with each node whose request this node has answered. */
  readonly onRequest: (contact: Contact) => void;
  /** Called with each contact that became bad. */
  readonly onBad: (contact: Contact) => void;
}

interface Waiting {
  readonly target: Target;
  readonly timer: Timer;
  readonly resolve: (answer: BValue) => void;
  readonly reject: (failure: RequestFailure) => void;
}

export class Rpc {
  readonly gate: FloodGate;
  readonly #deps: RpcDeps;
  readonly #waiting = new Map<string, Waiting>();
  #isOpen = true;

  constructor(deps: RpcDeps) {
    this.#deps = deps;
    this.gate = new FloodGate(deps.clock);
    deps.port.listen((data, address, port) => this.#receive(data, address, port));
  }

  /** Closes the port and rejects all pending requests. */
  close(): void {
    this.#isOpen = false;
    for (const rpcId of [...this.#waiting.keys()]) this.#fail(rpcId, 'closed', 'the DHT was stopped');
  }

  /** Pings a node. Like all requests, rejects with `RequestFailure` if the node does not answer or sends an error. */
  async ping(target: Target): Promise<void> {
    const answer = await this.#request(target, pingRequest(this.#ids()));
    if (!Buffer.isBuffer(answer) || answer.toString('latin1') !== 'pong')
      throw this.#malformed(target, 'ping');
  }

  /** Requests those nodes near the key that the target knows. */
  async findNode(target: Target, key: Buffer): Promise<Contact[]> {
    return this.#contactsOf(await this.#request(target, findNodeRequest(this.#ids(), key)), target);
  }

  /**
   * Requests one page of the peers that have the blob. Pages count from 0. Page 0 also contains contacts. Stores the token
   * in the response, which an announcement needs.
   */
  async findValue(target: Target, key: Buffer, page: number): Promise<FoundValue> {
    const answer = await this.#request(target, findValueRequest(this.#ids(), key, page));
    if (!(answer instanceof Map)) throw this.#malformed(target, 'findValue');
    const token = answer.get('token');
    if (!Buffer.isBuffer(token) || token.length !== ID_BYTES) throw this.#malformed(target, 'findValue');
    if (target.nodeId !== null) this.#deps.book.setToken(target.nodeId, token);
    const contacts = this.#contactsOf(answer.get('contacts') ?? [], target);
    const pages = answer.get('p');
    const peers = this.#peersOf(answer.get(key.toString('latin1')) ?? []);
    if (peers === null) {
      this.#deps.book.noteFailure(target);
      return { contacts, peers: [], pages: 0 };
    }
    return { contacts, peers, pages: typeof pages === 'number' ? pages : 0 };
  }

  /** Announces that this node serves the blob at the TCP port. If the token of the target is unknown, requests it first. */
  async store(target: Contact, key: Buffer, tcpPort: number): Promise<void> {
    const { book } = this.#deps;
    if (book.tokenOf(target.nodeId) === null) await this.findValue(target, key, 0);
    const token = book.tokenOf(target.nodeId);
    if (token === null) throw this.#malformed(target, 'findValue');
    try {
      const answer = await this.#request(target, storeRequest(this.#ids(), key, token, tcpPort));
      if (!Buffer.isBuffer(answer) || answer.toString('latin1') !== 'OK')
        throw this.#malformed(target, 'store');
    } catch (error) {
      book.clearToken(target.nodeId);
      throw error;
    }
  }

  #ids(): { rpcId: Buffer; nodeId: Buffer } {
    return { rpcId: this.#deps.random.bytes(RPC_ID_BYTES), nodeId: this.#deps.ownId };
  }

  #request(target: Target, request: RequestDatagram): Promise<BValue> {
    const { clock, timeoutMs, ownId } = this.#deps;
    return new Promise((resolve, reject) => {
      const rpcId = request.rpcId.toString('latin1');
      if (!this.#isOpen) return reject(new RequestFailure('closed', 'the DHT was stopped'));
      if (target.nodeId?.equals(ownId)) return reject(new RequestFailure('error', 'node has our node id'));
      if (this.#waiting.size >= MAX_WAITING)
        return reject(new RequestFailure('timeout', 'too many requests are waiting for an answer'));
      const timer = clock.after(timeoutMs(), () => this.#fail(rpcId, 'timeout', 'timeout'));
      this.#waiting.set(rpcId, { target, timer, resolve, reject });
      this.gate.expect(target.address, target.udpPort);
      this.#send(request, target.address, target.udpPort);
    });
  }

  #send(datagram: Datagram, address: string, port: number): void {
    const data = encodeDatagram(datagram);
    if (data.length <= MAX_DATAGRAM_BYTES) this.#deps.port.send(data, address, port);
  }

  /** Removes and returns the pending request with the id. */
  #taken(rpcId: string): Waiting | null {
    const waiting = this.#waiting.get(rpcId);
    if (waiting === undefined) return null;
    this.#waiting.delete(rpcId);
    waiting.timer.cancel();
    return waiting;
  }

  #fail(rpcId: string, reason: RequestFailure['reason'], text: string): void {
    const waiting = this.#taken(rpcId);
    if (waiting === null) return;
    if (reason !== 'closed') this.#noteFailure(waiting.target);
    waiting.reject(new RequestFailure(reason, text));
  }

  #noteFailure(target: Target): void {
    const { book, onBad } = this.#deps;
    book.noteFailure(target);
    if (target.nodeId !== null && book.goodness(target) === 'bad') onBad(target);
  }

  #malformed(target: Target, method: string): RequestFailure {
    this.#noteFailure(target);
    return new RequestFailure('error', `the answer to ${method} is empty`);
  }

  #receive(data: Buffer, address: string, port: number): void {
    const { book } = this.#deps;
    if (!this.#isOpen || !this.gate.admits(address, port)) return;
    const datagram = decoded(data);
    if (datagram === null) book.noteNonsense({ address, udpPort: port });
    else if (datagram.type === 'request') this.#receiveRequest(datagram, address, port);
    else if (datagram.type === 'response') this.#receiveResponse(datagram, address, port);
    else this.#receiveError(datagram, address);
  }

  #receiveRequest(request: RequestDatagram, address: string, port: number): void {
    const { answer, onRequest, ownId, book, allowLocalhost } = this.#deps;
    const asker = toContact(request.nodeId, address, port, allowLocalhost);
    if (asker === null) return;
    const ids = { rpcId: request.rpcId, nodeId: ownId };
    try {
      this.#send({ type: 'response', ...ids, response: answer(asker, request) }, address, port);
      onRequest(asker);
    } catch (error) {
      if (!(error instanceof DhtRefusal)) throw error;
      const exceptionType = `<class '${error.type}'>`;
      this.#send({ type: 'error', ...ids, exceptionType, text: error.message }, address, port);
      if (error.message !== INVALID_TOKEN) book.noteNonsense(asker);
    }
  }

  /**
   * Responses are matched by their random id and by address. The port is not compared, because behind some gateways it
   * differs.
   */
  #receiveResponse({ rpcId, nodeId, response }: ResponseDatagram, address: string, port: number): void {
    const { book, ownId, onReply, allowLocalhost } = this.#deps;
    const key = rpcId.toString('latin1');
    if (this.#waiting.get(key)?.target.address !== address) return;
    if (nodeId.equals(ownId)) return this.#fail(key, 'error', 'incoming message is from our node id');
    const sender = toContact(nodeId, address, port, allowLocalhost);
    if (sender === null) return;
    const waiting = this.#taken(key)!;
    const { target } = waiting;
    book.noteReply(sender);
    if (target.nodeId !== null && target.udpPort !== port) book.noteReply(target);
    onReply(sender);
    waiting.resolve(response);
  }

  #receiveError({ rpcId, exceptionType, text }: ErrorDatagram, address: string): void {
    const key = rpcId.toString('latin1');
    const waiting = this.#waiting.get(key);
    if (waiting?.target.address !== address) return;
    if (text !== INVALID_TOKEN) return this.#fail(key, 'error', `${exceptionType}(${text})`);
    this.#taken(key);
    waiting.reject(new RequestFailure('error', text));
  }

  /** Contacts in a response, except for those with invalid addresses. Throws if the response is not a list. */
  #contactsOf(value: BValue, target: Target): Contact[] {
    if (!Array.isArray(value)) throw this.#malformed(target, 'findNode');
    return (value as readonly BValue[]).slice(0, MAX_CONTACTS).flatMap((triple) => {
      const [nodeId, address, udpPort] = Array.isArray(triple) ? (triple as readonly BValue[]) : [];
      if (!Buffer.isBuffer(nodeId) || !Buffer.isBuffer(address) || typeof udpPort !== 'number') return [];
      return toContact(nodeId, address.toString('latin1'), udpPort, this.#deps.allowLocalhost) ?? [];
    });
  }

  /** Peers in a response. Null if an address is invalid, because such a response is not trusted. */
  #peersOf(value: BValue): BlobPeer[] | null {
    if (!Array.isArray(value)) return null;
    const peers: BlobPeer[] = [];
    for (const compact of value as readonly BValue[]) {
      if (!Buffer.isBuffer(compact) || compact.length !== COMPACT_BYTES) return null;
      if (compact.readUInt16BE(4) === 0) return null;
      const { nodeId, address, port } = decodeCompactAddress(compact);
      if (!isPublicAddress(address, this.#deps.allowLocalhost) || !isPeerPort(port)) return null;
      peers.push({ nodeId, address, tcpPort: port });
    }
    return peers;
  }
}

/** Decodes a datagram; null if it is invalid. */
function decoded(data: Buffer): Datagram | null {
  try {
    return decodeDatagram(data);
  } catch {
    return null;
  }
}
