/**
 * The program `lbcnet`: executes the command line. Source: lbry-sdk lbry/extras/cli.py `main`, `run_daemon`.
 */
import { EnvironmentError } from '../../util/text/environmentError.js';
import { JsonObject } from '../../util/json/json.js';
import { programVersion } from '../../util/project.js';
import type { HostPortSetting } from '../api/settings.js';
import { systemClock } from '../base/clock.js';
import { EngineLoad } from '../base/engineLoad.js';
import { requestOf, send, shownAnswer, withLocalPaths } from './callDaemon.js';
import { parseCommandLine, type CallCommand } from './commandLine.js';
import { DaemonSettings } from './settings/daemonSettings.js';
import { COMPATIBLE_VERSION } from './machineInfo.js';
import { parseServer } from './settings/settingKinds.js';
import { isWatched, WatchedCall } from './watchedCall.js';

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const printError = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs the program. Resolves to the exit code; for `start`, after the daemon has stopped. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  const command = parseCommandLine(argv);
  try {
    switch (command.kind) {
      case 'text':
        print(command.text);
        return 0;
      case 'version':
        print(`lbcnet ${programVersion()} (compatible with lbrynet ${COMPATIBLE_VERSION})`);
        return 0;
      case 'wrong':
        printError(command.text);
        return command.exitCode;
      case 'call': {
        if (command.notice !== null) print(command.notice);
        const settings = new DaemonSettings({ given: command.given, warn: () => undefined });
        const place = parseServer(settings.get('api'))!;
        return await runCall(command, place);
      }
      case 'start': {
        const engineLoad = new EngineLoad();
        // The daemon's modules are loaded only for the command `start`, since loading takes time.
        return await (await import('./runDaemon.js')).runDaemon(command, engineLoad);
      }
    }
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    printError(`Error: ${error.message}`);
    return 1;
  }
}

/**
 * Runs a call of the command line. On a terminal, stderr shows the progress of its transfer and, after `get`, of the
 * remaining download.
 */
async function runCall({ method, params: given }: CallCommand, place: HostPortSetting): Promise<number> {
  const params = withLocalPaths(given, process.cwd());
  const call = send(requestOf(method, params), place);
  const { stderr, stdout } = process;
  const watched =
    stderr.isTTY && isWatched(method)
      ? new WatchedCall({
          send: (name, asked) => send(requestOf(name, new JsonObject(Object.entries(asked))), place),
          terminal: stderr,
          clock: systemClock,
        })
      : null;
  const answer = await (watched?.until(method, params, call) ?? call);
  const shown = shownAnswer(answer, method);
  if (shown.text !== '') print(shown.text);
  // The progress bar is shown only on a terminal. In a script, the command does not wait for the end of the download.
  if (watched !== null && method === 'get' && stdout.isTTY) await watched.afterGet(answer);
  return shown.isError ? 1 : 0;
}
