/**
 * A UDP tracker for tests on a port that the test chooses. Source: BEP 15; lbry-sdk lbry/torrent/tracker.py
 * `UDPTrackerServerProtocol`.
 */
import type { UdpPort } from '../../src/daemon/dht/udpPort.js';

const PROTOCOL_ID = 0x41727101980n;
const STOPPED = 3;

export interface TrackerServerOptions {
  readonly intervalSec?: number;
  /** Answers announcements with this error. */
  readonly error?: string;
}

export class TrackerServer {
  private readonly options: TrackerServerOptions;
  private readonly port: UdpPort;
  private readonly connections = new Set<bigint>();
  private readonly peers = new Map<string, Set<string>>();
  /** Requests by their action. */
  readonly counts = { connect: 0, announce: 0 };

  constructor(port: UdpPort, options: TrackerServerOptions = {}) {
    this.options = options;
    this.port = port;
    port.listen((data, address, from) => {
      if (data.length >= 16) port.send(this.answer(data, address), address, from);
    });
  }

  addPeer(infoHash: Buffer, address: string, port: number): void {
    const key = infoHash.toString('hex');
    const peers = this.peers.get(key) ?? new Set();
    this.peers.set(key, peers.add(`${address}:${port}`));
  }

  /** `address:port` of the peers that announced the hash. */
  peersOf(infoHash: Buffer): string[] {
    return [...(this.peers.get(infoHash.toString('hex')) ?? [])];
  }

  close(): Promise<void> {
    return this.port.close();
  }

  private answer(data: Buffer, address: string): Buffer {
    const transactionId = data.readUInt32BE(12);
    if (data.readUInt32BE(8) === 0) return this.connect(data, transactionId);
    this.counts.announce++;
    const { intervalSec = 1700, error } = this.options;
    if (error !== undefined) return answerOf(3, transactionId, Buffer.from(error));
    if (!this.connections.has(data.readBigUInt64BE(0)))
      return answerOf(3, transactionId, Buffer.from('Connection ID missmatch.\0'));
    const infoHash = data.subarray(16, 36);
    const port = data.readUInt16BE(96);
    if (data.readUInt32BE(80) === STOPPED)
      this.peers.get(infoHash.toString('hex'))?.delete(`${address}:${port}`);
    else this.addPeer(infoHash, address, port);
    const peers = this.peersOf(infoHash).map(compact);
    const head = Buffer.alloc(12);
    head.writeUInt32BE(intervalSec, 0);
    head.writeUInt32BE(peers.length, 8);
    return answerOf(1, transactionId, Buffer.concat([head, ...peers]));
  }

  private connect(data: Buffer, transactionId: number): Buffer {
    this.counts.connect++;
    if (data.readBigUInt64BE(0) !== PROTOCOL_ID) return answerOf(3, transactionId, Buffer.from('protocol'));
    const id = BigInt(1000 + this.counts.connect);
    this.connections.add(id);
    const body = Buffer.alloc(8);
    body.writeBigUInt64BE(id);
    return answerOf(0, transactionId, body);
  }
}

function answerOf(action: number, transactionId: number, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(action, 0);
  head.writeUInt32BE(transactionId, 4);
  return Buffer.concat([head, body]);
}

function compact(place: string): Buffer {
  const [address = '', port] = place.split(':');
  const bytes = Buffer.from([...address.split('.').map(Number), 0, 0]);
  bytes.writeUInt16BE(Number(port), 4);
  return bytes;
}
