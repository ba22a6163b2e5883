/**
 * Default folders of the daemon. They are those of lbrynet, so that the daemon uses the files of an earlier lbrynet. Source:
 * lbry-sdk lbry/conf.py `get_linux_directories`, `get_darwin_directories`, `get_windows_directories`.
 */
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { encodeBase58 } from '../../script/base58.js';
import {
  EnvironmentError,
  failureReason,
  onFile,
  systemErrorCode,
} from '../../util/text/environmentError.js';
import { makeFolder } from '../../util/files/makeFolder.js';
import { isSpecialFile, refuseSpecialFile } from '../../util/files/specialFile.js';

export interface Folders {
  readonly data_dir: string;
  readonly wallet_dir: string;
  readonly download_dir: string;
}

/** Facts about the machine from which the default folders are derived. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export const thisMachine = (): Machine => ({
  platform: process.platform,
  home: homedir(),
  environment: process.env,
});

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

export function defaultFolders(machine: Machine): Folders {
  if (machine.platform === 'darwin') return darwinFolders(machine);
  return machine.platform === 'win32' ? windowsFolders(machine) : linuxFolders(machine);
}

function darwinFolders({ home }: Machine): Folders {
  return {
    data_dir: join(home, 'Library/Application Support/LBRY'),
    wallet_dir: join(home, '.lbryum'),
    download_dir: join(home, 'Downloads'),
  };
}

function windowsFolders({ home, environment }: Machine): Folders {
  const roaming = environment['APPDATA'] ?? join(home, 'AppData/Roaming');
  const local = environment['LOCALAPPDATA'] ?? join(home, 'AppData/Local');
  const download_dir = join(home, 'Downloads');
  const old = { data_dir: join(roaming, 'lbrynet'), wallet_dir: join(roaming, 'lbryum'), download_dir };
  if (isFolder(old.data_dir) || isFolder(old.wallet_dir)) return old;
  return { data_dir: join(local, 'lbry/lbrynet'), wallet_dir: join(local, 'lbry/lbryum'), download_dir };
}

function linuxFolders({ home, environment }: Machine): Folders {
  const download_dir = linuxDownloads(home, environment) ?? join(home, 'Downloads');
  const old = { data_dir: join(home, '.lbrynet'), wallet_dir: join(home, '.lbryum'), download_dir };
  if (isFolder(old.data_dir) || isFolder(old.wallet_dir)) return old;
  const data = environment['XDG_DATA_HOME'] || join(home, '.local/share');
  return { data_dir: join(data, 'lbry/lbrynet'), wallet_dir: join(data, 'lbry/lbryum'), download_dir };
}

/** Download folder in the configuration of the desktop environment; undefined if there is none. */
function linuxDownloads(home: string, environment: Machine['environment']): string | undefined {
  const file = join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'user-dirs.dirs');
  const named =
    existsSync(file) && !isSpecialFile(file)
      ? /XDG_DOWNLOAD_DIR=(.+)/.exec(readFileSync(file, 'utf8'))?.[1]
      : undefined;
  if (named !== undefined) return named.replaceAll('$HOME', home).replaceAll('"', '');
  return environment['XDG_DOWNLOAD_DIR'];
}

/** Expands `~` and variables in a path like a shell. Unknown variables are left unchanged. */
export function expandPath(path: string, { home, environment }: Machine): string {
  const expanded = path.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (text, braced?: string, plain?: string) => environment[braced ?? plain!] ?? text,
  );
  return expanded === '~' || expanded.startsWith('~/') ? home + expanded.slice(1) : expanded;
}

/** System error codes for missing permissions. */
const DENIED: ReadonlySet<string | null> = new Set(['EACCES', 'EPERM']);

/** Names of the folders whose creation is logged, by setting. */
const FOLDER_NAMES: Readonly<Record<string, string>> = { data_dir: 'data', wallet_dir: 'wallet' };

/**
 * Creates the folder if it is missing. Returns a line for the log if the folder was created, else null. Throws
 * `EnvironmentError` if the folder is not writable.
 */
export function ensureFolder(path: string, setting: string): string | null {
  try {
    const name = existsSync(path) ? undefined : FOLDER_NAMES[setting];
    makeFolder(path);
    accessSync(path, constants.W_OK);
    return name === undefined ? null : `Created a new ${name} folder at ${path}`;
  } catch (error) {
    const advice = DENIED.has(systemErrorCode(error))
      ? 'Give the user that runs lbcnet the permission'
      : 'Correct this';
    throw new EnvironmentError(
      `The folder ${path} is not writable: ${failureReason(error)}. ${advice}, or use another folder with ` +
        `--${setting.replaceAll('_', '-')}.`,
    );
  }
}

/** Length of the installation id in bytes. Source: lbry-sdk lbry/utils.py `generate_id`. */
const ID_BYTES = 48;

/**
 * Id of this installation from the file `install_id` of the data folder, which is created if missing. Throws
 * `EnvironmentError`.
 */
export function installationId(dataDir: string): string {
  const path = join(dataDir, 'install_id');
  return onFile(path, () => {
    refuseSpecialFile(path);
    const known = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
    if (known !== '') return known;
    const fresh = encodeBase58(randomBytes(ID_BYTES));
    writeFileSync(path, fresh);
    return fresh;
  });
}
