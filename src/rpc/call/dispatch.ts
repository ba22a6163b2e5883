/**
 * JSON-RPC: converts a request body to an HTTP status and a response. Handles batches and the warm-up, and maps exceptions
 * to errors; `envelope.ts` handles the envelope. Does not access sockets; `src/server/rpcEndpoint.ts` is the transport.
 * Synchronous where possible: a small request whose method returns synchronously needs no promise and no generator. The
 * syntax of a batch is checked as a whole. Then its elements are read, run and written one at a time, so that neither all
 * requests nor all responses are in memory at once.
 */
import { AssertionError } from '../../util/assert.js';
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import { nextSlice, yieldIfDue } from '../../scheduler/yield.js';
import { decodeUtf8, decodeUtf8InSlices, JsonParseError, JsonScanner } from '../../util/json/jsonParse.js';
import { CHUNK_CHARS, startJson, stringifyJson, type JsonStart } from '../../util/json/jsonStream.js';
import { RawJson, rawJson, smallJson, type BodyPiece, type JsonOut } from '../../util/json/jsonWrite.js';
import type { Logger } from '../../util/logging.js';
import { inSlices } from '../../scheduler/slices.js';
import { isPromise } from '../../util/maybePromise.js';
import type { AnswerCache, CacheableCall } from './answerCache.js';
import {
  errorAnswer,
  newRequest,
  readRequest,
  successAnswer,
  wholeAnswer,
  type RpcAnswer,
  type ParsedRequest,
} from './envelope.js';
import { RPC_ERROR, RpcError, rpcError } from '../declare/errors.js';
import { callMethod } from './callMethod.js';
import { RecentCalls } from './recentCalls.js';
import type { Profile, RpcContext, RpcMethod } from '../declare/method.js';
import { AT_ONCE_BYTES, checkBatchSyntax, readElement, readWhole } from './requestText.js';
import { readUsualBatch } from './usualCall.js';
import type { RpcServices } from '../../interfaces/services.js';
import type { MethodTable } from '../declare/table.js';

/** Data about the client and the connection of a request. */
export interface RpcOrigin {
  readonly profile: Profile;
  readonly walletName: string | undefined;
  /** Name of the authenticated user, for the log. */
  readonly user: string;
  /** Address of the client; undefined if logs must not contain addresses (`-logips`). */
  readonly peer?: string;
  /** Aborted when the client disconnects. The remaining elements of a batch are then not run. */
  readonly gone: AbortSignal;
  /** Aborted when the client disconnects or the node stops. Methods that wait must then return immediately. */
  readonly signal: AbortSignal;
  /**
   * Runs a long wait during which the call does not occupy a call slot (see `RpcContext`). If absent, a waiting call
   * occupies its slot.
   */
  readonly outOfTurn?: RpcContext['outOfTurn'];
  /** Lets queued calls use this call's slot for a short time. Returns null if no calls are queued. */
  giveWay?(): Promise<void> | null;
}

export interface RpcReply {
  /** HTTP status code. A response with 204 has no body. */
  readonly status: number;
  /** Whole response body if it is already complete; null if it is still being created. */
  readonly text: string | null;
  /** Whole response body in pieces; absent if the response is not complete or is one text. */
  readonly pieces?: readonly BodyPiece[];
  /**
   * Response body in chunks. Iteration throws if a result fails after its first chunk; the connection must then be aborted,
   * not ended normally.
   */
  readonly chunks: AsyncIterable<string>;
}

export interface RpcDispatcherOptions {
  /** Names of deprecated options that are enabled by `-deprecatedrpc`. */
  readonly deprecated: ReadonlySet<string>;
}

export interface RpcDispatcherDeps {
  readonly table: MethodTable;
  readonly services: RpcServices;
  readonly logger: Logger;
  /**
   * Called for every exception other than `RpcError`. The composition root stops the node if the error concerns the whole
   * node.
   */
  readonly onException: (error: unknown, method: string) => void;
  /** Called after each call of a declared method, with the time in ms until its response began and whether it failed. */
  readonly onCall?: (method: string, ms: number, failed: boolean) => void;
  /** Cache of results; absent if results are not cached (`-rpccache=0`). */
  readonly answers?: AnswerCache;
  /** Dispatcher of another port whose warm-up status applies to this dispatcher too. */
  readonly leader?: Pick<RpcDispatcher, 'warmup'>;
}

/** Maximum length in characters of a single call's response that is serialized completely before it is sent. */
const WHOLE_CHARS = 1 << 20;

class WholeReply implements RpcReply {
  readonly status: number;
  readonly text: string;
  constructor(status: number, text: string) {
    this.status = status;
    this.text = text;
  }
  get chunks(): AsyncIterable<string> {
    return oneChunk(this.text);
  }
}

class PiecesReply implements RpcReply {
  readonly status: number;
  readonly text = null;
  readonly pieces: readonly BodyPiece[];
  constructor(status: number, pieces: readonly BodyPiece[]) {
    this.status = status;
    this.pieces = pieces;
  }
  get chunks(): AsyncIterable<string> {
    return oneChunk(this.pieces.map(String).join(''));
  }
}

/** Context passed to a method. The abort signal is created when the method first reads it, because few methods do. */
class CallContext implements RpcContext {
  readonly profile: Profile;
  readonly services: RpcServices;
  readonly walletName: string | undefined;
  readonly table: MethodTable;
  private readonly origin: RpcOrigin;
  private readonly deprecated: ReadonlySet<string>;

  constructor(origin: RpcOrigin, { services, table }: RpcDispatcherDeps, deprecated: ReadonlySet<string>) {
    this.profile = origin.profile;
    this.services = services;
    this.walletName = origin.walletName;
    this.table = table;
    this.origin = origin;
    this.deprecated = deprecated;
  }

  get signal(): AbortSignal {
    return this.origin.signal;
  }

  get outOfTurn(): RpcContext['outOfTurn'] {
    const { origin } = this;
    return (wait) => (origin.outOfTurn === undefined ? wait() : origin.outOfTurn(wait));
  }

  isDeprecatedEnabled(name: string): boolean {
    return this.deprecated.has(name);
  }
}

/** Status and first part of a response; null for a notification. */
interface StartedAnswer {
  readonly status: number;
  readonly start: JsonStart | null;
}

export class RpcDispatcher {
  private readonly options: RpcDispatcherOptions;
  private readonly deps: RpcDispatcherDeps;
  private warmupStatus: string | null = 'RPC server started';
  private readonly recent = new RecentCalls();
  private readingAhead: Promise<void> | null = null;

  constructor(options: RpcDispatcherOptions, deps: RpcDispatcherDeps) {
    this.options = options;
    this.deps = deps;
  }

  /** Sets the message of error -28, which every call returns until `finishWarmup` is called. */
  setWarmupStatus(status: string): void {
    if (this.warmupStatus !== null) this.warmupStatus = status;
  }

  finishWarmup(): void {
    this.warmupStatus = null;
  }

  /** Current warm-up message; null after the warm-up. */
  get warmup(): string | null {
    return this.deps.leader === undefined ? this.warmupStatus : this.deps.leader.warmup;
  }

  /** Processes a request body, synchronously if possible. Never throws; iterating the chunks of the reply may throw. */
  handle(body: Uint8Array, origin: RpcOrigin): RpcReply | Promise<RpcReply> {
    if (body.length > AT_ONCE_BYTES) return this.handleLarge(body, origin);
    const text = decodeUtf8(body);
    if (text === null) return this.parseFailure('Parse error', origin);
    const scanner = new JsonScanner(text);
    if (scanner.peek() === '[') return this.batch(scanner, origin);
    let value: JsonValue;
    try {
      value = scanner.readValue();
      if (!scanner.atEnd()) scanner.fail();
    } catch (error) {
      if (error instanceof JsonParseError) return this.parseFailure(error.message, origin);
      throw error;
    }
    return this.single(value, origin);
  }

  /** Processes a large request body in slices, because decoding and parsing it takes long. */
  private async handleLarge(body: Uint8Array, origin: RpcOrigin): Promise<RpcReply> {
    const text = await inSlices(decodeUtf8InSlices(body));
    if (text === null) return this.parseFailure('Parse error', origin);
    const scanner = new JsonScanner(text);
    let value: JsonValue;
    try {
      await inSlices(scanner.skipSpaceInSlices());
      if (scanner.peek() === '[') return await this.batch(scanner, origin);
      value = await inSlices(readWhole(scanner));
      if (!scanner.atEnd()) scanner.fail();
    } catch (error) {
      if (error instanceof JsonParseError) return this.parseFailure(error.message, origin);
      throw error;
    }
    return this.single(value, origin);
  }

  /** Processes a request that is already parsed, by the same rules as `handle`. */
  handleRequest(request: JsonObject, origin: RpcOrigin): RpcReply | Promise<RpcReply> {
    return this.single(request, origin);
  }

  private single(value: JsonValue, origin: RpcOrigin): RpcReply | Promise<RpcReply> {
    if (!(value instanceof JsonObject)) return this.parseFailure('Top-level object parse error', origin);
    const answer = this.startAnswer(value, origin, WHOLE_CHARS);
    return isPromise(answer) ? answer.then(toReply) : toReply(answer);
  }

  /** Processes a request that `readUsualCall` has read, by the same rules as `handle`. */
  handleCall(request: ParsedRequest, origin: RpcOrigin): RpcReply | Promise<RpcReply> {
    let answer: RpcAnswer | Promise<RpcAnswer>;
    try {
      const result = this.execute(request, origin);
      const whole = isPromise(result) ? null : wholeAnswer(request, result, '\n');
      if (typeof whole === 'string') return new WholeReply(200, whole);
      if (whole !== null) return new PiecesReply(200, whole);
      answer = this.settle(request, result);
    } catch (error) {
      answer = this.failed(request, error);
    }
    const started = isPromise(answer)
      ? answer.then((settled) => this.write(settled, WHOLE_CHARS))
      : this.write(answer, WHOLE_CHARS);
    return isPromise(started) ? started.then(toReply) : toReply(started);
  }

  private parseFailure(message: string, { profile }: RpcOrigin): RpcReply {
    const { status, envelope } = errorAnswer(newRequest(profile), rpcError(RPC_ERROR.PARSE_ERROR, message));
    return new WholeReply(status, `${stringifyJson(envelope)}\n`);
  }

  /** Processes a batch. The status is 200 even if elements fail, and 204 if all elements are notifications. */
  private async batch(scanner: JsonScanner, origin: RpcOrigin): Promise<RpcReply> {
    const { text } = scanner;
    const usual = text.length > AT_ONCE_BYTES ? null : readUsualBatch(text, origin.profile);
    if (usual === null) {
      try {
        await checkBatchSyntax(text);
      } catch (error) {
        if (error instanceof JsonParseError) return this.parseFailure(error.message, origin);
        throw error;
      }
    }
    const answers = usual === null ? this.batchAnswers(scanner, origin) : this.usualAnswers(usual, origin);
    const first = await answers.next();
    if (first.done === true) return new WholeReply(204, '');
    // If the first chunk ends with a line break, it is the whole response.
    if (first.value.endsWith('\n')) return new WholeReply(200, first.value);
    return { status: 200, text: null, chunks: resume(first.value, answers) };
  }

  /** Like `batchAnswers`, for requests that `readUsualBatch` has read. */
  private async *usualAnswers(requests: readonly ParsedRequest[], origin: RpcOrigin): AsyncGenerator<string> {
    let buffered = '';
    let answered = 0;
    let sliceStart = performance.now();
    for (let n = 0; n < requests.length && !origin.gone.aborted; n++) {
      const answer = this.answerOf(requests[n]!, origin);
      const started = isPromise(answer) ? await answer : answer;
      if (typeof started === 'string') {
        buffered += (answered++ > 0 ? ',' : '[') + started;
      } else if (started.start !== null) {
        const { text, rest } = started.start;
        buffered += (answered++ > 0 ? ',' : '[') + text;
        if (rest !== null)
          for await (const chunk of rest) {
            yield buffered;
            buffered = chunk;
          }
      }
      if (buffered.length >= CHUNK_CHARS) {
        yield buffered;
        buffered = '';
      }
      const pause = yieldIfDue(sliceStart);
      if (typeof pause === 'number') continue;
      sliceStart = await pause;
      await origin.giveWay?.();
    }
    if (answered > 0) yield `${buffered}]\n`;
  }

  /** Runs a request of a batch. The result is a text if the response is a small text, as nearly all are. */
  private answerOf(
    request: ParsedRequest,
    origin: RpcOrigin,
  ): string | StartedAnswer | Promise<StartedAnswer> {
    let answer: RpcAnswer | Promise<RpcAnswer>;
    try {
      const result = this.execute(request, origin);
      const whole = isPromise(result) ? null : wholeAnswer(request, result, '');
      if (typeof whole === 'string') return whole;
      answer = this.settle(request, result);
    } catch (error) {
      answer = this.failed(request, error);
    }
    return isPromise(answer)
      ? answer.then((settled) => this.write(settled, CHUNK_CHARS))
      : this.write(answer, CHUNK_CHARS);
  }

  /** Yields the response text of a batch in chunks. Yields nothing if the batch has only notifications. */
  private async *batchAnswers(scanner: JsonScanner, origin: RpcOrigin): AsyncGenerator<string> {
    scanner.take('[');
    let buffered = '[';
    let answered = 0;
    let sliceStart = performance.now();
    const empty = scanner.peek() === ']';
    if (!empty) {
      do {
        const element = readElement(scanner);
        const value = isPromise(element) ? await element : element;
        const started = this.startAnswer(value, origin, CHUNK_CHARS);
        const { start } = isPromise(started) ? await started : started;
        if (start !== null) {
          buffered += answered++ > 0 ? `,${start.text}` : start.text;
          if (start.rest !== null) {
            for await (const chunk of start.rest) {
              yield buffered;
              buffered = chunk;
            }
          }
          if (buffered.length >= CHUNK_CHARS) {
            yield buffered;
            buffered = '';
          }
        }
        const pause = yieldIfDue(sliceStart);
        if (typeof pause !== 'number') {
          sliceStart = await pause;
          await origin.giveWay?.();
        }
      } while (!origin.gone.aborted && scanner.take(','));
    }
    if (answered > 0 || empty) yield `${buffered}]\n`;
  }

  /**
   * Runs a request and serializes the start of its response. If a streamed result fails in this part, a proper error
   * response can still be sent.
   */
  private startAnswer(
    value: JsonValue,
    origin: RpcOrigin,
    maxChars: number,
  ): StartedAnswer | Promise<StartedAnswer> {
    const answer = this.answer(value, origin);
    return isPromise(answer)
      ? answer.then((settled) => this.write(settled, maxChars))
      : this.write(answer, maxChars);
  }

  private write(answer: RpcAnswer, maxChars: number): StartedAnswer | Promise<StartedAnswer> {
    const { status, envelope, request } = answer;
    const takesBytes = maxChars === WHOLE_CHARS;
    if (envelope === null) return { status, start: null };
    const fail = (error: unknown): StartedAnswer => {
      const failed = errorAnswer(request, this.toRpcError(error, request.method));
      return { status: failed.status, start: { text: stringifyJson(failed.envelope), rest: null } };
    };
    try {
      const start = startJson(envelope, maxChars, takesBytes);
      return isPromise(start) ? start.then((begun) => ({ status, start: begun }), fail) : { status, start };
    } catch (error) {
      return fail(error);
    }
  }

  private answer(value: JsonValue, origin: RpcOrigin): RpcAnswer | Promise<RpcAnswer> {
    const request = newRequest(origin.profile);
    try {
      readRequest(value, request);
      return this.settle(request, this.execute(request, origin));
    } catch (error) {
      return this.failed(request, error);
    }
  }

  private settle(request: ParsedRequest, result: JsonOut | Promise<JsonOut>): RpcAnswer | Promise<RpcAnswer> {
    if (!isPromise(result)) return successAnswer(request, result);
    return result.then(
      (settled) => successAnswer(request, settled),
      (error: unknown) => this.failed(request, error),
    );
  }

  private failed(request: ParsedRequest, error: unknown): RpcAnswer {
    return errorAnswer(request, this.toRpcError(error, request.method));
  }

  private execute(request: ParsedRequest, origin: RpcOrigin): JsonOut | Promise<JsonOut> {
    const { logger } = this.deps;
    if (logger.willLog('rpc')) logger.debug('rpc', callLine(request.method, origin));
    const method = this.deps.table.find(request.method, origin.profile);
    const { warmup } = this;
    if (warmup !== null && method?.duringWarmup !== true) throw rpcError(RPC_ERROR.IN_WARMUP, warmup);
    if (method === undefined) throw rpcError(RPC_ERROR.METHOD_NOT_FOUND, 'Method not found');
    const { onCall } = this.deps;
    return onCall === undefined
      ? this.call(method, request, origin)
      : timed(onCall, method, () => this.call(method, request, origin));
  }

  /** Runs a call, or returns its result from the cache. */
  private call(method: RpcMethod, request: ParsedRequest, origin: RpcOrigin): JsonOut | Promise<JsonOut> {
    const { answers } = this.deps;
    const known = answers?.callOf(method, origin.profile, request.params) ?? null;
    const text = known === null ? undefined : answers?.find(known);
    if (known !== null && text !== undefined) {
      this.recent.touch(known.key);
      return rawJson(text);
    }
    const ctx = new CallContext(origin, this.deps, this.options.deprecated);
    if (answers === undefined || known === null) return callMethod(method, ctx, request.params);
    const began = performance.now();
    const keep = (settled: JsonOut): JsonOut => {
      const kept = keepAnswer(answers, known, settled);
      const { profile } = origin;
      if (answers.has(known))
        this.recent.note(known.key, { method, profile, params: request.params }, performance.now() - began);
      return kept;
    };
    const result = callMethod(method, ctx, request.params);
    return isPromise(result) ? result.then(keep) : keep(result);
  }

  /**
   * Repeats recent calls after a block, so that their results are cached. Never rejects. If a new block arrives while the
   * calls are being repeated, the remaining calls use the new state.
   */
  readAhead(): Promise<void> {
    this.readingAhead ??= this.callAgain().finally(() => (this.readingAhead = null));
    return this.readingAhead;
  }

  private async callAgain(): Promise<void> {
    const { answers } = this.deps;
    if (answers === undefined || this.recent.size === 0) return;
    for (const [key, { method, profile, params }] of this.recent.nextBlock()) {
      await nextSlice();
      const known = answers.callOf(method, profile, params);
      if (known === null || answers.has(known)) continue;
      const ctx = new CallContext(backgroundOrigin(profile), this.deps, this.options.deprecated);
      const began = performance.now();
      try {
        const result = callMethod(method, ctx, params);
        keepAnswer(answers, known, isPromise(result) ? await result : result);
        this.recent.repeated(key, performance.now() - began);
      } catch {
        // The error is ignored and the call is not repeated any more. The next caller gets the error.
        this.recent.forget(key);
      }
    }
  }

  /**
   * Converts an exception to an RPC error. The reference returns -1 with the text of any exception. This function returns an
   * internal error for exceptions that are bugs.
   */
  private toRpcError(error: unknown, method: string): RpcError {
    if (error instanceof RpcError) return error;
    this.deps.onException(error, method);
    const message = error instanceof Error ? error.message : String(error);
    const isBug =
      error instanceof AssertionError || error instanceof TypeError || error instanceof ReferenceError;
    return rpcError(isBug ? RPC_ERROR.INTERNAL_ERROR : RPC_ERROR.MISC_ERROR, message);
  }
}

const NEVER = new AbortController().signal;

/** Origin of a call that the node itself makes, not a client. */
function backgroundOrigin(profile: Profile): RpcOrigin {
  return { profile, walletName: undefined, user: '', gone: NEVER, signal: NEVER };
}

/** Caches a small result. Returns the serialized text, or the unchanged result if it is not small. */
function keepAnswer(answers: AnswerCache, call: CacheableCall, result: JsonOut): JsonOut {
  const pieces = result instanceof RawJson ? result.pieces : null;
  if (pieces !== null) {
    answers.keepPieces(call, pieces);
    return result;
  }
  const text = smallJson(result, Math.max(call.maxChars, CHUNK_CHARS));
  return text === null ? result : rawJson(answers.keep(call, text));
}

/** Runs a call, then reports its duration and whether it failed to `onCall`. */
function timed(
  onCall: NonNullable<RpcDispatcherDeps['onCall']>,
  method: RpcMethod,
  call: () => JsonOut | Promise<JsonOut>,
): JsonOut | Promise<JsonOut> {
  const began = performance.now();
  const tell = (failed: boolean): void => onCall(method.name, performance.now() - began, failed);
  const fail = (error: unknown): never => {
    tell(true);
    throw error;
  };
  try {
    const result = call();
    if (isPromise(result)) {
      return result.then((settled) => {
        tell(false);
        return settled;
      }, fail);
    }
    tell(false);
    return result;
  } catch (error) {
    return fail(error);
  }
}

function callLine(method: string, { user, peer }: RpcOrigin): string {
  const where = peer === undefined ? '' : ` peeraddr=${peer}`;
  return `ThreadRPCServer method=${printable(method)} user=${user}${where}`;
}

/** Returns a method name with only the characters that are safe in a log line. Source: `SanitizeString`. */
function printable(text: string): string {
  return text
    .slice(0, 1000)
    .replace(/[^a-zA-Z0-9 .,;\-_/:?@()]/g, '')
    .slice(0, 100);
}

function toReply({ status, start }: StartedAnswer): RpcReply {
  if (start === null) return new WholeReply(204, '');
  if (start.pieces !== undefined) return new PiecesReply(status, [...start.pieces, '\n']);
  if (start.rest === null) return new WholeReply(status, `${start.text}\n`);
  return { status, text: null, chunks: withTail(resume(start.text, start.rest), '\n') };
}

async function* oneChunk(text: string): AsyncGenerator<string> {
  if (text !== '') yield text;
}

async function* resume(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

async function* withTail(chunks: AsyncIterable<string>, tail: string): AsyncGenerator<string> {
  yield* chunks;
  yield tail;
}
