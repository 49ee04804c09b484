import { parentPort } from 'node:worker_threads'
import { type ProveRequest, proveInThread } from '#node/bulk.ts'

// The program of a thread that proves blocks; `scripts/build` puts it into the binary beside main.ts.
parentPort?.on('message', (asked: ProveRequest) => parentPort?.postMessage(proveInThread(asked)))
