/** `/console`: calls an RPC method. For a method that visitors may not call, the page shows the command line instead. */
import type { VNode } from 'preact';
import { Notice, Section } from '../../page/components.js';
import { withQuery } from '../../page/links.js';
import { shownLine, shownText } from '../../page/text.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { OpenMethod } from '../messages.js';
import { AskError } from '../explorerRpcClient.js';
import {
  badRequest,
  notFound,
  type Near,
  type Page,
  type PageContext,
  type PageError,
} from '../pageContext.js';
import { nearestWord } from '../../util/nearest.js';

/** Maximum number of characters of a result that the page shows. */
const MAX_ANSWER_CHARS = 100_000;
/** Maximum number of characters of an argument. */
export const MAX_VALUE_CHARS = 2000;

/** Maximum number of characters of the name of an unknown method that the page shows. */
const MAX_METHOD_CHARS = 60;

/** Whether a parsed number may differ from its text, because it is too large: `1e400`, `12345678901234567890`. */
const isInexact = (value: unknown): boolean =>
  typeof value === 'number' && (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER);

/** Parses the text of an argument by the rules of the command line. Throws `PageError` if it is malformed. */
function valueOf(text: string, way: OpenMethod['params'][number]['cli'], name: string, form: Near): unknown {
  if (way === 'string' || (way === 'text' && !/^\s*["[{]/.test(text))) return text;
  let hasInexact = false;
  let value: unknown;
  try {
    value = JSON.parse(text, (_, part: unknown) => {
      hasInexact ||= isInexact(part);
      return part;
    });
  } catch {
    if (way === 'auto') return text;
    throw badRequest(`“${name}” must be JSON: a number, true or false, or an array or object.`, [form]);
  }
  if (hasInexact)
    throw badRequest(`“${name}” has a number that is too large: at most ${Number.MAX_SAFE_INTEGER}.`, [form]);
  return value;
}

/** Returns the path of the form of a method with the arguments of the query. */
const formLink = ({ name, params }: OpenMethod, query: URLSearchParams): string =>
  withQuery('/console', {
    method: name,
    ...Object.fromEntries(params.map((_, index) => [`p${index}`, query.get(`p${index}`) ?? undefined])),
  });

/** Returns the error page for an argument that is not a hash. For a height it links to the method that returns the hash. */
function notHash(name: string, text: string, form: Near): PageError {
  const isHeight = name.includes('block') && /^[0-9]{1,9}$/.test(text);
  return badRequest(
    `“${name}” must be a hash of 64 hexadecimal digits.${
      isHeight ? ` ${text} is a height: the method getblockhash returns the hash of the block.` : ''
    }`,
    isHeight
      ? [[withQuery('/console', { method: 'getblockhash', p0: text, run: 1 }), `getblockhash ${text}`], form]
      : [form],
  );
}

/**
 * Returns the positional parameters that the form contains. An empty parameter before a given one becomes null. Throws `PageError`
 * if a required one is empty or if one is malformed.
 */
export function paramsOf(method: OpenMethod, query: URLSearchParams): unknown[] {
  const form = [formLink(method, query), `The form of ${method.name}`] as const;
  const values: unknown[] = [];
  method.params.forEach(({ name, cli, isRequired, isHash }, index) => {
    const text = query.get(`p${index}`) ?? '';
    if (text === '' && isRequired) throw badRequest(`“${name}” is required, but it is empty.`, [form]);
    if (text === '') return;
    if (isHash && !/^[0-9a-f]{64}$/i.test(text)) throw notHash(name, text, form);
    while (values.length < index) values.push(null);
    values.push(valueOf(text, cli, name, form));
  });
  return values;
}

/** Quotes an argument for a shell, so that a text in a link cannot become a command when a visitor copies the line. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function MethodForm({
  method,
  query,
}: {
  readonly method: OpenMethod;
  readonly query: URLSearchParams;
}): VNode {
  return (
    <form class="filters" action="/console" method="get">
      <input type="hidden" name="method" value={method.name} />
      {method.params.map(({ name, description, isRequired }, index) => (
        <label title={description}>
          {name}
          {isRequired ? ' (required)' : ''}
          <input
            type="text"
            name={`p${index}`}
            value={query.get(`p${index}`) ?? ''}
            maxlength={MAX_VALUE_CHARS}
            required={isRequired}
          />
        </label>
      ))}
      <button type="submit" name="run" value="1">
        Call
      </button>
    </form>
  );
}

/** A member `warnings` that is not empty, in indented JSON. Texts in JSON have no line breaks. */
const WARNINGS = /^( *"warnings": )"(?:[^"\\]|\\.)+"/gm;

/** Text of an answer. Hides warnings of the node from visitors who cannot see them on `/node`. */
function textOf(answer: JsonOut, showsPeers: boolean): string {
  const text = stringifyJson(answer, 2);
  return showsPeers ? text : text.replaceAll(WARNINGS, '$1"shown to visitors on the machine of the node"');
}

async function answerOf(
  { askExactly, command, showsPeers }: PageContext,
  method: OpenMethod,
  query: URLSearchParams,
): Promise<VNode> {
  const params = paramsOf(method, query);
  const words = [
    method.name,
    ...params.map((param) => quoted(typeof param === 'string' ? param : JSON.stringify(param))),
  ];
  let shown: VNode;
  try {
    const text = textOf(await askExactly(method.name, ...params), showsPeers);
    shown = (
      <pre tabIndex={0}>
        <code>{shownText(text, MAX_ANSWER_CHARS)}</code>
      </pre>
    );
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    shown = (
      <Notice tone="warning">
        Error {error.code}: {shownText(error.message, 1000)}
      </Notice>
    );
  }
  return (
    <Section title="Answer">
      <p>
        The same on the command line: <code>{shownText(`${command} ${words.join(' ')}`, 1000)}</code>
      </p>
      {shown}
    </Section>
  );
}

const ALL_METHODS = ['/console', 'All open methods'] as const;

/** Returns the error page for a method that is not open. It has the command line for a method that exists. */
function notOpen({ command, methods, closedMethods }: PageContext, name: string): PageError {
  if (closedMethods.includes(name))
    return notFound(
      'This method is not open here',
      `The console calls only methods that read. On the machine of the node: ${command} ${name}`,
      [ALL_METHODS],
    );
  const open = methods.map((one) => one.name);
  const near = nearestWord(name.slice(0, MAX_METHOD_CHARS), open);
  return notFound(
    'There is no such method',
    `The node has no method “${shownLine(name, MAX_METHOD_CHARS)}”.`,
    [...(near === null ? [] : [[withQuery('/console', { method: near }), near] as const]), ALL_METHODS],
  );
}

export const consolePage: Page = async (context) => {
  const { query, methods } = context;
  const name = query.get('method') || null;
  const method = name === null ? null : methods.find((one) => one.name === name);
  if (method === undefined) throw notOpen(context, name ?? '');
  const answer = method !== null && query.get('run') === '1' ? await answerOf(context, method, query) : null;
  const categories = [...new Set(methods.map(({ category }) => category))].sort();
  return {
    title: method === null ? 'Console' : `Console: ${method.name}`,
    description: 'Try the reading methods of the node.',
    // An answer stays as it is while the visitor reads it.
    topics: answer === null ? ['tip'] : [],
    isLively: true,
    body: (
      <>
        <h1>{method === null ? 'Console' : <code>{method.name}</code>}</h1>
        {method === null ? (
          <>
            <p>
              Programs call methods of the node to get its data. These methods only read. Choose one to see
              its arguments and to call it.
            </p>
            {categories.map((category) => (
              <Section title={category}>
                <ul class="chips">
                  {methods
                    .filter((one) => one.category === category)
                    .map((one) => (
                      <li>
                        <a href={withQuery('/console', { method: one.name })}>{one.name}</a>
                      </li>
                    ))}
                </ul>
              </Section>
            ))}
          </>
        ) : (
          <>
            <p>
              <a href="/console">All methods</a>
            </p>
            <Section title="Call">
              <MethodForm method={method} query={query} />
            </Section>
            {answer}
            <Section title="Help">
              <pre tabIndex={0}>
                <code>{method.help}</code>
              </pre>
            </Section>
          </>
        )}
      </>
    ),
  };
};
