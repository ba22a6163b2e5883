// Subscribes to all topics at the given addresses and prints each message as a line: number of the address, topic, sequence
// number, body in hex. Ends when its input ends.
import { Subscriber } from 'zeromq';

const sockets = process.argv.slice(2).map((address) => {
  const socket = new Subscriber({ receiveHighWaterMark: 0 });
  socket.connect(address);
  socket.subscribe();
  return socket;
});

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));

await Promise.all(
  sockets.map(async (socket, number) => {
    for await (const [topic, body, sequence] of socket) {
      process.stdout.write(`${number} ${topic} ${sequence.readUInt32LE()} ${body.toString('hex')}\n`);
    }
  }),
);
