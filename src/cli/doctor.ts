import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import { dirname, resolve } from 'node:path'
import { writeJson } from '#chain/json.ts'
import { Failure, getErrorMessage } from '#failure/failure.ts'
import { judgeNode, lacksText, type StoredChain, unfitHelp, unfitText } from '#node/pool.ts'
import type { ChainInfo, Node } from '#node/port.ts'
import { MEND, MIGRATE } from '#store/failures.ts'
import type { ServerReport } from '#store/maintain-port.ts'
import { readDisk } from '#store/own-files.ts'
import type { Published, Store } from '#store/port.ts'
import { createHashSource } from '#store/servable.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { awaitLimited } from '#time/deadline.ts'
import type { Command } from './command.ts'
import { connectNode, defineStoreRun, getStoreAddress, type StoreCall } from './compose.ts'
import type { StoreAddress } from './setting-readers.ts'
import { LOGGING, NODE, STORE } from './settings.ts'

/** The result of one check; `help` is the remedy. */
export type DoctorFinding = {
  readonly about: 'node' | 'store' | 'machine'
  readonly is: 'ok' | 'warning' | 'wrong'
  readonly what: string
  readonly help?: string
}

/** Constructors of findings about one subject. */
function findingsAbout(about: DoctorFinding['about']) {
  const ok = (what: string): DoctorFinding => ({ about, is: 'ok', what })
  const warning = (what: string, help: string): DoctorFinding => ({ about, is: 'warning', what, help })
  const wrong = (what: string, help: string): DoctorFinding => ({ about, is: 'wrong', what, help })
  /** The finding for a check that failed. A failure's own help is used if it has one. */
  const failed = (error: unknown, help: string): DoctorFinding =>
    wrong(getErrorMessage(error), (error instanceof Failure ? error.help : undefined) ?? help)
  return { ok, warning, wrong, failed }
}

/** Prints a finding as soon as it is known. */
type Tell = (finding: DoctorFinding) => void

/** Maximum time for one answer: what is slower is as good as hung to the operator who waits. */
const ANSWER_MS = 5_000

/**
 * Asks a question and tells its findings. An error is a finding, too, and so is no answer in time. `of`: whom the
 * question is for, the beginning of a sentence; `help`: the remedy if there is no answer.
 */
async function askQuestion(
  { about, of, help, tell }: Pick<DoctorFinding, 'about'> & { readonly of: string; help: string; tell: Tell },
  ask: () => Promise<readonly DoctorFinding[]>,
): Promise<void> {
  const late = () => new Failure('unavailable', `${of} did not answer within ${ANSWER_MS / 1_000} seconds`)
  const findings = await awaitLimited(ask(), { ms: ANSWER_MS, late }).catch((error: unknown) => [
    findingsAbout(about).failed(error, help),
  ])
  for (const finding of findings) tell(finding)
}

const onNode = findingsAbout('node')
const onStore = findingsAbout('store')
const onMachine = findingsAbout('machine')

/**
 * Maximum age of a head: a node makes a block every half second, so an older head belongs to a node that has stopped.
 */
const HEAD_MS = 30_000
/** Calls that loading or the gateway needs, each by a path that every chain answers. */
const CALLS = [
  ['getNodeInfo', '/getNodeInfo', 'the gateway'],
  ['getBlockByNumber', '/getBlockByNumber/0/true', 'loading'],
  ['getRawBlockByNumber', '/getRawBlockByNumber/0/true', 'the proof of texts (--prove whole)'],
] as const

const NODE_HELP =
  'Check that the node runs and that its HTTP RPC port is reachable from here: curl URL/getChainInfo. Or set another one with --node.'

type StoredEnd = { readonly published: Published; readonly identity: StoredChain['identity'] }

type NodeFrom = {
  readonly node: Pick<Node, 'name' | 'chainInfo' | 'blockHash' | 'get'>
  /** The end of the stored chain; undefined: there is none, or the store cannot be read. */
  readonly stored: Promise<StoredEnd | undefined>
  readonly hashAt: StoredChain['hashAt']
  readonly clock: Pick<Clock, 'now'>
  readonly signal: AbortSignal
}

/** Checks the chain, height, clock and calls of one node; the calls side by side. */
export async function checkNode(from: NodeFrom, tell: Tell): Promise<void> {
  const { node, signal } = from
  const asked = { about: 'node', of: node.name, help: NODE_HELP, tell } as const
  let heard: ChainInfo | undefined
  await askQuestion(asked, async () => {
    heard = await node.chainInfo(signal)
    const { chainId, netName, headBlock, libBlock } = heard
    const network = netName && ` (${netName})`
    return [
      onNode.ok(
        `${node.name} serves chain ${chainId}${network}; head ${headBlock}, last irreversible block ${libBlock}`,
      ),
      checkHead(heard, from),
    ]
  })
  const info = heard
  if (info === undefined) return
  await Promise.all([
    // The node is not to blame for a store that does not answer.
    from.stored.then(() => askQuestion(asked, () => checkChain(info, from))),
    ...CALLS.map(call => askQuestion(asked, async () => [await checkCall(call, from)])),
  ])
}

function checkHead({ headTime }: ChainInfo, { node: { name }, clock }: NodeFrom): DoctorFinding {
  const ms = clock.now() - Number(headTime / 1_000_000n)
  const seconds = Math.abs(Math.round(ms / 1_000))
  if (ms > HEAD_MS)
    return onNode.warning(
      `The head block of ${name} is ${seconds} seconds old by this machine's clock`,
      "The node is stuck or syncing, or this machine's clock is wrong: compare with 'date -u' and another node.",
    )
  if (ms < -HEAD_MS)
    return onNode.wrong(
      `The head block of ${name} was made ${seconds} seconds after this machine's time`,
      "Set this machine's clock: 'timedatectl set-ntp true'.",
    )
  return onNode.ok(`The clocks of ${name} and of this machine agree`)
}

async function checkChain(
  { chainId, libBlock }: ChainInfo,
  { node, stored, hashAt, signal }: NodeFrom,
): Promise<readonly DoctorFinding[]> {
  const end = await stored
  if (end === undefined) return []
  const { published, identity } = end
  const verdict = await judgeNode(
    { chainId, libBlock, blockHash: height => node.blockHash(height, signal) },
    { identity, last: published, hashAt },
  )
  switch (verdict.is) {
    case 'fit':
      return [onNode.ok(`${node.name} has the last stored block, ${published.height}`)]
    case 'behind':
      return [
        onNode.warning(
          `${node.name} is behind the store, which has block ${published.height}`,
          'Wait until it has caught up, or set another node with --node.',
        ),
      ]
    case 'lacks':
      return [onNode.wrong(lacksText(verdict, node.name), NODE_HELP)]
    default:
      return [onNode.wrong(unfitText(verdict, node.name), unfitHelp(verdict, node.name))]
  }
}

async function checkCall(
  [name, path, use]: (typeof CALLS)[number],
  { node, signal }: NodeFrom,
): Promise<DoctorFinding> {
  const help = `Without ${name}, ${use} does not work; enable it at the node, or set another one with --node.`
  try {
    const { status, release } = await node.get(path, { signal })
    release()
    return status === 200
      ? onNode.ok(`${node.name} answers ${name}`)
      : onNode.warning(`${node.name} answers ${name} with status ${status}`, help)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { ...onNode.failed(error, help), is: 'warning' }
  }
}

/** Checks the disks, privileges and settings of a store's server. */
export const checkServer = ({
  disks,
  missingPrivileges,
  blocked,
  createsIndices,
}: ServerReport): readonly DoctorFinding[] => [
  ...checkDisks(disks),
  checkPrivileges(missingPrivileges),
  ...(blocked.length === 0
    ? []
    : [
        onStore.wrong(
          `Elasticsearch made ${blocked.length} indices read-only, such as ${blocked[0]}: a disk was full`,
          'Make room; Elasticsearch lifts the block by itself below its high watermark.',
        ),
      ]),
  ...(createsIndices === true
    ? [
        onStore.warning(
          'Elasticsearch creates missing indices on write',
          'A lost index could come back empty: set action.auto_create_index to false in the cluster settings.',
        ),
      ]
    : []),
]

const checkDisks = (disks: ServerReport['disks']): readonly DoctorFinding[] =>
  disks === undefined
    ? [
        onStore.warning(
          'The disks of Elasticsearch are unknown: the user lacks the privilege to read them',
          "Give the user the cluster privilege 'monitor', or watch them elsewhere: GET _cat/allocation.",
        ),
      ]
    : disks.map(({ server, freeBytes, totalBytes, leastBytes }) => {
        const what = `${formatGigabytes(freeBytes)} of ${formatGigabytes(totalBytes)} are free on the disk of ${server}`
        return freeBytes < leastBytes
          ? onStore.warning(
              `${what}, less than the low watermark of ${formatGigabytes(leastBytes)}`,
              'Elasticsearch places no new indices there, and soon refuses writes: make room or add a server.',
            )
          : onStore.ok(what)
      })

function checkPrivileges(lacks: ServerReport['missingPrivileges']): DoctorFinding {
  if (lacks === undefined) return onStore.ok('Elasticsearch checks no privileges, or does not report them')
  if (lacks.length === 0) return onStore.ok('The user of Elasticsearch may read and write the indices')
  const what = `The user of Elasticsearch lacks on the indices: ${lacks.join(', ')}`
  // Those required for serving; the others are required for loading.
  return lacks.includes('read') || lacks.includes('view_index_metadata')
    ? onStore.wrong(what, 'Give it the role iostlens_service of indices/roles.yml, or iostlens_loader to load.')
    : onStore.warning(
        what,
        "It may serve; 'iostlens load' and 'up' need the role iostlens_loader of indices/roles.yml.",
      )
}

const formatGigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`

/** Minimum free space in bytes, enough for a load to go on for a while. */
const LEAST_BYTES = 5_000_000_000

const STORE_HELP =
  'Check --store (or --data). For Elasticsearch: that it runs (curl URL/_cluster/health) and that user and password are right.'

/** Checks mappings, loaded data, keys, privileges and disk space, side by side. */
async function checkStore(store: Store, address: StoreAddress, tell: Tell): Promise<void> {
  const { serverReport } = store
  const questions: readonly (() => Promise<readonly DoctorFinding[]>)[] = [
    () => checkShape(store),
    async () => {
      const at = await store.published()
      if (at === undefined) return [onStore.ok(`${store.name} has no blocks yet`)]
      const { length } = await store.keys.list()
      return [onStore.ok(`${store.name} has blocks up to ${at.height}, and ${length} API keys`)]
    },
    ...(address.type === 'sqlite' ? [async () => checkFile(resolve(address.path))] : []),
    ...(serverReport === undefined ? [] : [async () => checkServer(await serverReport())]),
  ]
  const asked = { about: 'store', of: store.name, help: STORE_HELP, tell } as const
  await Promise.all(questions.map(question => askQuestion(asked, question)))
}

async function checkShape({ name, check }: Store): Promise<readonly DoctorFinding[]> {
  const differences = await check()
  if (differences.length === 0)
    return [onStore.ok(`${name} is of this version, with all its parts; 'iostlens verify' checks their content`)]
  if (differences.every(({ problem }) => problem === 'missing'))
    return [
      onStore.warning(
        `${name} does not exist yet, or lacks ${differences.length} parts`,
        "'iostlens load' and 'up' create it; 'iostlens indices create' does so alone.",
      ),
    ]
  return differences.map(({ name: part, problem, detail, help }) =>
    onStore.wrong(`${name}: ${part} is ${problem}: ${detail}`, problem === 'different' ? (help ?? MIGRATE) : MEND),
  )
}

function checkFile(path: string): readonly DoctorFinding[] {
  const { server: folder, freeBytes: free } = readDisk(dirname(path))
  const text = `${Math.floor(free / 1_000_000)} MB are free in ${folder}`
  const room =
    free < LEAST_BYTES
      ? onStore.warning(text, `Make room, or set --data to a larger disk: df -h ${folder}`)
      : onStore.ok(text)
  try {
    accessSync(existsSync(path) ? path : folder, constants.R_OK | constants.W_OK)
    return [room]
  } catch {
    const help = `'iostlens serve' only reads; to load, give this user the right: ls -l ${folder}`
    return [room, onStore.warning(`${path} cannot be written by this user`, help)]
  }
}

/** Minimum number of open files: one connection per client, and those to the store and the node. */
const LEAST_FILES = 4_096
/** Minimum memory in bytes: a load of a busy chain, with room for a service. */
const LEAST_MEMORY = 1_000_000_000

/** Limits of the machine for the process: open files (undefined: unknown), total and free memory in bytes. */
type Machine = { readonly openFiles: number | undefined; readonly memory: number; readonly freeMemory: number }

function readMachine(): Machine {
  const ofContainer = readFigure('/sys/fs/cgroup/memory.max', /^(\d+)$/m)
  const memory = Math.min(totalmem(), ofContainer ?? Number.POSITIVE_INFINITY)
  const available = readFigure('/proc/meminfo', /^MemAvailable: +(\d+) kB/m)
  return {
    openFiles: readFigure('/proc/self/limits', /^Max open files +(\d+)/m),
    memory,
    freeMemory: Math.min(memory, available === undefined ? freemem() : available * 1_024),
  }
}

/** A number in a file of Linux; undefined on other systems, and when the text has none. */
function readFigure(path: string, pattern: RegExp): number | undefined {
  try {
    const found = pattern.exec(readFileSync(path, 'utf8'))?.[1]
    return found === undefined ? undefined : Number(found)
  } catch {
    return undefined
  }
}

export const checkMachine = ({ openFiles, memory, freeMemory }: Machine): readonly DoctorFinding[] => [
  ...(openFiles === undefined
    ? []
    : [
        openFiles < LEAST_FILES
          ? onMachine.warning(
              `The process may open ${openFiles} files`,
              `Each client takes one: 'ulimit -n 65536', or LimitNOFILE=65536 in the systemd unit.`,
            )
          : onMachine.ok(`The process may open ${openFiles} files`),
      ]),
  freeMemory < LEAST_MEMORY
    ? onMachine.warning(
        `${formatMegabytes(freeMemory)} of ${formatMegabytes(memory)} memory are free`,
        "A load and a service together take up to 1 GB: 'free -m' shows how the rest is used.",
      )
    : onMachine.ok(`${formatMegabytes(freeMemory)} of ${formatMegabytes(memory)} memory are free`),
]

const formatMegabytes = (bytes: number): string => `${Math.floor(bytes / 1_000_000)} MB`

export const doctor: Command = {
  name: 'doctor',
  summary: 'check node, store and machine, and suggest remedies',
  about: [
    'Checks each node of --node (chain, height, clock, the calls it knows), the store (version, parts, rights, disk) and the machine (open files, memory). Changes nothing.',
    'Each finding is printed as it comes, a problem with its remedy. A question that is not answered within 5 seconds is a problem.',
    'Ends with exit code 3 if something is wrong; warnings alone end with 0.',
  ],
  settings: [...NODE, ...STORE, 'json', ...LOGGING],
  examples: ['iostlens doctor --node http://127.0.0.1:30001', 'iostlens doctor --json'],
  run: defineStoreRun(async call => {
    const { values, out, store } = call
    const findings: DoctorFinding[] = []
    const tell = (finding: DoctorFinding): void => {
      // Several questions may fail for one reason.
      if (findings.some(({ what }) => what === finding.what)) return
      findings.push(finding)
      if (values.json) return
      const { about, is, what, help } = finding
      out(`${is.padEnd(7)}  ${about.padEnd(7)}  ${what}`)
      if (help !== undefined) out(`${' '.repeat(18)}${help}`)
    }
    for (const finding of checkMachine(readMachine())) tell(finding)
    await Promise.all([checkStore(store, getStoreAddress(values), tell), checkNodes(call, tell)])
    if (values.json) out(writeJson({ findings }))
    return findings.some(({ is }) => is === 'wrong') ? 3 : 0
  }),
}

/** Checks each node separately: a set of nodes would hide a faulty one behind the others. */
async function checkNodes({ values, log, signal, store }: StoreCall, tell: Tell): Promise<void> {
  if (values.node === undefined)
    return tell(
      onNode.warning('No node is set', 'Set one with --node URL to load, to follow the chain and to pass requests on.'),
    )
  const stored = readStoredEnd(store)
  const { hashAt } = createHashSource(store, signal)
  await Promise.all(
    values.node.map(async url => {
      using node = connectNode({ ...values, node: [url] }, log)
      if (node !== undefined) await checkNode({ node, stored, hashAt, clock: systemClock, signal }, tell)
    }),
  )
}

async function readStoredEnd(store: Store): Promise<StoredEnd | undefined> {
  try {
    const reading = Promise.all([store.published(), store.identity()])
    const [published, identity] = await awaitLimited(reading, { ms: ANSWER_MS })
    return published && identity && { published, identity }
  } catch {
    return undefined
  }
}
