/**
 * A SOCKS5 proxy on loopback that leads nowhere: anyone who it is asked for, a scripted peer answers. Keeps what it was
 * asked for, and with which credentials. Source: RFC 1928, RFC 1929.
 */
import { createServer, type Socket } from 'node:net';
import { RawPeer } from './rawPeer.js';

export interface SocksRequest {
  /** `host:port` as asked for: a name stays a name. */
  readonly target: string;
  /** Null when none were offered. */
  readonly credentials: string | null;
}

export interface SocksServer {
  readonly address: string;
  readonly requests: readonly SocksRequest[];
  close(): void;
}

/** Bytes of a socket, so many at a time. */
async function* bytesOf(socket: Socket): AsyncGenerator<Buffer, void, number> {
  let wanted = yield Buffer.alloc(0);
  for (;;) {
    let got: Buffer | null;
    while ((got = socket.read(wanted) as Buffer | null) === null) {
      if (socket.destroyed || socket.readableEnded) return;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          socket.off('readable', done).off('close', done).off('end', done);
          resolve();
        };
        socket.on('readable', done).on('close', done).on('end', done);
      });
    }
    wanted = yield got;
  }
}

/** `meet` gets the peer that stands for each target; it has said nothing yet. */
export async function startSocks(
  meet: (peer: RawPeer, request: SocksRequest) => Promise<void>,
): Promise<SocksServer> {
  const requests: SocksRequest[] = [];
  const sockets = new Set<Socket>();
  const serve = async (socket: Socket): Promise<void> => {
    const bytes = bytesOf(socket);
    await bytes.next();
    const read = async (count: number): Promise<Buffer> => {
      const { value } = await bytes.next(count);
      if (!value) throw new Error('the node ended the connection');
      return value;
    };
    const methods = await read((await read(2))[1]!);
    let credentials: string | null = null;
    if (methods.includes(2)) {
      socket.write(Buffer.of(5, 2));
      const user = await read((await read(2))[1]!);
      const password = await read((await read(1))[0]!);
      credentials = `${user.toString('latin1')}:${password.toString('latin1')}`;
      socket.write(Buffer.of(1, 0));
    } else socket.write(Buffer.of(5, 0));
    const [, , , type] = await read(4);
    if (type !== 3) throw new Error(`address of type ${type}`);
    const host = (await read((await read(1))[0]!)).toString('latin1');
    const port = (await read(2)).readUInt16BE(0);
    const request = { target: `${host}:${port}`, credentials };
    requests.push(request);
    socket.write(Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0));
    await meet(new RawPeer(socket), request);
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    // A connection that ends on the way is none of the test's concern; what it waits for does not come then.
    serve(socket).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return {
    address: `127.0.0.1:${bound.port}`,
    requests,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
