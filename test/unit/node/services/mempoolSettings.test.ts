/** Options of transaction relay: what each of them sets. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mempoolSettings } from '../../../../src/node/services/mempoolSettings.js';
import { loadOptions, parseCommandLine } from '../../../../src/node/options/options.js';

const folder = mkdtempSync(join(tmpdir(), 'mempool-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

function settings(...words: string[]): ReturnType<typeof mempoolSettings> {
  const command = parseCommandLine([`-datadir=${folder}`, ...words]);
  if (command.action !== 'run') throw new Error('the words ask for help');
  return mempoolSettings(loadOptions(command.args, folder));
}

describe('the options of relay', () => {
  it('have defaults', () => {
    expect(settings()).toMatchObject({
      minRelayFeeRatePerKb: 1000n,
      incrementalFeeRatePerKb: 1000n,
      allowsReplacement: true,
      requireStandard: true,
      standard: { maxDataCarrierBytes: 83, permitBareMultisig: true, dustFeeRatePerKb: 1000n },
      bytesPerSigop: 20,
    });
  });

  it.each<[string[], object]>([
    [['-regtest'], { requireStandard: false }],
    [['-regtest', '-acceptnonstdtxn=0'], { requireStandard: true }],
    [['-bytespersigop=7'], { bytesPerSigop: 7 }],
    [['-datacarrier=0'], { standard: { maxDataCarrierBytes: null } }],
    [['-datacarriersize=7'], { standard: { maxDataCarrierBytes: 7 } }],
    [['-dustrelayfee=0.00003'], { standard: { dustFeeRatePerKb: 3000n } }],
    [['-incrementalrelayfee=0.00002'], { incrementalFeeRatePerKb: 2000n, minRelayFeeRatePerKb: 2000n }],
    [['-incrementalrelayfee=0.000005'], { incrementalFeeRatePerKb: 500n, minRelayFeeRatePerKb: 1000n }],
    [['-incrementalrelayfee=0.00002', '-minrelaytxfee=0.00001'], { minRelayFeeRatePerKb: 1000n }],
    [['-minrelaytxfee=0.0001'], { minRelayFeeRatePerKb: 10_000n }],
    [['-permitbaremultisig=0'], { standard: { permitBareMultisig: false } }],
    [['-mempoolreplacement=0'], { allowsReplacement: false }],
    [['-mempoolreplacement=never'], { allowsReplacement: false }],
    [['-mempoolreplacement=fee,optin'], { allowsReplacement: true }],
  ])('are applied: %j', (words, expected) => {
    expect(settings(...words)).toMatchObject(expected);
  });
});
