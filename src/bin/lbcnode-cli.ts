#!/usr/bin/env node
/** `lbcnode-cli`: sends one command to a running node and prints the result. */
import { fitted } from '../node/display/fitted.js';
import { LAUNCHER, programCommand } from '../node/display/firstSteps.js';
import { homeFolder } from '../node/options/optionsConfig.js';
import { runCli } from './cli/run.js';
import { programVersion } from '../util/project.js';

// A closed output pipe, as with `| head`, is not an error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
// The exit status is set instead of calling exit, so that a long result is written completely to a pipe.
process.exitCode = await runCli(process.argv.slice(2), {
  out: (line) => void process.stdout.write(line),
  err: (text) => void process.stderr.write(fitted(text, process.stderr)),
  input: () => process.stdin.setEncoding('utf8') as AsyncIterable<string>,
  home: homeFolder(),
  version: programVersion(),
  commandOf: (name) => programCommand(name, process.argv[1] ?? '', process.cwd(), process.env[LAUNCHER]),
});
