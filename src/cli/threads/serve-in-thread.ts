import { Failure } from '#failure/failure.ts'
import { openCounts } from '#gate/shared-counts.ts'
import { receivedHead } from '#head/head-message.ts'
import { countersIn } from '#metrics/counters.ts'
import { connectNode, openStore } from '../compose.ts'
import { createLog } from '../log.ts'
import { catalogue } from '../metrics/catalogue.ts'
import { type ServedApp, serveApp } from '../serve-app.ts'
import { droppedLines, type LineWriter, lineWriter } from '../stderr.ts'
import type { FromThread, Task, ToThread } from './messages.ts'

/** The thread's end of its channel to the main thread. */
export type Wire = {
  readonly post: (message: FromThread) => void
  readonly onMessage: (listener: (message: ToThread) => void) => void
}

/** Time in milliseconds for which a stalled reader of the log may delay the end of a thread. */
const LAST_LINES_MS = 500

/** Milliseconds between two messages with lines: a message per line would cost as much as an answer. */
const GATHER_MS = 20

/** Runs a serving thread: one app on the address shared by all threads, with its own store and node clients. */
export const serveInThread = ({ post, onMessage }: Wire): void => {
  let logged: () => void = () => undefined
  const lines = lineWriter(
    (text, done) => {
      logged = () => void setTimeout(done, GATHER_MS)
      post({ type: 'lines', lines: text.trimEnd().split('\n') })
    },
    { dropped: droppedLines },
  )
  const running = Promise.withResolvers<Running>()
  // The main thread is told about a failure by a message.
  running.promise.catch(() => undefined)
  const update = (change: Change): void => {
    running.promise.then(
      ({ update }) => update(change),
      () => undefined,
    )
  }
  const begin = (task: Task): void => {
    try {
      running.resolve(serve(task, lines))
      post({ type: 'listening' })
    } catch (error) {
      running.reject(error)
      post({ type: 'failed', failure: textOf(error) })
    }
  }
  const stop = async (): Promise<void> => {
    const { app, close } = await running.promise
    await app.stop()
    await close()
    await lines.written(Bun.sleep(LAST_LINES_MS))
    post({ type: 'stopped' })
  }
  onMessage(message => {
    switch (message.type) {
      case 'serve':
        begin(message.task)
        break
      case 'files':
        update({ files: message.files })
        break
      case 'health':
        update({ health: message.health })
        break
      case 'head':
        update({ head: message.head })
        break
      case 'logged':
        logged()
        break
      case 'stop':
        void stop()
    }
  })
}

type Change = Pick<Partial<Task>, 'files' | 'health' | 'head'>

type Running = {
  readonly app: ServedApp
  readonly update: (change: Change) => void
  readonly close: () => Promise<void>
}

const serve = (task: Task, { write, dropped }: Pick<LineWriter, 'write' | 'dropped'>): Running => {
  const { values, version, address, memory, thread, health, head } = task
  let { files } = task
  const log = createLog({
    level: values['log-level'],
    format: values['log-format'],
    write: line => write(`${line}\n`),
    now: () => new Date(),
  })
  const counts = countersIn(catalogue, memory.metrics, thread)
  const store = openStore(values, log, { counts })
  const node = connectNode(values, log, { held: { memory: memory.held, thread }, counts })
  if (health !== undefined) node?.takeOver(health)
  const received = head === undefined ? undefined : receivedHead(head)
  const app = serveApp(
    {
      ...{ values, version, store, node, log, thread, files: () => files, droppedLines: dropped },
      ...{
        callers: openCounts(memory.callers, thread),
        threads: memory.threads,
        metrics: { memory: memory.metrics },
      },
      ...(received === undefined ? {} : { head: received }),
    },
    { address, isShared: true },
  )
  return {
    app,
    update: change => {
      files = change.files ?? files
      if (change.health !== undefined) node?.takeOver(change.health)
      if (change.head !== undefined) received?.take(change.head)
    },
    close: async () => {
      node?.close()
      await store.close()
    },
  }
}

const textOf = (error: unknown): { kind: Failure['kind']; message: string; help: string | undefined } =>
  error instanceof Failure
    ? { kind: error.kind, message: error.message, help: error.help }
    : { kind: 'defect', message: String(error), help: undefined }
