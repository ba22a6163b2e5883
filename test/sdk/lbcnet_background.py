"""
The background downloader of lbcnet for the tests of lbry-sdk. The tests call the reference's downloader with a hash. lbcnet
chooses among the hashes near its id that other nodes announced to it. `lbcnet_daemon` uses this module.
"""
import asyncio
import os
import socket

import lbcnet_files

HOST = '127.0.0.1'
NODE_ID_BYTES = 48
#: TCP port of the blob server of the tests.
BLOB_PORT = 5567
SKIPPED = ('upnp', 'hash_announcer', 'peer_protocol_server', 'libtorrent_component', 'tracker_announcer_component')
#: Shortens the pause between two rounds of the downloader, and other long times, to a thirtieth.
FASTER_CLOCK = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '..', 'functional', 'support', 'fasterClock.mjs')
#: Time limit in seconds for joining the DHT. Longer than the 30 seconds after which the node repeats a failed attempt.
JOIN_SECONDS = 120
#: Time limits. With that clock they last as long as the defaults.
LIMITS = ('--blob-download-timeout=1200', '--hub-timeout=1200')


def free_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind((HOST, 0))
        return one.getsockname()[1]


async def joined_node(known_port):
    """
    Starts a DHT node of the reference that announces the blob server of the tests. The node is stopped if it does not join.
    """
    from lbry.conf import Config
    from lbry.dht import constants
    from lbry.dht.node import Node
    from lbry.dht.peer import PeerManager
    from lbry.extras.daemon.storage import SQLiteStorage
    loop, port = asyncio.get_running_loop(), free_udp_port()
    storage = SQLiteStorage(Config(), ':memory:', loop, loop.time)
    await storage.open()
    node = Node(loop, PeerManager(loop), node_id=constants.generate_id(), udp_port=port, internal_udp_port=port,
                peer_port=BLOB_PORT, external_ip=HOST, storage=storage)
    try:
        node.start(HOST, [(HOST, known_port)])
        await asyncio.wait_for(node.joined.wait(), JOIN_SECONDS)
    except BaseException:
        node.stop()
        await storage.close()
        raise
    return node


class BackgroundDownloader:
    """
    Replaces the class of this name. For a download lbcnet restarts with the component `dht` and an id near the hash. A node
    of the reference then announces the hash. After the download lbcnet restarts without the DHT.
    """

    def __init__(self, _conf, _storage, blob_manager, _dht_node=None):
        self.daemon = blob_manager.daemon

    async def download_blobs(self, blob_hash):
        import base58
        from lbry.dht import peer
        daemon, port = self.daemon, free_udp_port()
        await daemon.stop()
        node_id = bytes.fromhex(blob_hash[:2]) + os.urandom(NODE_ID_BYTES - 1)
        with open(os.path.join(daemon.folder, 'node_id'), 'wb') as file:
            file.write(base58.b58encode(node_id))
        await daemon.run(
            f'--udp-port={port}', *LIMITS, *(f'--components-to-skip={name}' for name in SKIPPED),
            NODE_OPTIONS=f'--import {FASTER_CLOCK}')
        peer.ALLOW_LOCALHOST = True
        try:
            node = await joined_node(port)
            try:
                await node.announce_blob(blob_hash)
                await lbcnet_files.until(lambda: self.has_downloaded(blob_hash))
            finally:
                node.stop()
        finally:
            peer.ALLOW_LOCALHOST = False
        await daemon.stop()
        await daemon.run()

    def has_downloaded(self, blob_hash):
        is_complete = blob_hash in self.daemon.blob_manager.completed_blob_hashes
        return is_complete and not self.daemon.call('status')['background_downloader']['ongoing_download']
