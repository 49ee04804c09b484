import { statSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'
import type { Copying } from '#store/maintain-port.ts'
import { copied, type Pages } from './copied.ts'
import { failureFrom } from './threads/failure-message.ts'
import type { OpenWritingThread } from './threads/far-batches.ts'

/** Between two looks at how far a copy is. */
const LOOK_MS = 500

/**
 * Copies all pages in use to a file that is not there and has SQLite look through the copy; its height. With `open` a
 * thread does it, and `onProgress` is told the bytes written. Throws 'deadline' when `signal` aborts: what the thread has
 * begun ends with the process.
 */
export const copyPages = async (
  { open, ...pages }: Pages & { readonly open?: OpenWritingThread | undefined },
  { signal, onProgress }: Copying,
): Promise<number> => {
  if (open === undefined) return copied(pages)
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const thread = open({
    message: message => {
      if (message.type === 'failed') reject(failureFrom(message))
      else if (message.type === 'copied') resolve(message.height)
    },
    ended: reason =>
      reject(new Failure('unavailable', `The thread that copies ${pages.name} has died: ${reason}.`)),
  })
  const stop = (): void => reject(new Failure('deadline', `Copying ${pages.name} was stopped.`))
  signal?.addEventListener('abort', stop)
  const of = statSync(pages.path).size
  const look = setInterval(() => onProgress?.({ done: bytesIn(pages.partial), of }), LOOK_MS)
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

const bytesIn = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
