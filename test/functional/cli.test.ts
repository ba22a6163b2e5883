/**
 * The command-line client against a real HTTP server: in this process for what it prints and returns, as a process of
 * its own for the rest. `LBCNODE_DIST` names another build than dist/.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { convertNamed, convertPositional } from '../../src/bin/cli/convert.js';
import { runCli } from '../../src/bin/cli/run.js';
import { rpcError } from '../../src/rpc/errors.js';
import { defineMethod, type RpcMethod } from '../../src/rpc/method.js';
import { t } from '../../src/rpc/schema.js';
import { RpcHttpServer } from '../../src/server/httpServer.js';
import { rawJson, stringifyJson, type JsonOut } from '../../src/util/jsonWrite.js';
import { SILENT_LOGGER } from '../../src/util/logging.js';
import { testDispatcher } from '../unit/rpc/support.js';

interface Outcome {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function answering(name: string, run: RpcMethod['run']): RpcMethod {
  return defineMethod({ name, category: 'hidden', summary: 'Test.', params: [], maxArgs: 9, result: t.any(), run });
}

const overview: Record<string, JsonOut> = {
  getnetworkinfo: {
    version: 1,
    protocolversion: 2,
    timeoffset: 0,
    connections: 3,
    networks: [{ proxy: 'p:1' }],
    relayfee: rawJson('0.00001000'),
    warnings: '',
  },
  getblockchaininfo: { chain: 'test', blocks: 7, difficulty: rawJson('4.656542373906925e-10') },
};

const EXTRA = [
  answering('t_null', () => null),
  answering('t_json', () => rawJson('{"a":[],"big":12345678901234567890,"amount":1.10000000,"e":1e-8,"s":"é\\"","n":null}')),
  answering('t_fail', () => {
    throw rpcError(-8, 'Invalid thing\nsecond line');
  }),
  answering('t_wallet', () => {
    throw rpcError(-19, 'Wallet file not specified');
  }),
  answering('t_where', (ctx) => ctx.walletName ?? null),
  ...Object.entries(overview).filter(([name]) => !declared(name)).map(([name, value]) => answering(name, () => value)),
];

