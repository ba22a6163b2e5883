/**
 * A SOCKS5 proxy on the loopback interface that connects to no other host: a scripted peer answers for each target. It records
 * the targets and credentials of the requests. Source: RFC 1928, RFC 1929.
 */
import { createServer, type Socket } from 'node:net';
import { RawPeer } from './rawPeer.js';

export interface SocksRequest {
  /** `host:port` of the request; names are not resolved. */
  readonly target: string;
  /** Null if the client offered none. */
  readonly credentials: string | null;
}

export interface SocksServer {
  readonly address: string;
  readonly requests: readonly SocksRequest[];
  close(): void;
}

/** Reads bytes from a socket: at each step as many as `next` is called with. */
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

/** `meet` receives the peer that stands for each target. It has not sent anything yet. */
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
    // If a connection ends early, the awaited message does not arrive and the test fails there.
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
