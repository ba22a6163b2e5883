/**
 * A wallet of the Python lbry-sdk that runs the methods of its daemon. Each command is a line. `LBRYNET` is the program
 * `lbrynet` of a checkout that can run, with `python` in the same folder.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

const PROGRAM = `
import asyncio, json, sys
from lbry.wallet import Database, Headers
from lbry.wallet.account import Account
from lbry.wallet.manager import WalletManager
from lbry.wallet.wallet import ENCRYPT_ON_DISK, Wallet, WalletStorage

manager = WalletManager()
ledger = manager.get_or_create_ledger('lbc_regtest', {'db': Database(':memory:'), 'headers': Headers(':memory:')})

class Commands:
    def open(self, path):
        self.wallet = Wallet.from_storage(WalletStorage(path), manager)

    def account_create(self, name):
        account = Account.generate(ledger, self.wallet, name)
        self.wallet.save()
        return account.id

    def account_add(self, name, public_key):
        account = Account.from_dict(ledger, self.wallet, {
            'name': name, 'seed': None, 'private_key': None, 'public_key': public_key,
            'address_generator': {'name': 'single-address'}})
        self.wallet.save()
        return account.id

    def channel_key(self, address, pem):
        self.wallet.accounts[0].channel_keys[address] = pem
        self.wallet.save()

    def preference_set(self, key, value):
        self.wallet.preferences[key] = value
        self.wallet.save()

    def preferences(self):
        return self.wallet.preferences.to_dict_without_ts()

    def encrypt(self, password):
        return self.wallet.encrypt(password)

    def decrypt(self):
        return self.wallet.decrypt()

    def lock(self):
        return self.wallet.lock()

    def unlock(self, password):
        for account in self.wallet.accounts:
            if account.encrypted and not account.decrypt(password):
                return False
        self.wallet.encryption_password = password
        return True

    def account_ids(self):
        return [account.id for account in self.wallet.accounts]

    def sync_hash(self):
        return self.wallet.hash.hex()

    def sync_apply(self, password, data):
        changed = False
        if data is not None:
            added, merged = self.wallet.merge(manager, password, data)
            for account in [*added, *merged]:
                asyncio.run(account.maybe_migrate_certificates())
            changed = True
        if self.wallet.preferences.get(ENCRYPT_ON_DISK, False) and password != self.wallet.encryption_password:
            self.wallet.encryption_password = password
            changed = True
        if changed:
            self.wallet.save()
        return {'data': self.wallet.pack(password).decode(), 'hash': self.sync_hash()}

commands = Commands()
for line in sys.stdin:
    name, *arguments = json.loads(line)
    try:
        answer = {'result': getattr(commands, name)(*arguments)}
    except Exception as error:
        answer = {'error': type(error).__name__}
    print(json.dumps(answer), flush=True)
`;

/** Null if `LBRYNET` is not set. */
export function pythonOfSdk(): string | null {
  const lbrynet = process.env['LBRYNET'];
  return lbrynet ? join(dirname(lbrynet), 'python') : null;
}

export class PythonWallet {
  private readonly child: ChildProcess;
  private readonly lines: Interface;
  private readonly answers: AsyncIterator<string>;

  constructor(python: string) {
    this.child = spawn(python, ['-c', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout! });
    this.answers = this.lines[Symbol.asyncIterator]();
  }

  /** Throws an error with the name of Python's exception. */
  async call<Result = unknown>(name: string, ...args: readonly unknown[]): Promise<Result> {
    this.child.stdin!.write(`${JSON.stringify([name, ...args])}\n`);
    const { value, done } = await this.answers.next();
    if (done) throw new Error('Python has ended');
    const { result, error } = JSON.parse(value) as { result?: Result; error?: string };
    if (error !== undefined) throw new Error(error);
    return result as Result;
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.stdin!.end();
    await ended;
    this.lines.close();
  }
}
