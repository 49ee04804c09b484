import { statSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'
import type { HeldView, View } from '#store/port.ts'
import type { Readers } from './readers.ts'

/**
 * Size of the write-ahead log beyond which no view is held. The log cannot restart while a transaction reads
 * from it (sqlite.org/wal.html, "Checkpoint starvation"), so a held view makes it grow by all writes of a
 * load. The limit is ten times the need of the longest batches.
 */
const MAX_LOG_BYTES = 2 * 1024 ** 3

type Place = {
  readonly path: string
  readonly name: string
  readonly signal: AbortSignal | undefined
  readonly mostLogBytes?: number
}

/** One read transaction that lasts until the view is closed; it occupies one of the readers' connections. */
export async function holdView(
  { read }: Pick<Readers, 'read'>,
  { path, name, signal, mostLogBytes = MAX_LOG_BYTES }: Place,
): Promise<HeldView> {
  const opened = Promise.withResolvers<View>()
  const closed = Promise.withResolvers<void>()
  const requireSmallLog = (): void => {
    const { size = 0 } = statSync(`${path}-wal`, { throwIfNoEntry: false }) ?? {}
    if (size > mostLogBytes) throw logTooLong(name, size)
  }
  requireSmallLog()
  const reading = read(
    async view => {
      opened.resolve(view)
      await closed.promise
    },
    { ...(signal === undefined ? {} : { signal }), isHeld: true },
  )
  // Has no effect once the view exists; then the view's own reads throw.
  reading.catch(opened.reject)
  const view = await opened.promise
  return {
    view: {
      ...view,
      page: async (index, order, options) => {
        requireSmallLog()
        return view.page(index, order, options)
      },
    },
    close: closed.resolve,
  }
}

const logTooLong = (name: string, bytes: number): Failure =>
  new Failure(
    'unavailable',
    `${name}: its log has ${bytes} bytes, too many for a view of one height to be kept while more is written.`,
    { help: 'Retry when the load has reached the head of the chain.' },
  )
