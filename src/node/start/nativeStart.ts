/**
 * Prepares the native addon at the start of the node: configures it, builds it, or reports that it is missing. An installed
 * package builds the addon at the first start and not during installation, because npm may not run a package's install
 * script.
 */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addonBuilder, addonRemedy, targetName } from '../../native/addonFiles.js';
import { loadNative, nativeUnavailableReason, reloadNative, type NativeAddon } from '../../native/binding.js';
import type { Logger } from '../../util/logging.js';
import type { LoadedOptions } from '../options/options.js';
import { makeFolder } from '../../util/files/makeFolder.js';

/**
 * Name of the environment variable with which an installed package is prevented from building the addon at startup (value
 * `0`).
 */
const BUILD_SWITCH = 'LBCNODE_NATIVE_BUILD';
/** Name of a file that marks a failed build although compilers exist. The next start does not repeat such a build. */
const FAILURE_MARK = 'build-failed';

/**
 * Selects the native addon or the JavaScript implementations, and logs the choice. Resolves to the addon; null for
 * JavaScript.
 */
export async function startNative(
  loaded: LoadedOptions,
  logger: Logger,
  signal: AbortSignal,
): Promise<NativeAddon | null> {
  const { scriptThreads, signatureCacheBytes } = loaded.derived;
  const native = loadNative() ?? (await buildMissingAddon(logger, signal));
  if (native === null) {
    const isSwitchedOff = process.env['LBCNODE_NATIVE'] === '0';
    const remedy = isSwitchedOff ? '' : addonRemedy();
    logger.warn(
      `The native addon is not in use (${nativeUnavailableReason()}): signatures are verified in ` +
        `JavaScript, about thirty times slower and on one thread instead of ${scriptThreads}; blocks are ` +
        'parsed and coins looked up in TypeScript; the database is read through classic-level, which ' +
        `verifies checksums only when it is opened, on one thread.${remedy && ` ${remedy}`}`,
    );
    return null;
  }
  native.setVerifyThreads(scriptThreads);
  native.setSignatureCacheBytes(signatureCacheBytes);
  logger.info(
    `native addon: libsecp256k1 ${native.secp256k1}, SHA-256 ${native.sha256Implementation}, ${scriptThreads} verification threads`,
  );
  return native;
}

/**
 * Builds the addon for an installed package that contains no prebuilt addon for this machine. Resolves to null if the build
 * is not possible. Never rejects.
 */
async function buildMissingAddon(logger: Logger, signal: AbortSignal): Promise<NativeAddon | null> {
  if (process.env['LBCNODE_NATIVE'] === '0' || process.env[BUILD_SWITCH] === '0') return null;
  const builder = addonBuilder();
  if (builder === null) return null;
  const mark = join(builder.folder, FAILURE_MARK);
  if (existsSync(mark)) {
    logger.info(`The native addon is not built again, because a previous build failed (${mark}).`);
    return null;
  }
  logger.info(
    `There is no native addon for ${targetName()} yet. It is being built if a compiler is installed; ` +
      'this takes about a minute.',
  );
  const { status, output } = await runBuilder(builder, signal);
  if (output !== '') logger.info(output);
  const addon = status === 0 ? reloadNative() : null;
  if (addon === null && !signal.aborted && !/no C(\+\+)? compiler found/.test(output))
    leaveMark(mark, output);
  return addon;
}

function runBuilder(
  { script, folder }: { script: string; folder: string },
  signal: AbortSignal,
): Promise<{ status: number | null; output: string }> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(process.execPath, [script, `--out=${folder}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', (error) => (output += error.message));
    child.on('close', (status) => resolve({ status, output: output.trim() }));
  });
}

function leaveMark(mark: string, output: string): void {
  try {
    makeFolder(join(mark, '..'));
    writeFileSync(mark, `${output}\n`);
  } catch {
    // The error is ignored: without the mark, the next start repeats the build.
  }
}
