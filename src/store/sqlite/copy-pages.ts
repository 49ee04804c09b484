import { statSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'
import type { CopyOptions } from '#store/maintain-port.ts'
import { type Pages, vacuumInto } from './copied.ts'
import { decodeFailure } from './threads/failure-message.ts'
import type { OpenWritingThread } from './threads/far-batches.ts'

/** Interval of progress reports, milliseconds. */
const LOOK_MS = 500

/**
 * Copies all used pages to a new file and lets SQLite check the copy; returns its height. With `open` a
 * thread does this, and `onProgress` gets the number of bytes written. Throws 'deadline' when `signal`
 * aborts; the thread's unfinished work then ends with the process.
 */
export async function copyPages(
  { open, ...pages }: Pages & { readonly open?: OpenWritingThread | undefined },
  { signal, onProgress }: CopyOptions,
): Promise<number> {
  if (open === undefined) return vacuumInto(pages)
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const thread = open({
    message: message => {
      if (message.type === 'failed') reject(decodeFailure(message))
      else if (message.type === 'copied') resolve(message.height)
    },
    ended: reason => reject(new Failure('unavailable', `The thread that copies ${pages.name} has died: ${reason}.`)),
  })
  const stop = (): void => reject(new Failure('deadline', `Copying ${pages.name} was stopped.`))
  signal?.addEventListener('abort', stop)
  const of = statSync(pages.path).size
  const look = setInterval(() => onProgress?.({ done: getFileSize(pages.partial), of }), LOOK_MS)
  try {
    thread.post({ type: 'copy', pages })
    if (signal?.aborted === true) stop()
    return await promise
  } finally {
    clearInterval(look)
    signal?.removeEventListener('abort', stop)
    thread.end()
  }
}

const getFileSize = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
