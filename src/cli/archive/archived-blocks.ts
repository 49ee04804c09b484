import type { ArchivedBlock } from '#archive/block-lines.ts'
import { storedBlocks } from '#audit/source.ts'
import type { Block, LoadedBlock } from '#chain/block.ts'
import { checkWhole } from '#chain/check.ts'
import { namesKeySilently } from '#chain/effects.ts'
import { headHash } from '#chain/head.ts'
import { decodeRawBlock } from '#chain/raw-block.ts'
import { textOfBytes } from '#chain/receipt-hash.ts'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'

/** Number of blocks whose signatures are fetched in one request. */
const RUN = 100

type Range = {
  readonly from: number
  readonly to: number
  /** Hash of the block before the first one; undefined: any. */
  readonly parent?: string | undefined
  readonly signal: AbortSignal
}

/**
 * Blocks of a node in their archived form, proved at the level of the node. With `signed` they include the
 * signatures of their headers.
 */
export const nodeBlocks = async function* (
  node: Node,
  { from, to, parent, signal }: Range,
  { lib, signed }: { readonly lib: number; readonly signed: boolean },
): AsyncGenerator<ArchivedBlock> {
  const after = parent === undefined ? {} : { parent }
  const blocks = node.blocks({ from, to, ...after, lib, signal, prove: signed ? 'signed' : 'linked' })
  yield* archived(blocks, { node, signed, signal, isLost: ({ proof }) => proof.lost !== undefined })
}

/** Stored blocks in their archived form. Signatures and raw blocks, which are not stored, come from the node. */
export const storeBlocks = async function* (
  store: Store,
  { from, to, parent, signal }: Range,
  { node, signed }: { readonly node: Node | undefined; readonly signed: boolean },
): AsyncGenerator<ArchivedBlock> {
  const unproved = new Set<number>()
  const source = {
    store,
    node: undefined,
    sampled: () => false,
    signal,
    onUnproved: (height: number) => void unproved.add(height),
  }
  const blocks = async function* (): AsyncGenerator<LoadedBlock> {
    for await (const run of storedBlocks(source, { from, to, parent })) yield* run
  }
  yield* archived(blocks(), { node, signed, signal, isLost: ({ block }) => unproved.has(block.height) })
}

type BlocksOptions = {
  readonly node: Node | undefined
  readonly signed: boolean
  readonly signal: AbortSignal
  /** Whether the receipts of a block can be proved only by its raw form. */
  readonly isLost: (loaded: LoadedBlock) => boolean
}

const archived = async function* (
  blocks: AsyncIterable<LoadedBlock>,
  means: BlocksOptions,
): AsyncGenerator<ArchivedBlock> {
  let run: LoadedBlock[] = []
  for await (const loaded of blocks) {
    run.push(loaded)
    if (run.length < RUN) continue
    yield* withSignatures(run, means)
    run = []
  }
  yield* withSignatures(run, means)
}

const withSignatures = async function* (
  run: readonly LoadedBlock[],
  { node, signed, signal, isLost }: BlocksOptions,
): AsyncGenerator<ArchivedBlock> {
  const [from, to] = [run[0]?.block.height, run.at(-1)?.block.height]
  if (from === undefined || to === undefined) return
  const heads = signed && node !== undefined ? await node.heads({ from, to }, signal) : []
  for (const [at, loaded] of run.entries()) {
    const { block, systemCode: code } = loaded
    const head = heads[at]
    if (head !== undefined && headHash(head) !== block.hash)
      throw new Failure(
        'bad_block',
        `Block ${block.height}: its hash is ${block.hash}, the head from the node has ${headHash(head)}.`,
      )
    const raw = isLost(loaded) || (signed && namesKeySilently(block)) ? await rawBlock(node, block, signal) : undefined
    yield { block, sign: head?.sign, raw, code }
  }
}

/** The raw form from the node. It must match the block, because a load from the archive proves the block by it. */
async function rawBlock(node: Node | undefined, block: Block, signal: AbortSignal): Promise<Uint8Array> {
  const { height, hash } = block
  const answer = await node?.get(`/getRawBlockByNumber/${height}/true`, { signal })
  answer?.release()
  if (answer?.status === 200) {
    const raw = decodeRawBlock(textOfBytes(answer.body))
    if (headHash(raw.head) !== hash)
      throw new Failure(
        'bad_block',
        `Block ${height}: its hash is ${hash}, the raw block from the node has ${headHash(raw.head)}.`,
        { details: { height } },
      )
    // Genesis has no signatures, so no raw form proves its texts. Lost bytes may be in texts that only the
    // receipts prove.
    if (height > 0 && namesKeySilently(block)) checkWhole(block, raw)
    return answer.body
  }
  throw new Failure('unavailable', `Block ${height} can only be proved by its raw form, which is not available.`, {
    help: 'Set a node that returns raw blocks with --node.',
    // A node that cannot provide the block answers 400; any other status may be temporary.
    retryable: answer !== undefined && answer.status !== 400,
  })
}
