import { join } from 'node:path'
import { Failure, type Log } from '#failure/failure.ts'
import { createCounters } from '#metrics/counters.ts'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import { openElastic } from '#store/elastic/open-elastic.ts'
import { absentStore, refuseDifferent } from '#store/failures.ts'
import type { Store } from '#store/port.ts'
import { isAbsent } from '#store/servable.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { openStateFile } from '#store/sqlite/state-file.ts'
import { awaitLimited } from '#time/deadline.ts'
import type { Command, CommandCall, ExitCode } from './command.ts'
import { catalogue, type MetricCounts, nodeCallNote, storeCallNote } from './metrics/catalogue.ts'
import type { StoreAddress } from './setting-readers.ts'
import type { Values } from './settings.ts'
import { provingThreads, writingThreads } from './threads/loading-threads.ts'

/** The store's address: `--store`, else a file in the data folder. */
export const getStoreAddress = ({ store, data }: Pick<Values, 'store' | 'data'>): StoreAddress =>
  store ?? { type: 'sqlite', path: join(data, 'iostlens.sqlite') }

type StoreOptions = {
  readonly counts?: MetricCounts
  /** The program of the thread that writes long loads. */
  readonly writingProgram?: URL
}

/** The store of the settings, not connected yet. */
function openStore(
  { values, log }: Pick<CommandCall, 'values' | 'log'>,
  { counts, writingProgram }: StoreOptions,
): Store {
  const onCall = counts && storeCallNote(counts)
  const address = getStoreAddress(values)
  if (address.type === 'sqlite')
    return openSqlite({ path: address.path, writing: writingThreads(values, writingProgram), onCall })
  const auth = selectAuth(values, address)
  const caFile = values['store-ca']
  return openElastic({
    url: address.url,
    prefix: address.prefix,
    requestTimeoutMs: values['store-timeout'],
    writeTimeoutMs: values['store-timeout'],
    replicas: values.replicas,
    partitionDocuments: values['partition-documents'],
    leaseMs: values.lease,
    openStateFile: of => openStateFile(join(values.data, of === 'served' ? 'state.sqlite' : 'state-building.sqlite')),
    onEvent: event => {
      if (event.type === 'blocked')
        log('error', 'Elasticsearch blocks writes; waiting until it accepts them.', { reason: event.reason })
      else if (event.type === 'unblocked') log('info', 'Elasticsearch accepts writes again.')
      else {
        counts?.storeRetries.add(1, 'write')
        log('warn', 'Retrying a write.', { reason: event.reason, wait_ms: Math.round(event.waitMs) })
      }
    },
    onCall,
    ...(counts === undefined
      ? {}
      : { onCacheRead: isHit => counts.cacheReads.add(1, 'state', isHit ? 'hit' : 'miss') }),
    ...(auth === undefined ? {} : { auth }),
    ...(caFile === undefined ? {} : { caFile }),
  })
}

/** Runs `work` with the store of the settings, and closes the store afterwards in any case. */
export async function withStore<T extends ExitCode | string>(
  call: Pick<CommandCall, 'values' | 'log'>,
  work: (store: Store) => Promise<T>,
  options: StoreOptions = {},
): Promise<T> {
  const store = openStore(call, options)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** The call of a command that works on the store of the settings. */
export type StoreCall = CommandCall & { readonly store: Store }

/** The `run` of such a command. The store is closed at its end in any case. */
export function defineStoreRun(work: (call: StoreCall) => Promise<ExitCode>): Command['run'] {
  return call => withStore(call, store => work({ ...call, store }))
}

/** Credentials from settings take precedence over those in the URL. */
function selectAuth(values: Values, address: Extract<StoreAddress, { type: 'elastic' }>) {
  const apiKey = values['store-api-key']
  const username = values['store-user'] ?? address.user
  const password = values['store-password'] ?? address.password
  if (apiKey !== undefined && username !== undefined)
    throw new Failure('usage', 'Both a user and an API key of Elasticsearch are set; set only one of them.')
  if (apiKey !== undefined) return { apiKey }
  if (username === undefined && password === undefined) return undefined
  if (username === undefined || password === undefined)
    throw new Failure(
      'usage',
      username === undefined
        ? 'An Elasticsearch password is set without a user.'
        : `The Elasticsearch user '${username}' is set without a password.`,
      {
        help: 'Set --store-user (IOSTLENS_STORE_USER) and --store-password-file (IOSTLENS_STORE_PASSWORD, IOSTLENS_STORE_PASSWORD_FILE).',
      },
    )
  return { username, password }
}

/** Refuses a store whose indices do not match this version. A store that does not exist yet is accepted as empty. */
export async function requireUsable(store: Store): Promise<void> {
  refuseDifferent(store.name, await store.check())
  // A missing index may not have been created yet, or belong to another version: only the store can tell.
  await store.published().catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'conflict') throw error
  })
}

/** Also refuses a store that does not exist: a mistyped name must not look like an empty store. */
export async function requireExisting(store: Store): Promise<void> {
  const differences = await store.checkShape()
  refuseDifferent(store.name, differences)
  if (isAbsent(differences)) throw absentStore(store.name)
}

const BLOCK_EVENTS = {
  lost_bytes: ['warn', "The node's JSON lost bytes of receipts; the receipts are proved by the raw block."],
  no_raw: ['warn', 'The node does not return a raw block; the text of transactions near the head is not proved.'],
  thread_died: ['error', 'A thread that proves blocks has died; the main thread takes over its work.'],
} as const

const NODE_EVENTS = {
  heard: ['info', 'A node answers.'],
  silent: ['warn', 'A node gives no usable answer; it is not used until it does.'],
  foreign: ['error', 'A node serves another chain than the store; it is not used.'],
  apart: ['error', 'A node is on another branch than the store; no request is passed on to it.'],
} as const

type ConnectOptions = {
  /** The program of the threads that prove the blocks of a long load; absent: this thread proves them. */
  readonly provingProgram?: URL
  readonly counts?: MetricCounts
}

/** Client of the nodes in the settings, which closes at the end of its scope (`using`); undefined when none are set. */
export function connectNode(
  values: Values,
  log: Log,
  { provingProgram, counts }: ConnectOptions = {},
): (Node & Disposable) | undefined {
  if (values.node === undefined) return undefined
  const node = createNode({
    urls: values.node,
    timeoutMs: values['node-timeout'],
    // A forwarded request ends before its deadline, so that the caller is told the reason.
    requestMs: Math.min(values['node-timeout'], values.deadline / 2),
    inFlight: values['node-requests'],
    ...(values.prove === undefined ? {} : { prove: values.prove }),
    ...(provingProgram === undefined ? {} : { threads: provingThreads(values, provingProgram) }),
    onEvent: ({ type, node, detail }) => {
      const [level, message] = NODE_EVENTS[type]
      log(level, message, { node, [type === 'heard' ? 'at' : 'reason']: detail })
    },
    ...(counts === undefined ? {} : { onCall: nodeCallNote(counts) }),
    onBlockEvent: ({ type, ...fields }) => {
      const [level, message] = BLOCK_EVENTS[type]
      log(level, message, fields)
    },
  })
  return { ...node, [Symbol.dispose]: node.close }
}

type Chain = {
  readonly node: Node
  readonly urls: readonly string[]
  readonly store: Store
  readonly counts: MetricCounts
}

/**
 * Runs `work` with the node and the store of the settings, both counted, and closes both afterwards in any
 * case. Throws 'usage' when no node is set.
 */
export async function withChain(
  command: string,
  { values, log, provingProgram, writingProgram }: CommandCall,
  work: (chain: Chain) => Promise<ExitCode>,
): Promise<ExitCode> {
  const counts = createCounters(catalogue)
  const { node: urls } = values
  const node = connectNode(values, log, { provingProgram, counts })
  if (node === undefined || urls === undefined)
    throw new Failure('usage', `Command '${command}' needs a node.`, {
      help: 'Set it with --node URL or IOSTLENS_NODE, such as http://127.0.0.1:30001.',
    })
  const running = async (store: Store): Promise<ExitCode> => {
    using connected = node
    return await work({ node: connected, urls, store, counts })
  }
  return withStore({ values, log }, running, { writingProgram, counts })
}

/** Milliseconds to read the height: a store that does not answer must not delay the start or the stop. */
const HEIGHT_MS = 500

/** Logs the start of a service or a load, with the stored height. The returned function logs the end. */
export async function logRun(
  { log, version }: Pick<CommandCall, 'log' | 'version'>,
  message: 'Serving.' | 'Loading.',
  { store, node, ...own }: { readonly store: Store; readonly node: Node | undefined; readonly url?: string },
): Promise<() => Promise<void>> {
  const note = async (text: string): Promise<void> => {
    const height = await awaitLimited(store.published(), { ms: HEIGHT_MS }).then(
      published => published?.height ?? 'none',
      () => 'unknown',
    )
    log('info', text, { ...own, version, store: store.name, node: node?.name ?? 'none', height })
  }
  await note(message)
  return () => note('Stopped.')
}
