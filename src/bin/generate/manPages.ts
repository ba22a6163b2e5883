/** The manual pages of the node and its client, from the tables of options. */
import type { OptionRow } from '../../node/options/optionRow.js';
import { optionSentence } from '../../node/options/optionsHelp.js';
import type { CliOption } from '../cli/options.js';
import {
  entry,
  escapeRoff,
  example,
  page,
  paragraphs,
  section,
  tagged,
  taggedFile,
} from '../../util/text/roff.js';

/** A group of options in help, without hidden options. */
export interface OptionGroup {
  readonly heading: string;
  readonly rows: readonly OptionRow[];
}

export function nodePage(groups: readonly OptionGroup[]): string {
  return page('lbcnode', 'a full node for the LBRY chain', [
    section('SYNOPSIS', '.B lbcnode\n.RI [ options ]\n'),
    section(
      'DESCRIPTION',
      paragraphs(
        'Validates the LBRY chain, stores it in a data folder, syncs with peers and serves JSON-RPC. It runs ' +
          'until it is stopped by SIGTERM, SIGINT or the method stop, and then writes all data to disk before ' +
          'it exits. Killing it does not lose acknowledged data.',
        'Options are written -name, -name=value or -noname, with one dash or two. In the configuration file ' +
          'the same names are used without the dash, for all networks or under a heading [main], [test] or ' +
          '[regtest]. The command line overrides the file.',
      ),
    ),
    section(
      'OPTIONS',
      groups
        .map(
          ({ heading, rows }) =>
            `.SS ${escapeRoff(heading.replace(/:$/, ''))}\n` +
            rows.map((row) => entry(row.name, row.valueName, `${optionSentence(row)}.`)).join(''),
        )
        .join(''),
    ),
    section(
      'FILES',
      taggedFile('~/.lbcnode/', 'The data folder, unless -datadir specifies another one.') +
        taggedFile(
          '~/.lbcnode/lbcnode.conf',
          'The configuration file. The package contains a sample, contrib/lbcnode.conf.',
        ) +
        taggedFile('~/.lbcnode/testnet3/, ~/.lbcnode/regtest/', 'The data of the other networks.') +
        taggedFile('debug.log', "The log, in the network's data folder.") +
        taggedFile('.cookie', 'User name and password for clients on this machine, new at each start.') +
        taggedFile('blocks/', 'The blocks, in the format of Bitcoin Core, and their undo data.'),
    ),
    section(
      'SIGNALS',
      tagged('.B SIGTERM', 'Stops the node cleanly.') +
        tagged('.B SIGINT', 'Stops the node cleanly, like SIGTERM.'),
    ),
    section(
      'EXIT STATUS',
      paragraphs(
        '0 after a clean stop, 1 if the node could not start or stopped because of an error; a message on ' +
          'standard error gives the reason.',
      ),
    ),
    section('SEE ALSO', '.BR lbcnode\\-cli (1),\n.BR lbcnet (1)\n'),
  ]);
}

export function cliPage(options: readonly CliOption[]): string {
  const shown = options.filter(({ hidden }) => hidden !== true);
  return page('lbcnode-cli', 'call the methods of a running lbcnode', [
    section(
      'SYNOPSIS',
      '.B lbcnode\\-cli\n.RI [ options ]\n.I method\n.RI [ params ]\n.br\n.B lbcnode\\-cli\n.RI [ options ]\n' +
        '.B \\-named\n.I method\n.RI [ name = value ...]\n.br\n.B lbcnode\\-cli help\n.RI [ method ]\n',
    ),
    section(
      'DESCRIPTION',
      paragraphs(
        'Sends one call to a node and prints the result. Address and password come from the options, the ' +
          'configuration file of the node and the cookie in its data folder.',
        'Parameters other than strings are written as JSON. "help" lists the methods; "help <method>" describes one.',
      ),
    ),
    section('OPTIONS', shown.map(({ name, valueName, help }) => entry(name, valueName, `${help}.`)).join('')),
    section(
      'EXIT STATUS',
      paragraphs(
        " 0 if the call succeeded. Otherwise the error code of the node's response without its sign, or 1 if " +
          'there was no response.',
      ),
    ),
    section(
      'EXAMPLES',
      example('lbcnode-cli getblockchaininfo') +
        example('lbcnode-cli -named getclaimsforname name=mindblown') +
        example('lbcnode-cli -makerpcauth=alice'),
    ),
    section('SEE ALSO', '.BR lbcnode (1)\n'),
  ]);
}
