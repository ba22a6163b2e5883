/**
 * Sends a call from the command line to the daemon, in the form of lbrynet. Source: lbry-sdk lbry/extras/cli.py
 * `execute_command`.
 */
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { isAbsolute, resolve } from 'node:path';
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import { JsonParseError, parseJson } from '../../util/json/jsonParse.js';
import { writePythonJson } from '../base/pythonJson.js';
import type { HostPortSetting } from '../api/settings.js';

const UNREACHABLE = "Could not connect to daemon. Are you sure it's running?";

export interface SentRequest {
  readonly method: 'GET';
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
}

/** Parameters that are paths on this machine. */
const PATHS = ['file_path', 'download_directory'];

/**
 * Makes relative paths absolute if they exist in `folder`, the current folder of the command line, because the daemon may run
 * in another folder. lbrynet sends all paths unchanged, so other paths stay relative to the daemon's folder.
 */
export function withLocalPaths(params: JsonObject, folder: string): JsonObject {
  return new JsonObject(
    params.entries.map(([name, value]) => {
      if (!PATHS.includes(name) || typeof value !== 'string' || value === '' || isAbsolute(value))
        return [name, value];
      const path = resolve(folder, value);
      return [name, existsSync(path) ? path : value];
    }),
  );
}

/** Builds the HTTP request for a call. */
export function requestOf(method: string, params: JsonObject): SentRequest {
  const body = new JsonObject([
    ['method', method],
    ['params', params],
  ]);
  return { method: 'GET', path: '/lbryapi', contentType: 'application/json', body: writePythonJson(body) };
}

/** Sends the request. Resolves to the text of the response; null if no daemon is listening. */
export function send(
  { method, path, contentType, body }: SentRequest,
  [host, port]: HostPortSetting,
): Promise<string | null> {
  return new Promise((answered) => {
    const bytes = Buffer.from(body);
    const call = request(
      { host, port, path, method, headers: { 'Content-Type': contentType, 'Content-Length': bytes.length } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => answered(Buffer.concat(chunks).toString('utf8')));
        answer.on('error', () => answered(null));
      },
    );
    call.on('error', () => answered(null));
    call.end(bytes);
  });
}

export interface ShownAnswer {
  /** Text for the console; empty if the response has neither a result nor an error. */
  readonly text: string;
  /** Whether the call failed, so that the exit status is not 0. */
  readonly isError: boolean;
}

/**
 * Methods that report a failure in their result. In results of other methods the member `error` may be data: the value of the
 * preference `error`, or the claim of the URL `error`.
 */
const REPORTING_METHODS: ReadonlySet<string> = new Set(['get', 'peer_ping']);

/** Converts the response of a method to the text for the console: the result or the error. */
export function shownAnswer(answer: string | null, method: string): ShownAnswer {
  if (answer === null) return { text: UNREACHABLE, isError: true };
  let parsed: JsonValue;
  try {
    parsed = parseJson(answer);
  } catch (error) {
    if (error instanceof JsonParseError) return { text: 'The daemon’s response is not JSON.', isError: true };
    throw error;
  }
  if (!(parsed instanceof JsonObject)) return { text: '', isError: true };
  const hasResult = parsed.has('result');
  const shown = hasResult ? parsed.get('result') : parsed.get('error');
  return {
    text: shown === undefined ? '' : writePythonJson(shown, { indent: 2 }),
    isError: !hasResult || (REPORTING_METHODS.has(method) && isFailure(shown)),
  };
}

/** Whether a result contains only the reason of a failure. */
function isFailure(result: JsonValue | undefined): boolean {
  return (
    result instanceof JsonObject && result.entries.length === 1 && typeof result.get('error') === 'string'
  );
}
