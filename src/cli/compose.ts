import { join } from 'node:path'
import { Failure, type Log } from '#failure/failure.ts'
import { createNode } from '#node/archive-node.ts'
import type { BlockEvent } from '#node/block-requests.ts'
import type { Node, NodeEvent } from '#node/port.ts'
import type { WriteEvent } from '#store/elastic/client/sender.ts'
import { openElastic } from '#store/elastic/open-elastic.ts'
import { absentStore, refuseDifferent } from '#store/failures.ts'
import type { Store } from '#store/port.ts'
import { isAbsent } from '#store/servable.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { openStateFile } from '#store/sqlite/state-file.ts'
import type { CommandCall, ExitCode } from './command.ts'
import { cacheNote, type MetricCounts, nodeCallNote, storeCallNote } from './metrics/catalogue.ts'
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
      if (event.type === 'retry') counts?.storeRetries.add(1, 'write')
      tell(log, event)
    },
    onCall,
    ...(counts === undefined ? {} : { onCacheRead: cacheNote(counts) }),
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

/** Logs the reasons for which Elasticsearch makes a loader wait. */
function tell(log: Log, event: WriteEvent): void {
  if (event.type === 'blocked')
    log('error', 'Elasticsearch blocks writes; waiting until it accepts them.', { reason: event.reason })
  else if (event.type === 'unblocked') log('info', 'Elasticsearch accepts writes again.')
  else log('warn', 'Retrying a write.', { reason: event.reason, wait_ms: Math.round(event.waitMs) })
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

function tellOfBlock(log: Log, { type, ...fields }: BlockEvent): void {
  if (type === 'lost_bytes')
    log('warn', "The node's JSON lost bytes of receipts; the receipts are proved by the raw block.", fields)
  if (type === 'no_raw')
    log('warn', 'The node does not return a raw block; the text of transactions near the head is not proved.', fields)
  if (type === 'thread_died')
    log('error', 'A thread that proves blocks has died; the main thread takes over its work.', fields)
}

type ConnectOptions = {
  /** The program of the threads that prove the blocks of a long load; absent: this thread proves them. */
  readonly provingProgram?: URL
  readonly counts?: MetricCounts
}

/** Client of the nodes in the settings; undefined when none are set. */
export const connectNode = (
  values: Values,
  log: Log,
  { provingProgram, counts }: ConnectOptions = {},
): Node | undefined =>
  values.node === undefined
    ? undefined
    : createNode({
        urls: values.node,
        timeoutMs: values['node-timeout'],
        // A forwarded request ends before its deadline, so that the caller is told the reason.
        requestMs: Math.min(values['node-timeout'], values.deadline / 2),
        inFlight: values['node-requests'],
        ...(values.prove === undefined ? {} : { prove: values.prove }),
        ...(provingProgram === undefined ? {} : { threads: provingThreads(values, provingProgram) }),
        onEvent: event => tellOfNode(log, event),
        ...(counts === undefined ? {} : { onCall: nodeCallNote(counts) }),
        onBlockEvent: event => tellOfBlock(log, event),
      })

function tellOfNode(log: Log, { type, node, detail: reason }: NodeEvent): void {
  if (type === 'heard') log('info', 'A node answers.', { node, at: reason })
  if (type === 'silent') log('warn', 'A node gives no usable answer; it is not used until it does.', { node, reason })
  if (type === 'foreign') log('error', 'A node serves another chain than the store; it is not used.', { node, reason })
  if (type === 'apart')
    log('error', 'A node is on another branch than the store; no request is passed on to it.', { node, reason })
}
