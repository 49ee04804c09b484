import { writeJson } from '#chain/json.ts'
import type { Store } from '#store/port.ts'
import { storedBlocks } from '#store/stored-blocks.ts'
import { systemClock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import type { Command, CommandCall } from '../command.ts'
import { connectNode, getStoreAddress, withStore } from '../compose.ts'
import { LOGGING, NODE, STORE } from '../settings.ts'
import { checkMachine, thisMachine } from './check-machine.ts'
import { checkNode, type StoredEnd } from './check-node.ts'
import { checkStore } from './check-store.ts'
import { ANSWER_MS, type DoctorFinding, findingsAbout, type Tell } from './finding.ts'

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
    withStore(call.values, call.log, async store => {
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
