import type { ProofLevel } from '#chain/block.ts'
import { transactionDocuments } from '#derive/derive-block.ts'
import { headRows, listNeededKeys } from '#derive/head-rows.ts'
import { MissingState } from '#derive/state.ts'
import { UNKNOWN, workingState } from '#derive/working-state.ts'
import { Failure, type Log } from '#failure/failure.ts'
import type { Key, StateChange, StateIndex } from '#indices/registry.ts'
import { createSigners } from '#load/proving.ts'
import { NoNodeOnBranch } from '#node/call.ts'
import type { Node } from '#node/port.ts'
import type { Published, Store, View } from '#store/port.ts'
import { type Clock, runEvery } from '#time/clock.ts'
import {
  type BranchTip,
  type Fetched,
  type FetchOptions,
  fetchBranch,
  fetchChainInfo,
  judgeHead,
  selectCachedBlocks,
} from './branch.ts'
import type { BlockRef, HeadBlock, HeadSource, HeadState, HeadStatus } from './head-state.ts'

type Doc = StateChange['doc']

/**
 * A derived block: its rows, and the changes of state on which later blocks depend. Both follow only from the
 * chain up to that block.
 */
type Derived = { readonly head: HeadBlock; readonly changes: readonly StateChange[] }

/** A block of a branch; `derived`: once it was derived above a published block. */
type FollowedBlock = Fetched & { derived?: Derived | undefined }

/** State above a published height: the changes of the blocks above it, then the stored state. */
function createOverlay(view: View) {
  const docs = new Map<string, Doc | undefined>()
  const nameOf = (index: StateIndex, id: string): string => `${index.name} ${id}`
  return {
    known: (index: StateIndex, id: string): Doc | undefined | typeof UNKNOWN =>
      docs.has(nameOf(index, id)) ? docs.get(nameOf(index, id)) : UNKNOWN,
    read: async (keys: readonly Key[]): Promise<readonly (Doc | undefined)[]> => {
      const wanted = new Map<StateIndex, Set<string>>()
      for (const { index, id } of keys) {
        if (docs.has(nameOf(index, id))) continue
        const ids = wanted.get(index) ?? new Set()
        wanted.set(index, ids.add(id))
      }
      for (const [index, ids] of wanted) {
        const found = await view.getMany(index, [...ids])
        for (const [at, id] of [...ids].entries()) docs.set(nameOf(index, id), found[at] as Doc | undefined)
      }
      return keys.map(({ index, id }) => docs.get(nameOf(index, id)))
    },
    put: (changes: readonly StateChange[]): void => {
      for (const { index, doc } of changes) docs.set(nameOf(index, doc.id), doc)
    },
  }
}

/**
 * Derives the blocks of a branch above a published height, by hash; none if the branch does not lead to the published
 * block. The signing key of a block must belong to a producer in the state at the published height: a key registered since
 * then signs nothing before its election is irreversible. Throws Failure 'bad_block' for a block signed by another key.
 */
async function deriveHead(view: View, branch: readonly FollowedBlock[]): Promise<ReadonlyMap<string, Derived>> {
  const { proved, height, hash: publishedHash } = view.at
  const blocks = branch.filter(block => block.height > height)
  const [first] = blocks
  if (first === undefined || first.height !== height + 1 || first.parentHash !== publishedHash) return new Map()
  const overlay = createOverlay(view)
  const keys = createSigners({ read: overlay.read, changedKeys: () => [] }, { known: proved?.formerKeys, from: height })
  const lastSignedWith = new Map<string, string>()
  for (const { signedBy, hash, derived } of blocks)
    if (signedBy !== undefined && derived === undefined) lastSignedWith.set(signedBy, hash)
  for (const { block, signedBy, hash } of blocks)
    if (signedBy !== undefined && lastSignedWith.get(signedBy) === hash)
      await keys.check([{ block, systemCode: [], proof: { level: 'signed', signedBy } }])
  const all = new Map<string, Derived>()
  for (const { block, hash, derived: before } of blocks) {
    const derived = before ?? (await deriveOne(overlay, block))
    overlay.put(derived.changes)
    all.set(hash, derived)
  }
  return all
}

async function deriveOne(overlay: ReturnType<typeof createOverlay>, block: Fetched['block']): Promise<Derived> {
  await overlay.read(listNeededKeys(block))
  for (;;) {
    const state = workingState(overlay.known)
    try {
      const { doc, rows } = headRows(block, state)
      const bodies = block.transactions.map(({ body }) => body)
      const transactions = transactionDocuments(block)
      return { head: { doc, rows, transactions, bodies }, changes: state.changes() }
    } catch (error) {
      if (!(error instanceof MissingState)) throw error
      await overlay.read(error.keys)
    }
  }
}

type Following = {
  readonly node: Pick<Node, 'get'>
  readonly store: Pick<Store, 'published' | 'read'>
  /** Proof required of head blocks, the same as for loaded blocks. */
  readonly prove: ProofLevel
  readonly clock: Pick<Clock, 'elapsed'>
  readonly log: Log
}

type HeadFollower = HeadSource & {
  /** Asks the node once and shows its head. Throws only what is no Failure: a bug. Only one poll may run at a time. */
  poll(signal: AbortSignal): Promise<void>
}

/** Time after which an unconfirmed head is withdrawn. */
const AWAY_MS = 5_000
/**
 * Limit in estimated bytes for the blocks above the published one, and the same again for blocks of other
 * branches. Blocks beyond it are dropped before each search, so that failing searches do not accumulate them.
 */
const MAX_BYTES = 128 * 1024 * 1024

/**
 * Follows a node's head: keeps the blocks above the published one, each verified and derived once. At any
 * moment it shows one branch of them, which leads to the published block. Nothing is stored. Time passes only
 * by the clock and by polls.
 */
export function createFollower({ node, store, prove, clock, log }: Following): HeadFollower {
  let shown: HeadState = { status: 'away' }
  const show = (next: HeadState): void => {
    if (!isSame(shown, next)) shown = next
  }
  let confirmed = Number.NEGATIVE_INFINITY
  let known = new Map<string, FollowedBlock>()
  let branch: readonly FollowedBlock[] = []
  const tipNow = (): BranchTip | undefined =>
    shown.status === 'followed' ? { ...shown.tip, ageMs: clock.elapsed() - confirmed } : undefined
  /** Keeps a head for a while: most failures are over at the next poll. */
  const lose = (status: Exclude<HeadStatus, 'followed'>): void => {
    if (shown.status === 'followed' && clock.elapsed() - confirmed < AWAY_MS) return
    show({ status })
  }
  const follow = async (
    options: FetchOptions,
    { head, lib }: { readonly head: BlockRef; readonly lib: number },
    published: Published,
  ): Promise<void> => {
    known = selectCachedBlocks(known, branch, 2 * MAX_BYTES)
    const found = await fetchBranch(options, { known, head, published, mostBytes: MAX_BYTES })
    if (typeof found === 'string') return lose(found)
    branch = found
    const derived = await store.read(view => deriveHead(view, found), { signal: options.signal })
    // Only now: a read may have to be repeated, and what it saw before is then wrong.
    for (const block of branch) block.derived ??= derived.get(block.hash)
    confirmed = clock.elapsed()
    show({ status: 'followed', tip: head, lib, blocks: selectShown(branch) })
  }
  const pollOnce = async (options: FetchOptions): Promise<void> => {
    const published = await store.published()
    if (published === undefined) return show({ status: 'behind' })
    const info = await fetchChainInfo(options)
    const verdict = judgeHead(info, published, tipNow())
    if (verdict === 'behind') show({ status: 'behind' })
    const head = { height: info.headBlock, hash: info.headHash }
    if (verdict === 'follow') await follow(options, { head, lib: info.libBlock }, published)
  }
  return {
    current: () => shown,
    poll: async signal => {
      try {
        await pollOnce({ node, prove, signal })
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        const status = toHeadStatus(error)
        lose(status)
        if (status === 'unproved')
          log('warn', 'A block above the last irreversible one cannot be proved; it is not shown.', {
            reason: error.message,
          })
      }
    },
  }
}

function isSame(a: HeadState, b: HeadState): boolean {
  return a.status === 'followed' && b.status === 'followed'
    ? a.tip.hash === b.tip.hash && a.lib === b.lib && a.blocks[0] === b.blocks[0] && a.blocks.length === b.blocks.length
    : a.status === b.status
}

/** Milliseconds between two polls; a block is produced every 500. */
const EVERY_MS = 200

/** Follows the head until `stop`. */
export function followHead(following: Following & { readonly clock: Clock }): HeadSource & { stop(): void } {
  const { current, poll } = createFollower(following)
  const ends = new AbortController()
  const polling = runEvery(following.clock, EVERY_MS, () => poll(ends.signal))
  return {
    current,
    stop: () => {
      polling.stop()
      ends.abort('closed')
    },
  }
}

/** The status of the head after a failed poll. */
function toHeadStatus(failure: Failure): Exclude<HeadStatus, 'followed'> {
  if (failure.kind === 'bad_block' || failure.kind === 'defect') return 'unproved'
  return failure instanceof NoNodeOnBranch ? 'apart' : 'away'
}

/** The longest run of derived blocks that ends with the tip. */
const selectShown = (branch: readonly FollowedBlock[]): readonly HeadBlock[] =>
  branch
    .slice(branch.findLastIndex(({ derived }) => derived === undefined) + 1)
    .flatMap(({ derived }) => derived?.head ?? [])
