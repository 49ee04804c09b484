import { parentPort } from 'node:worker_threads'
import { serveInThread } from '#cli/threads/serve-in-thread.ts'

// The program of a thread that serves; `scripts/build` puts it into the binary beside main.ts.
serveInThread({
  post: message => parentPort?.postMessage(message),
  onMessage: listener => parentPort?.on('message', listener),
})
