#!/usr/bin/env node
/** The program `lbcnet`: the daemon for content and wallets, and the command line that sends requests to the daemon. */
import { runProgram } from '../daemon/main/program.js';

process.exitCode = await runProgram(process.argv.slice(2));
