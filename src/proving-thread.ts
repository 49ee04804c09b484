import { parentPort } from 'node:worker_threads'
import { noteNeeds } from '#derive/needs.ts'
import { proveInThread } from '#node/threads/prove-in-thread.ts'
import type { Asked } from '#node/threads/provers.ts'

// The program of a thread that proves blocks; `scripts/build` puts it into the binary beside main.ts.
parentPort?.on('message', (asked: Asked) => parentPort?.postMessage(proveInThread(asked, noteNeeds)))
