/**
 * The recorded life of lbry-sdk's daemon (`../shared/conformance/sdk/daemon.jsonl.gz`), followed by ours on the same
 * make-believe hub: each call has the same verdict, and a result of the same shape. Which coins pay is chance, so values
 * are others; ids of ours take the place of the recorded ones in what is asked. Streams are made of a descriptor's hash
 * instead of a file.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon, walletOfSeed, type TestDaemon } from './support/daemon.js';
import { freePort, HANG_MS, shared } from './support/node.js';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Members = { [key: string]: Json };
type Line =
  | { kind: 'call'; method: string; params: Members; answer: Answer }
  | { kind: 'fund'; address: string; dewies: number; txid: string }
  | { kind: 'mine'; count: number; height: number };

const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
const recording = shared('conformance/sdk/daemon.jsonl.gz');
const hubProgram = shared('lbrysdk/hub.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.log('skipped: there is no python3 for the make-believe hub');
const canRun = recording !== undefined && hubProgram !== undefined && hasPython;

/** One JSON-RPC call of the hub for tests. */
class HubControl {
  private readonly answers: ((answer: { result?: unknown; error?: unknown }) => void)[] = [];
  private readonly socket: Socket;

  private constructor(socket: Socket) {
    this.socket = socket;
    createInterface({ input: socket }).on('line', (line) => {
      const message = JSON.parse(line) as { id?: number };
      if (message.id !== undefined) this.answers.shift()?.(message as { result?: unknown });
    });
  }

  static async open(port: number): Promise<HubControl> {
    for (;;) {
      const socket = await new Promise<Socket | null>((resolve) => {
        const one = createConnection(port, '127.0.0.1');
        one.once('connect', () => resolve(one));
        one.once('error', () => resolve(null));
      });
      if (socket) return new HubControl(socket);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  call<Result>(method: string, params: unknown[]): Promise<Result> {
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
    return new Promise((resolve) => this.answers.push(({ result }) => resolve(result as Result)));
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Texts that chance or transactions decide. */
const IS_NAME_OF_SOMETHING =
  /^(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{66}|[0-9a-f]{128}|[mn2][1-9A-HJ-NP-Za-km-z]{25,34}|t(?:pub|prv)[1-9A-HJ-NP-Za-km-z]{100,})$/;
/** What a URL has of an id that it shortens. */
const BEGINNING = /(?<=^@?[^#]+#)[0-9a-f]{1,39}$/;
const INSIDE = /[0-9a-f]{64}|[0-9a-f]{40}|[mn][1-9A-HJ-NP-Za-km-z]{33}/g;

class Others {
  private readonly ours = new Map<string, string>();

  /** Our text for a recorded one, ids within it included. */
  of(text: string): string {
    const known = this.ours.get(text) ?? text.replaceAll(INSIDE, (part) => this.ours.get(part) ?? part);
    return known.replace(BEGINNING, (beginning) => {
      for (const [theirs, ours] of this.ours)
        if (theirs.startsWith(beginning)) return this.cut(beginning, ours);
      return beginning;
    });
  }

  /** As much of our id as a URL has of the recorded one. */
  private cut(theirs: string, id: string): string {
    const ours = id.slice(0, theirs.length);
    this.ours.set(theirs, ours);
    return ours;
  }

  /** A key of ours by the name that it has in the recording. */
  recorded(key: string): string {
    for (const [theirs, ours] of this.ours) if (key.includes(ours)) return key.replaceAll(ours, theirs);
    return key;
  }

  /** From the first time on ours stands for the recorded one. */
  note(recorded: string, ours: string): void {
    if (!this.ours.has(recorded) && IS_NAME_OF_SOMETHING.test(recorded) && IS_NAME_OF_SOMETHING.test(ours))
      this.ours.set(recorded, ours);
  }
}

/** Members that only files have, or whose lists hang on how many coins paid. */
const FREE: ReadonlySet<string> = new Set([
  'traceback',
  'source',
  'stream_type',
  'claim_info',
  'update_info',
  'support_info',
  'abandon_info',
  'purchase_info',
  'kwargs',
  'is_my_input',
]);

/** The hub for tests tells figures of claims that were asked for, and not of those that they refer to. */
const OF_OTHERS = /\.(?:signing_channel|reposted_claim)(?:\.meta)?$/;
const OF_INDEX: ReadonlySet<string> = new Set([
  'signing_channel',
  'canonical_url',
  'short_url',
  'activation_height',
  'claims_in_channel',
  'creation_height',
  'creation_timestamp',
  'effective_amount',
  'expiration_height',
  'is_controlling',
  'reposted',
  'support_amount',
  'take_over_height',
]);

interface Meant {
  readonly is: (method: string, params: Members) => boolean;
  readonly why: string;
  /** What must be so all the same. */
  readonly holds: (ours: Answer, recorded: Answer) => boolean;
}
type Answer = { readonly result?: Json; readonly error?: Members };

const errorOf = ({ error }: Answer): Json | undefined => (error?.['data'] as Members | undefined)?.['name'];
const counts = ({ result }: Answer): Json => {
  const { items, total_items: total } = result as Members;
  return [(items as Json[]).length, total!];
};

/** Calls that are answered otherwise, and why. */
const MEANT: readonly Meant[] = [
  {
    is: (_method, params) => params['nope'] !== undefined || params['bad'] !== undefined,
    why: 'a name that no method knows is refused as such',
    holds: (ours) => ours.error?.['code'] === -32602,
  },
  {
    is: (method) => /^(?:file_|blob_|get$)/.test(method),
    why: 'files come with their component',
    holds: (ours) => errorOf(ours) === 'NameError',
  },
  {
    is: (_method, params) => String(params['file_path']).endsWith('.none'),
    why: 'streams are made of a descriptor, and not of a file that may be missing',
    holds: (ours) => ours.error !== undefined,
  },
  {
    is: (_method, params) => params['order_by'] === 'amount' || params['order_by'] === 'none',
    why: 'the order of equals is any',
    holds: (ours, recorded) => JSON.stringify(counts(ours)) === JSON.stringify(counts(recorded)),
  },
];

function differences(
  recorded: Json | undefined,
  ours: Json | undefined,
  others: Others,
  path: string,
): string[] {
  if (recorded === undefined || ours === undefined)
    return recorded === ours ? [] : [`${path}: ${recorded === undefined ? 'too much' : 'missing'}`];
  if (typeof recorded === 'string' && /^<[A-Z_]+>$/.test(recorded)) return [];
  if (typeof recorded === 'string' && typeof ours === 'string') {
    others.note(recorded, ours);
    return [];
  }
  if (Array.isArray(recorded) && Array.isArray(ours)) {
    // How many coins pay is chance.
    const isChance = path.endsWith('.inputs');
    if (!isChance && recorded.length !== ours.length)
      return [`${path}: ${ours.length} items, not ${recorded.length}`];
    return recorded
      .slice(0, ours.length)
      .flatMap((item, n) => differences(item, ours[n], others, `${path}[${n}]`));
  }
  if (isMembers(recorded) && isMembers(ours)) {
    const shown = Object.fromEntries(
      Object.entries(ours).map(([key, value]) => [others.recorded(key), value]),
    );
    const keys = new Set([...Object.keys(recorded), ...Object.keys(shown)]);
    return [...keys]
      .filter((key) => !FREE.has(key) && !(OF_OTHERS.test(path) && OF_INDEX.has(key)))
      .flatMap((key) => differences(recorded[key], shown[key], others, `${path}.${key}`));
  }
  return typeof recorded === typeof ours && (recorded === null) === (ours === null)
    ? []
    : [`${path}: ${JSON.stringify(ours)}, not ${JSON.stringify(recorded)}`];
}

const isMembers = (value: Json): value is Members =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

describe.skipIf(!canRun)('the recorded life of a daemon', { timeout: HANG_MS }, () => {
  let hubProcess: ChildProcess;
  let hub: HubControl;
  let daemon: TestDaemon;
  beforeAll(async () => {
    const port = await freePort();
    hubProcess = spawn('python3', [hubProgram!, String(port)], { stdio: 'ignore' });
    hub = await HubControl.open(port);
    // Streams are made of a descriptor's hash here, so the recorded files are not there.
    const settings = { components_to_skip: ['database'] };
    daemon = await startDaemon({ hubPorts: [port], walletText: walletOfSeed(SEED), settings });
  }, HANG_MS);
  afterAll(async () => {
    await daemon?.stop();
    hub?.close();
    hubProcess?.kill();
  });

  it('is followed', async () => {
    const lines = gunzipSync(readFileSync(recording!))
      .toString()
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as Line);
    const others = new Others();
    const wrong: string[] = [];
    let followed = 0;
    const reasons = new Map<string, number>();
    for (const [n, line] of lines.entries()) {
      if (line.kind === 'fund') {
        const txid = await hub.call<string>('lab.fund', [others.of(line.address), line.dewies]);
        others.note(line.txid, txid);
        for (;;) {
          const { items } = await daemon.call<{ items: { txid: string }[] }>('transaction_list');
          if (items.some((item) => item.txid === txid)) break;
        }
      } else if (line.kind === 'mine') {
        await hub.call('lab.mine', [line.count]);
        for (;;) {
          const status = await daemon.call<{ wallet: { blocks: number } }>('status');
          const synced = await daemon.call<{ is_syncing: boolean }>('wallet_status');
          const { items } = await daemon.call<{ items: { confirmations: number }[] }>('transaction_list', {
            page_size: 1000,
          });
          if (
            status.wallet.blocks >= line.height &&
            !synced.is_syncing &&
            items.every(({ confirmations }) => confirmations > 0)
          )
            break;
        }
      } else {
        const params = JSON.parse(
          JSON.stringify(line.params, (_key, value: unknown) =>
            typeof value === 'string' ? others.of(value) : value,
          ),
        ) as Members;
        const meant = MEANT.find(({ is }) => is(line.method, line.params));
        if (params['file_path'] !== undefined && !meant) {
          delete params['file_path'];
          Object.assign(params, { sd_hash: 'ab'.repeat(48), file_name: 'note.txt', file_size: 10 });
        }
        const answer = (await daemon.ask({ method: line.method, params })) as Answer & Members;
        if (meant) {
          if (!meant.holds(answer, line.answer))
            wrong.push(`${n} ${line.method}: but ${JSON.stringify(answer)}`);
          reasons.set(meant.why, (reasons.get(meant.why) ?? 0) + 1);
          continue;
        }
        followed++;
        const found = differences(line.answer as Json, answer as Json, others, '');
        if (found.length > 0)
          wrong.push(`${n} ${line.method} ${JSON.stringify(line.params)}: ${found.slice(0, 4).join('; ')}`);
      }
    }
    console.log(`${followed} calls followed; otherwise: ${JSON.stringify(Object.fromEntries(reasons))}`);
    expect(followed).toBeGreaterThan(170);
    expect(wrong.join('\n')).toBe('');
  });
});
