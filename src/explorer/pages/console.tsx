/** `/console`: calls an RPC method. For a method that visitors may not call, the page shows the command line instead. */
import type { VNode } from 'preact';
import { Notice, Section } from '../../page/components.js';
import { withQuery } from '../../page/links.js';
import { shownText } from '../../page/text.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { OpenMethod } from '../messages.js';
import { AskError } from '../explorerRpcClient.js';
import { badRequest, notFound, type Page, type PageContext } from '../pageContext.js';

/** Maximum number of characters of a result that the page shows. */
const MAX_ANSWER_CHARS = 100_000;
/** Maximum number of characters of an argument. */
export const MAX_VALUE_CHARS = 2000;

/** Whether a parsed number may differ from its text, because it is too large: `1e400`, `12345678901234567890`. */
const isInexact = (value: unknown): boolean =>
  typeof value === 'number' && (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER);

/** Parses the text of an argument by the rules of the command line. Throws `PageError` if it is malformed. */
export function valueOf(text: string, way: OpenMethod['params'][number]['cli'], name: string): unknown {
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
    throw badRequest(`“${name}” must be JSON: a number, true or false, or an array or object.`);
  }
  if (hasInexact)
    throw badRequest(`“${name}” has a number that is too large: at most ${Number.MAX_SAFE_INTEGER}.`);
  return value;
}

/** Returns the positional parameters that the form contains. An empty parameter before a given one becomes null. */
export function paramsOf({ params }: OpenMethod, query: URLSearchParams): unknown[] {
  const values: unknown[] = [];
  params.forEach(({ name, cli }, index) => {
    const text = query.get(`p${index}`) ?? '';
    if (text === '') return;
    while (values.length < index) values.push(null);
    values.push(valueOf(text, cli, name));
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

/** The command line for a method that is not open. Empty for a text that cannot be the name of a method. */
const lineOf = (command: string, name: string): string =>
  /^[a-z]{1,60}$/.test(name) ? ` On the machine of the node: ${command} ${name}` : '';

export const consolePage: Page = async (context) => {
  const { query, methods, command } = context;
  const name = query.get('method');
  const method = name === null ? null : methods.find((one) => one.name === name);
  if (method === undefined)
    throw notFound(
      'This method is not open here',
      `The console calls only methods that read.${lineOf(command, name ?? '')}`,
      [['/console', 'All open methods']],
    );
  const answer = method !== null && query.get('run') === '1' ? await answerOf(context, method, query) : null;
  const categories = [...new Set(methods.map(({ category }) => category))].sort();
  return {
    title: method === null ? 'Console' : `Console: ${method.name}`,
    description: 'Try the reading methods of the node.',
    topics: [],
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
