/** Files for operators, checked by the programs that read them if these are installed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CLI_OPTIONS } from '../../../src/bin/cli/options.js';
import { parseConfigText } from '../../../src/node/options/configFile.js';
import { OPTION_GROUPS, OPTION_ROWS } from '../../../src/node/options/optionsTable.js';
import { SETTINGS } from '../../../src/daemon/main/settings/settingsTable.js';
import { METHODS } from '../../../src/rpc/declare/methodTable.js';
import { isInstalled } from '../../support/installed.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const path = (name: string): string => join(root, name);
const read = (name: string): string => readFileSync(path(name), 'utf8');

const hidden = new Set<string>(OPTION_GROUPS.hidden.map(({ name }) => name));
const shownOptions = OPTION_ROWS.filter(({ name }) => !hidden.has(name)).map(({ name }) => name);

describe('the sample configuration', () => {
  const text = read('contrib/lbcnode.conf');

  it('sets nothing until a comment sign is removed', () => {
    expect(parseConfigText(text)).toEqual([]);
  });

  it('applies appended settings to all networks', () => {
    expect(parseConfigText(`${text}rpcuser=a\n`)).toMatchObject([{ section: '', name: 'rpcuser' }]);
  });

  it('has every setting, by names that the node knows', () => {
    const open = text.replace(/^#(?=[a-z0-9-]+=)/gm, '');
    const entries = parseConfigText(open.replaceAll(/^(?:# .*|#)$/gm, ''));
    const known = new Set<string>(shownOptions);
    expect(entries.filter(({ name }) => !known.has(name))).toEqual([]);
    expect(entries.every(({ section }) => section === '')).toBe(true);
    const inFile = new Set(entries.map(({ name }) => name));
    const missing = OPTION_ROWS.filter(
      (row) => !hidden.has(row.name) && !('debugOnly' in row && row.debugOnly) && !inFile.has(row.name),
    );
    expect(missing.map(({ name }) => name).toSorted()).toEqual([
      '?',
      'conf',
      'daemon',
      'help-debug',
      'version',
    ]);
    expect(entries.find(({ name }) => name === 'dbcache')?.value).toBe('560');
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
  });
});

describe.each([
  ['lbcnode', shownOptions],
  ['lbcnode-cli', CLI_OPTIONS.filter((option) => option.hidden !== true).map(({ name }) => name)],
  ['lbcnet', SETTINGS.map(({ name }) => name.replaceAll('_', '-'))],
])('the manual page of %s', (program, names) => {
  const page = path(`man/${program}.1`);

  it('has every option', () => {
    const text = readFileSync(page, 'utf8');
    const dashes = program === 'lbcnet' ? '--' : '-';
    for (const name of names)
      expect(text, name).toContain(`\\fB${`${dashes}${name}`.replaceAll('-', '\\-')}\\fR`);
    // Only ASCII, because old terminals show other characters wrongly, and no text line that begins like a request of roff.
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    for (const line of text.split('\n'))
      expect(line).toMatch(/^(?:[^.']|$|\.(?:\\"|TH |SH |SS |TP$|PP$|BR? |I |RI |EX$|EE$|br$))/);
  });

  it.skipIf(!isInstalled('groff'))('groff formats it without a warning', () => {
    const { status, stderr, stdout } = spawnSync('groff', ['-ww', '-Tascii', '-P-cbou', '-man', page], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('SYNOPSIS');
  });

  it.skipIf(!isInstalled('man'))('man shows it', () => {
    const env = { ...process.env, MANWIDTH: '80', MANROFFSEQ: '', LC_ALL: 'C' };
    const { status, stderr, stdout } = spawnSync('man', ['--warnings', '-P', 'cat', '-l', page], {
      encoding: 'utf8',
      env,
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('DESCRIPTION');
  });

  it.skipIf(!isInstalled('mandoc'))('mandoc finds nothing wrong', () => {
    const { status, stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning', page], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });
});

/** Completions of bash for a line whose last word is being typed. As in bash, `=` is a separate word. */
function offered(...words: string[]): string[] {
  const completer = `_${words[0]!.replace('-', '_')}`;
  const file = words[0] === 'lbcnet' ? 'lbcnet' : 'lbcnode';
  const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ${completer}; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['--norc', '-c', script, 'bash', path(`contrib/completion/${file}.bash`), ...words],
    { encoding: 'utf8', cwd: root },
  );
  expect([status, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}

describe.skipIf(!isInstalled('bash'))('completion in bash', () => {
  it('is bound to both programs', () => {
    const { stdout } = spawnSync(
      'bash',
      [
        '--norc',
        '-c',
        `source "$1" && complete -p lbcnode lbcnode-cli`,
        'bash',
        path('contrib/completion/lbcnode.bash'),
      ],
      { encoding: 'utf8' },
    );
    expect(stdout).toBe('complete -F _lbcnode lbcnode\ncomplete -F _lbcnode_cli lbcnode-cli\n');
  });

  it('offers the options of the node and their values', () => {
    expect(offered('lbcnode', '-dbc')).toEqual(['-dbcache=']);
    expect(offered('lbcnode', '--dbc')).toEqual(['-dbcache=']);
    expect(offered('lbcnode', '-').length).toBe(shownOptions.length);
    expect(offered('lbcnode', '-compat', '=')).toEqual(['documented', 'lbrycrd', 'lbcd']);
    expect(offered('lbcnode', '-compat', '=', 'lb')).toEqual(['lbrycrd', 'lbcd']);
    expect(offered('lbcnode', '-conf', '=', 'package.j')).toEqual(['package.json']);
    expect(offered('lbcnode', '-datadir', '=', 'doc')).toEqual(['docs']);
    expect(offered('lbcnode', '-dbcache', '=', '5')).toEqual([]);
    expect(offered('lbcnode', 'getb')).toEqual([]);
  });

  it('offers options and methods of the client', () => {
    expect(offered('lbcnode-cli', '-rpcc')).toEqual([
      '-rpccert=',
      '-rpcclienttimeout=',
      '-rpcconnect=',
      '-rpccookiefile=',
    ]);
    expect(offered('lbcnode-cli', 'getclaimsforna')).toEqual(
      [...new Set(METHODS.map(({ name }) => name))]
        .filter((name) => name.startsWith('getclaimsforna'))
        .toSorted(),
    );
    expect(offered('lbcnode-cli', '-datadir', '=', '/srv', '-regtest', 'uptim')).toEqual(['uptime']);
    expect(offered('lbcnode-cli', 'help', 'uptim')).toEqual(['uptime']);
    expect(offered('lbcnode-cli', 'getblock', 'uptim')).toEqual([]);
    expect(offered('lbcnode-cli', '')).not.toContain('echojson');
  });

  it('offers groups, commands, arguments and settings of lbcnet', () => {
    expect(offered('lbcnet', 'acc')).toEqual(['account']);
    expect(offered('lbcnet', 'sta')).toEqual(['start', 'status']);
    expect(offered('lbcnet', '')).toContain('resolve');
    expect(offered('lbcnet', 'account', 'b')).toEqual(['balance']);
    expect(offered('lbcnet', 'account', 'balance', '--conf')).toEqual(['--confirmations=']);
    expect(offered('lbcnet', '--api', 'localhost', 'account', 'ba')).toEqual(['balance']);
    expect(offered('lbcnet', 'start', '--no-save')).toEqual([
      '--no-save-blobs',
      '--no-save-files',
      '--no-save-resolved-claims',
    ]);
    expect(offered('lbcnet', 'start', '--data-dir', '=', 'doc')).toEqual(['docs']);
    expect(offered('lbcnet', 'start', '--tcp-port', '=', '4')).toEqual([]);
    expect(offered('lbcnet', '--ver')).toEqual(['--version']);
    expect(offered('lbcnet', 'status', '')).toEqual(['--help']);
  });
});

describe('completion in zsh', () => {
  const file = path('contrib/completion/_lbcnode');

  it('names every option and method', () => {
    const text = readFileSync(file, 'utf8');
    expect(text.startsWith('#compdef lbcnode lbcnode-cli\n')).toBe(true);
    for (const name of shownOptions.filter((name) => name !== '?'))
      expect(text, name).toMatch(new RegExp(`^ +'\\*?-${name}(?:=-)?\\[`, 'm'));
    expect(text).toMatch(/\bgetclaimsforname\b/);
  });

  it.skipIf(!isInstalled('zsh'))('zsh can read it', () => {
    const { status, stderr } = spawnSync('zsh', ['-n', file], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe('the systemd unit', () => {
  const unit = read('contrib/systemd/lbcnode.service');

  it('starts the node with options that it has', () => {
    const command = /^ExecStart=(.*)$/m.exec(unit)![1]!.split(' ');
    expect(command.shift()).toBe('/usr/bin/lbcnode');
    const known = new Set<string>(shownOptions);
    for (const word of command) {
      const given = /^-([a-z0-9-]+)/.exec(word)![1]!;
      const name = known.has(given) ? given : given.replace(/^no/, '');
      expect(known.has(name), word).toBe(true);
    }
    // V8 needs memory that is both writable and executable.
    expect(unit).not.toMatch(/^MemoryDenyWriteExecute=/m);
  });

  it.skipIf(!isInstalled('systemd-analyze'))('systemd finds nothing wrong with it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lbcnode-unit-'));
    const file = join(folder, 'lbcnode.service');
    // The path of the program is replaced and the manual page ignored, because neither is installed here.
    writeFileSync(file, unit.replace('/usr/bin/lbcnode', process.execPath));
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect(stdout + stderr).toBe('');
    expect(status).toBe(0);
  });
});

/** Completions of zsh: runs the file with replaced commands of the completion system. */
function offeredByZsh(...words: string[]): string[] {
  const script = `
    compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@" }
    compset() { : }
    _files() { print -- files }
    local file=$1; shift
    local -a words; words=("$@"); local CURRENT=$#words
    source $file`;
  const { status, stdout, stderr } = spawnSync(
    'zsh',
    ['-f', '-c', `run() { ${script}\n}; run "$@"`, 'zsh', path('contrib/completion/_lbcnet'), ...words],
    { encoding: 'utf8' },
  );
  expect([status, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line.startsWith(words.at(-1)!));
}

describe.skipIf(!isInstalled('zsh'))('completion in zsh', () => {
  it.each(['_lbcnode', '_lbcnet'])('has no errors (%s)', (name) => {
    const file = path(`contrib/completion/${name}`);
    const { status, stderr } = spawnSync('zsh', ['-f', '-n', file], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('offers groups, commands, arguments and settings of lbcnet', () => {
    expect(offeredByZsh('lbcnet', 'acc')).toEqual(['account']);
    expect(offeredByZsh('lbcnet', 'account', 'b')).toEqual(['balance']);
    expect(offeredByZsh('lbcnet', 'account', 'balance', '--conf')).toEqual(['--confirmations=']);
    expect(offeredByZsh('lbcnet', 'start', '--tcp')).toEqual(['--tcp-port=']);
    expect(offeredByZsh('lbcnet', '--ver')).toEqual(['--version']);
  });
});
