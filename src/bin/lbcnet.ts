#!/usr/bin/env node
/** The program `lbcnet`: the daemon for content and wallets, and the command line that sends requests to the daemon. */
import { setGrowthFactor } from '../util/memory/startNewSpace.js';

// V8 would double the new space while the code of the program is loaded.
setGrowthFactor(1);
const { runProgram } = await import('../daemon/main/program.js');
process.exitCode = await runProgram(process.argv.slice(2));
