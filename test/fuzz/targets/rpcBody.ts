/**
 * Fuzz targets: our JSON parser compared with that of JavaScript, and request bodies that the dispatcher processes. The target
 * defines its own methods, one for each parameter type, so that no services of a node are needed.
 */
import { RpcDispatcher, type RpcOrigin } from '../../../src/rpc/call/dispatch.js';
import { defineMethod, PROFILES, type RpcMethod } from '../../../src/rpc/declare/method.js';
import { PARAM_TYPES, type ParamTypeName } from '../../../src/rpc/declare/paramTypes.js';
import { t } from '../../../src/schema/schema.js';
import type { RpcServices } from '../../../src/interfaces/services.js';
import { MethodTable } from '../../../src/rpc/declare/table.js';
import {
  JsonNumber,
  JsonObject,
  numberText,
  parseFixedPoint,
  toPlain,
  type JsonValue,
} from '../../../src/util/json/json.js';
import { decodeUtf8, JsonParseError, parseJson } from '../../../src/util/json/jsonParse.js';
import { jsonChunks, stringifyJson } from '../../../src/util/json/jsonStream.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import type { Random } from '../../differential/support.js';
import { law, outcomeOf, type Target } from '../support/campaign.js';
import { mutateBytes, noise } from '../support/mutate.js';

const TYPE_NAMES = Object.keys(PARAM_TYPES) as ParamTypeName[];

/** The methods `take<type>` have two parameters of the type. One of the parameters has a second name. */
const METHODS: readonly RpcMethod[] = TYPE_NAMES.map((type) =>
  defineMethod({
    name: `take${type}`,
    category: 'hidden',
    chainUse: 'none',
    summary: 'Takes two parameters of one type.',
    params: [
      { name: 'first|one', type, required: true, description: 'read' },
      { name: 'second', type, strict: 'nullable', description: 'read when it is there' },
    ],
    result: t.any('the second parameter as it was sent'),
    run: (_ctx, args, positional): JsonValue => {
      law(args.first !== undefined, 'a required parameter is there');
      return positional[1] ?? null;
    },
  }),
);

export interface DispatcherUnderTest {
  readonly dispatcher: RpcDispatcher;
  /** Exceptions that are not RPC errors. Each one fails the test, whatever the answer is. */
  readonly exceptions: unknown[];
}

export function makeDispatcher(): DispatcherUnderTest {
  const exceptions: unknown[] = [];
  const dispatcher = new RpcDispatcher(
    { deprecated: new Set() },
    {
      table: new MethodTable(METHODS),
      services: {} as RpcServices,
      logger: SILENT_LOGGER,
      onException: (error) => exceptions.push(error),
    },
  );
  dispatcher.finishWarmup();
  return { dispatcher, exceptions };
}

const NEVER = new AbortController().signal;
const origins: readonly RpcOrigin[] = PROFILES.map((profile) => ({
  profile,
  walletName: undefined,
  user: 'fuzz',
  gone: NEVER,
  signal: NEVER,
}));

function checkEnvelope(value: unknown): void {
  law(typeof value === 'object' && value !== null && !Array.isArray(value), 'an answer is an object');
  const answer = value as Record<string, unknown>;
  law('id' in answer, 'an answer has an id');
  const isV2 = answer['jsonrpc'] === '2.0';
  const error = answer['error'] as { code?: unknown; message?: unknown } | null | undefined;
  if (isV2) law('result' in answer !== 'error' in answer, 'a result or an error');
  else law('result' in answer && 'error' in answer, 'result and error, one of them null');
  if (error === null || error === undefined) return;
  law(Number.isInteger(error.code) && typeof error.message === 'string', 'an error has code and message');
  law(isV2 || answer['result'] === null, 'an error has no result');
  law(error.code !== -32603, () => `internal error: ${String(error.message)}`);
}

const { dispatcher, exceptions } = makeDispatcher();

/** The whole answer. Throws exceptions that the dispatcher reports as internal errors. */
export async function answerTo(
  body: Buffer,
  origin = origins[0]!,
): Promise<{ status: number; text: string }> {
  const reply = await dispatcher.handle(body, origin);
  let text = '';
  for await (const chunk of reply.chunks) text += chunk;
  if (exceptions.length > 0) throw exceptions.pop();
  return { status: reply.status, text };
}

export async function checkRpcBody(body: Buffer): Promise<string> {
  const { status, text } = await answerTo(body, origins[body.length % origins.length]);
  law([200, 204, 400, 404, 500].includes(status), () => `status ${status}`);
  if (status === 204) {
    law(text === '', 'status 204 has no body');
    return 'no answer';
  }
  law(text.endsWith('\n') && !text.slice(0, -1).includes('\n'), 'one line');
  const answer = JSON.parse(text) as unknown;
  parseJson(text);
  const parsedBody = decodeUtf8(body)?.trimStart();
  if (!Array.isArray(answer)) {
    checkEnvelope(answer);
    const { error } = answer as { error?: { code: number } | null };
    return error ? `error ${error.code}` : 'result';
  }
  law(parsedBody?.startsWith('[') === true && status === 200, 'a batch answers a batch');
  answer.forEach(checkEnvelope);
  return 'batch';
}

/** JSON texts that parsers often handle wrongly. */
const ODD_VALUES = [
  '0', '-0', '1', '-1', '1.0', '1e3', '1E+400', '-1e-400', '0.1', '1.10', '12345678901234567890', '9007199254740993',
  '2147483647', '2147483648', '-2147483649', '9223372036854775807', '9223372036854775808', 'true', 'false', 'null', '""',
  '"a"', '"\\u0000"', '"\\ud83d\\ude00"', '"\u2028"', '"\u007f"', '"\\/"', '"__proto__"', '{}', '[]', '[[]]',
  '{"a":1,"a":2}', '{"__proto__":{"x":1}}', '{"constructor":null}', `"${'00'.repeat(32)}"`, `"${'zz'.repeat(32)}"`,
  '"0.00000001"', '"1e2"', '21000000000', '"-1"', '20999999999.99999999',
] as const; // prettier-ignore

/** Texts that are almost JSON, but invalid. */
const NO_VALUES = [
  '01', '1.', '.5', '+1', '-', 'NaN', 'Infinity', '0x10', '1e', 'True', 'nul', '"\\ud800"', '"\\udc00\\ud800"',
  '"\\ud83d\\ude0"', '"\\x41"', '"\t"', '[1,]', '{"a":1,}', '{a:1}', "'a'", '', '"', '[', '{"a"}',
] as const; // prettier-ignore

function randomValue(random: Random, depth = 0): string {
  if (depth < 4 && random.chance(4)) {
    const items = Array.from({ length: random.below(4) }, () => randomValue(random, depth + 1));
    if (random.chance(2)) return `[${items.join(',')}]`;
    return `{${items.map((item) => `${random.pick(['"a"', '"b"', '""', '"first"', '"one"', '"second"', '"\\u0041"'])}:${item}`).join(', ')}}`;
  }
  if (random.chance(5))
    return `${random.chance(2) ? '-' : ''}${random.u32()}${random.chance(3) ? `.${random.u32()}` : ''}${random.chance(6) ? `e${random.below(40) - 20}` : ''}`;
  if (random.chance(80)) {
    const depth = random.pick([60, 512, 513, 1500]);
    return '['.repeat(depth) + ']'.repeat(random.chance(4) ? depth - 1 : depth);
  }
  return random.chance(40) ? random.pick(NO_VALUES) : random.pick(ODD_VALUES);
}

const METHOD_NAMES = [
  ...METHODS.map((method) => method.name),
  'nothing',
  '',
  '__proto__',
  'takestring\u0000',
];

function randomRequest(random: Random): string {
  const members: string[] = [];
  if (!random.chance(12))
    members.push(
      `"method":${random.chance(12) ? randomValue(random) : JSON.stringify(random.pick(METHOD_NAMES))}`,
    );
  const values = Array.from({ length: random.below(4) }, () => randomValue(random));
  const params = random.chance(2)
    ? `[${values.join(',')}]`
    : `{${values.map((value) => `${random.pick(['"first"', '"one"', '"second"', '"third"'])}:${value}`).join(',')}}`;
  if (!random.chance(8)) members.push(`"params":${random.chance(12) ? randomValue(random) : params}`);
  if (!random.chance(5)) members.push(`"id":${random.chance(3) ? randomValue(random) : random.below(100)}`);
  if (random.chance(3)) members.push(`"jsonrpc":${random.pick(['"2.0"', '"1.0"', '2.0', 'null'])}`);
  if (random.chance(8)) members.push(`"extra":${randomValue(random)}`);
  if (random.chance(3)) members.reverse();
  return `{${members.join(random.pick([',', ', ', ' ,\n']))}}`;
}

function randomBody(random: Random): string {
  if (random.chance(20)) return randomValue(random);
  if (!random.chance(4)) return randomRequest(random);
  const requests = Array.from({ length: random.below(6) }, () =>
    random.chance(6) ? randomValue(random) : randomRequest(random),
  );
  return `[${requests.join(',')}]`;
}

export const rpcBodyTarget: Target<Buffer> = {
  name: 'RPC body',
  make(random) {
    if (random.chance(12)) return noise(random, 100);
    const body = Buffer.from(randomBody(random));
    return random.chance(4) ? mutateBytes(random, body, Buffer.from(randomRequest(random))) : body;
  },
  check: checkRpcBody,
  show: (body) => body.toString('hex'),
};

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string')
    return Buffer.from(value, 'utf16le').equals(Buffer.from(Buffer.from(value).toString(), 'utf16le'));
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isWellFormed(key) && isWellFormed(inner));
}

/** Numbers keep their text. */
function numbersOf(value: JsonValue, out: string[] = []): string[] {
  if (typeof value === 'number' || value instanceof JsonNumber) out.push(numberText(value));
  else if (Array.isArray(value)) value.forEach((inner) => numbersOf(inner, out));
  else if (value instanceof JsonObject) value.entries.forEach(([, inner]) => numbersOf(inner, out));
  return out;
}

export async function checkJsonText(text: string): Promise<string> {
  const exact = outcomeOf(() => parseJson(text), JsonParseError);
  const plain = outcomeOf(() => JSON.parse(text) as unknown, SyntaxError);
  if (exact.error !== null) {
    if (plain.error !== null) return 'refused';
    law(text.includes('\\u'), 'what the runtime parses is parsed, but for halves of pairs');
    return 'half of a pair';
  }
  const { value } = exact;
  law(plain.error === null, 'what is parsed is JSON');
  law(JSON.stringify(toPlain(value)) === JSON.stringify(plain.value), 'the same value as the runtime finds');
  const written = stringifyJson(value);
  law(stringifyJson(parseJson(written)) === written, 'writing is stable');
  let chunked = '';
  for await (const chunk of jsonChunks(value)) chunked += chunk;
  law(chunked === written, 'chunks are the whole');
  law(
    JSON.stringify(JSON.parse(stringifyJson(value, 2))) === JSON.stringify(JSON.parse(written)),
    'indented, the same',
  );
  const numbers = numbersOf(value);
  law(numbers.join() === numbersOf(parseJson(written)).join(), 'numbers keep their text');
  for (const literal of numbers) {
    law(text.includes(literal), 'a number is one of the text');
    const satoshis = parseFixedPoint(literal, 8);
    if (satoshis !== null)
      law(
        Math.abs(Number(satoshis) / 1e8 - Number(literal)) <= Math.abs(Number(literal)) * 1e-9,
        'amounts are near',
      );
  }
  return isWellFormed(plain.value) ? 'value' : 'half of a pair let through';
}

export const jsonTarget: Target<string> = {
  name: 'JSON',
  make(random) {
    const text = randomBody(random);
    return random.chance(2) ? mutateBytes(random, Buffer.from(text)).toString('utf8') : text;
  },
  check: checkJsonText,
  show: (text) => JSON.stringify(text),
};
