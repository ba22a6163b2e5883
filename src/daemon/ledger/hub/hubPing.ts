/**
 * Pings hubs over UDP to find those that accept clients; the first to respond is the nearest. Source: lbry-sdk
 * lbry/wallet/udp.py.
 */
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { Location_CountrySchema, type Location_Country } from '../../../metadata/messages/claim_pb.js';
import { joinHostPort, type HostPort } from '../../../util/network/hostPort.js';

const MAGIC = 1_446_058_291;
const PROTOCOL_VERSION = 1;
const PING_SIZE = 69;
const PONG_SIZE = 44;
const AVAILABLE = 1;

const AT = { flags: 1, height: 2, address: 38, country: 42 } as const;

/** Features of a hub that its ping response contains. */
export interface PongFacts {
  readonly isAvailable: boolean;
  readonly height: number;
  /** Country code of two letters, or region code of three digits; `UNKNOWN_COUNTRY` if the hub does not report one. */
  readonly country: string;
  /** IPv4 address from which the hub received the ping. */
  readonly ownAddress: string;
}

export interface Pong extends PongFacts {
  readonly server: HostPort;
  readonly afterMs: number;
}

/**
 * In messages a region code has the prefix R. QUIRK: lbry-sdk also removes the R from country names (`country_int_to_str`),
 * so hubs in `RU` never match a jurisdiction.
 */
function countryOf(number: number): string {
  const name = Location_CountrySchema.value[number as Location_Country]?.name ?? 'UNKNOWN_COUNTRY';
  return name.replace(/^R(?=\d)/, '');
}

/** Parses the response to a ping; null if it is too short. Source: `SPVPong.decode`. */
export function readPong(bytes: Buffer): PongFacts | null {
  if (bytes.length < PONG_SIZE) return null;
  return {
    isAvailable: (bytes.readUInt8(AT.flags) & AVAILABLE) !== 0,
    height: bytes.readUInt32BE(AT.height),
    country: countryOf(bytes.readUInt16BE(AT.country)),
    ownAddress: bytes.subarray(AT.address, AT.address + 4).join('.'),
  };
}

/** Encodes a ping. Source: `SPVPing.make`. */
export function pingBytes(): Buffer {
  const bytes = Buffer.alloc(PING_SIZE);
  bytes.writeInt32BE(MAGIC, 0);
  bytes.writeUInt8(PROTOCOL_VERSION, 4);
  return bytes;
}

/** Pings all servers. Resolves to the hubs that responded in time, in the order of their responses. */
export async function pingHubs(servers: readonly HostPort[], timeoutMs: number): Promise<Pong[]> {
  const socket = createSocket('udp4');
  const asked = new Map<string, HostPort>();
  const pongs: Pong[] = [];
  const startMs = performance.now();
  await new Promise<void>((resolve) => {
    let resolving = servers.length;
    const timer = setTimeout(resolve, timeoutMs);
    const endIfAll = (): void => {
      if (resolving > 0 || asked.size > 0) return;
      clearTimeout(timer);
      resolve();
    };
    socket.on('error', () => undefined);
    socket.on('message', (bytes, { address, port }) => {
      const key = joinHostPort({ host: address, port });
      const server = asked.get(key);
      const facts = readPong(bytes);
      if (!server || !facts) return;
      asked.delete(key);
      pongs.push({ server, ...facts, afterMs: performance.now() - startMs });
      endIfAll();
    });
    for (const server of servers)
      lookup(server.host, { family: 4 })
        .then(({ address }) => {
          asked.set(joinHostPort({ host: address, port: server.port }), server);
          socket.send(pingBytes(), server.port, address, () => undefined);
        })
        .catch(() => undefined)
        .finally(() => {
          resolving--;
          endIfAll();
        });
    endIfAll();
  });
  socket.close();
  return pongs;
}
