/**
 * Replays a recorded chain against a node: every block in order of arrival, and every recorded query, whose answer is compared
 * with the recorded one. Can kill and restart the node between blocks.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startRegtest, type RegtestNode } from './node.js';

interface Step {
  submit?: number;
  method?: string;
  params?: unknown[];
  result?: unknown;
  error?: { code: number; message: string };
}

export interface ReplayOptions {
  /** Folder of the recorded chain. */
  chain: string;
  /** Number of blocks after which the node is killed by SIGKILL and restarted. */
  killEvery?: number;
  env?: Readonly<Record<string, string>>;
  /** Sends only every n-th query, to save time. */
  askEvery?: number;
}

export interface ReplayOutcome {
  blocks: number;
  answers: number;
  restarts: number;
  differences: string[];
}

/** Fields that depend on the machine, the clock or the build. */
const VOLATILE: Readonly<Record<string, readonly string[]>> = {
  getblockchaininfo: ['size_on_disk', 'chain', 'warnings', 'verificationprogress', 'initialblockdownload'],
  gettxoutsetinfo: ['disk_size'],
  getmininginfo: ['chain', 'warnings', 'currentblockweight', 'currentblocktx', 'pooledtx', 'networkhashps'],
};

function agree(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === 'number' && typeof b === 'number')
    return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(x);
  return keys.length === Object.keys(y).length && keys.every((key) => key in y && agree(x[key], y[key]));
}

function withoutVolatile(method: string, value: unknown): unknown {
  const drop = VOLATILE[method];
  if (!drop || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !drop.includes(key)));
}

const linesOf = (path: string): string[] => gunzipSync(readFileSync(path)).toString().trim().split('\n');

/** Replays the whole chain on a fresh node. Stops after 20 differences. */
export async function replay(options: ReplayOptions): Promise<ReplayOutcome> {
  const blocks = linesOf(join(options.chain, 'blocks.hex.gz'));
  const steps = linesOf(join(options.chain, 'transcript.jsonl.gz')).map((line) => JSON.parse(line) as Step);
  const args = readFileSync(join(options.chain, 'node-args'), 'utf8')
    .trim()
    .split(/\s+/)
    .filter((arg) => arg !== '-regtest' && arg !== '-listen=0');
  const outcome: ReplayOutcome = { blocks: 0, answers: 0, restarts: 0, differences: [] };
  let node: RegtestNode = await startRegtest({ args, ...(options.env ? { env: options.env } : {}) });
  let asked = 0;
  try {
    for (const step of steps) {
      if (outcome.differences.length >= 20) break;
      if (step.submit !== undefined) {
        const { result, error } = await answer(node, 'submitblock', [blocks[step.submit]]);
        if (error || (result ?? null) !== step.result) {
          outcome.differences.push(
            `block ${step.submit}: ${JSON.stringify(step.result)} expected, got ${JSON.stringify(error ?? result)}`,
          );
        }
        outcome.blocks++;
        if (options.killEvery && outcome.blocks % options.killEvery === 0) {
          await node.kill();
          node = await startRegtest({
            args,
            dataDir: node.dataDir,
            ...(options.env ? { env: options.env } : {}),
          });
          outcome.restarts++;
        }
        continue;
      }
      if (asked++ % (options.askEvery ?? 1) !== 0) continue;
      const got = await answer(node, step.method!, step.params!);
      outcome.answers++;
      const same = step.error
        ? got.error?.code === step.error.code
        : !got.error &&
          agree(withoutVolatile(step.method!, step.result), withoutVolatile(step.method!, got.result));
      if (!same) {
        outcome.differences.push(
          `${step.method} ${JSON.stringify(step.params).slice(0, 150)} at block ${outcome.blocks}: expected ${JSON.stringify(step.error ?? step.result).slice(0, 300)}, got ${JSON.stringify(got.error ?? got.result).slice(0, 300)}`,
        );
      }
    }
  } finally {
    await node.stop();
  }
  return outcome;
}

async function answer(
  node: RegtestNode,
  method: string,
  params: unknown[],
): Promise<{ result?: unknown; error?: { code: number; message: string } | null }> {
  const { text } = await node.post(JSON.stringify({ jsonrpc: '1.0', id: 0, method, params }));
  return JSON.parse(text) as { result?: unknown; error?: { code: number; message: string } | null };
}
