import type { Published } from '#store/port.ts'
import { until } from '#test/support/wait.ts'
import { busyLists } from './check-feeds.ts'
import type { ForkBlock } from './fork-node.ts'
import { type HeadReader, headReader } from './head-reader.ts'
import { ancestor, leadsTo } from './lines.ts'
import type { ForkStand } from './stand.ts'
import type { AnsweredRow } from './true-list.ts'

/** Clients of feeds that all disconnect and reconnect together. */
export type AbsentReaders = {
  readonly readers: readonly HeadReader[]
  /** Resolves when no client is connected. */
  leave(): Promise<void>
  comeAgain(): void
  /** Loads up to the last irreversible block, with or without connected clients. */
  load(): Promise<void>
  /** Rows that were dropped during a connection although they are still on the branch. */
  readonly wrong: readonly string[]
  stop(): Promise<void>
}

export async function absentReaders(stand: ForkStand, random: () => number): Promise<AbsentReaders> {
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  let waiting = 0
  const wrong: string[] = []
  const ready = async (): Promise<void> => {
    waiting += 1
    await gate.promise
    waiting -= 1
  }
  let at: Pick<Published, 'height' | 'hash'> = await stand.published()
  /** Whether the current knowledge of the service does not rule a block out. */
  const mayBe = (block: ForkBlock): boolean => {
    const { height } = block.made
    if (height <= at.height) return leadsTo(stand.final().head, { height, hash: block.hash })
    const shown = stand.follower.current()
    const tip = shown.status === 'followed' ? stand.forks.blocks.get(shown.tip.hash) : undefined
    if (tip !== undefined) return leadsTo(tip, { height, hash: block.hash })
    return ancestor(block, at.height).hash === at.hash
  }
  const onDropped = ([lowest]: readonly AnsweredRow[]): void => {
    const hash = String(lowest?.['id']).split('-').at(-1) ?? ''
    const block = stand.forks.blocks.get(hash)
    if (block === undefined || mayBe(block)) wrong.push(`${JSON.stringify(lowest)} at ${at.height}`)
  }
  const readers = busyLists(stand).map(list =>
    headReader(list, {
      ask: (path, init) => stand.service.ask(path, init),
      key: () => stand.service.key,
      random,
      ready,
      onDropped,
      isAway: () => true,
    }),
  )
  await Promise.all(readers.map(({ open }) => open))
  return {
    readers,
    wrong,
    leave: async () => {
      gate = Promise.withResolvers()
      for (const reader of readers) reader.drop()
      await Promise.race([until(() => waiting >= readers.length, 1), ...readers.map(({ done }) => done)])
    },
    comeAgain: () => gate.resolve(),
    load: async () => {
      const { head, lib } = stand.final()
      at = { height: lib, hash: ancestor(head, lib).hash }
      await stand.load()
    },
    stop: async () => {
      gate.resolve()
      for (const reader of readers) reader.stop()
      await Promise.all(readers.map(({ done }) => done))
    },
  }
}
