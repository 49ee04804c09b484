import { writeJson } from '#chain/json.ts'
import type { Store } from '#store/port.ts'
import { storedBlocks } from '#store/stored-blocks.ts'
import { systemClock } from '#time/clock.ts'
import type { Call, Command } from '../command.ts'
import { connectNode, storeAddressOf, withStore } from '../compose.ts'
import { LOGGING, NODE, STORE } from '../setting-groups.ts'
import { checkMachine, thisMachine } from './check-machine.ts'
import { checkNode } from './check-node.ts'
import { checkStore } from './check-store.ts'
import { type Finding, findingsAbout } from './finding.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'check node, store and machine, and suggest remedies',
  about: [
    'Checks each node of --node (chain, height, clock, the calls it knows), the store (version, parts, rights, disk) and the machine (open files, memory). Changes nothing.',
    'Each problem is printed with its remedy.',
    'Ends with exit code 3 if something is wrong; warnings alone end with 0.',
  ],
  settings: [...NODE, ...STORE, 'json', ...LOGGING],
  examples: ['iostlens doctor --node http://127.0.0.1:30001', 'iostlens doctor --json'],
  run: call =>
    withStore(call.values, call.log, async store => {
      const { values, out } = call
      const findings = [
        ...(await checkStore({ store, address: storeAddressOf(values) })),
        ...(await nodeFindings(call, store)),
        ...checkMachine(thisMachine()),
      ]
      if (values.json) out(writeJson({ findings }))
      else for (const line of findings.flatMap(linesOf)) out(line)
      return findings.some(({ is }) => is === 'wrong') ? 3 : 0
    }),
}

/** Checks each node separately: a set of nodes would hide a faulty one behind the others. */
const nodeFindings = async ({ values, log, signal }: Call, store: Store): Promise<readonly Finding[]> => {
  if (values.node === undefined) return [NO_NODE]
  const published = await store.published().catch(() => undefined)
  const identity = await store.identity().catch(() => undefined)
  const { hashAt } = storedBlocks(store, signal)
  const findings: Finding[] = []
  for (const url of values.node) {
    const node = connectNode({ ...values, node: [url] }, log)
    if (node === undefined) continue
    try {
      findings.push(...(await checkNode({ node, published, identity, hashAt, clock: systemClock, signal })))
    } finally {
      node.close()
    }
  }
  return findings
}

const NO_NODE = findingsAbout('node').warning(
  'No node is set',
  'Set one with --node URL to load, to follow the chain and to pass requests on.',
)

const linesOf = ({ about, is, what, help }: Finding): readonly string[] => [
  `${is.padEnd(7)}  ${about.padEnd(7)}  ${what}`,
  ...(help === undefined ? [] : [`${' '.repeat(18)}${help}`]),
]
