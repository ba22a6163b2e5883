/**
 * The blob server, reflector, downloader and uploader of the Python lbry-sdk in one process (`test/sdk/exchange_peer.py`), on the
 * loopback network.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { projectFile } from '../../src/util/project.js';

export class PythonPeer {
  readonly folder = mkdtempSync(join(tmpdir(), 'lbcnode-sdk-exchange-'));
  private readonly process: ChildProcessWithoutNullStreams;
  private readonly lines: Interface;
  private reported = '';
  private readonly waiting: ((line: string) => void)[] = [];

  constructor(lbrynet: string) {
    this.process = spawn(
      join(dirname(lbrynet), 'python'),
      ['-W', 'ignore', projectFile('test', 'sdk', 'exchange_peer.py'), this.folder],
      { env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } },
    );
    this.process.stderr.on('data', (bytes: Buffer) => {
      this.reported = (this.reported + bytes.toString()).slice(-4000);
    });
    this.process.once('close', () => {
      for (const answer of this.waiting.splice(0))
        answer(JSON.stringify({ error: `it ended: ${this.reported}` }));
    });
    this.lines = createInterface({ input: this.process.stdout });
    this.lines.on('line', (line) => this.waiting.shift()?.(line));
  }

  async call<T>(...command: readonly unknown[]): Promise<T> {
    const line = new Promise<string>((resolve) => this.waiting.push(resolve));
    this.process.stdin.write(`${JSON.stringify(command)}\n`);
    const { result, error } = JSON.parse(await line) as { result: T; error?: string };
    if (error !== undefined) throw new Error(error);
    return result;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('close', resolve));
    this.process.stdin.end();
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
