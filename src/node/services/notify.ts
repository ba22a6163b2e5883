/** Runs the operator's commands for events: `-blocknotify`, `-walletnotify`, `-alertnotify`. Source: `runCommand`. */
import { spawn } from 'node:child_process';
import type { Chain } from '../../chain/chain.js';
import { fromLatin1, hashToHex } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import type { Wallets } from '../../wallet/wallets.js';
import { errorText } from '../start/closeStack.js';

/** Matches characters that are removed from a message before it is passed to a shell. Source: `SAFE_CHARS_DEFAULT`. */
const UNSAFE = /[^a-zA-Z0-9 .,;\-_/:?@()]/g;

/**
 * Runs a command in the shell and does not wait for its end; the command may outlive the node. It gets no input and shares
 * the node's output. A failure is logged.
 */
export function runCommand(command: string, logger: Logger, ended: () => void = () => undefined): void {
  const failed = (what: string): void => logger.warn(`runCommand error: system(${command}) ${what}`);
  try {
    const child = spawn(command, { shell: true, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', (error) => {
      failed(`could not be run: ${error.message}`);
      ended();
    });
    child.on('exit', (code, signal) => {
      if (code !== 0) failed(`returned ${code ?? signal}`);
      ended();
    });
    child.unref();
  } catch (error) {
    failed(`could not be run: ${errorText(error)}`);
    ended();
  }
}

/** Runs `command` for each new tip, with `%s` replaced by the block hash, except during the initial download. */
export function notifyBlocks(chain: Chain, command: string, logger: Logger): void {
  if (command === '') return;
  chain.events.on('tipChanged', ({ hash, initialDownload }) => {
    if (!initialDownload) runCommand(command.replaceAll('%s', hashToHex(hash)), logger);
  });
}

/** Maximum number of wallet commands that run concurrently, because a rescan may trigger thousands. Arbitrary. */
const MOST_COMMANDS = 16;

/**
 * Runs `command` for each new or changed wallet transaction, with `%s` replaced by the txid. Source: `CWallet::AddToWallet`.
 */
export function notifyWallets(wallets: Pick<Wallets, 'listen'>, command: string, logger: Logger): void {
  if (command === '') return;
  const waiting: string[] = [];
  let running = 0;
  const next = (): void => {
    while (running < MOST_COMMANDS) {
      const txid = waiting.shift();
      if (txid === undefined) return;
      running++;
      let isOver = false;
      runCommand(command.replaceAll('%s', txid), logger, () => {
        if (isOver) return;
        isOver = true;
        running--;
        next();
      });
    }
  };
  wallets.listen({
    transactionChanged(_wallet, { key }) {
      waiting.push(hashToHex(fromLatin1(key)));
      next();
    },
  });
}

/** Runs `command`, with `%s` replaced by the message quoted for the shell. Source: `AlertNotify`. */
export function notifyAlert(command: string, message: string, logger: Logger): void {
  if (command === '') return;
  const quoted = `'${message.replace(UNSAFE, '')}'`;
  runCommand(
    command.replaceAll('%s', () => quoted),
    logger,
  );
}
