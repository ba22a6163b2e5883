/** The manual page of lbcnet, from the tables of settings and methods. */
import { GROUPS, type Group } from '../api/declaration.js';
import { DECLARATIONS } from '../api/declarations/table.js';
import { commandWords } from '../api/help.js';
import { example, escapeRoff, page, paragraphs, section, tagged, taggedFile } from '../../util/text/roff.js';
import { CALL_ROWS, START_FLAGS } from './commandLine.js';
import { SETTINGS } from './settings/settingsTable.js';
import { settingOptions } from './settings/settingWords.js';

type Row = readonly [name: string, text: string];

export function daemonPage(): string {
  return page('lbcnet', 'the daemon for content and wallets of the LBRY network', [
    section(
      'SYNOPSIS',
      '.B lbcnet start\n.RI [ options ]\n.br\n.B lbcnet\n.RI [ options ]\n.I command\n.RI [ arguments ]\n.br\n' +
        '.B lbcnet\n.RI [ options ]\n.I group command\n.RI [ arguments ]\n.br\n.B lbcnet\n.RI [ group \\~[ command ]]\n.B \\-\\-help\n',
    ),
    section(
      'DESCRIPTION',
      paragraphs(
        'Manages wallets and accounts, creates channels, streams, collections and supports, and resolves and ' +
          'searches claims. It is compatible with lbrynet of lbry-sdk.',
        '"start" runs the daemon until it is stopped by SIGTERM, SIGINT or the command stop. Every other ' +
          'command is sent to a running daemon, and its result is printed as JSON.',
      ),
    ),
    section('OPTIONS', optionRows([['--version, -v', 'show the version'], ...settingOptions(CALL_ROWS)])),
    section(
      'OPTIONS OF START',
      optionRows([...START_FLAGS, ...settingOptions(SETTINGS)]) +
        '.PP\n' +
        paragraphs(
          'Each setting can also be given in the settings file, by its name with _ instead of -, or in the ' +
            'environment as LBRY_NAME.',
        ),
    ),
    section(
      'COMMANDS',
      paragraphs('lbcnet group command --help describes the arguments of a command.') +
        commandRows(null) +
        (Object.keys(GROUPS) as Group[])
          .map((group) => `.SS ${escapeRoff(group)}\n${commandRows(group)}`)
          .join(''),
    ),
    section(
      'FILES',
      taggedFile(
        '<data_dir>/daemon_settings.yml',
        'The settings file, unless --config specifies another one.',
      ) +
        taggedFile('<data_dir>/lbcnet.log', 'The log.') +
        taggedFile('<wallet_dir>/wallets/default_wallet', 'The wallet that the first start creates.'),
    ),
    section(
      'EXIT STATUS',
      paragraphs(
        '0 if the command succeeded or the daemon was stopped, 1 if it failed or its arguments are wrong, 2 ' +
          'if the command does not exist.',
      ),
    ),
    section(
      'EXAMPLES',
      example('lbcnet start --lbryum-servers=localhost:50001') +
        example('lbcnet account balance') +
        example('lbcnet resolve lbry://@channel'),
    ),
    section('SEE ALSO', '.BR lbcnode (1),\n.BR lbcnode\\-cli (1)\n'),
  ]);
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;

function optionRows(rows: readonly Row[]): string {
  return rows
    .map(([option, text]) => {
      const [name, ...value] = option.split(' ');
      const shown = value.length === 0 ? '' : ` \\fI${escapeRoff(value.join(' '))}\\fR`;
      return tagged(`\\fB${escapeRoff(name!)}\\fR${shown}`, sentence(text));
    })
    .join('');
}

function commandRows(group: Group | null): string {
  const rows = DECLARATIONS.filter((declaration) => declaration.group === group).map((declaration): Row => [
    commandWords(declaration).at(-1)!,
    declaration.summary,
  ]);
  if (group === null) rows.unshift(['start', 'Start the daemon.']);
  return rows.map(([name, text]) => tagged(`.B ${escapeRoff(name)}`, text)).join('');
}
