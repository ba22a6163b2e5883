#!/usr/bin/env node
/** The daemon for content and wallets, and the command line that sends it requests. */
import { runProgram } from '../daemon/main/program.js';

process.exitCode = await runProgram(process.argv.slice(2));
