import { afterAll, beforeAll } from 'bun:test'
import type { Batch, Store, Writer } from '#store/port.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { identity } from './fixture.ts'

/** An empty store for one group of tests. */
type Opened = {
  /** The store does not exist yet. */
  readonly store: Store
  /** Another handle on the same data, as a second process has. */
  readonly reopen: () => Promise<Store>
  /** Gives one existing index or table another shape than `create` would. */
  readonly spoil: () => Promise<void>
  /** Closes every handle and removes the data. */
  readonly destroy: () => Promise<void>
}

export type Open = () => Promise<Opened>

/** Runs `body` with a new store and removes it afterwards. */
export async function withStore(open: Open, body: (opened: Opened) => Promise<void>): Promise<void> {
  const opened = await open()
  try {
    await body(opened)
  } finally {
    await opened.destroy()
  }
}

/** Creates a store, and commits batches with a loader that ends. */
export async function fillStore(store: Store, ...batches: readonly Batch[]): Promise<void> {
  await store.create()
  const writer = await store.takeOver(identity)
  for (const batch of batches) await commitBatch(writer, batch)
  await writer.release()
}

/** Runs `body` with a new store that a loader has taken over. */
export const withWriter = (
  open: Open,
  body: (opened: Opened & { readonly writer: Writer }) => Promise<void>,
): Promise<void> =>
  withStore(open, async opened => {
    await opened.store.create()
    await body({ ...opened, writer: await opened.store.takeOver(identity) })
  })

/** One store for all tests of a group, filled before them. */
export function shareStore(open: Open, fill: (writer: Writer) => Promise<unknown>) {
  let opened: Opened
  let writer: Writer
  beforeAll(async () => {
    opened = await open()
    await opened.store.create()
    writer = await opened.store.takeOver(identity)
    await fill(writer)
  })
  afterAll(() => opened.destroy())
  return {
    read: ((...args) => opened.store.read(...args)) as Store['read'],
    hold: ((...args) => opened.store.hold(...args)) as Store['hold'],
    writer: () => writer,
    reopen: () => opened.reopen(),
    close: () => opened.store.close(),
  }
}
