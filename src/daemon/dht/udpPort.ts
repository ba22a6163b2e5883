/** Interface of a UDP port for the DHT and trackers, and its implementation by an IPv4 socket. */
import { createSocket } from 'node:dgram';
import { EnvironmentError } from '../../util/text/environmentError.js';

export type DatagramListener = (data: Buffer, address: string, port: number) => void;

export interface UdpPort {
  /** Sends a datagram, which may be lost without notice. Never throws, even after `close`. */
  send(data: Buffer, address: string, port: number): void;
  /** Sets the function that receives the datagrams. */
  listen(listener: DatagramListener): void;
  close(): Promise<void>;
}

const MAX_PORT = 65_535;
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use, possibly by another daemon. Stop that daemon, or choose another port',
  EACCES: 'the system does not allow it. Choose a port above 1023',
  EADDRNOTAVAIL: 'this machine does not have this address. Choose another one',
};

/**
 * Binds a socket; port 0 selects any free port. Throws `EnvironmentError` on failure: `what` names the user of the port
 * and `settings` the settings that choose the port and the address.
 */
export async function openUdpSocket(
  port: number,
  address: string,
  { what, settings }: { readonly what: string; readonly settings: string },
): Promise<UdpPort & { readonly port: number }> {
  if (!(port >= 0 && port <= MAX_PORT))
    throw new EnvironmentError(
      `The ${what} cannot listen at UDP port ${port}: choose a port up to ${MAX_PORT} (${settings}).`,
    );
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const reason = REASONS[error.code ?? ''] ?? error.message;
      const where = `UDP ${address}:${port}`;
      reject(new EnvironmentError(`The ${what} cannot listen at ${where}: ${reason} (${settings}).`));
    });
    socket.bind(port, address, resolve);
  });
  socket.removeAllListeners('error');
  // Errors of single datagrams, such as an unreachable network, are ignored: the request times out.
  socket.on('error', () => undefined);
  let isOpen = true;
  return {
    port: socket.address().port,
    send: (data, toAddress, toPort) => {
      if (isOpen) socket.send(data, toPort, toAddress, () => undefined);
    },
    listen: (listener) => {
      socket.removeAllListeners('message');
      socket.on('message', (data, from) => listener(data, from.address, from.port));
    },
    close: () => {
      if (!isOpen) return Promise.resolve();
      isOpen = false;
      return new Promise((resolve) => {
        socket.close(resolve);
      });
    },
  };
}
