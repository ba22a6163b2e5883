/**
 * Compares the API over HTTP with recorded answers of lbry-sdk's daemon (`../shared/conformance/sdk`): each session runs on our
 * daemon, over sockets. Intended differences are rows of `docs/lbcnet-recordings.md`, and our answers in these cases are
 * checked.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { DECLARATIONS } from '../../src/daemon/api/declarations/table.js';
import { writePythonJson } from '../../src/daemon/base/pythonJson.js';
import { startDaemon, type RunningDaemon } from '../../src/daemon/main/daemon.js';
import { DaemonSettings } from '../../src/daemon/main/settings/daemonSettings.js';
import { OWN_SETTINGS, SETTINGS } from '../../src/daemon/main/settings/settingsTable.js';
import { SILENT_LOGGER } from '../../src/util/logging.js';
import { parseJson } from '../../src/util/json/jsonParse.js';
import { JsonObject, type JsonValue } from '../../src/util/json/json.js';
import { AcceptedDifferences } from '../support/acceptedDifferences.js';
import { checkAccepted, readLines } from './sdkVectors.js';

const accepted = new AcceptedDifferences('sdkTransport');

interface Exchange {
  readonly kind: 'exchange';
  readonly session: string;
  readonly server: 'api' | 'media';
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body?: string;
  readonly body_hex?: string;
  readonly body_length?: number;
  readonly status?: number;
  readonly answer_headers?: Readonly<Record<string, string>>;
  readonly answer?: string;
  readonly closed?: boolean;
}
type Line = Exchange | { readonly kind: 'settings file'; readonly session: string; readonly text: string };

interface Reply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Differences that a failing test shows. Arbitrary. */
const SHOWN = 5;

/** Components that the recorded daemon did not start. */
const SKIPPED = [
  'wallet',
  'wallet_server_payments',
  'file_manager',
  'background_downloader',
  'peer_protocol_server',
  'exchange_rate_manager',
  'tracker_announcer_component',
  'libtorrent_component',
  'upnp',
  'dht',
  'hash_announcer',
];

/** Content of the recorded settings file. */
const FILE = {
  components_to_skip: SKIPPED,
  fixed_peers: [],
  known_dht_nodes: [],
  lbryum_servers: [],
  network_interface: '127.0.0.1',
  reflector_servers: [],
  streaming_server: '127.0.0.1:0',
  tracker_servers: [],
  use_upnp: false,
};

/** The arguments of the session `arguments`. */
const ARGUMENTS: Readonly<Record<string, JsonValue>> = {
  allowed_origin: '*',
  download_timeout: '3',
  lbryum_servers: ['a:1', 'b:2'],
  max_key_fee: ['5.0', 'LBC'],
  save_blobs: false,
  save_files: true,
  udp_port: '5555',
};

class Session {
  readonly folder = mkdtempSync(join(tmpdir(), 'lbcnet-transport-'));
  private running: RunningDaemon | null = null;

  async start(name: string): Promise<void> {
    for (const inner of ['data', 'wallet', 'down']) mkdirSync(join(this.folder, inner));
    writeFileSync(join(this.folder, 'conf.yml'), stringify(FILE));
    const given = new Map<string, JsonValue>([
      ['api', '127.0.0.1:0'],
      ['config', join(this.folder, 'conf.yml')],
      ['data_dir', join(this.folder, 'data')],
      ['wallet_dir', join(this.folder, 'wallet')],
      ['download_dir', join(this.folder, 'down')],
      ...(name === 'arguments' ? Object.entries(ARGUMENTS) : []),
    ]);
    const settings = new DaemonSettings({
      given,
      machine: { platform: 'linux', home: this.folder, environment: {} },
      warn: () => undefined,
    });
    this.running = await startDaemon({
      settings,
      log: SILENT_LOGGER,
      makeWalletPart: () => {
        throw new Error('the recorded daemon has no wallet');
      },
      onStop: () => undefined,
    });
    await this.running.started;
  }

  async stop(): Promise<void> {
    await this.running?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Our text with the recorded daemon's masks. */
  mask(text: string): string {
    return text
      .replaceAll(this.folder, '<DIR>')
      .replaceAll('"127.0.0.1:0"', '"127.0.0.1:<PORT>"')
      .replace('"streaming_server": "127.0.0.1:<PORT>"', '"streaming_server": "127.0.0.1:<MEDIA_PORT>"')
      .replace(/"traceback": \[[^\]]*\n {6}\]/, '"traceback": "<TRACEBACK>"');
  }

  ask(line: Exchange): Promise<Reply | null> {
    const [host, port] = line.server === 'api' ? this.running!.api : this.running!.media;
    const body =
      line.body_length === undefined
        ? Buffer.from(line.body_hex ?? line.body ?? '', line.body_hex === undefined ? 'utf8' : 'hex')
        : Buffer.from(`{"method": "nope", "params": {"x": "${'y'.repeat(line.body_length - 39)}"}}`);
    const head = [
      `${line.method} ${line.path} HTTP/1.1`,
      `Host: ${host}:${port}`,
      'Connection: close',
      ...((body.length > 0 || line.body !== undefined) && !isChunked(line)
        ? [`Content-Length: ${body.length}`]
        : []),
      ...line.headers,
      '\r\n',
    ];
    return new Promise((resolve, reject) => {
      const socket = connect(port, host);
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', reject);
      socket.on('close', () => resolve(parseReply(Buffer.concat(chunks).toString('utf8'))));
      socket.write(head.join('\r\n'));
      socket.write(body);
    });
  }
}

const isChunked = ({ headers }: Exchange): boolean =>
  headers.some((header) => /^transfer-encoding/i.test(header));

function parseReply(whole: string): Reply | null {
  const text = whole.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  if (text === '') return null;
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { status: Number(first.split(' ')[1]), headers: new Map(headers), body: text.slice(end + 4) };
}

/** The recorded answer without settings that only lbcnet has, if it contains all settings. */
function withoutOurs(text: string): string {
  return OWN_SETTINGS.reduce(
    (rest, name) => rest.replace(new RegExp(`\\n {4}"${name}": (\\[[^\\]]*\\]|[^\\n]*),?`), ''),
    text,
  );
}

/** Settings whose defaults are servers. lbcnet has present servers (data/networks/main.json), lbry-sdk those of 2022. */
const SERVER_SETTINGS = SETTINGS.filter(
  ({ kind, default: value }) => kind === 'servers' && Array.isArray(value),
);

/** Both texts without the default servers. */
function withoutDefaultServers(ours: string, recorded: string): [string, string] {
  for (const { name, default: value } of SERVER_SETTINGS) {
    const list = new RegExp(`\\n( {4}| {6})"${name}": (\\[\\n(?:\\1 .*\\n)*\\1\\]|\\[\\]),?`);
    const shown = list.exec(ours)?.[2];
    if (
      shown === undefined ||
      !list.test(recorded) ||
      JSON.stringify(JSON.parse(shown)) !== JSON.stringify(value)
    )
      continue;
    [ours, recorded] = [ours.replace(list, ''), recorded.replace(list, '')];
  }
  return [ours, recorded];
}

/** A list of settings without those whose recorded value is refused here. */
const withoutRefused = (text: string): string =>
  [...refused].reduce((rest, name) => rest.replace(new RegExp(`\\n {4}"${name}": [^\\n]*`), ''), text);

const memberOf = (value: JsonValue | undefined, ...path: string[]): JsonValue | undefined =>
  path.reduce<JsonValue | undefined>(
    (at, key) => (at instanceof JsonObject ? at.get(key) : undefined),
    value,
  );

function methodIn(line: Exchange): string | undefined {
  try {
    const body = JSON.parse(line.body ?? '') as { method?: unknown };
    return typeof body.method === 'string' ? body.method : undefined;
  } catch {
    return undefined;
  }
}

const FREE_IN_REFERENCE: ReadonlySet<string> = new Set([
  'channel_create',
  'channel_list',
  'channel_update',
  'claim_list',
  'collection_abandon',
  'collection_create',
  'collection_update',
  'file_delete',
  'file_list',
  'file_reflect',
  'file_save',
  'file_set_status',
  'publish',
  'resolve',
  'stream_create',
  'stream_list',
  'stream_repost',
  'stream_update',
  'support_list',
  'support_sum',
  'txo_list',
  'txo_plot',
  'txo_spend',
  'txo_sum',
  'utxo_list',
]);

/** Exchanges that differ as a whole: the row of the table with the reason, and the required answer of lbcnet. */
interface Meant {
  readonly row: string;
  readonly holds: (
    line: Exchange,
    ours: Reply,
    theirs: JsonValue | null,
    answer: JsonValue | null,
  ) => boolean;
}

const codeOf = (answer: JsonValue | null): JsonValue | undefined =>
  memberOf(answer ?? undefined, 'error', 'code');
const nameOf = (answer: JsonValue | null): JsonValue | undefined =>
  memberOf(answer ?? undefined, 'error', 'data', 'name');
const messageOf = (answer: JsonValue | null): string =>
  String(memberOf(answer ?? undefined, 'error', 'message') ?? '');

/** Whether an answer says that a name or number of parameters does not fit. */
const isParams = (answer: JsonValue | null, problem: string): boolean =>
  codeOf(answer) === -32602 && messageOf(answer).startsWith(`${problem} parameters for `);

const resultOf = (answer: JsonValue | null): JsonObject | undefined => {
  const result = memberOf(answer ?? undefined, 'result');
  return result instanceof JsonObject ? result : undefined;
};

const isRequest = (line: Exchange, method: string): boolean => methodIn(line) === method;

/** Settings whose recorded value is refused here, so that later answers show another one. */
const refused = new Set<string>();

const MEANT: readonly Meant[] = [
  {
    row: 'body that is not a request',
    holds: (line, ours, _theirs, answer) =>
      line.status === 500 &&
      line.server === 'api' &&
      ours.status === 400 &&
      (line.method === 'HEAD' || codeOf(answer) === -32700 || codeOf(answer) === -32600),
  },
  {
    row: 'method name that is not text',
    holds: (line, ours, _theirs, answer) =>
      line.status === 500 && ours.status === 200 && codeOf(answer) === -32601,
  },
  {
    row: 'NaN and halves of characters',
    holds: (line, ours, _theirs, answer) =>
      /NaN|\\ud800"/.test(line.body ?? '') && ours.status === 400 && codeOf(answer) === -32700,
  },
  {
    row: 'missing parameters first',
    holds: (line, _ours, theirs, answer) =>
      isParams(answer, 'Missing required') &&
      DECLARATIONS.some(
        ({ name, params }) => isRequest(line, name) && params.some(({ required }) => required),
      ) &&
      (isParams(theirs, 'Extraneous') || ['TypeError', 'NameError'].includes(String(nameOf(theirs)))),
  },
  {
    row: 'too many parameters by position',
    holds: (_line, _ours, theirs, answer) =>
      isParams(answer, 'Extraneous') &&
      messageOf(answer).includes('given by position') &&
      ['TypeError', 'NameError'].includes(String(nameOf(theirs))),
  },
  {
    row: 'unknown parameter',
    holds: (line, _ours, theirs, answer) =>
      isParams(answer, 'Extraneous') &&
      FREE_IN_REFERENCE.has(methodIn(line)!) &&
      ['TypeError', 'NameError'].includes(String(nameOf(theirs))),
  },
  {
    row: 'reflector that cannot be asked',
    holds: (line, ours, _theirs, answer) =>
      line.status === 500 &&
      /^blob_reflect/.test(methodIn(line) ?? '') &&
      ours.status === 200 &&
      codeOf(answer) === -32500,
  },
  {
    row: 'blob_delete without files',
    holds: (line, _ours, theirs, answer) =>
      isRequest(line, 'blob_delete') &&
      messageOf(theirs) === 'file_manager' &&
      String(memberOf(answer ?? undefined, 'result')).startsWith('Deleted '),
  },
  {
    row: 'number or null as a blob hash',
    holds: (line, _ours, _theirs, answer) =>
      isRequest(line, 'blob_delete') &&
      (memberOf(answer ?? undefined, 'result') === "Invalid blob hash to delete '5'" ||
        nameOf(answer) === 'InputValueIsNoneError'),
  },
  {
    row: 'blob_get without a wallet',
    holds: (line, _ours, theirs, answer) =>
      isRequest(line, 'blob_get') &&
      messageOf(theirs) === 'wallet is not a known Component' &&
      [
        'InvalidBlobHashError',
        'DownloadDataTimeoutError',
        'BlobDownloadTimeoutError',
        'TimeoutError',
      ].includes(String(nameOf(answer))),
  },
  {
    row: 'media server without files',
    holds: (line, ours) =>
      line.server === 'media' &&
      line.status === 500 &&
      ours.status === 501 &&
      (line.method === 'HEAD' || ours.body === 'file_manager is not a known Component: it is skipped'),
  },
  {
    row: 'components in status',
    holds: (line, _ours, theirs, answer) => {
      const [recorded, shown] = [resultOf(theirs), resultOf(answer)];
      return (
        isRequest(line, 'status') &&
        recorded !== undefined &&
        shown !== undefined &&
        recorded.keys().join() ===
          shown
            .keys()
            .filter((key) => key !== 'transfers')
            .join() &&
        shown.get('is_running') === true &&
        JSON.stringify([...(shown.get('skipped_components') as string[])].sort()) ===
          JSON.stringify([...(recorded.get('skipped_components') as string[])].sort())
      );
    },
  },
  {
    row: 'version of lbcnet',
    holds: (line, _ours, theirs, answer) => {
      const [recorded, shown] = [resultOf(theirs), resultOf(answer)];
      return (
        isRequest(line, 'version') &&
        recorded !== undefined &&
        shown?.has('lbcnet_version') === true &&
        isMaskedEqual(new JsonObject(shown.entries.filter(([key]) => key !== 'lbcnet_version')), recorded)
      );
    },
  },
  {
    row: 'preflight at other paths',
    holds: (line, ours) =>
      line.server === 'api' &&
      line.method === 'OPTIONS' &&
      line.status === 405 &&
      ['/lbryapi', '/lbcnet'].includes(line.path) &&
      (ours.status === 204 || ours.headers.get('access-control-allow-origin') !== undefined),
  },
  {
    row: 'body of more than 1 MiB',
    holds: (line, ours, _theirs, answer) =>
      line.status === 413 && ours.status === 200 && codeOf(answer) === -32601,
  },
  {
    row: 'settings_clear of no setting',
    holds: (line, _ours, theirs, answer) =>
      isRequest(line, 'settings_clear') &&
      nameOf(theirs) === 'AttributeError' &&
      nameOf(answer) === 'KeyError',
  },
  {
    row: 'value that a setting cannot work with',
    holds: (line, _ours, theirs, answer) => {
      const [name] = resultOf(theirs)?.keys() ?? [];
      if (!isRequest(line, 'settings_set') || name === undefined || nameOf(answer) !== 'ValueError')
        return false;
      refused.add(name);
      return true;
    },
  },
  {
    row: 'relative folder of a setting',
    holds: (line, _ours, theirs, answer) => {
      if (!isRequest(line, 'settings_set')) return false;
      const [[, stored] = []] = resultOf(theirs)?.entries ?? [];
      const [[, absolute] = []] = resultOf(answer)?.entries ?? [];
      return typeof stored === 'string' && !stored.startsWith('/') && absolute === resolve(stored);
    },
  },
  {
    row: 'settings_clear without a key',
    holds: (line, _ours, theirs, answer) =>
      clearsAll(line) && nameOf(theirs) === 'TypeError' && (resultOf(answer)?.size ?? 0) > 50,
  },
];

/** The row of an error whose text differs. */
function rowOfText(ours: string): string {
  if (/^\w+ is not a known Component: it is skipped$/.test(ours)) return 'skipped component';
  return /\bsetting '/i.test(ours) ? 'text about a setting' : 'text of another error';
}

/** The reference returns the origin in place of methods and headers. With these headers, no browser sends JSON to it. */
const MEANT_CORS: ReadonlyMap<string, string> = new Map([
  ['access-control-allow-methods', 'GET, HEAD, OPTIONS, POST'],
  ['access-control-allow-headers', 'Authorization, Content-Type, X-Requested-With'],
]);
const isMeantCors = (line: Exchange, name: string, ours: Reply): boolean =>
  MEANT_CORS.has(name) &&
  line.answer_headers?.[name] === line.answer_headers?.['access-control-allow-origin'] &&
  ours.headers.get(name) === MEANT_CORS.get(name);

/** Whether the call clears all settings. The recorded daemon refused that and kept its settings, so a separate daemon is called. */
const clearsAll = (line: Exchange): boolean =>
  isRequest(line, 'settings_clear') && !/"key"|zz/.test(line.body ?? '') && !/\[\[/.test(line.body ?? '');

describe.skipIf(readLines('transport') === null)('recorded transport', () => {
  const lines = (readLines('transport') ?? []).map((text) => JSON.parse(text) as Line);
  const sessions = [...new Set(lines.map(({ session }) => session))];

  function headersDiffer(line: Exchange, ours: Reply, isLengthCompared: boolean, rows: string[]): string[] {
    return Object.entries(line.answer_headers ?? {}).flatMap(([name, value]) => {
      if (ours.headers.get(name) === value) return [];
      if (name === 'content-length' && !isLengthCompared) return [];
      if (!isMeantCors(line, name, ours)) return [`${name}: ${ours.headers.get(name)}`];
      rows.push('CORS headers');
      return [];
    });
  }

  /** Compares the errors of a method. Their texts may differ, because those of the reference are Python's. */
  function errorsDiffer(answer: JsonValue, theirs: JsonValue, rows: string[]): string[] {
    if (messageOf(answer) !== messageOf(theirs)) rows.push(rowOfText(messageOf(answer)));
    return ['name', 'command', 'args', 'kwargs'].flatMap((member) => {
      const [ours, recorded] = [answer, theirs].map((whole) =>
        shown(memberOf(whole, 'error', 'data', member)),
      );
      return ours === recorded ? [] : [`data.${member}: ${ours}`];
    });
  }

  function compare(session: Session, line: Exchange, ours: Reply | null): string | null {
    if (line.closed)
      return ours?.status === 204
        ? accepted.accept('request at which lbry-sdk closes the connection')
        : 'not 204';
    if (ours === null) return 'no answer';
    const rows: string[] = [];
    const differences: string[] = [];
    if (ours.status !== line.status) differences.push(`status ${ours.status}`);
    const maskedText = session.mask(ours.body);
    const shownText = withoutOurs(maskedText);
    if (shownText !== maskedText) rows.push('settings of lbcnet alone');
    const [withoutServers, itsWithoutServers] = withoutDefaultServers(shownText, line.answer ?? '');
    if (withoutServers !== shownText) rows.push('default servers');
    const listed = isRequest(line, 'settings_get') ? withoutRefused : (whole: string): string => whole;
    const [text, recorded] = [listed(withoutServers), listed(itsWithoutServers)];
    if (text !== withoutServers) rows.push('value that a setting cannot work with');
    const [answer, theirs] = [tryParse(text), tryParse(recorded)];
    const areErrors = codeOf(answer) === -32500 && codeOf(theirs) === -32500;
    const isLengthCompared = text === maskedText && !areErrors;
    differences.push(...headersDiffer(line, ours, isLengthCompared, rows));
    if (
      answer !== null &&
      writePythonJson(tryParse(ours.body)!, { indent: 2, sortKeys: true }) + '\n' !== ours.body
    )
      differences.push('not as Python writes it');
    if (areErrors) differences.push(...errorsDiffer(answer!, theirs!, rows));
    else if (text !== recorded && !isMaskedEqual(answer, theirs)) differences.push(`answer ${text}`);
    if (differences.length > 0) {
      const meant = MEANT.find(({ holds }) => holds(line, ours, theirs, answer));
      if (!meant) return differences.join('; ');
      return accepted.accept(meant.row);
    }
    for (const row of rows) accepted.accept(row);
    return null;
  }

  for (const name of sessions) {
    it(`session ${name}`, { timeout: 60_000 }, async () => {
      const session = new Session();
      const differences: string[] = [];
      try {
        await session.start(name);
        for (const line of lines.filter((one) => one.session === name)) {
          const difference =
            line.kind === 'exchange'
              ? compare(session, line, await (clearsAll(line) ? askAlone(line) : session.ask(line)))
              : compareFiles(readFileSync(join(session.folder, 'conf.yml'), 'utf8'), line.text);
          if (difference !== null) differences.push(`${difference}\n  ${JSON.stringify(line).slice(0, 800)}`);
        }
      } finally {
        await session.stop();
      }
      expect(`${differences.length} differ: ${differences.slice(0, SHOWN).join('\n')}`).toBe('0 differ: ');
    });
  }
});

checkAccepted(accepted);

async function askAlone(line: Exchange): Promise<Reply | null> {
  const session = new Session();
  try {
    await session.start(line.session);
    return await session.ask(line);
  } finally {
    await session.stop();
  }
}

function tryParse(text: string): JsonValue | null {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

const shown = (value: JsonValue | undefined): string =>
  value === undefined ? 'absent' : writePythonJson(value, { sortKeys: true });

/** Whether both values are equal, except where the recorded one is masked. */
function isMaskedEqual(ours: JsonValue | null, theirs: JsonValue | null): boolean {
  if (typeof theirs === 'string' && /^<[A-Z_]+>$/.test(theirs)) return true;
  if (!(theirs instanceof JsonObject) || !(ours instanceof JsonObject))
    return shown(ours ?? undefined) === shown(theirs ?? undefined);
  return (
    ours.keys().join() === theirs.keys().join() &&
    theirs.entries.every(([key, value]) => isMaskedEqual(ours.get(key) ?? null, value))
  );
}

function compareFiles(ours: string, theirs: string): string | null {
  const read = (text: string): string =>
    JSON.stringify(
      Object.entries(parse(text.replace('<MEDIA_PORT>', '0')) as object)
        .filter(([name]) => !refused.has(name))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  if (read(ours) !== read(theirs)) return `file ${ours}`;
  return ours === theirs.replace('<MEDIA_PORT>', '0') ? null : accepted.accept('format of the settings file');
}
