/**
 * Terms of the pages with their meanings, for readers who do not know the network. A label of a figure, fact or column that is a
 * term has its meaning as tooltip, and `/help` lists all of them.
 */

export const TERMS: ReadonlyMap<string, string> = new Map([
  [
    'Name',
    'A word under which content is published. Many claims can bid for a name, and one of them holds it',
  ],
  ['Claim', 'An entry on the chain that publishes something under a name and bids LBC for the name'],
  ['LBC', 'LBRY credits, the coin of the network'],
  ['Own', 'LBC in the claim itself. Its owner gets them back by abandoning the claim'],
  ['Supports', 'LBC locked to strengthen the bid of a claim. Their owners can take them back'],
  [
    'Effective',
    'LBC of a claim and of its supports. The active claim with the highest amount holds the name',
  ],
  ['Active', 'Whether the bid counts. A claim for a name that is held becomes active some blocks later'],
  ['Expires', 'The block at which the claim ends, unless its owner updates it before'],
  ['Changed hands', 'Another claim than before holds the name'],
  ['Ended', 'Claims and supports whose owners took the LBC back, and expired ones'],
  ['Channel', 'The identity of a publisher. Claims that it signed are from this publisher'],
  [
    'Named channel',
    'The channel that a claim says it is from. The page of the claim shows if the channel signed it',
  ],
  ['Stream', 'A claim that publishes a file, such as a video'],
  ['Repost', 'A claim that shows another claim under a further name'],
  ['Collection', 'A claim that lists other claims'],
  ['Place', 'Rank of the claim among the bids for its name'],
  ['Short', 'The shortest URL that leads to this claim now. It may lead to another claim later'],
  ['Canonical', 'The short URL with the channel of the claim'],
  ['Permanent', 'The URL with the whole claim id, which never leads to another claim'],
  ['Stream hash', 'Hash by which programs find the file in the network'],
  ['Block', 'A set of transactions that all nodes add to the chain together'],
  ['Height', 'Number of a block: how many blocks are before it'],
  ['Transaction', 'A signed message that spends earlier outputs and makes new ones'],
  ['Output', 'An amount that a transaction pays to an address, written as transaction and number'],
  ['Confirmations', 'Number of blocks from the one with the transaction to the latest'],
  ['Mempool', 'Transactions that wait for a block'],
  ['Fee', 'What the sender pays to the miner of the block'],
  [
    'Fee rate',
    'Fee for each virtual byte in sat; 100,000,000 sat are 1 LBC. Higher rates usually come first',
  ],
  ['Least fee', 'The node accepts no transaction with a lower fee rate now'],
  ['Virtual size', 'Size that counts for the fee: a quarter of the weight'],
  ['Weight', 'Size in which bytes of signatures count once and all other bytes four times'],
  ['Lock time', 'Block or time before which the transaction is not valid; 0 for none'],
  ['Hash with witness', 'Hash of the transaction with its signatures'],
  ['Difficulty', 'How much work it takes to find a block, compared with the easiest possible block'],
  ['Hash rate', 'Estimated number of hashes that all miners together compute each second'],
  ['Claim trie', 'All names with their claims, as a tree of hashes. Its root is in each block header'],
  ['Merkle root', 'Hash of all transactions of the block'],
  ['Bits', 'The difficulty as the header stores it'],
  ['Nonce', 'Number that miners vary until the hash of the header is small enough'],
  ['Chain work', 'Expected number of hashes for all blocks up to this one'],
  ['Median time', 'Median of the times of the last eleven blocks, which time locks are compared with'],
  ['Peers', 'Other nodes with which this node is connected'],
  ['Best header', 'Height of the longest chain of headers that the node knows'],
  ['Pruned', 'Whether the node has deleted the transactions of old blocks'],
  ['Index', 'Data by which the node finds transactions and claims quickly'],
]);

/** Labels with the meaning of another term. */
const SAME: Readonly<Record<string, string>> = {
  Names: 'Name',
  Claims: 'Claim',
  'Claim id': 'Claim',
  'LBC in claims': 'Own',
  'Own amount': 'Own',
  'Effective amount': 'Effective',
  'Active claims': 'Active',
  'Active since': 'Active',
  'Becomes active': 'Active',
  'Last block': 'Block',
  'Last takeover': 'Changed hands',
  'Latest output': 'Output',
  'sat/vB': 'Fee rate',
  'From sat/vB': 'Fee rate',
  'Root in its header': 'Claim trie',
  stream: 'Stream',
  channel: 'Channel',
  repost: 'Repost',
  collection: 'Collection',
};

/** Returns the meaning of a label; undefined if it is not a term. */
export const meaningOf = (label: string): string | undefined => TERMS.get(SAME[label] ?? label);
