/**
 * Files for operators generated from lbcnet's tables: the manual page and shell completions. This module returns only texts.
 * `scripts/generateRpcDocs.mjs` writes them to files, and a test compares them.
 */
import { bashDaemonCompletion, zshDaemonCompletion } from './completions.js';
import { daemonPage } from './manPage.js';

/** File names, relative to the root of the repository, with their texts. */
export function daemonOperatorFiles(): Readonly<Record<string, string>> {
  return {
    'man/lbcnet.1': daemonPage(),
    'contrib/completion/lbcnet.bash': bashDaemonCompletion(),
    'contrib/completion/_lbcnet': zshDaemonCompletion(),
  };
}
