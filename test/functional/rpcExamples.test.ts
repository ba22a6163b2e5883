/**
 * Every example of docs/rpc.md: a shell splits the line, the client sends it through a proxy to one regtest node, and the
 * received call must equal that of the curl line. The node must accept the form of each call; a placeholder such as "mytxid"
 * may be refused for its value.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../src/bin/cli/run.js';
import { RPC_ERROR } from '../../src/rpc/declare/errors.js';
import { METHODS } from '../../src/rpc/declare/methodTable.js';
import { projectFile } from '../../src/util/project.js';
import { EXAMPLE_NODE_ARGS } from '../support/exampleCalls.js';
import { examplesOf, sectionsOf, type DocExample } from './support/docExamples.js';
import { freePort, startRegtest, type RegtestNode } from './support/node.js';

interface Sent {
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Reply {
  readonly error: { readonly code: number; readonly message: string } | null;
}

/** Methods that end the node or write files. */
const NOT_FORWARDED = ['stop', 'backupwallet', 'dumpwallet'];
/** The node could not read the call. */
const UNREADABLE: readonly number[] = [
  RPC_ERROR.PARSE_ERROR,
  RPC_ERROR.INVALID_REQUEST,
  RPC_ERROR.INVALID_PARAMS,
  RPC_ERROR.METHOD_NOT_FOUND,
];
const UNREADABLE_TEXT =
  /\nUsage: |JSON value is not|JSON integer out of range|Expected type|Amount is not|Invalid amount/;
/** The reference removed them; they answer only that. */
const WITHOUT_EXAMPLE = ['estimatefee (documented, lbrycrd)', 'getclaimtrie'];

const reference = readFileSync(projectFile('docs/rpc.md'), 'utf8');
const examples = examplesOf(reference, 'lbcnode-cli');

let node: RegtestNode;
let proxy: Server;
let path = '/';
let sent: Sent[] = [];
let replies: Reply[] = [];

beforeAll(async () => {
  node = await startRegtest({ args: [...EXAMPLE_NODE_ARGS, '-hub', `-hubport=${await freePort()}`] });
  proxy = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const call = JSON.parse(body) as Sent;
      sent.push(call);
      if (NOT_FORWARDED.includes(call.method)) {
        response.end('{"result":null,"error":null,"id":1}');
        return;
      }
      void node.post(body, path).then(({ status, text }) => {
        replies.push(JSON.parse(text) as Reply);
        response.writeHead(status).end(text);
      });
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => proxy.close(resolve));
  await node.stop();
});

/** Runs an example. Returns the problem, or null. */
async function problemOf({ section, words, body }: DocExample): Promise<string | null> {
  const profile = /\((\w+)(?:, \w+)*\)$/.exec(section)?.[1] ?? 'documented';
  path = profile === 'documented' ? '/' : `/${profile}`;
  [sent, replies] = [[], []];
  let err = '';
  const { port } = proxy.address() as AddressInfo;
  const options = [`-datadir=${node.dataDir}`, '-regtest', '-rpcuser=u', '-rpcpassword=p'];
  await runCli([...options, `-rpcport=${port}`, ...words], {
    out: () => undefined,
    err: (text) => (err += text),
    input: () => Readable.from([]),
    home: null,
    version: '1',
  });
  const [call] = sent;
  if (call === undefined) return `nothing was sent: ${err}`;
  const { method, params } = JSON.parse(body) as Sent;
  if (section.split(' ')[0] !== method) return `stands in the section of another method`;
  const [ours, beside] = [call, { method, params }].map((one) => JSON.stringify([one.method, one.params]));
  if (ours !== beside) return `sends ${ours}, curl sends ${beside}`;
  if (NOT_FORWARDED.includes(method)) return null;
  const [reply] = replies;
  if (reply === undefined) return 'the node did not answer';
  const { error } = reply;
  if (error === null) return null;
  return UNREADABLE.includes(error.code) || UNREADABLE_TEXT.test(error.message)
    ? `the node cannot read it: ${error.code} ${error.message}`
    : null;
}

describe('docs/rpc.md', () => {
  it('has an example of each method', () => {
    const without = sectionsOf(reference).filter(
      (section) => !examples.some((example) => example.section === section),
    );
    expect(without).toEqual(WITHOUT_EXAMPLE);
    expect(examples.length).toBeGreaterThan(METHODS.length / 2);
  });

  it('has examples that the client and the node read, and that send what curl sends', async () => {
    const problems: string[] = [];
    for (const example of examples) {
      const problem = await problemOf(example);
      if (problem !== null) problems.push(`${example.line}: ${problem}`);
    }
    expect(problems).toEqual([]);
  });
});
