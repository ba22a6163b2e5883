/**
 * Dispatches a request: finds the method, checks its parameters and the components that it needs, and converts errors to
 * answers. Source: lbry-sdk lbry/extras/daemon/daemon.py `_process_rpc_call`.
 */
import { callErrorText, EnvironmentError } from '../../util/text/environmentError.js';
import { boundedErrorText } from '../../util/text/errorText.js';
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { DaemonError } from '../base/daemonError.js';
import { pythonStr } from '../base/pythonText.js';
import type { DaemonServices } from './context.js';
import type { ComponentName, MethodAlias, MethodDeclaration } from './declaration.js';
import type { MethodImplementation } from './implement.js';
import { checkParams, ParamsError, readParams, type CallParams } from './paramReading.js';

/** Codes of error answers. Source: `JSONRPCError`. */
export const ERROR_CODE = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  application: -32500,
} as const;

/** Checks that the components that a method needs are running. */
export interface ComponentGate {
  /**
   * Checks that components run. Throws `DaemonError`: `NameError` for a skipped component, `ComponentsNotStartedError` for a
   * component that is still starting.
   */
  check(needs: readonly ComponentName[]): void;
}

/** Observer that is notified of each call of a known method. */
export interface CallObserver {
  begin(method: string): (outcome: 'done' | 'failed' | 'cancelled') => void;
}

export interface DispatcherDeps {
  readonly declarations: readonly MethodDeclaration[];
  readonly aliases: readonly MethodAlias[];
  readonly implementations: ReadonlyMap<string, MethodImplementation>;
  readonly gate: ComponentGate;
  readonly services: DaemonServices;
  readonly observer?: CallObserver;
  /** Receives errors that indicate a bug. */
  readonly onBug: (method: string, error: unknown) => void;
}

/** Members of a JSON-RPC answer, in order. */
export type ApiAnswer = { readonly [key: string]: JsonOut };

/**
 * Answer that reports an error. The text is cut to 1,000 characters, since quoted parts, such as a hub's error, may have any
 * length.
 */
export function errorAnswer(code: number, message: string, data: JsonOut = {}): ApiAnswer {
  return { jsonrpc: '2.0', error: { code, data, message: boundedErrorText(message) } };
}

/** A call whose parameter names and parameter count match the declaration. */
interface Call {
  /** Name of the method in the call, which may be an alias. */
  readonly name: string;
  readonly declaration: MethodDeclaration;
  readonly params: CallParams;
  readonly withProtobuf: boolean;
  readonly isGone: IsGone;
}

/** Returns whether the caller has stopped waiting: the client has disconnected, or the daemon is stopping. */
type IsGone = () => boolean;

const NO_PARAMS: CallParams = { positional: [], named: new Map() };
const PROTOBUF_KEY = 'include_protobuf';

export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #byName: ReadonlyMap<string, MethodDeclaration>;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    const byName = new Map(deps.declarations.map((declaration) => [declaration.name, declaration]));
    for (const { name, replacedBy } of deps.aliases) {
      const meant = byName.get(replacedBy);
      if (meant) byName.set(name, meant);
    }
    this.#byName = byName;
  }

  /** Calls a method. Returns the answer itself if the method is synchronous, else a promise, which never rejects. */
  call(request: JsonObject, isGone: IsGone): ApiAnswer | Promise<ApiAnswer> {
    const members = new Map(request.entries);
    const method = members.get('method');
    if (method === undefined)
      return errorAnswer(ERROR_CODE.methodNotFound, "Missing 'method' value in request.");
    const declaration = typeof method === 'string' ? this.#byName.get(method) : undefined;
    if (declaration === undefined)
      return errorAnswer(ERROR_CODE.methodNotFound, `Command '${pythonStr(method)}' does not exist.`);
    const given = members.get('params');
    const { params, withProtobuf } = readCall(given);
    if (params === null)
      return errorAnswer(ERROR_CODE.invalidParams, `Invalid parameters format: ${pythonStr(given ?? null)}`);
    try {
      checkParams(declaration, params, method as string);
    } catch (error) {
      if (error instanceof ParamsError) return errorAnswer(ERROR_CODE.invalidParams, error.message);
      throw error;
    }
    return this.#run({ name: method as string, declaration, params, withProtobuf, isGone });
  }

  #run(call: Call): ApiAnswer | Promise<ApiAnswer> {
    const { gate, implementations, services, observer } = this.#deps;
    const { declaration, params, withProtobuf } = call;
    const end = observer?.begin(declaration.name);
    try {
      gate.check(declaration.needs);
      const implementation = implementations.get(declaration.name);
      if (implementation === undefined)
        throw new DaemonError('NotImplementedError', `${declaration.name} is not part of this daemon.`);
      const result = implementation.run({ services, withProtobuf }, readParams(declaration, params));
      if (!(result instanceof Promise)) return succeed(result, end);
      return result.then(
        (value) => succeed(value, end),
        (error: unknown) => this.#fail(call, error, end),
      );
    } catch (error) {
      return this.#fail(call, error, end);
    }
  }

  #fail({ name, declaration, params, isGone }: Call, error: unknown, end: EndOfCall): ApiAnswer {
    end?.(isGone() ? 'cancelled' : 'failed');
    const failure =
      error instanceof EnvironmentError ? new DaemonError('OSError', callErrorText(error)) : error;
    if (!(failure instanceof DaemonError)) this.#deps.onBug(declaration.name, failure);
    return applicationError(name, params, failure);
  }
}

type EndOfCall = ReturnType<CallObserver['begin']> | undefined;

function succeed(result: JsonOut, end: EndOfCall): ApiAnswer {
  end?.('done');
  return { jsonrpc: '2.0', result };
}

/** Reads the parameters of a request in each accepted form (list, object, or list of both). Returns null for any other form. */
function readCall(params: JsonValue | undefined): { params: CallParams | null; withProtobuf: boolean } {
  if (params === undefined) return { params: NO_PARAMS, withProtobuf: false };
  if (params instanceof JsonObject) {
    const named = new Map(params.entries);
    const withProtobuf = named.get(PROTOBUF_KEY) ?? false;
    named.delete(PROTOBUF_KEY);
    return { params: { positional: [], named }, withProtobuf: isTrue(withProtobuf) };
  }
  return { params: Array.isArray(params) ? readList(params) : null, withProtobuf: false };
}

function readList(params: readonly JsonValue[]): CallParams | null {
  if (params.length === 0) return NO_PARAMS;
  const [first, second] = params;
  if (params.length === 1 && first instanceof JsonObject)
    return { positional: [], named: new Map(first.entries) };
  if (params.length === 2 && Array.isArray(first) && second instanceof JsonObject)
    return { positional: first, named: new Map(second.entries) };
  return null;
}

const isTrue = (value: JsonValue): boolean =>
  value !== false && value !== null && value !== 0 && value !== '';

/** Returns the parameters for the log. Each password is replaced by as many stars as it has characters. */
function shownNamed(named: ReadonlyMap<string, JsonValue>): JsonObject {
  return new JsonObject(
    [...named].map(([key, value]) => [
      key,
      key === 'password' && typeof value === 'string' ? '*'.repeat(Array.from(value).length) : value,
    ]),
  );
}

function applicationError(command: string, params: CallParams, error: unknown): ApiAnswer {
  const message = error instanceof Error ? error.message : String(error);
  const name = error instanceof DaemonError ? error.name : 'Exception';
  const trace =
    error instanceof DaemonError || !(error instanceof Error) || error.stack === undefined
      ? [`${name}: ${message}`]
      : error.stack.split('\n');
  return errorAnswer(ERROR_CODE.application, message, {
    name,
    traceback: [...trace.map(boundedErrorText), ''],
    command,
    args: params.positional,
    kwargs: shownNamed(params.named),
  });
}
