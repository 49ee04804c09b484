import { parentPort } from 'node:worker_threads'
import { proveInThread } from '#node/bulk.ts'
import type { ProveRequest } from '#node/threads/provers.ts'

// The program of a thread that proves blocks; `scripts/build` puts it into the binary beside main.ts.
parentPort?.on('message', (asked: ProveRequest) => parentPort?.postMessage(proveInThread(asked)))
