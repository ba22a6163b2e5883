/**
 * `lbcnode/testing`: a regtest node in a separate process, on free loopback ports and in a temporary folder, for integration
 * tests of programs that use a node. Also used by this project's functional tests.
 *
 *   const node = await startRegtest();
 *   await node.rpc('generatetoaddress', [101, address]);
 *   await node.stop();
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface RegtestOptions {
  /** Additional command-line options, such as `-txindex` or `-supportdelay=proportional`. */
  args?: readonly string[];
  /** Folder for the node's data, which `stop` does not delete. If absent, a temporary folder is created, which `stop` deletes. */
  dataDir?: string;
  /** Additional environment variables of the process. */
  env?: Readonly<Record<string, string>>;
  /** Timeout of the start in milliseconds. */
  timeoutMs?: number;
}

/** An error response of the node. */
export class RegtestRpcError extends Error {
  override readonly name = 'RegtestRpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface RegtestNode {
  readonly dataDir: string;
  /** RPC URL with credentials: `http://user:password@127.0.0.1:port/`. */
  readonly url: string;
  readonly rpcPort: number;
  readonly p2pPort: number;
  readonly pid: number;
  /** Everything that the process has printed so far. */
  output(): string;
  /** Calls an RPC method. Rejects with `RegtestRpcError` if the node returns an error. */
  rpc<T = unknown>(
    method: string,
    params?: readonly unknown[] | Readonly<Record<string, unknown>>,
  ): Promise<T>;
  /** Posts a body unchanged. Returns the status and the text of the response. */
  post(body: string, path?: string): Promise<{ status: number; text: string }>;
  /** Stops the node cleanly. A temporary folder is deleted. */
  stop(): Promise<void>;
  /** Kills the process immediately (SIGKILL). The folder is not deleted. */
  kill(): Promise<void>;
  /**
   * Resolves when the process has exited and all its output was read, to the exit code; to null if a signal ended the
   * process.
   */
  exited: Promise<number | null>;
}

const USER = 'regtest';
const PASSWORD = 'regtest';

/** Finds a port of the loopback interface that is free at present. */
export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

/**
 * Maximum number of attempts to start the node. Each attempt uses other ports, because another program may take a free port
 * before the node uses it.
 */
const ATTEMPTS = 3;

/**
 * Starts a node. Resolves when the node serves calls and has imported the files in its arguments. If the node exits early,
 * rejects with its output.
 */
export async function startRegtest(options: RegtestOptions = {}): Promise<RegtestNode> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options);
    } catch (error) {
      const isTaken = /Unable to bind|EADDRINUSE|Address already in use/.test(String(error));
      if (!isTaken || attempt === ATTEMPTS) throw error;
    }
  }
}

async function startOnce(options: RegtestOptions): Promise<RegtestNode> {
  const temporary = options.dataDir === undefined;
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'lbcnode-regtest-'));
  const [rpcPort, p2pPort] = [await freePort(), await freePort()];
  const program = fileURLToPath(new URL('../bin/lbcnode.js', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      program,
      '-regtest',
      `-datadir=${dataDir}`,
      `-rpcport=${rpcPort}`,
      `-port=${p2pPort}`,
      `-rpcuser=${USER}`,
      `-rpcpassword=${PASSWORD}`,
      '-listen=0',
      '-printtoconsole',
      ...(options.args ?? []),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      // The addon is not built at the start, because this takes longer than the tests' timeouts, and short test chains do
      // not need it.
      env: { ...process.env, LBCNODE_NATIVE_BUILD: '0', ...options.env },
    },
  );
  let output = '';
  const collect = (chunk: Buffer): void => {
    // Only the last megabyte of output is stored, which is enough to find the cause of a failure.
    output = (output + chunk.toString()).slice(-(1 << 20));
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const exited = untilEnded(child);
  try {
    await untilLoaded(child, () => output, exited, options.timeoutMs ?? 60_000);
  } catch (error) {
    await exited;
    if (temporary) rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }

  const post = (body: string, path = '/'): Promise<{ status: number; text: string }> =>
    httpPost(rpcPort, path, body);
  return {
    dataDir,
    url: `http://${USER}:${PASSWORD}@127.0.0.1:${rpcPort}/`,
    rpcPort,
    p2pPort,
    pid: child.pid!,
    output: () => output,
    exited,
    post,
    async rpc<T>(
      method: string,
      params: readonly unknown[] | Readonly<Record<string, unknown>> = [],
    ): Promise<T> {
      const { status, text } = await post(JSON.stringify({ jsonrpc: '1.0', id: 1, method, params }));
      let answer: { result: T; error: { code: number; message: string } | null };
      try {
        answer = JSON.parse(text);
      } catch {
        throw new Error(`HTTP ${status}: ${text.slice(0, 200)}`);
      }
      if (answer.error) throw new RegtestRpcError(answer.error.code, answer.error.message);
      return answer.result;
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await exited;
      if (temporary) rmSync(dataDir, { recursive: true, force: true });
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/**
 * Maximum milliseconds to wait for remaining output after the exit. A command started by the node (`-blocknotify`) may hold
 * the output open indefinitely.
 */
const DRAIN_MS = 1000;

function untilEnded(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('close', resolve);
    child.once('exit', (code) => setTimeout(resolve, DRAIN_MS, code).unref());
  });
}

/**
 * Messages that the node prints at the start and the end of an import of block files. The node serves calls during the
 * import.
 */
const IMPORT_BEGINS = 'Importing blocks; RPC calls are answered meanwhile';
const IMPORT_ENDED = 'All blocks are imported';

async function untilLoaded(
  child: ChildProcess,
  output: () => string,
  exited: Promise<number | null>,
  timeoutMs: number,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let ended = false;
  void exited.then(() => (ended = true));
  const isReady = (): boolean => {
    const printed = output();
    return (
      printed.includes('Done loading') && printed.includes(IMPORT_BEGINS) === printed.includes(IMPORT_ENDED)
    );
  };
  while (!isReady()) {
    if (ended) throw new Error(`the node ended while starting:\n${output()}`);
    if (Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the node did not start within ${timeoutMs} ms:\n${output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function httpPost(port: number, path: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const data = Buffer.from(body);
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': data.length,
          authorization: `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
        response.on('error', reject);
      },
    );
    call.on('error', (error: NodeJS.ErrnoException) => {
      // The node closes connections that were idle for some seconds. This process may not have noticed that, so the call
      // is repeated. Source: Node.js, documentation of `request.reusedSocket`.
      if (call.reusedSocket && error.code === 'ECONNRESET') httpPost(port, path, body).then(resolve, reject);
      else reject(error);
    });
    call.end(data);
  });
}
