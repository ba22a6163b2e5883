/**
 * Peers that send as fast as they can, in a process of their own (`flooder.mjs`), so that sending takes no time of the test's
 * process.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { version } from './rawMessages.js';
import { frame } from './rawPeer.js';

const PROGRAM = fileURLToPath(new URL('./flooder.mjs', import.meta.url));

export interface Flood {
  /** The node's port. */
  port: number;
  connections: number;
  /** The bytes that are sent repeatedly. */
  bytes: Buffer;
  /** Whether the answers are read. */
  reads: boolean;
}

export class Flooders {
  /** Number of bytes that the system of the node accepted. */
  takenBytes = 0;
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.child = child;
    this.exited = new Promise((resolve) => child.once('exit', resolve));
  }

  /** Resolves when all peers are sending. */
  static async start({ port, connections, bytes, reads }: Flood): Promise<Flooders> {
    const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    const flooders = new Flooders(child);
    const ready = new Promise<void>((resolve, reject) => {
      void flooders.exited.then(() => reject(new Error('the flooders ended')));
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line === 'ready') resolve();
        else flooders.takenBytes = Number(line);
      });
    });
    const greetingHex = Buffer.concat([
      frame('version', version()),
      frame('verack', Buffer.alloc(0)),
    ]).toString('hex');
    child.stdin.write(
      `${JSON.stringify({ port, connections, reads, greetingHex, bytesHex: bytes.toString('hex') })}\n`,
    );
    await ready;
    return flooders;
  }

  async stop(): Promise<void> {
    this.child.stdin!.end();
    await this.exited;
  }
}
