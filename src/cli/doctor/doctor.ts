import { readFileSync } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import { writeJson } from '#chain/json.ts'
import type { Store } from '#store/port.ts'
import { storedBlocks } from '#store/servable.ts'
import { systemClock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import type { Command, CommandCall } from '../command.ts'
import { connectNode, getStoreAddress, withStore } from '../compose.ts'
import { LOGGING, NODE, STORE } from '../settings.ts'
import { checkNode, type StoredEnd } from './check-node.ts'
import { checkStore } from './check-store.ts'
import { ANSWER_MS, type DoctorFinding, findingsAbout, type Tell } from './finding.ts'

const { ok, warning } = findingsAbout('machine')

/** Minimum number of open files: one connection per client, and those to the store and the node. */
const LEAST_FILES = 4_096
/** Minimum memory in bytes: a load of a busy chain, with room for a service. */
const LEAST_MEMORY = 1_000_000_000

/** Limits of the machine for the process; undefined: unknown. */
type Machine = {
  readonly openFiles: number | undefined
  /** Total memory; both in bytes. */
  readonly memory: number
  readonly freeMemory: number
}

function thisMachine(): Machine {
  const memory = Math.min(totalmem(), limitOfGroup() ?? Number.POSITIVE_INFINITY)
  return { openFiles: fileLimit(), memory, freeMemory: Math.min(memory, available() ?? freemem()) }
}

export const checkMachine = ({ openFiles, memory, freeMemory }: Machine): readonly DoctorFinding[] => [
  ...(openFiles === undefined
    ? []
    : [
        openFiles < LEAST_FILES
          ? warning(
              `The process may open ${openFiles} files`,
              `Each client takes one: 'ulimit -n 65536', or LimitNOFILE=65536 in the systemd unit.`,
            )
          : ok(`The process may open ${openFiles} files`),
      ]),
  freeMemory < LEAST_MEMORY
    ? warning(
        `${megabytes(freeMemory)} of ${megabytes(memory)} memory are free`,
        "A load and a service together take up to 1 GB: 'free -m' shows how the rest is used.",
      )
    : ok(`${megabytes(freeMemory)} of ${megabytes(memory)} memory are free`),
]

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1_000_000)} MB`

/** The content of a file of Linux; undefined on other systems. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function matchNumber(text: string | undefined, pattern: RegExp): number | undefined {
  const found = text === undefined ? undefined : pattern.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}

const fileLimit = (): number | undefined => matchNumber(read('/proc/self/limits'), /^Max open files +(\d+)/m)

function available(): number | undefined {
  const kilobytes = matchNumber(read('/proc/meminfo'), /^MemAvailable: +(\d+) kB/m)
  return kilobytes === undefined ? undefined : kilobytes * 1_024
}

/** Memory limit of the container. */
const limitOfGroup = (): number | undefined => matchNumber(read('/sys/fs/cgroup/memory.max'), /^(\d+)$/m)

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
  run: call =>
    withStore(call, async store => {
      const { values, out } = call
      const findings: DoctorFinding[] = []
      const tell = (finding: DoctorFinding): void => {
        // Several questions may fail for one reason.
        if (findings.some(({ what }) => what === finding.what)) return
        findings.push(finding)
        if (!values.json) for (const line of formatFinding(finding)) out(line)
      }
      for (const finding of checkMachine(thisMachine())) tell(finding)
      await Promise.all([checkStore({ store, address: getStoreAddress(values) }, tell), checkNodes(call, store, tell)])
      if (values.json) out(writeJson({ findings }))
      return findings.some(({ is }) => is === 'wrong') ? 3 : 0
    }),
}

/** Checks each node separately: a set of nodes would hide a faulty one behind the others. */
async function checkNodes({ values, log, signal }: CommandCall, store: Store, tell: Tell): Promise<void> {
  if (values.node === undefined) return tell(NO_NODE)
  const stored = readStoredEnd(store)
  const { hashAt } = storedBlocks(store, signal)
  await Promise.all(
    values.node.map(async url => {
      const node = connectNode({ ...values, node: [url] }, log)
      if (node === undefined) return
      try {
        await checkNode({ node, stored, hashAt, clock: systemClock, signal }, tell)
      } finally {
        node.close()
      }
    }),
  )
}

async function readStoredEnd(store: Store): Promise<StoredEnd | undefined> {
  try {
    const reading = Promise.all([store.published(), store.identity()])
    const [published, identity] = await within(reading, { ms: ANSWER_MS })
    return published && identity && { published, identity }
  } catch {
    return undefined
  }
}

const NO_NODE = findingsAbout('node').warning(
  'No node is set',
  'Set one with --node URL to load, to follow the chain and to pass requests on.',
)

const formatFinding = ({ about, is, what, help }: DoctorFinding): readonly string[] => [
  `${is.padEnd(7)}  ${about.padEnd(7)}  ${what}`,
  ...(help === undefined ? [] : [`${' '.repeat(18)}${help}`]),
]
