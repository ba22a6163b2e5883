/** A process of `walletProcess.mjs`: the daemon's wallet without its program. It can end at a named point. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Points at which the process can end, in the order in which creating a channel reaches them. */
export const DEATHS = [
  'coins reserved',
  'before saving',
  'saved',
  'before the broadcast',
  'sent, not in the database',
  'in the database, not answered',
] as const;

export type Death = (typeof DEATHS)[number];

/** An error answer of a method. */
export class WalletError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

type Answer = { result?: unknown; ready?: true; error?: { name: string; message: string } };

export class WalletProcess {
  private readonly child: ChildProcess;
  private readonly exit: Promise<NodeJS.Signals | null>;
  private readonly waiting: ((line: Answer | null) => void)[] = [];
  private errors = '';

  private constructor(child: ChildProcess) {
    this.child = child;
    child.stderr!.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    createInterface({ input: child.stdout! }).on('line', (line) =>
      this.waiting.shift()?.(JSON.parse(line) as Answer),
    );
    this.exit = new Promise((resolve) =>
      child.once('close', (_code, signal) => {
        for (const tell of this.waiting.splice(0)) tell(null);
        resolve(signal);
      }),
    );
  }

  /** Resolves when the wallet is in sync with the hub. */
  static async start(folder: string, hubPort: number, dieAt: Death | '' = ''): Promise<WalletProcess> {
    const script = fileURLToPath(new URL('walletProcess.mjs', import.meta.url));
    const child = spawn(process.execPath, [script, folder, String(hubPort), dieAt], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const process_ = new WalletProcess(child);
    if ((await process_.next())?.ready !== true) throw new Error(`it does not start: ${process_.errors}`);
    return process_;
  }

  private next(): Promise<Answer | null> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Rejects with `WalletError` for an error answer, and with another error if the process ended. */
  async call<T>(method: string, params: object = {}): Promise<T> {
    const next = this.next();
    this.child.stdin!.write(`${JSON.stringify({ method, params })}\n`);
    const answer = await next;
    if (answer === null) throw new Error(`it died: ${this.errors}`);
    if (answer.error) throw new WalletError(answer.error.name, answer.error.message);
    return answer.result as T;
  }

  /** The signal that ended it; null for none. */
  get exited(): Promise<NodeJS.Signals | null> {
    return this.exit;
  }

  async stop(): Promise<void> {
    this.child.stdin!.end();
    await this.exit;
  }
}
