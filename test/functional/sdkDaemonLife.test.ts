/**
 * Repeats the recorded calls of lbry-sdk's daemon (`../shared/conformance/sdk/daemon.jsonl.gz`) with our daemon on the same
 * simulated hub, and compares each answer value by value. Random choices select the first item, as in the recording. Values that
 * depend on random keys (the hash of a file, and the ids of later transactions) are compared through a one-to-one map. Other
 * differences are rows of `docs/lbcnet-recordings.md`.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/crypto/hash.js';
import { startDaemon, type RunningDaemon } from '../../src/daemon/main/daemon.js';
import { DaemonSettings } from '../../src/daemon/main/settings/daemonSettings.js';
import { WalletAndLedger } from '../../src/daemon/main/walletPart.js';
import { SILENT_LOGGER } from '../../src/util/logging.js';
import type { JsonValue } from '../../src/util/json/json.js';
import { AcceptedDifferences } from '../support/acceptedDifferences.js';
import { walletOfSeed } from './support/daemon.js';
import { freePort, HANG_MS, shared } from './support/node.js';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Members = { [key: string]: Json };
interface Call {
  readonly kind: 'call';
  readonly method: string;
  readonly params: Members;
  readonly answer: Members;
}
type Line =
  | Call
  | { kind: 'fund'; address: string; dewies: number; txid: string }
  | { kind: 'mine'; count: number; height: number };

const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
/** Size of the recorded file, whose content is not recorded. */
const FILE_BYTES = 5200;
/** Components that the recorded daemon did not start, beside those that lbcnet does not have. */
const SKIPPED = [
  'background_downloader',
  'dht',
  'hash_announcer',
  'libtorrent_component',
  'peer_protocol_server',
  'tracker_announcer_component',
  'upnp',
  'wallet_server_payments',
];
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

/**
 * Texts that may differ from the recorded ones: ids, hashes, keys, addresses and phrases. Equal recorded texts correspond to
 * equal texts of ours.
 */
const IS_NAME =
  /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{66}|[0-9a-f]{96}|[0-9a-f]{128}|[mn][1-9A-HJ-NP-Za-km-z]{25,34}|t(?:pub|prv)[1-9A-HJ-NP-Za-km-z]{100,}|(?:[a-z]+ ){11,12}[a-z]+)$/;
const NAME_INSIDE = /[0-9a-f]{96}|[0-9a-f]{64}|[0-9a-f]{40}|[mn][1-9A-HJ-NP-Za-km-z]{33}/g;
const PERMANENT_URL = /^lbry:\/\/(.+)#([0-9a-f]{40})$/;
/** A name in a URL with the beginning of its id. */
const SHORT_ID = /(@?[a-z0-9]+)([#:])([0-9a-f]{1,39})(?![0-9a-f])/g;

/** Maps our random texts to the recorded ones, and back. */
class Names {
  private readonly ours = new Map<string, string>();
  private readonly theirs = new Map<string, string>();
  /** Our claim id by claim name. */
  private readonly claims = new Map<string, string>();

  /** Our text for a recorded text, also for texts inside it. */
  of(text: string): string {
    const known = this.ours.get(text);
    if (known !== undefined) return known;
    return text
      .replaceAll(NAME_INSIDE, (part) => this.ours.get(part) ?? part)
      .replaceAll(SHORT_ID, (whole: string, name: string, mark: string, id: string) => {
        const claim = this.claims.get(name);
        return claim === undefined ? whole : `${name}${mark}${claim.slice(0, id.length)}`;
      });
  }

  /** Which claim has a name, from a permanent URL. */
  see(ours: string): void {
    const [, name, id] = PERMANENT_URL.exec(ours) ?? [];
    if (name !== undefined) this.claims.set(name, id!);
  }

  /** Whether our name can correspond to the recorded name. If so, it does from now on. */
  note(recorded: string, ours: string): boolean {
    if (this.ours.has(recorded) || this.theirs.has(ours)) return this.ours.get(recorded) === ours;
    const isSeed = recorded.includes(' ') && ours.includes(' ');
    if (!IS_NAME.test(recorded) || !IS_NAME.test(ours)) return false;
    if (recorded.length !== ours.length && !isSeed) return false;
    this.ours.set(recorded, ours);
    this.theirs.set(ours, recorded);
    return true;
  }
}

/** Methods that create transactions, so that their answers have new ids, and members of files with random values. */
const MAKING = /_(?:create|update|send|fund|spend|abandon|repost)$|^publish$/;
const OF_FILE = /\.(?:key|stream_hash)$/;
/** The fields of the account that `wallet_create` created without returning them. */
const OF_ACCOUNT = /^\.result\.items\[\]\.(?:id|public_key)$/;
/** Masks of the recording, except the one of the folder. */
const MASK = /<(?!DIR>)[A-Z_]+>/;
const quote = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** Whether ours is the recorded text with anything in place of its masks. */
const fitsMasks = (theirs: string, ours: string): boolean =>
  new RegExp(`^${theirs.split(MASK).map(quote).join('[^"]*')}$`, 's').test(ours);

interface Difference {
  readonly method: string;
  readonly path: string;
  readonly ours: Json | undefined;
  readonly theirs: Json | undefined;
}

const isMembers = (value: Json | undefined): value is Members =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Collects all differences between our answer and the recorded one. */
class Comparison {
  readonly found: Difference[] = [];
  /** Whether the items of both lists are the same in another order. */
  isOrderOnly = false;
  private readonly method: string;
  private readonly names: Names;

  constructor(method: string, names: Names) {
    this.method = method;
    this.names = names;
  }

  /** Compares whole answers. */
  answers(theirs: Members, ours: Members): void {
    this.compare(theirs, ours, '');
    if (this.found.length === 0) return;
    const [one, other] = [theirs, ours].map((answer) => (answer['result'] as Members | undefined)?.['items']);
    if (!Array.isArray(one) || !Array.isArray(other)) return;
    const left = [...other];
    this.isOrderOnly =
      one.length === other.length &&
      one.every((item) => {
        const at = left.findIndex((candidate) => {
          const single = new Comparison(this.method, this.names);
          single.compare(item, candidate, '.result.items[]');
          return single.found.length === 0;
        });
        if (at >= 0) left.splice(at, 1);
        return at >= 0;
      });
  }

  compare(theirs: Json | undefined, ours: Json | undefined, path: string): void {
    const { names } = this;
    if (typeof theirs === 'string' && /^<[A-Z_]+>$/.test(theirs) && ours !== undefined) return;
    if (typeof theirs === 'string' && typeof ours === 'string') {
      names.see(ours);
      const mayBeNew =
        MAKING.test(this.method) ||
        OF_FILE.test(path) ||
        (this.method === 'account_list' && OF_ACCOUNT.test(path));
      const isSame = MASK.test(theirs) ? fitsMasks(names.of(theirs), ours) : names.of(theirs) === ours;
      if (!isSame && !(mayBeNew && names.note(theirs, ours)))
        this.found.push({ method: this.method, path, ours, theirs: names.of(theirs) });
    } else if (Array.isArray(theirs) && Array.isArray(ours)) {
      if (theirs.length !== ours.length)
        this.found.push({ method: this.method, path: `${path}.length`, ours, theirs });
      else theirs.forEach((item, n) => this.compare(item, ours[n], `${path}[]`));
    } else if (isMembers(theirs) && isMembers(ours)) {
      const translated = Object.fromEntries(
        Object.entries(theirs).map(([key, value]) => [names.of(key), value]),
      );
      for (const key of new Set([...Object.keys(translated), ...Object.keys(ours)]))
        this.compare(translated[key], ours[key], `${path}.${key}`);
    } else if (theirs !== ours) this.found.push({ method: this.method, path, ours, theirs });
  }
}

describe.skipIf(!canRun)('the recorded session of a daemon', { timeout: HANG_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnet-life-'));
  let hubProcess: ChildProcess;
  let hub: HubControl;
  let daemon: RunningDaemon;
  beforeAll(async () => {
    const port = await freePort();
    hubProcess = spawn('python3', [hubProgram!, String(port)], { stdio: 'ignore' });
    hub = await HubControl.open(port);
    daemon = await start(port);
    await daemon.started;
  }, HANG_MS);
  afterAll(async () => {
    await daemon?.stop();
    hub?.close();
    hubProcess?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(hubPort: number): Promise<RunningDaemon> {
    mkdirSync(join(folder, 'wallet', 'wallets'), { recursive: true });
    for (const inner of ['data', 'down']) mkdirSync(join(folder, inner));
    writeFileSync(join(folder, 'wallet', 'wallets', 'default_wallet'), walletOfSeed(SEED));
    writeFileSync(join(folder, 'note.txt'), Buffer.alloc(FILE_BYTES, 'A note. '));
    const settings = new DaemonSettings({
      given: new Map<string, JsonValue>([
        ['api', '127.0.0.1:0'],
        ['streaming_server', '127.0.0.1:0'],
        ['network_interface', '127.0.0.1'],
        ['config', join(folder, 'conf.yml')],
        ['data_dir', join(folder, 'data')],
        ['wallet_dir', join(folder, 'wallet')],
        ['download_dir', join(folder, 'down')],
        ['blockchain_name', 'lbrycrd_regtest'],
        ['lbryum_servers', [`127.0.0.1:${hubPort}`]],
        ['components_to_skip', SKIPPED],
        ['reflect_streams', false],
      ]),
      machine: { platform: 'linux', home: folder, environment: {} },
      warn: () => undefined,
    });
    let drawn = 0;
    // A random choice of an address requests four bytes. The zeros select the first address, as in the recording.
    const random = {
      bytes: (count: number) =>
        count === 4
          ? Buffer.alloc(4)
          : Buffer.concat([sha256(Buffer.from(`${drawn++}`)), Buffer.alloc(count)]).subarray(0, count),
    };
    return startDaemon({
      settings,
      log: SILENT_LOGGER,
      random,
      makeWalletPart: (deps) => new WalletAndLedger(deps),
      onStop: () => undefined,
    });
  }

  async function ask(method: string, params: object = {}): Promise<Members> {
    const [host, port] = daemon.api;
    const response = await fetch(`http://${host}:${port}/`, {
      method: 'POST',
      body: JSON.stringify({ method, params }),
    });
    return JSON.parse((await response.text()).replaceAll(folder, '<DIR>')) as Members;
  }
  const resultOf = async <Result>(method: string, params: object = {}): Promise<Result> =>
    (await ask(method, params))['result'] as Result;

  async function untilMined(height: number): Promise<void> {
    for (;;) {
      const status = await resultOf<{ wallet: { blocks: number } }>('status');
      const synced = await resultOf<{ is_syncing: boolean }>('wallet_status');
      const { items } = await resultOf<{ items: { confirmations: number }[] }>('transaction_list', {
        page_size: 1000,
      });
      if (
        status.wallet.blocks >= height &&
        !synced.is_syncing &&
        items.every(({ confirmations }) => confirmations > 0)
      )
        return;
    }
  }

  async function untilSaved(): Promise<void> {
    for (;;) {
      const { items } = await resultOf<{ items: { status: string }[] }>('file_list');
      if (items.every(({ status }) => status === 'finished')) return;
    }
  }

  it('gives the recorded answers', async () => {
    const lines = gunzipSync(readFileSync(recording!))
      .toString()
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as Line);
    const names = new Names();
    const accepted = new AcceptedDifferences('sdkDaemonLife');
    const wrong: string[] = [];
    let followed = 0;
    const firstFile = lines.findIndex((line) => line.kind === 'call' && line.method === 'stream_create');
    for (const [n, line] of lines.entries()) {
      if (line.kind === 'fund') {
        const txid = await hub.call<string>('lab.fund', [names.of(line.address), line.dewies]);
        if (txid !== line.txid) names.note(line.txid, txid);
        for (;;) {
          const { items } = await resultOf<{ items: { txid: string }[] }>('transaction_list');
          if (items.some((item) => item.txid === txid)) break;
        }
      } else if (line.kind === 'mine') {
        await hub.call('lab.mine', [line.count]);
        await untilMined(line.height);
      } else {
        const params = JSON.parse(
          JSON.stringify(line.params, (_key, value: unknown) =>
            typeof value === 'string' ? names.of(value).replace('<DIR>', folder) : value,
          ),
        ) as Members;
        const comparison = new Comparison(line.method, names);
        const answer = await ask(line.method, params);
        comparison.answers(line.answer, answer);
        if (line.method === 'file_save') await untilSaved();
        followed++;
        const rowOfAll = rowOfList(line, answer, comparison);
        if (rowOfAll !== null) accepted.accept(rowOfAll);
        else
          for (const difference of comparison.found) {
            const row = n < firstFile && OF_BYTES.test(difference.path) ? null : rowOf(line, difference);
            if (row !== null) accepted.accept(row);
            else wrong.push(`${n} ${line.method} ${JSON.stringify(line.params)}: ${shown(difference)}`);
          }
      }
    }
    expect(followed).toBe(lines.filter(({ kind }) => kind === 'call').length);
    expect(wrong.join('\n')).toBe('');
    expect(accepted.problems()).toEqual([]);
  });
});

const shown = ({ path, ours, theirs }: Difference): string =>
  `${path}: ${JSON.stringify(ours)}, not ${JSON.stringify(theirs)}`;

/** The row that covers another order of a list, or null. */
function rowOfList({ method, params, answer }: Call, ours: Members, comparison: Comparison): string | null {
  if (comparison.found.length === 0) return null;
  if (comparison.isOrderOnly) return 'order of equals';
  const row =
    params['order_by'] === 'none' ? 'no order' : method === 'address_list' ? 'order of addresses' : null;
  if (row === null) return null;
  const [one, other] = [answer, ours].map((whole) => {
    const { items, ...page } = whole['result'] as Members;
    return JSON.stringify([page, (items as Json[]).length]);
  });
  return one === other ? row : null;
}

/** Members that contain ids in other bytes. */
const OF_BYTES = /\.(?:hex|protobuf)$/;
const OF_OTHER_CLAIM = /\.(?:signing_channel|reposted_claim)\./;

interface Rule {
  readonly row: string;
  readonly covers: (call: Call, difference: Difference) => boolean;
}

/** Accepted differences of single values. */
const RULES: readonly Rule[] = [
  {
    row: 'text of a wrong amount',
    covers: (_call, { path, ours, theirs }) =>
      path === '.error.message' &&
      /^Invalid value for '\w+': an amount is text/.test(String(ours)) &&
      /\nDecimal inputs require/.test(String(theirs)),
  },
  {
    row: 'unknown parameter',
    covers: ({ params }, { path, ours }) =>
      (params['nope'] !== undefined || params['bad'] !== undefined) &&
      (ours === undefined ||
        (path === '.error.code' && ours === -32602) ||
        (path === '.error.message' &&
          /^Extraneous parameters for \w+ command: (?:nope|bad)$/.test(String(ours)))),
  },
  {
    row: 'text of wrong hex',
    covers: ({ method }, { path, ours }) =>
      method === 'channel_sign' &&
      path === '.error.message' &&
      ours === 'hexdata must be an even number of hex digits.',
  },
  {
    row: 'data that is not an exported channel',
    covers: ({ method }, { ours }) =>
      method === 'channel_import' &&
      ['ValueError', 'The data is not an exported channel.'].includes(String(ours)),
  },
  {
    row: 'text of data that is not an exported wallet',
    covers: ({ method }, { path, ours }) =>
      method === 'sync_apply' && path === '.error.message' && ours === 'The data is not an exported wallet.',
  },
  {
    row: 'support of an unknown claim',
    covers: ({ method }, { path, ours, theirs }) =>
      method === 'support_create' &&
      ((path === '.error.data.name' && ours === 'Exception' && theirs === 'AttributeError') ||
        (path === '.error.message' && String(ours).startsWith('Could not find claim with claim_id '))),
  },
  {
    row: 'bytes that hold ids',
    covers: (_call, { path, ours, theirs }) =>
      OF_BYTES.test(path) &&
      typeof ours === 'string' &&
      typeof theirs === 'string' &&
      Math.abs(ours.length - theirs.length) <= SIGNATURE_SLACK * Math.ceil(theirs.length / 200),
  },
  {
    row: 'figures from an earlier answer',
    covers: ({ method }, { path, ours }) =>
      ['resolve', 'claim_search'].includes(method) &&
      OF_OTHER_CLAIM.test(path) &&
      (ours === undefined ||
        /\.reposted_claim\.(?:is_channel_signature_valid|signing_channel\.channel_id)$/.test(path)),
  },
  {
    row: 'time of a published file',
    covers: (_call, { path, ours, theirs }) =>
      path.endsWith('.added_on') && typeof ours === 'number' && theirs === null,
  },
  {
    row: 'form of a seed or key',
    covers: ({ method }, { path, theirs }) =>
      method === 'account_add' && path === '.result.form' && theirs === undefined,
  },
  {
    row: 'members of files that lbcnet alone shows',
    covers: (_call, { path, theirs }) => /\.(original_file|is_pinned)$/.test(path) && theirs === undefined,
  },
  {
    row: 'state of a finished file',
    covers: ({ method }, { path, ours }) =>
      method === 'get' &&
      ((path === '.result.status' && ours === 'finished') || (path === '.result.stopped' && ours === true)),
  },
];

/** Hex digits by which the DER encodings of two signatures may differ. */
const SIGNATURE_SLACK = 8;

/** The row that covers a difference, or null. */
function rowOf(call: Call, difference: Difference): string | null {
  return RULES.find(({ covers }) => covers(call, difference))?.row ?? null;
}
