"""
A pytest plugin that puts lbcnode in the place of lbcd, lbcwallet and the hub below the integration tests of lbry-sdk: one
program with `-hub` and a wallet. Tests that look into the hub's process find stand-ins that ask lbcnode by RPC.

    LBCNODE=<path of dist/bin/lbcnode.js> pytest -p lbcnode_stack tests/integration/...
"""
import asyncio
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import urllib.error
import urllib.request

PROGRAM = os.environ['LBCNODE']
NODE = os.environ.get('LBCNODE_NODE', 'node')
#: Shown to whoever looks for the files of the last run; removed with it unless this is set.
KEEP = os.environ.get('LBCNODE_KEEP')
HUB_VERSION = '0.107.0'
USER, PASSWORD = 'rpcuser', 'rpcpassword'
RPC_PORT, PEER_PORT, WALLET_PORT = 29245, 29246, 29244


def _fake_hub_package():
    """The tests import names of the reference's hub; these are all that they use."""
    def module(name, **members):
        made = types.ModuleType(name)
        for key, value in members.items():
            setattr(made, key, value)
        sys.modules[name] = made
        return made

    class Session:
        @classmethod
        def set_server_features(cls, env):
            env.node.restart_with(env.options())

    herald = module('hub.herald', HUB_PROTOCOL_VERSION=HUB_VERSION)
    herald.session = module('hub.herald.session', LBRYElectrumX=Session)
    herald.udp = module('hub.herald.udp', StatusServer=type('StatusServer', (), {}))
    coin = type('LBCRegTest', (), {
        'GENESIS_HASH': '6e3fcf1299d4ec5d79c3a4c91d624a4acf9e2e173d95a1a0504f677669687556'})
    network = module('hub.scribe.network', LBCRegTest=coin)
    scribe = module('hub.scribe', network=network)
    scribe.__path__ = []
    hub = module('hub', herald=herald, scribe=scribe)
    hub.__path__ = []
    herald.__path__ = []


_fake_hub_package()


class RpcError(Exception):
    pass


def call(port, method, *params):
    """Asks by JSON-RPC; raises RpcError with code and text."""
    body = json.dumps({'id': 1, 'method': method, 'params': list(params)}).encode()
    request = urllib.request.Request(f'http://127.0.0.1:{port}/', body)
    token = base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()
    request.add_header('Authorization', f'Basic {token}')
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        text = error.read()
    reply = json.loads(text)
    if reply.get('error'):
        raise RpcError(f"{reply['error']['code']}: {reply['error']['message']}")
    return reply['result']


async def ask(port, method, *params):
    return await asyncio.get_running_loop().run_in_executor(None, lambda: call(port, method, *params))


class Program:
    """One lbcnode on regtest. Its folder outlives restarts."""

    def __init__(self, rpc_port, peer_port, extra):
        self.rpc_port = rpc_port
        self.peer_port = peer_port
        self.extra = extra
        self.hub_options = []
        self.folder = tempfile.mkdtemp(prefix='lbcnode-sdk-')
        self.process = None

    def start(self):
        command = [
            NODE, PROGRAM, '-regtest', f'-datadir={self.folder}', '-server', f'-rpcport={self.rpc_port}',
            f'-port={self.peer_port}', '-bind=127.0.0.1', f'-rpcuser={USER}', f'-rpcpassword={PASSWORD}',
            '-txindex', '-addressindex', '-listenonion=0', '-dnsseed=0', '-keypool=20', '-maxtipage=100000000',
            '-fallbackfee=0.0002', *self.extra, *self.hub_options,
        ]
        with open(os.path.join(self.folder, 'output'), 'ab') as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        for _ in range(600):
            if self.process.poll() is not None:
                raise Exception(f'lbcnode ended: {self.output()}')
            try:
                call(self.rpc_port, 'getblockcount')
                return
            except (OSError, RpcError, ValueError):
                time.sleep(0.05)
        raise Exception('lbcnode does not answer')

    def output(self):
        with open(os.path.join(self.folder, 'output'), encoding='utf-8', errors='replace') as output:
            return output.read()[-2000:]

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def restart_with(self, hub_options):
        self.hub_options = hub_options
        self.stop()
        self.start()

    def remove(self):
        self.stop()
        if not KEEP:
            shutil.rmtree(self.folder, ignore_errors=True)

    def height(self):
        return call(self.rpc_port, 'getblockcount')


#: The program that mines and keeps the wallet; the first hub is in it.
main_program = None


class HubEnv:
    """The settings of a hub, which a test may change while it runs."""

    def __init__(self, spv):
        self.spv = spv
        self.payment_address = ''
        self.donation_address = ''
        self.description = ''
        self.daily_fee = '0'
        self.country = ''
        self.peer_hubs = ''
        self.blocking_channel_ids = []
        self.filtering_channel_ids = []
        self.udp_port = None

    @property
    def node(self):
        return self.spv.program

    def options(self):
        udp_port = self.spv.udp_port if self.udp_port is None else self.udp_port
        made = ['-hub', f'-hubport={self.spv.port}', f'-hubudpport={udp_port}',
                f'-hubsessiontimeout={self.spv.session_timeout}']
        for name, value in (('paymentaddress', self.payment_address), ('donationaddress', self.donation_address),
                            ('description', self.description), ('country', self.country)):
            if value:
                made.append(f'-hub{name}={value}')
        if self.daily_fee != '0':
            made.append(f'-hubdailyfee={self.daily_fee}')
        made += [f'-hubpeers={peer}' for peer in self.peer_hubs.split(',') if peer]
        made += [f'-hubblockingchannels={one}' for one in self.blocking_channel_ids or []]
        made += [f'-hubfilteringchannels={one}' for one in self.filtering_channel_ids or []]
        return made


class Row:
    """A claim as the reference's database shows it, out of an answer of getclaim."""

    def __init__(self, claim):
        self.name = claim['name']
        self.claim_hash = bytes.fromhex(claim['claim_id'])
        self.tx_hash = bytes.fromhex(claim['txid'])[::-1]
        self.position = claim['nout']
        self.height = claim['height']
        self.amount = _sat(claim['amount'])
        self.effective_amount = _sat(claim['effective_amount'])
        self.support_amount = _sat(claim['support_amount'])
        self.activation_height = claim['activation_height']
        self.expiration_height = claim['expiration_height']
        self.creation_height = claim['creation_height']
        self.last_takeover_height = claim['takeover_height']
        self.is_controlling = claim['is_controlling']


def _sat(coins):
    return round(float(coins) * 100_000_000)


NUMBERS_A_BLOCK = 100_000


class HubDb:
    """What the tests ask of the hub's database."""

    def __init__(self, spv):
        self.spv = spv
        self.supports = {}

    @property
    def port(self):
        return self.spv.program.rpc_port

    @property
    def db_height(self):
        return call(self.port, 'getblockcount')

    async def resolve(self, url):
        (answer,) = call(self.port, 'resolve', [url]).values()
        if 'error' in answer:
            return LookupError(answer['error']['text']), None, None, None
        claim = Row(answer)
        if claim.name.startswith('@'):
            return None, claim, None, None
        return claim, Row(answer['channel']) if 'channel' in answer else None, None, None

    def _fs_get_claim_by_hash(self, claim_hash):
        try:
            return Row(call(self.port, 'getclaim', claim_hash.hex()))
        except RpcError:
            return None

    async def fs_getclaimbyid(self, claim_id):
        return self._fs_get_claim_by_hash(bytes.fromhex(claim_id))

    # Supports have numbers of transactions there. Here each gets one that tells its height.

    def get_supports(self, claim_hash):
        claim = call(self.port, 'getclaim', claim_hash.hex())
        (found,) = call(WALLET_PORT, 'getclaimsfornamebyid', claim['name'], [claim_hash.hex()])['claims']
        made = []
        for support in found.get('supports', []):
            number = support['height'] * NUMBERS_A_BLOCK + len(made)
            self.supports[number] = support
            made.append((number, support['n'], support['amount']))
        return made

    def get_activation(self, number, position, is_support):
        return self.supports[number]['validatheight']

    @property
    def tx_counts(self):
        return [(height + 1) * NUMBERS_A_BLOCK for height in range(self.db_height + 1)]

    @property
    def prefix_db(self):
        def get(number, deserialize_value):
            return bytes.fromhex(self.supports[number]['txid'])[::-1]
        return types.SimpleNamespace(tx_hash=types.SimpleNamespace(get=get))


class SearchIndex:
    def __init__(self, spv):
        self.spv = spv

    async def search(self, **constraints):
        found = await ask(self.spv.program.rpc_port, 'searchclaims', constraints)
        rows = []
        for claim in found['claims']:
            row = Row(claim)
            rows.append({
                'claim_hash': row.claim_hash[::-1], 'claim_id': row.claim_hash.hex(), 'name': row.name,
                'activation_height': row.activation_height, 'last_take_over_height': row.last_takeover_height,
                'tx_id': row.tx_hash[::-1].hex(), 'tx_nout': row.position, 'amount': row.amount,
                'effective_amount': row.effective_amount, 'support_amount': row.support_amount,
                'height': row.height, 'trending_score': claim.get('trendingScore', 0),
            })
        return rows, 0, found['total']


class SessionManager:
    def __init__(self, spv):
        self.spv = spv
        self.search_index = SearchIndex(spv)

    @property
    def sessions(self):
        return range(call(self.spv.program.rpc_port, 'gethubinfo')['sessions'])

    @property
    def notified_height(self):
        return call(self.spv.program.rpc_port, 'getblockcount')


class Synchronized:
    """Stands for an event that is set at each block: whoever waits looks again a moment later."""

    def clear(self):
        pass

    async def wait(self):
        await asyncio.sleep(0.02)
        return True


class HubServer:
    def __init__(self, spv):
        self.spv = spv
        self.env = HubEnv(spv)
        self.db = HubDb(spv)
        self.bp = types.SimpleNamespace(db=self.db)
        self.session_manager = SessionManager(spv)
        self.synchronized = Synchronized()

    @property
    def _es_height(self):
        return call(self.spv.program.rpc_port, 'getclaimindexinfo')['search']['height']


class SPVNode:
    """The hub: the first one in the program that mines, others in programs of their own."""

    def __init__(self, node_number=1):
        self.node_number = node_number
        self.hostname = 'localhost'
        self.port = 50001 + node_number
        self.udp_port = self.port
        self.session_timeout = 600
        self.stopped = True
        self.own_program = None
        self.server = HubServer(self)
        self.writer = self.server
        self.es_writer = self.server

    @property
    def program(self):
        return self.own_program or main_program

    async def start(self, lbcwallet_node, extraconf=None):
        if not self.stopped:
            return
        self.stopped = False
        for key, value in (extraconf or {}).items():
            setattr(self.server.env, key, value)
        if self.node_number > 1:
            self.own_program = Program(RPC_PORT + 10 * self.node_number, PEER_PORT + 10 * self.node_number,
                                       [f'-connect=127.0.0.1:{PEER_PORT}', '-disablewallet', '-supportdelay=proportional',
                                        '-whitelist=127.0.0.1'])
        options = self.server.env.options()
        program = self.program
        if program.process is None or program.hub_options != options:
            await asyncio.get_running_loop().run_in_executor(None, program.restart_with, options)
        while program.height() < main_program.height():
            await asyncio.sleep(0.05)

    async def stop(self, cleanup=True):
        if self.stopped:
            return
        self.stopped = True
        loop = asyncio.get_running_loop()
        if self.own_program:
            await loop.run_in_executor(None, self.own_program.remove)
            self.own_program = None
        elif main_program and main_program.process:
            await loop.run_in_executor(None, main_program.restart_with, [])

    def cleanup(self):
        pass


class LBCDNode:
    """The program itself. It begins with the first hub on, for that is what nearly every test wants."""

    def __init__(self, url, daemon, cli):
        self.stopped = True
        self.running = asyncio.Event()
        self.program = None

    async def start(self):
        global main_program
        if not self.stopped:
            return
        self.stopped = False
        if self.program is None:
            self.program = Program(RPC_PORT, PEER_PORT, [
                '-compat=lbcd', '-supportdelay=proportional', f'-walletrpcport={WALLET_PORT}', '-persistmempool=0', '-whitelist=127.0.0.1',
            ])
            self.program.hub_options = SPVNode().server.env.options()
        main_program = self.program
        await asyncio.get_running_loop().run_in_executor(None, self.program.start)
        self.running.set()

    async def stop(self, cleanup=True):
        if self.stopped:
            return
        self.stopped = True
        self.running.clear()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self.program.remove if cleanup else self.program.stop)

    def cleanup(self):
        pass


#: Arguments that are JSON, by method: what lbcctl would have made of the text.
JSON_ARGUMENTS = {
    'generatetoaddress': (0,), 'getblock': (1,), 'getrawtransaction': (1,), 'getblockhash': (0,),
    'sendtoaddress': (1,), 'createrawtransaction': (0, 1), 'getclaimsfornamebyid': (1,),
    'getclaimsfornamebybid': (1,), 'getclaimsforname': (2,),
}


class LBCWalletNode:
    P2SH_SEGWIT_ADDRESS = 'p2sh-segwit'
    BECH32_ADDRESS = 'bech32'

    def __init__(self, url, lbcwallet, cli):
        self.stopped = True
        self.running = asyncio.Event()
        self.block_expected = 0
        self.mining_addr = ''
        self.rpc_url = f'http://{USER}:{PASSWORD}@localhost:{RPC_PORT}/'

    async def start(self):
        self.stopped = False
        self.running.set()

    async def stop(self, cleanup=True):
        self.stopped = True
        self.running.clear()

    def cleanup(self):
        pass

    def is_expected_block(self, event):
        return self.block_expected == event.height

    async def _cli_cmnd(self, method, *arguments):
        params = [json.loads(one) if index in JSON_ARGUMENTS.get(method, ()) else one
                  for index, one in enumerate(arguments)]
        try:
            result = await ask(WALLET_PORT, method, *params)
        except RpcError as error:
            # The lbcd of these tests answers so where later ones refuse.
            if 'name does not exist' in str(error):
                return '{"claims": null}'
            raise
        if result is None:
            return ''
        return result if isinstance(result, str) else json.dumps(result)

    def generate(self, blocks):
        return self.generate_to_address(blocks, self.mining_addr)

    def generate_to_address(self, blocks, addr):
        self.block_expected += blocks
        return self._cli_cmnd('generatetoaddress', str(blocks), addr)

    async def wallet_passphrase(self, passphrase, timeout):
        """The wallet is not encrypted."""

    def invalidate_block(self, blockhash):
        return self._cli_cmnd('invalidateblock', blockhash)

    def get_block_hash(self, block):
        return self._cli_cmnd('getblockhash', str(block))

    def sendrawtransaction(self, tx):
        return self._cli_cmnd('sendrawtransaction', tx)

    async def get_block(self, block_hash):
        return json.loads(await self._cli_cmnd('getblock', block_hash, '1'))

    def get_raw_change_address(self):
        return self._cli_cmnd('getrawchangeaddress')

    def get_new_address(self, address_type='legacy'):
        return self._cli_cmnd('getnewaddress', '', address_type)

    def get_balance(self):
        return self._cli_cmnd('getbalance')

    def send_to_address(self, address, amount):
        return self._cli_cmnd('sendtoaddress', address, str(amount))

    def send_raw_transaction(self, tx):
        return self._cli_cmnd('sendrawtransaction', tx.decode())

    def create_raw_transaction(self, inputs, outputs):
        return self._cli_cmnd('createrawtransaction', json.dumps(inputs), json.dumps(outputs))

    async def sign_raw_transaction_with_wallet(self, tx):
        return json.loads(await self._cli_cmnd('signrawtransaction', tx))['hex'].encode()

    def decode_raw_transaction(self, tx):
        return self._cli_cmnd('decoderawtransaction', tx.raw.hex())

    def get_raw_transaction(self, txid):
        return self._cli_cmnd('getrawtransaction', txid, '1')


def pytest_configure(config):
    from lbry.wallet import orchstr8
    from lbry.wallet.orchstr8 import node
    for made in (SPVNode, LBCDNode, LBCWalletNode):
        setattr(node, made.__name__, made)
    from lbry import testcase
    testcase.LBCWalletNode = LBCWalletNode
    # Python took it away in 3.11.
    testcase.AsyncioTestCase._addSkip = lambda self, result, test, reason: result.addSkip(test, reason)
    assert orchstr8.Conductor is node.Conductor


def pytest_unconfigure(config):
    if main_program:
        main_program.remove()
