/** Code that runs in a `SharedThread`: loads the programs, each with its own port. */
import { parentPort, type MessagePort } from 'node:worker_threads';

/** Starts a program. */
export interface StartMessage {
  /** URL of the program's module. */
  readonly module: string;
  readonly data: unknown;
  readonly port: MessagePort;
}

/** Module of a program in a `SharedThread`. */
interface SharedProgram {
  /** Serves calls that arrive at the port until the port is closed. */
  serve(port: MessagePort, data: unknown): void;
}

/** Loads the programs that the starting thread sends. A null message ends the thread. */
export function serveSharedThread(): void {
  parentPort!.on('message', async (message: StartMessage | null) => {
    if (message === null) return parentPort!.close();
    const { serve } = (await import(message.module)) as SharedProgram;
    serve(message.port, message.data);
  });
}
