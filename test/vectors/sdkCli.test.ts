/** The command line compared with lbry-sdk's (`../shared/conformance/sdk`): what each line sends, shows and ends with. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { requestOf, send, shownAnswer } from '../../src/daemon/main/callDaemon.js';
import { parseCommandLine } from '../../src/daemon/main/commandLine.js';
import { AcceptedDifferences } from '../support/acceptedDifferences.js';
import { checkAccepted, checkSdkVectors, differs, firstOf } from './sdkVectors.js';

const accepted = new AcceptedDifferences('sdkCli');
/** Commands of files whose methods take all filters of `file_list`. */
const FILE_COMMANDS = ['save', 'delete', 'set_status', 'reflect'];

interface CommandLine {
  readonly arguments: readonly string[];
  readonly sent: { method: string; path: string; content_type: string; body: string } | null;
  readonly exit: number | 'usage' | { readonly text?: string; readonly error?: string };
  readonly printed: string | boolean;
}

/** A server that stores the received request and sends the answer of the test. */
let reported = '';
let received: unknown = null;
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    received = {
      method: request.method,
      path: request.url,
      content_type: request.headers['content-type'],
      body,
    };
    response.end(reported);
  });
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

/** The output of the command. */
async function run(argv: readonly string[]): Promise<{ exit: number; printed: string; error: string }> {
  const command = parseCommandLine([`--api=127.0.0.1:${port}`, ...argv]);
  received = null;
  switch (command.kind) {
    case 'call': {
      const shown = shownAnswer(
        await send(requestOf(command.method, command.params), ['127.0.0.1', port]),
        command.method,
      );
      const lines = [command.notice, shown.text === '' ? null : shown.text].filter((line) => line !== null);
      return { exit: shown.isError ? 1 : 0, printed: lines.map((line) => `${line}\n`).join(''), error: '' };
    }
    case 'wrong':
      return { exit: command.exitCode, printed: '', error: command.text };
    case 'text':
      return { exit: 0, printed: command.text, error: '' };
    case 'version':
      return { exit: 0, printed: 'version', error: '' };
    case 'start':
      throw new Error('no line starts a daemon');
  }
}

checkSdkVectors('cli', {
  command: async (line) => {
    const { arguments: argv, sent, exit, printed } = line as unknown as CommandLine;
    reported = '{"result": "ok"}';
    const ours = await run(argv);
    if (sent !== null)
      return firstOf(differs(received, sent), differs(ours.exit, exit), differs(ours.printed, printed));
    if (received !== null)
      return accepted.unless(
        exit === 'usage' && argv[0] === 'file' && FILE_COMMANDS.includes(argv[1]!),
        'filters in all commands of files',
        `sent ${JSON.stringify(received)}`,
      );
    if (typeof exit === 'number')
      return firstOf(differs(ours.exit, exit), differs(ours.printed !== '', printed));
    if (exit === 'usage')
      return firstOf(
        differs(ours.exit, 1),
        accepted.unless(
          /^[^\n]+\n\nUsage:/.test(ours.error),
          'usage without a reason',
          differs(ours.error.slice(0, 6), 'Usage:'),
        ),
      );
    return firstOf(
      differs(ours.exit, 1),
      accepted.unless(
        exit.error === 'ValueError' && /neither a number/.test(ours.error),
        'line that ends with an exception',
        accepted.unless(
          exit.error === undefined && ours.error.startsWith(`${exit.text}\n`),
          'more than one line about a wrong option',
          differs(ours.error.trimEnd(), exit.text),
        ),
      ),
    );
  },
  output: async (line) => {
    const { answer, printed } = line as unknown as { answer: string | null; printed: string };
    reported = answer ?? '';
    const { text: shown } =
      answer === null
        ? shownAnswer(
            await send({ method: 'GET', path: '/', contentType: 'application/json', body: '' }, [
              '127.0.0.1',
              1,
            ]),
            'status',
          )
        : shownAnswer(
            await send({ method: 'GET', path: '/', contentType: 'application/json', body: '' }, [
              '127.0.0.1',
              port,
            ]),
            'status',
          );
    return differs(shown === '' ? '' : `${shown}\n`, printed);
  },
});

checkAccepted(accepted);
