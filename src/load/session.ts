import type { LoadedBlock } from '#chain/block.ts'
import type { BlockSource } from '#node/port.ts'
import type { Identity, Published, Store } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { agreedOn } from './agreement.ts'
import { type BatchBounds, type BatchBuilder, type BlockDocuments, batchBuilder } from './batch-builder.ts'
import { collector } from './collect.ts'
import { deriver } from './deriver.ts'
import { irreversible } from './irreversible.ts'
import type { LoadOptions } from './load.ts'
import { partitioning } from './partitioning.ts'
import type { Progress } from './progress.ts'
import { provedSoFar, proving } from './proving.ts'
import { segments } from './segments.ts'

/** A batch is big enough to be cheap and small enough to be held twice: one being written, one being derived. */
const HELD: BatchBounds = { documents: 20_000, bytes: 8_000_000 }
/** Of a store that takes history ahead: the larger a batch, the less often a document of state is written. */
const STAGED: BatchBounds = {
  documents: 200_000,
  bytes: Number.POSITIVE_INFINITY,
  changes: 25_000,
  piece: { documents: 8_000, bytes: 4_000_000 },
}
/** Blocks whose state is fetched with one question to the store, and the letters of their transactions at most. */
const RUN = { blocks: 200, letters: 1_000_000 }
/** Half a second: the chain's block time. */
const POLL_MS = 500
/** A batch that fills slowly is committed all the same; further from the head readers can wait a little longer. */
const OLDEST_MS = { near: 2_000, far: 15_000 }
/** Blocks behind the node's last irreversible one from which on a load is far from the head. */
const FAR = 1_000
/** As many blocks at once come of following the chain: its last irreversible block goes on by a few, or some dozens. */
const FOLLOWED = 50

/** One take-over of the store: ends with it, or with the first failure. */
export type Session = {
  readonly checkpoint: Published | undefined
  /** Loads until done or aborted; the height reached. */
  run(onProgress: (progress: Progress) => void): Promise<number>
  close(): Promise<void>
}

/** Something that was thrown, whatever it is. */
type Failed = { readonly error: unknown }

type Parts = { readonly node: BlockSource; readonly store: Store; readonly identity: Identity }

export const session = async ({ node, store, identity }: Parts, options: LoadOptions): Promise<Session> => {
  const writer = await store.takeOver(identity)
  const { checkpoint } = writer
  const { signal, clock = systemClock } = options
  const partitions = partitioning(writer)
  const derive = deriver(writer, partitions.next)
  const proof = proving(derive, checkpoint, options.recorded)
  let proved = provedSoFar(checkpoint)
  const { stage } = writer
  const bounds = options.batch ?? (stage === undefined ? HELD : STAGED)

  const collect = collector()

  let height = checkpoint?.height ?? -1
  let hash = checkpoint?.hash
  let time = checkpoint?.time
  let derived = height
  /** As the node last said it and has it: what was stored, or said earlier, may have been nonsense. */
  let lib = -1
  const final = irreversible(node, options.log, clock.now)
  let batch: BatchBuilder = batchBuilder(bounds)
  let begun = 0
  let committing: Promise<void> | undefined
  let staging: Promise<void> | undefined
  let transactions = 0
  let records = 0

  /** Waits for the batch on its way; rejects with what became of it. */
  const settle = async (): Promise<void> => {
    const pending = committing
    committing = undefined
    await pending
  }
  /** Sends what is held of the batch ahead of it; one piece is on its way while the next is derived. */
  const sendAhead = async (): Promise<void> => {
    await staging
    staging = stage?.(batch.takePiece(partitions.filling()))
    // Awaited by the next one, or by its batch.
    staging?.catch(() => undefined)
  }
  const commit = async (onProgress: (progress: Progress) => void): Promise<void> => {
    await settle()
    if (batch.empty) return
    const built = batch.build(derive.cut(), partitions.filling(), lib)
    const whole = batch
    batch = batchBuilder(bounds)
    const provedRun = proof.cut()
    /** The nodes are asked while the next batch is derived. */
    const confirmed = async (): Promise<void> => {
      proved = provedRun(proved, await agreedOn(node, built.end, signal))
      await writer.commit({ ...built, end: { ...built.end, proved } })
    }
    committing = confirmed().then(() => {
      derive.settled()
      height = built.end.height
      transactions += whole.transactions
      records += whole.records
      onProgress({ height, target: targetOf(options, lib), lib, transactions, records })
    })
    // Awaited by the next `settle`; a rejection in between must not count as unhandled.
    committing.catch(() => undefined)
  }
  const oldestMs = (): number => (lib - derived > FAR ? OLDEST_MS.far : OLDEST_MS.near)
  /** Derives a run; what it answers is why it ended before a segment whose signature does not count. */
  const take = async (
    run: readonly LoadedBlock[],
    onProgress: (progress: Progress) => void,
  ): Promise<Failed | undefined> => {
    let at = 0
    let refused: Failed | undefined
    const before = (loaded: LoadedBlock): Promise<void> =>
      proof.before(loaded).catch((error: unknown) => {
        refused = { error }
        throw error
      })
    const each = async (documents: BlockDocuments): Promise<void> => {
      const loaded = run[at++]
      if (loaded !== undefined) await proof.after(loaded)
      if (batch.empty) begun = clock.elapsed()
      batch.add(documents)
      partitions.add(documents)
      derived = documents.block.height
      hash = documents.block.hash
      time = documents.block.time
      collect(1 + documents.transactions.length + documents.records.length)
      // A batch goes to one partition.
      if (batch.full(derive.changed()) || partitions.full() || clock.elapsed() - begun > oldestMs())
        await commit(onProgress)
      else if (stage !== undefined && batch.pieceFull) await sendAhead()
    }
    await derive.derive(run, each, before).catch((error: unknown) => {
      if (error !== refused?.error) throw error
    })
    return refused
  }
  /** Everything the node has up to `to`; what came before a failure of the node is committed first. */
  const fetchTo = async (to: number, onProgress: (progress: Progress) => void): Promise<void> => {
    const parent = hash === undefined ? {} : { parent: hash }
    const following = to - derived <= FOLLOWED
    const range = { from: derived + 1, to, signal, following, ...parent }
    const blocks = segments(node.blocks(range))
    let failed: Failed | undefined
    let refused: Failed | undefined
    let run: LoadedBlock[] = []
    /** The run before: it is derived while what this one needs is fetched. */
    let ahead: readonly LoadedBlock[] = []
    let letters = 0
    try {
      while (failed === undefined && refused === undefined) {
        const next = await blocks.next().catch((error: unknown) => {
          failed = { error }
        })
        if (next === undefined || next.done) break
        proof.expect(next.value)
        run.push(...next.value)
        letters += lettersOf(next.value)
        if (run.length < RUN.blocks && letters < RUN.letters) continue
        derive.prefetch(run)
        const full = ahead
        ahead = run
        run = []
        letters = 0
        refused = await take(full, onProgress)
      }
      if (!signal.aborted) {
        refused ??= await take(ahead, onProgress)
        refused ??= await take(run, onProgress)
      }
      // What is derived is kept, also by one that is told to stop: far from the head it is the work of seconds.
      await commit(onProgress)
      await settle()
      failed = refused ?? failed
      if (failed !== undefined && !signal.aborted) throw failed.error
    } finally {
      await blocks.return()
    }
  }

  return {
    checkpoint,
    run: async onProgress => {
      for (;;) {
        const now = await final.look({ height: derived, time }, signal)
        lib = now ?? lib
        const target = targetOf(options, lib)
        if (now === undefined) await clock.sleep(options.pollMs ?? POLL_MS, signal)
        else if (target > derived) await fetchTo(target, onProgress)
        else if (options.once || derived >= (options.to ?? Number.POSITIVE_INFINITY)) return height
        else await clock.sleep(options.pollMs ?? POLL_MS, signal)
        if (signal.aborted) return height
      }
    },
    close: async () => {
      // The batch on its way is finished or given up by the store; either way it is whole.
      await settle().catch(() => undefined)
      await staging?.catch(() => undefined)
      await writer.release().catch(() => undefined)
    },
  }
}

/** Letters of a segment's transactions. */
const lettersOf = (segment: readonly LoadedBlock[]): number =>
  segment.reduce(
    (sum, { block }) => block.transactions.reduce((letters, { body }) => letters + body.length, sum),
    0,
  )

const targetOf = ({ to }: LoadOptions, lib: number): number => (to === undefined ? lib : Math.min(to, lib))
