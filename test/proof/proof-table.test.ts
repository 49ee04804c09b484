import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Block, PROOF_LEVELS, type ProofLevel } from '#chain/block.ts'
import { createNode } from '#node/archive-node.ts'
import { serveReplay } from '#test/replay/serve.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { alterations, type Forgery, forgedChain } from '../support/nodes/forged-chain.ts'
import { recordedBlocks, recording } from '../support/nodes/recording.ts'
import { SOAK } from '../support/processes/soak.ts'
import { ROOT } from '../support/root.ts'

/** Positions of the altered block: blocks whose raw form was recorded. `end` is the end of the node's chain. */
const POSITIONS = {
  bulk: { height: 1200, from: 1200, to: 1201, end: 1205 },
  single: { height: 1201, from: 1201, to: 1201, end: 1205 },
  tip: { height: 1201, from: 1200, to: 1201, end: 1201 },
} as const
type Position = keyof typeof POSITIONS
const positions = Object.keys(POSITIONS) as readonly Position[]

/** The fields that docs/trust.md lists, for each level, as unproved. */
async function listed(): Promise<ReadonlyMap<string, readonly string[]>> {
  const text = await Bun.file(join(ROOT, 'docs/trust.md')).text()
  return new Map(
    [...text.matchAll(/^\| `(linked|signed|whole)` \| (.*) \|$/gm)].map(([, level = '', said = '']) => [
      level,
      [...said.matchAll(/`([^`]*)`/g)].map(([, field = '']) => field),
    ]),
  )
}

/** A block as it is read. Escapes in the texts of its transactions do not count. */
const meant = (block: Block): unknown => ({
  ...block,
  transactions: block.transactions.map(({ body, ...tx }) => ({ ...tx, body: JSON.parse(body) as unknown })),
})

async function fateOf(prove: ProofLevel, position: Position, forgery: Forgery) {
  const { from, to, end } = POSITIONS[position]
  const truth = await recordedBlocks()
  const replay = serveReplay({ recording: forgedChain(await recording(), forgery, end) })
  const node = createNode({ urls: [replay.url], clock: idleClock(), prove })
  try {
    let fate: 'unused' | 'believed' = 'unused'
    for await (const { block } of node.blocks({ from, to, parent: truth[from - 1]?.block.hash ?? '' })) {
      const real = truth[block.height]?.block
      if (real === undefined || !Bun.deepEquals(meant(block), meant(real), true)) fate = 'believed'
    }
    return fate
  } catch (error) {
    expect(error).toMatchObject({ kind: 'bad_block' })
    return 'caught'
  } finally {
    node.close()
    await replay.stop()
  }
}

async function fates(prove: ProofLevel, position: Position, rehashed: boolean) {
  const found = { caught: [] as string[], unused: [] as string[], believed: [] as string[] }
  const { height } = POSITIONS[position]
  for (const { field, alter } of alterations)
    found[await fateOf(prove, position, { height, alter, rehashed })].push(field)
  return found
}

/** Fields that are not used, or that are recomputed from proved ones. */
const UNUSED = /^(?:gas_usage|unknown|.*\.unknown|.*: unknown)$/
const UNUSED_IN_BULK = ['hash', 'info', 'orig_info', 'tx_count']

/** The positions that a run tests: all with SOAK, otherwise one. */
const tested = (sample: Position): readonly Position[] => (SOAK ? positions : [sample])
/** The levels. Without SOAK, `signed` is tested with the hashes made to fit, which is the harder lie. */
const LEVELS = PROOF_LEVELS.filter(level => SOAK || level !== 'signed')
/** The same with the hashes made to fit: `whole` checks all that `signed` checks. */
const FITTED = SOAK ? (['signed', 'whole'] as const) : (['signed'] as const)

describe.each(tested('bulk'))('a lying node: each field is altered alone, %s', position => {
  test.each(LEVELS)('%s', async prove => {
    const { unused, believed } = await fates(prove, position, false)
    expect(believed).toEqual([...((await listed()).get(prove) ?? [])])
    // At the end of the requested range, `linked` reads the block by a single call.
    const bulk = position === 'bulk' || (position === 'tip' && prove !== 'linked')
    expect(unused.filter(field => !UNUSED.test(field)).toSorted()).toEqual(bulk ? UNUSED_IN_BULK : [])
  })
})

/** Fields that no recomputed hash can make fit: the parent is known, and the first transaction is the chain's own. */
const CONTRADICTIONS = ['number', 'parent_hash', 'base transaction: publisher']
/** Fields that a single block answer contains twice, and fields that a neighbouring block contains, too. */
const TWICE = ['info', 'orig_info', 'tx_count', 'transactions, the last one left out']
const MORE: Readonly<Record<Position, readonly string[]>> = {
  bulk: [],
  single: TWICE,
  tip: [...TWICE, 'base transaction: actions.data'],
}

describe.each(tested('tip'))('a lying node: each field is altered and all hashes made to fit, %s', position => {
  test.each(FITTED)('%s', async prove => {
    const { believed } = await fates(prove, position, true)
    expect(believed).toEqual([...((await listed()).get(prove) ?? [])])
  })
  test('linked: a made-up chain is accepted, unless it contradicts its parent or itself', async () => {
    const { caught } = await fates('linked', position, true)
    expect(caught.toSorted()).toEqual([...CONTRADICTIONS, ...MORE[position]].toSorted())
  })
})
