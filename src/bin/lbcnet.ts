#!/usr/bin/env node
/** The program of the daemon for content and wallets, and the command line that asks it. */
import { runProgram } from '../daemon/main/program.js';

process.exitCode = await runProgram(process.argv.slice(2));
