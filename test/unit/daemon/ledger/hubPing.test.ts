import { createSocket, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { pingHubs } from '../../../../src/daemon/ledger/hub/hubPing.js';
import { pongBytes } from '../../../support/fakeHub.js';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** Answers each ping with these bytes; null: no answer. Rejects if a datagram is not a ping. */
async function answering(pong: Buffer | null): Promise<{ host: string; port: number }> {
  const socket = createSocket('udp4');
  sockets.push(socket);
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  socket.on('message', (bytes, { address, port }) => {
    const isPing = bytes.length === 69 && bytes.readInt32BE(0) === 1446058291 && bytes[4] === 1;
    if (isPing && pong) socket.send(pong, port, address);
  });
  return { host: '127.0.0.1', port: socket.address().port };
}

describe('pingHubs', () => {
  it('reads the answers of hubs, and returns when all have answered', async () => {
    const servers = [
      await answering(pongBytes({ height: 77, country: 76 })),
      await answering(pongBytes({ flags: 0, height: 5 })),
    ];
    const pongs = await pingHubs(servers, 600_000);
    expect(new Map(pongs.map((pong) => [pong.server.port, pong]))).toMatchObject(
      new Map([
        [servers[0]!.port, { isAvailable: true, height: 77, country: 'FR' }],
        [servers[1]!.port, { isAvailable: false, height: 5, country: 'UNKNOWN_COUNTRY' }],
      ]),
    );
    expect(await pingHubs([], 600_000)).toEqual([]);
  });

  it('leaves out hubs that do not answer, that answer too little, and that have no address', async () => {
    const silent = await answering(null);
    const short = await answering(Buffer.alloc(10));
    expect(await pingHubs([silent, short, { host: 'no.such.host.invalid', port: 1 }], 30)).toEqual([]);
  });
});
