/**
 * UDP port that clients query before they choose a hub to connect to. The response has the hub's availability, tip and
 * country, and the client's address. Source: lbryio/hub herald/udp.py.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { parseIp, Subnet } from '../../util/network/subnet.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';

const MAGIC = 1_446_058_291;
const PROTOCOL_VERSION = 1;
/**
 * Size of a request: magic number, version and 64 bytes of padding. The padding makes a response smaller than its request,
 * so that the port cannot amplify attacks.
 */
const PING_BYTES = 69;
const PONG_BYTES = 44;
const AVAILABLE = 1;
/** Minimum time in ms between two responses to one address. */
const LEAST_MS = 100;
/** Maximum number of addresses for which the time of the last request is stored. */
const MAX_KNOWN = 1024;
/** Lowest source port that gets a response. Clients do not use lower ports. */
const FIRST_CLIENT_PORT = 1024;

/** Private networks. Source: `is_valid_public_ipv4`, Python's `ipaddress`. */
const PRIVATE = subnets(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']);
const LOOPBACK = subnets(['127.0.0.0/8']);
const NOT_PUBLIC = subnets([
  '0.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '192.0.0.0/29',
  '192.0.0.170/31',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

function subnets(texts: readonly string[]): readonly Subnet[] {
  return texts.map((text) => Subnet.parse(text)!);
}

export interface StatusPortOptions {
  /** IPv4 address on which the status port listens. */
  readonly host: string;
  readonly port: number;
  /** Country code of the hub, a value of the protobuf enum `Location.Country`. */
  readonly country: number;
}

export interface StatusPortDeps {
  /** Height and id (wire order) of the tip. */
  readonly tip: () => { readonly height: number; readonly hash: Bytes };
  /** Id of the genesis block. The response contains it instead of the tip while clients cannot connect yet. */
  readonly genesisHash: Bytes;
  readonly log: Logger;
}

export class StatusPort {
  private readonly options: StatusPortOptions;
  private readonly deps: StatusPortDeps;
  private readonly lastAsked = new Map<string, number>();
  private readonly allows: readonly Subnet[];
  private socket: Socket | null = null;
  private isAvailable = false;
  private hasBeenAvailable = false;

  constructor(options: StatusPortOptions, deps: StatusPortDeps) {
    this.options = options;
    this.deps = deps;
    // A server on a loopback or private address also responds to requests from this network.
    this.allows = [LOOPBACK, PRIVATE].filter((nets) => nets.some((net) => holds(net, options.host))).flat();
  }

  set available(isAvailable: boolean) {
    this.isAvailable = isAvailable;
    this.hasBeenAvailable ||= isAvailable;
  }

  get port(): number | null {
    return this.socket?.address().port ?? null;
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = createSocket('udp4');
      socket.once('error', reject);
      socket.bind(this.options.port, this.options.host, () => {
        socket.off('error', reject);
        socket.on('error', (error) => this.deps.log.warn(`The hub's status port failed: ${error.message}`));
        socket.on('message', (ping, from) => this.answer(socket, ping, from));
        this.socket = socket;
        resolve();
      });
    });
  }

  private answer(socket: Socket, ping: Buffer, from: RemoteInfo): void {
    if (this.isTooSoon(from.address)) return;
    if (!isPing(ping)) return;
    if (from.port < FIRST_CLIENT_PORT || !isAnswered(from.address, this.allows)) return;
    // Errors of sending are ignored, because datagrams may be lost anyway.
    socket.send(this.pong(from.address), from.port, from.address, () => undefined);
  }

  private isTooSoon(address: string): boolean {
    const nowMs = performance.now();
    const lastMs = this.lastAsked.get(address) ?? -Infinity;
    this.lastAsked.delete(address);
    this.lastAsked.set(address, nowMs);
    if (this.lastAsked.size > MAX_KNOWN) this.lastAsked.delete(this.lastAsked.keys().next().value!);
    return nowMs - lastMs < LEAST_MS;
  }

  private pong(address: string): Buffer {
    const { height, hash } = this.hasBeenAvailable
      ? this.deps.tip()
      : { height: 0, hash: this.deps.genesisHash };
    const pong = Buffer.alloc(PONG_BYTES);
    pong.writeUInt8(PROTOCOL_VERSION, 0);
    pong.writeUInt8(this.isAvailable ? AVAILABLE : 0, 1);
    pong.writeUInt32BE(Math.max(0, height), 2);
    pong.set(hash, 6);
    pong.set(address.split('.').map(Number), 38);
    pong.writeUInt16BE(this.options.country, 42);
    return pong;
  }

  close(): Promise<void> {
    const { socket } = this;
    this.socket = null;
    return socket ? new Promise((resolve) => socket.close(() => resolve())) : Promise.resolve();
  }
}

/** Whether a datagram is a valid request. Source: `SPVPing.decode`. */
export function isPing(datagram: Buffer): boolean {
  return datagram.length >= PING_BYTES && datagram.readInt32BE(0) === MAGIC;
}

function holds(net: Subnet, address: string): boolean {
  return isIPv4(address) && net.contains(parseIp(address)!);
}

/** Whether requests from an address get a response: the address is public or belongs to an allowed network. */
export function isAnswered(address: string, allows: readonly Subnet[] = []): boolean {
  if (!isIPv4(address)) return false;
  if (allows.some((net) => holds(net, address))) return true;
  return ![...LOOPBACK, ...PRIVATE, ...NOT_PUBLIC].some((net) => holds(net, address));
}
