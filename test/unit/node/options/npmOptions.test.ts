import { describe, expect, it } from 'vitest';
import { refuseSwallowed } from '../../../../src/node/options/npmOptions.js';
import { OptionError } from '../../../../src/node/options/optionArgs.js';

const START = { npm_package_name: 'lbcnode', npm_lifecycle_event: 'start' };

describe('options in front of the dashes of npm', () => {
  it('are refused, with the right command', () => {
    const env = { ...START, npm_config_regtest: 'true', npm_config_dbcache: '500', npm_config_listen: '' };
    expect(() => refuseSwallowed(env)).toThrow(OptionError);
    expect(() => refuseSwallowed(env)).toThrow(
      'npm interpreted --dbcache=500 --nolisten --regtest as its own options, and nothing was started. ' +
        'Put them after two dashes: npm start -- --dbcache=500 --nolisten --regtest',
    );
    expect(() => refuseSwallowed({ ...START, npm_config_reindex_chainstate: 'true' })).toThrow(
      '-- --reindex-chainstate',
    );
    expect(() => refuseSwallowed({ ...START, npm_config_notxindex: 'true' })).toThrow('-- --notxindex');
  });

  it.each([
    ['regtset', 'regtest'],
    ['reg-test', 'regtest'],
    ['tesnet', 'testnet'],
  ])('are refused if --%s was meant for a network', (word, network) => {
    expect(() => refuseSwallowed({ ...START, [`npm_config_${word}`]: 'true' })).toThrow(
      `npm interpreted --${word} as its own option, and nothing was started. Did you mean npm start -- --${network}?`,
    );
  });

  it('of other scripts and packages are ignored, and so are options of npm', () => {
    const env = { npm_config_regtest: 'true' };
    refuseSwallowed(env);
    refuseSwallowed({ ...env, npm_package_name: 'lbcnode', npm_lifecycle_event: 'test' });
    refuseSwallowed({ ...env, npm_package_name: 'another', npm_lifecycle_event: 'start' });
    refuseSwallowed({ ...START, npm_config_color: 'always' });
    refuseSwallowed({
      ...START,
      npm_config_proxy: 'http://h:1',
      npm_config_noproxy: '',
      npm_config_version: 'true',
      npm_config_color: '',
      npm_config_cache: '/x',
      npm_config_registry: 'https://h/',
      npm_config_nodedir: '/x',
      npm_config_user_agent: 'npm',
    });
  });
});
