import type { ProofLevel } from '#chain/block.ts'
import type { Recording } from '#test/replay/recording.ts'
import { serveReplay } from '#test/replay/serve.ts'
import { generatedNode } from '../generator/answers.ts'
import type { Chain } from '../generator/chain.ts'
import { forgedChain, type Written } from '../support/nodes/forged-chain.ts'
import { within } from './causes.ts'
import type { Episode } from './episode.ts'
import { below, pick } from './random.ts'

/** A forgery of a block, and the levels at which it must be detected before anything is derived from it. */
type Forging = {
  readonly name: string
  readonly levels: readonly ProofLevel[]
  readonly alter: (block: Written) => void
  /** The recomputed hashes: none, those of the block alone, or those of all later blocks, too. */
  readonly rehashed: 'none' | 'block' | 'chain'
}

function everyReceipt(block: Written, change: (content: string) => string): void {
  for (const { tx_receipt } of block.transactions)
    for (const receipt of tx_receipt.receipts) receipt.content = change(receipt.content)
}

const FORGINGS: readonly Forging[] = [
  {
    name: 'amounts, all roots and hashes made to fit, signatures of the true blocks',
    levels: ['signed', 'whole'],
    rehashed: 'chain',
    alter: block => everyReceipt(block, text => text.replace(/"(\d)(\d*)/, (_, a, b) => `"${(+a % 9) + 1}${b}`)),
  },
  {
    name: 'amounts, the roots and the hash of one block made to fit',
    levels: ['signed', 'whole'],
    rehashed: 'block',
    alter: block => everyReceipt(block, text => text.replace(/"(\d)(\d*)/, (_, a, b) => `"${(+a % 9) + 1}${b}`)),
  },
  {
    name: 'its time, the hash made to fit',
    levels: ['linked', 'signed', 'whole'],
    rehashed: 'block',
    alter: block => {
      block['time'] = String(BigInt(String(block['time'])) + 1n)
    },
  },
  {
    name: 'publishers of its transactions',
    levels: ['whole'],
    rehashed: 'none',
    alter: block => {
      for (const tx of block.transactions.slice(1)) tx['publisher'] = 'founder'
    },
  },
]

/** Number of blocks before the forged one that a loader may request, too. */
const BEFORE = 400
const HEADS = 100

/** The last blocks of a generated chain as a recording that ends at `end`. */
function recordingOf(chain: Chain, from: number, end: number): Recording {
  const node = generatedNode(chain, () => end)
  const call = (method: string, path: string, { text }: { readonly text: string }) =>
    ({ method, path, status: 200, content_type: 'application/json', text }) as const
  const first = Math.max(0, from - BEFORE)
  const calls = [
    call('GET', '/getChainInfo', node.getChainInfo()),
    call('GET', '/getNodeInfo', node.getNodeInfo()),
    ...Array.from({ length: Math.ceil((end + 1 - first) / HEADS) }, (_, at) => {
      const start = first + at * HEADS
      const body = JSON.stringify({ start: String(start), end: String(start + HEADS) })
      return call('POST', '/getBlockHeaderByRange', node.getBlockHeaderByRange(body))
    }),
    ...Array.from({ length: end + 1 - from }, (_, at) => {
      const [height, path] = [String(from + at), `/getRawBlockByNumber/${from + at}/true`]
      return call('GET', path, node.getRawBlockByNumber(height, 'true'))
    }),
  ]
  return {
    height: end,
    blockText: height => (height > end ? undefined : node.getBlockByNumber(String(height), 'true').text),
    calls: async () => calls,
  }
}

function forged(truth: Recording, height: number, { rehashed, alter }: Forging): Recording {
  const last = rehashed === 'block' ? height : truth.height
  return {
    ...forgedChain(truth, { height, alter, rehashed: rehashed !== 'none' }, last),
    height: truth.height,
  }
}

/** The first block from a height on that has more than its base transaction. */
function filled(truth: Recording, from: number): number {
  for (let height = from; height < truth.height; height++)
    if ((truth.blockText(height) ?? '').split('"tx_receipt"').length > 2) return height
  return from
}

const SAYS = /block|transaction|receipt|parent|hash|signature|witness|irreversible/i

/** A node that forges blocks, at every level of proof. */
export const forge: Episode = {
  name: 'a node makes up blocks',
  play: async stand => {
    const { random, nodeGate, journal, name, loader, node } = stand
    const forging = pick(random, FORGINGS)
    const level = pick(random, forging.levels)
    const cause = { name: `node forges: ${forging.name}`, statuses: [0, 503], says: SAYS }
    await within(stand.causes, cause, async () => {
      const end = stand.end() + 2 + below(random, 60)
      const truth = recordingOf(node.chain, stand.end() + 1, end)
      const height = filled(truth, stand.end() + 1 + below(random, end - stand.end() - 1))
      const replay = serveReplay({ recording: forged(truth, height, forging) })
      stand.nodeIs(replay.url)
      loader.prove(level)
      stand.grow(end - stand.end())
      await nodeGate.after(20 + below(random, 40))
      stand.nodeIs(node.url)
      await replay.stop()
      journal.note(`${name}: forged block ${height} of ${end}, ${level}: ${forging.name}`)
      journal.count(`${name}: forged at ${level}: ${forging.name}`)
      await stand.settled(`forged blocks: ${forging.name}`)
    })
  },
}
