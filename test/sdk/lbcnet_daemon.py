"""
A pytest plugin that replaces the daemon by lbcnet in the integration tests of lbry-sdk. Each call of `daemon.jsonrpc_*`
becomes an HTTP request to lbcnet, which runs as its own process. Tests also read the wallet of their own process. That
watching wallet uses the same wallet file and the same hub, and writes nothing. After calls that change wallets it reads the
files again. Waits for a transaction wait for both wallets.

Files are those of lbcnet; `lbcnet_files` provides them to the tests. The blob server and the reflector are those of the
reference, in the process of the tests.

    LBCNODE=<dist/bin/lbcnode.js> LBCNET=<dist/bin/lbcnet.js> pytest -p lbcnode_stack -p lbcnet_daemon tests/integration/...
"""
import asyncio
import builtins
import inspect
import json
import os
import signal
import socket
import subprocess
import time
import types
import urllib.request
from binascii import unhexlify

import film
import lbcnet_background
import lbcnet_files

PROGRAM = os.environ['LBCNET']
NODE = os.environ.get('LBCNODE_NODE', 'node')
#: LBC for one unit of the currency, as in the tests of lbry-sdk.
RATES = ('USD=2', 'BTC=1')
#: Age in seconds from which the reference no longer uses a rate.
RATES_ARE_OLD_SEC = 350
#: Fee for each character of a name in these tests, in dewies.
FEE_PER_NAME_CHAR = '200000'
FILM = film.Film()
#: Factor for the time limits of `get` in the tests. They are two seconds. On a busy machine a descriptor may take longer.
GET_TIMES = 10
#: Maximum seconds until lbcnet has a transaction of the watching wallet. It never gets transactions of other wallets.
FOLLOWS_SEC = 10
LOOK_SEC = 0.02


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


def error_of(error):
    """Returns the exception of the reference with the name in an error answer."""
    from lbry import error as errors
    data = error.get('data') or {}
    name = data.get('name') if isinstance(data, dict) else None
    kind = getattr(errors, name or '', None) or getattr(builtins, name or '', None) or Exception
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = Exception
    made = kind.__new__(kind)
    made.args = (error['message'],)
    return made


class TxRef:
    def __init__(self, daemon, txid, height):
        self.daemon = daemon
        self.id = txid
        self.height = height

    @property
    def tx(self):
        return self.daemon.transaction(self.id)


class Item(dict):
    """An object of an answer. Its fields are also attributes, as in the objects of the reference."""

    def __init__(self, daemon, value):
        super().__init__((key, wrap(daemon, one)) for key, one in value.items())
        self.__dict__['_daemon'] = daemon

    @property
    def id(self):
        return self['id'] if 'id' in self else self['txid']

    @property
    def claim_name(self):
        return self['name']

    @property
    def amount(self):
        from lbry.wallet.dewies import lbc_to_dewies
        return lbc_to_dewies(self['amount'])

    @property
    def has_private_key(self):
        return self.get('has_signing_key', False)

    @property
    def accounts(self):
        return self._daemon.wallet_manager.get_wallet_or_error(self['id']).accounts

    @property
    def default_account(self):
        return self.accounts[0]

    @property
    def private_key(self):
        return self._daemon.channel_key(self['claim_id'])

    @property
    def tx_ref(self):
        return TxRef(self._daemon, self['txid'], self['height'])

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        if name in self:
            return self[name]
        if 'txid' in self and 'nout' in self:
            return getattr(self._daemon.transaction(self['txid']).outputs[self['nout']], name)
        raise AttributeError(f'the answer of lbcnet has no {name}')


class FileItem(lbcnet_files.Files, Item):
    def __getattr__(self, name):
        return self.now(name) if name in lbcnet_files.LIVE else super().__getattr__(name)


def made_transaction(daemon, answer):
    """Creates a transaction of the reference whose JSON is the answer of lbcnet."""
    from lbry.wallet import Transaction

    class Made(Transaction):
        @property
        def input_sum(self):
            from lbry.wallet.dewies import lbc_to_dewies
            # lbcnet shows the payment for a file without its inputs.
            known = self.answer if float(self.answer['total_input']) else daemon.transaction(self.id).answer
            return lbc_to_dewies(known['total_input'])

        async def sign(self, *args, **kwargs):
            # The serialized transaction does not contain the spent outputs.
            for spent in self.inputs:
                outputs = daemon.transaction(spent.txo_ref.tx_ref.id).outputs
                spent.txo_ref = outputs[spent.txo_ref.position].ref
            await super().sign(*args, **kwargs)

    # lbcnet has verified the merkle branch of each transaction that it shows with a height.
    made = Made(unhexlify(answer['hex']), height=answer['height'], is_verified=answer['height'] > 0)
    made.answer = answer
    shown = answer['outputs']
    if shown and shown[0].get('type') == 'purchase':
        made.outputs[0].purchase = made.outputs[1]
    return made


def wrap(daemon, value):
    if isinstance(value, dict):
        if 'hex' in value and 'txid' in value and 'outputs' in value:
            return made_transaction(daemon, value)
        return (FileItem if lbcnet_files.is_file(value) else Item)(daemon, value)
    if isinstance(value, list):
        return [wrap(daemon, one) for one in value]
    return value


def dumps_pretty(value, ledger):
    """Formats a value as JSON: objects from lbcnet as lbcnet formatted them, others by the reference's encoder."""
    from lbry.extras.daemon.json_response_encoder import JSONResponseEncoder
    encoder = JSONResponseEncoder(ledger=ledger)
    return json.dumps({'result': value}, default=lambda one: getattr(one, 'answer', None) or encoder.default(one))


class MarketFeed:
    """Exchange rates, which are a setting of lbcnet. If a test makes the rates too old, the setting is emptied."""

    def __init__(self, daemon):
        self.__dict__.update(daemon=daemon, last_check=time.time())

    def __setattr__(self, name, value):
        self.__dict__[name] = value
        if name == 'last_check' and value < time.time() - RATES_ARE_OLD_SEC:
            self.daemon.call('settings_set', {'key': 'exchange_rates', 'value': []})


class Components:
    """The two components that tests use: the wallet, and the exchange rates."""

    def __init__(self, daemon):
        self.daemon = daemon

    def get_component(self, name):
        if name == 'wallet':
            return types.SimpleNamespace()
        if name == 'exchange_rate_manager':
            return types.SimpleNamespace(market_feeds=[MarketFeed(self.daemon)])
        raise NotImplementedError(f'{name} is in another process')


#: Methods after which the watching process reads its wallets again.
CHANGES_WALLETS = {
    'account_create', 'account_add', 'account_remove', 'account_set', 'sync_apply', 'wallet_import', 'wallet_create',
    'wallet_add', 'wallet_remove', 'channel_import', 'channel_create', 'channel_update', 'preference_set',
}


#: Methods of the reference that are not coroutines.
ANSWERS_AT_ONCE = {
    'version', 'settings_get', 'settings_set', 'settings_clear', 'preference_get', 'preference_set', 'wallet_list',
    'wallet_status', 'wallet_lock', 'wallet_decrypt', 'wallet_encrypt', 'account_remove', 'account_set', 'sync_hash',
    'tracemalloc_enable', 'tracemalloc_disable', 'tracemalloc_top',
}


class LbcnetDaemon:
    """Implements `jsonrpc_*` by calls of lbcnet. Methods are coroutines if those of the reference's `Daemon` are."""

    def __init__(self, conf, wallet_node, hub):
        self.conf = lbcnet_files.Conf(self, conf)
        self.wallet_node = wallet_node
        self.hub = hub
        self.component_manager = Components(self)
        self.port = free_port()
        self.process = None
        self.known_keys = {}
        self.is_space_measured = False
        self.published_at = 0
        self.folder = os.path.join(wallet_node.data_path, 'lbcnet')
        self.blob_manager = lbcnet_files.BlobManager(self)
        self.storage = lbcnet_files.Storage(self)
        self.file_manager = lbcnet_files.FileManager(self)
        self.streaming_runner = lbcnet_files.StreamingRunner()

    @property
    def wallet_manager(self):
        return self.wallet_node.manager

    @property
    def ledger(self):
        return self.wallet_node.ledger

    def __getattr__(self, name):
        from lbry.extras.daemon.daemon import Daemon
        if name == 'get_dewies_or_error':
            return Daemon.get_dewies_or_error
        if not name.startswith('jsonrpc_'):
            raise NotImplementedError(f'{name} is in another process')
        method = getattr(Daemon, name)
        signature = inspect.signature(method)

        def params(arguments, named):
            bound = signature.bind(None, *arguments, **named).arguments
            bound.pop('self')
            for parameter in signature.parameters.values():
                if parameter.kind == parameter.VAR_KEYWORD:
                    bound.update(bound.pop(parameter.name, {}))
                elif parameter.kind == parameter.VAR_POSITIONAL:
                    # The positional arguments are those of `txo_list`.
                    names = list(inspect.signature(Daemon.jsonrpc_txo_list).parameters)[1:]
                    bound.update(zip(names, bound.pop(parameter.name, ())))
            return {key: value for key, value in bound.items() if value is not None}

        async def ask(*arguments, **named):
            if self.process is None and name == 'jsonrpc_file_list':
                # The test stopped the file manager, so the program has ended.
                return wrap(self, {'items': [], 'total_items': 0})
            self.send_keys()
            given = params(arguments, named)
            if name == 'jsonrpc_file_delete':
                await lbcnet_files.uploads_end(self)
            if name == 'jsonrpc_get' and 'timeout' in given:
                given['timeout'] *= GET_TIMES
            if name == 'jsonrpc_stream_create':
                await lbcnet_files.second_ends(self.published_at)
            if name == 'jsonrpc_status' and not self.is_space_measured:
                # The reference measures the disk usage at the first call, lbcnet at its start.
                self.is_space_measured = True
                self.call('blob_clean')
            answer = await asyncio.get_running_loop().run_in_executor(None, self.call, name[8:], given)
            if name == 'jsonrpc_stream_create':
                self.published_at = int(time.time())
            if name in ('jsonrpc_channel_create', 'jsonrpc_channel_update') and not given.get('preview'):
                try:
                    key = self.channel_key(answer.outputs[0].claim_id, given.get('wallet_id'))
                    answer.outputs[0].private_key = key
                except ValueError:
                    # The wallet does not own the channel.
                    pass
            if name[8:] in CHANGES_WALLETS:
                await self.follow_wallets()
            return answer

        def ask_at_once(*arguments, **named):
            answer = self.call(name[8:], params(arguments, named))
            if name[8:] in CHANGES_WALLETS:
                for account in self.read_wallets():
                    asyncio.ensure_future(self.ledger.subscribe_account(account))
            return answer

        return ask_at_once if name[8:] in ANSWERS_AT_ONCE else ask

    def call(self, method, params=None):
        """Calls a method of lbcnet. Raises the exception of the reference."""
        body = json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params or {}}).encode()
        request = urllib.request.Request(f'http://127.0.0.1:{self.port}/', body)
        try:
            with urllib.request.urlopen(request, timeout=100) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            text = error.read()
        reply = json.loads(FILM.shown(text))
        if reply.get('error'):
            raise error_of(reply['error'])
        return wrap(self, reply['result'])

    def channel_key(self, claim_id, wallet_id=None):
        import base58
        from lbry.wallet.bip32 import PrivateKey
        exported = self.call('channel_export', {'channel_id': claim_id, 'wallet_id': wallet_id})
        return PrivateKey.from_pem(self.ledger, json.loads(base58.b58decode(exported))['signing_private_key'])

    async def start(self):
        node = self.wallet_node
        for wallet in node.manager.wallets:
            wallet.save()
            only_watch(wallet)
        node.ledger.lbcnet = self
        self.known_keys = keys_of(node.manager)
        os.mkdir(self.folder)
        conf = self.conf
        settings = {
            'download_dir': node.data_path,
            'streaming_server': f'{conf.streaming_host}:{conf.streaming_port}',
            'save_files': conf.save_files,
            'reflector_servers': [f'{host}:{port}' for host, port in conf.reflector_servers],
            'fixed_peers': [f'{host}:{port}' for host, port in conf.fixed_peers],
            'blob_lru_cache_size': conf.blob_lru_cache_size,
            'components_to_skip': ['dht', 'upnp', 'hash_announcer', 'peer_protocol_server', 'libtorrent_component'],
            'http_blob_servers': [],
            'tracker_servers': [],
            'exchange_rates': RATES,
        }
        with open(os.path.join(self.folder, 'conf.yml'), 'w', encoding='utf-8') as file:
            json.dump(settings, file)
        await self.run()

    async def run(self, *options, **environment):
        node, folder = self.wallet_node, self.folder
        command = [
            NODE, PROGRAM, 'start', f'--config={folder}/conf.yml', f'--data-dir={folder}', f'--wallet-dir={node.data_path}',
            f'--api=127.0.0.1:{self.port}', '--network-interface=127.0.0.1',
            '--blockchain-name=lbrycrd_regtest', f'--lbryum-servers={self.hub.hostname}:{self.hub.port}',
            *(f'--wallets={wallet.id}' for wallet in node.manager.wallets), *options,
        ]
        self.output = os.path.join(folder, 'output')
        with open(self.output, 'ab') as output:
            self.process = subprocess.Popen(
                command, stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                env={**os.environ, 'LBRY_FEE_PER_NAME_CHAR': FEE_PER_NAME_CHAR, **environment})
        for _ in range(15_000):
            if self.process.poll() is not None:
                with open(self.output, encoding='utf-8', errors='replace') as output:
                    raise Exception(f'lbcnet ended: {output.read()[-2000:]}')
            try:
                if self.call('status')['is_running']:
                    return
            except OSError:
                pass
            await asyncio.sleep(LOOK_SEC)
        raise Exception('lbcnet does not answer')

    async def stop(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            await asyncio.get_running_loop().run_in_executor(None, self.process.wait, 30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def transaction(self, txid):
        return self.call('transaction_show', {'txid': txid})

    async def broadcast_or_release(self, tx, blocking=False):
        await self.ledger.broadcast(tx)
        if blocking:
            await self.ledger.wait(tx)

    async def watches_again(self):
        """Reconnects the watching wallet after a restart of the hub, which it may not have noticed."""
        import lbcnode_stack
        network = self.ledger.network
        if network.running and network.restarts != lbcnode_stack.restarts:
            await lbcnode_stack.reconnected(network)
            await self.ledger._update_tasks.done.wait()

    async def at_height(self, height):
        end = time.monotonic() + lbcnet_files.WAIT_SEC
        while time.monotonic() < end:
            if self.call('status')['wallet']['blocks'] >= height:
                return
            await asyncio.sleep(LOOK_SEC)

    async def knows(self, txid, height=-1):
        """Waits until a wallet of lbcnet has the transaction at this height or a larger one."""
        end = time.monotonic() + FOLLOWS_SEC
        question = {'txid': txid, 'is_my_input_or_output': True}
        while time.monotonic() < end:
            for wallet in self.call('wallet_list')['items']:
                for item in self.call('txo_list', {**question, 'wallet_id': wallet['id']})['items']:
                    if height <= 0 or item['height'] >= height:
                        return
            await asyncio.sleep(LOOK_SEC)

    def read_wallets(self):
        """Reads the files of the watching wallets again. Returns the new accounts."""
        from lbry.wallet import Account, Wallet
        from lbry.wallet.wallet import WalletStorage
        manager, added = self.wallet_manager, []
        loaded = [wallet['id'] for wallet in self.call('wallet_list', {'page_size': 1000})['items']]
        manager.wallets[:] = [wallet for wallet in manager.wallets if wallet.id in loaded]
        for wallet_id in loaded:
            path = os.path.join(self.wallet_node.data_path, 'wallets', wallet_id)
            wallet = next((one for one in manager.wallets if one.id == wallet_id), None)
            if wallet is None:
                wallet = Wallet(storage=WalletStorage(path))
                only_watch(wallet)
                manager.wallets.append(wallet)
            with open(path, encoding='utf-8') as file:
                text = json.load(file)
            wallet.preferences.data = text.get('preferences', {})
            known, present = {account.id: account for account in wallet.accounts}, []
            for saved in text['accounts']:
                read = Account.from_dict(self.ledger, Wallet(), saved)
                account = known.get(read.id)
                if account is None:
                    account = Account.from_dict(self.ledger, wallet, saved)
                    added.append(account)
                account.name, account.channel_keys = read.name, read.channel_keys
                present.append(account)
            wallet.accounts[:] = present
        live = [account for wallet in manager.wallets for account in wallet.accounts]
        self.ledger.accounts[:] = [account for account in self.ledger.accounts if account in live]
        self.known_keys = keys_of(manager)
        return added

    async def follow_wallets(self):
        for account in self.read_wallets():
            await self.ledger.subscribe_account(account)
        await self.ledger._update_tasks.done.wait()

    def send_keys(self):
        """Sends channel keys that a test added to the watching wallet to lbcnet."""
        if self.known_keys == keys_of(self.wallet_manager):
            return
        for wallet in self.wallet_manager.wallets:
            self.call('wallet_import', {'data': json.dumps(wallet.to_dict()), 'wallet_id': wallet.id})
        self.known_keys = keys_of(self.wallet_manager)


def keys_of(manager):
    return {account.id: dict(account.channel_keys) for wallet in manager.wallets for account in wallet.accounts}


def only_watch(wallet):
    """Disables writes of the wallet file, because lbcnet writes it."""
    wallet.storage.write = lambda _: None


def pytest_configure(config):
    from lbry import testcase
    from lbry.conf import Config
    from lbry.extras.daemon import components
    from lbry.stream import background_downloader
    from lbry.wallet import Ledger
    from lbry.wallet.orchstr8.node import WalletNode
    case, integration = testcase.CommandTestCase, testcase.IntegrationTestCase

    async def add_daemon(self, wallet_node=None, seed=None):
        is_own = wallet_node is None
        if is_own:
            wallet_node = WalletNode(
                self.wallet_node.manager_class, self.wallet_node.ledger_class, port=self.extra_wallet_node_port)
            self.extra_wallet_node_port += 1
        upload_dir = os.path.join(wallet_node.data_path, 'uploads')
        os.mkdir(upload_dir)
        conf = Config(
            data_dir=wallet_node.data_path, wallet_dir=wallet_node.data_path, download_dir=wallet_node.data_path,
            save_files=True, reflector_servers=[('127.0.0.1', 5566)], fixed_peers=[('127.0.0.1', 5567)],
            blob_lru_cache_size=self.blob_lru_cache_size, streaming_server=f'127.0.0.1:{free_port()}')
        conf.upload_dir = upload_dir
        conf.blockchain_name = 'lbrycrd_regtest'
        conf.lbryum_servers = [(self.conductor.spv_node.hostname, self.conductor.spv_node.port)]
        conf.transaction_cache_size = 10000
        if is_own:
            await wallet_node.start(self.conductor.spv_node, seed=seed, config=conf)
            self.extra_wallet_nodes.append(wallet_node)
        else:
            wallet_node.manager.config = conf
            wallet_node.manager.ledger.config['known_hubs'] = conf.known_hubs
        daemon = LbcnetDaemon(conf, wallet_node, self.conductor.spv_node)
        self.daemons.append(daemon)
        await daemon.start()
        return daemon

    wait = Ledger.wait

    async def wait_for_both(self, tx, height=-1, timeout=1):
        daemon = getattr(self, 'lbcnet', None)
        if daemon is None:
            return await wait(self, tx, height, timeout)
        end = time.monotonic() + FOLLOWS_SEC
        while time.monotonic() < end:
            found = await self.db.get_transaction(txid=tx.id)
            if found is not None and (height <= 0 or found.height >= height):
                break
            await asyncio.sleep(LOOK_SEC)
        await self._update_tasks.done.wait()
        await daemon.knows(tx.id, height)

    generate, send, confirm = integration.generate, integration.send_to_address_and_wait, case.confirm_tx

    async def generate_for_all(self, blocks):
        for daemon in getattr(self, 'daemons', []):
            await daemon.watches_again()
        await generate(self, blocks)
        for daemon in getattr(self, 'daemons', []):
            await daemon.at_height(self.blockchain.block_expected)

    async def send_and_wait(self, address, amount, blocks_to_generate=0, ledger=None):
        txid = await send(self, address, amount, blocks_to_generate, ledger)
        daemon = getattr(ledger or self.ledger, 'lbcnet', None)
        if daemon is not None:
            await daemon.knows(txid, self.blockchain.block_expected - blocks_to_generate + 1 if blocks_to_generate else -1)
        return txid

    async def confirm_for_both(self, txid, ledger=None):
        await confirm(self, txid, ledger)
        await (ledger or self.ledger).lbcnet.knows(txid, 1)
        return txid

    # Long enough for a busy machine. It only ends tests that hang.
    testcase.AsyncioTestCase.TIMEOUT = 1800.0
    lbcnet_files.patch_sites()
    lbcnet_files.ask_with_range()
    lbcnet_files.wait_longer()
    background_downloader.BackgroundDownloader = lbcnet_background.BackgroundDownloader
    # lbcnet has no torrents. If this is None, tests of torrents are skipped.
    components.TorrentSession = None
    case.add_daemon = add_daemon
    case.confirm_tx = confirm_for_both
    integration.generate = generate_for_all
    integration.send_to_address_and_wait = send_and_wait
    Ledger.wait = wait_for_both
    testcase.jsonrpc_dumps_pretty = dumps_pretty


def pytest_collection_modifyitems(items):
    names = {getattr(item.cls, 'video_file_name', None) for item in items if getattr(item, 'cls', None)}
    for name in names - {None}:
        FILM.prepare(name)
