import { parentPort } from 'node:worker_threads'
import type { ToThread } from '#cli/threads/messages.ts'
import { serveInThread } from '#cli/threads/serve-in-thread.ts'

/** A serving thread that dies when a test says so on this channel. */
export const DOOM = 'doomed-thread'

export type Doom = { readonly thread: number; readonly by: 'error' | 'rejection' | 'exit' }
/** The thread's message on the channel when it begins. */
export type Begun = { readonly begun: number }

const channel = new BroadcastChannel(DOOM)
parentPort?.on('message', (message: ToThread) => {
  if (message.type !== 'serve') return
  const { thread } = message.task
  channel.onmessage = ({ data }: { readonly data: unknown }) => {
    const { thread: meant, by } = data as Doom
    if (meant !== thread) return
    if (by === 'exit') process.exit(3)
    if (by === 'rejection') void Promise.reject(new Error('doomed by rejection'))
    else
      setTimeout(() => {
        throw new Error('doomed by error')
      }, 0)
  }
  channel.postMessage({ begun: thread } satisfies Begun)
})

serveInThread({
  post: message => parentPort?.postMessage(message),
  onMessage: listener => parentPort?.on('message', listener),
})
