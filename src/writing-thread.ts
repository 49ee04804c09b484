import { parentPort } from 'node:worker_threads'
import { type ToWriting, writeInThread } from '#store/sqlite/threads/write-in-thread.ts'

// The program of a thread that writes the batches of a long load; `scripts/build` puts it into the binary beside main.ts.
const take = writeInThread(answer => parentPort?.postMessage(answer))
parentPort?.on('message', (message: ToWriting) => take(message))
