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
        'Validates the LBRY chain, keeps it in a data folder, syncs with its peers and answers over JSON-RPC. It runs ' +
          'until it is stopped by SIGTERM, SIGINT or the method stop, and brings everything to disk before it ends; ' +
          'killing it loses nothing that it acknowledged.',
        'Options are written -name, -name=value or -noname, with one dash or two. The same names stand in the ' +
          'configuration file without the dash, for all networks or under a heading [main], [test] or [regtest]; the ' +
          'command line wins over the file.',
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
      taggedFile('~/.lbcnode/', 'The data folder, unless -datadir names another one.') +
        taggedFile(
          '~/.lbcnode/lbcnode.conf',
          'The configuration file; the package has a sample, contrib/lbcnode.conf.',
        ) +
        taggedFile('~/.lbcnode/testnet3/, ~/.lbcnode/regtest/', 'The data of the other networks.') +
        taggedFile('debug.log', "The log, in the network's data folder.") +
        taggedFile('.cookie', 'User and password for callers on this machine, new at each start.') +
        taggedFile('blocks/', 'The blocks, in the format of Bitcoin Core, and what undoes them.'),
    ),
    section('SIGNALS', tagged('.B SIGTERM', 'Stops the node cleanly.') + tagged('.B SIGINT', 'The same.')),
    section(
      'EXIT STATUS',
      paragraphs(
        '0 after a clean stop, 1 when it could not start or had to stop; a message on standard error says why.',
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
        'Sends one call to a node and prints its answer. Address and password come from the options, the configuration ' +
          'file of the node and the cookie in its data folder.',
        'Parameters that are no text are written as JSON. help lists the methods, help with the name of a method ' +
          'describes it.',
      ),
    ),
    section('OPTIONS', shown.map(({ name, valueName, help }) => entry(name, valueName, `${help}.`)).join('')),
    section(
      'EXIT STATUS',
      paragraphs(
        ' 0 when the call was answered. Otherwise the code of the error that the node answered with, without its sign, ' +
          'or 1 when there was no answer.',
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
