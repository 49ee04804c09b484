import { PROOF_LEVELS } from '#chain/block.ts'
import { pass } from '../support/nodes/faulty-proxy.ts'
import { below, type Cause, pick, within } from './causes.ts'
import { FILES, INDICES, VANISHING } from './damage.ts'
import { LIES, lying, lyingAboutLib, orphanAt } from './lies.ts'
import { type SoakPlace, troubled } from './place.ts'
import { type Episode, episode } from './stand.ts'

const NEVER = /^\b$/
const OUT_OF_REACH =
  /out of reach|unavailable|no answer|No node responded|no response|usable response|not answer|busy|too many|timed? ?out|closed|cut|connect|unable|socket|respond/i
const NODE_LIES = /block|transaction|receipt|parent|JSON|nested|answer|response|irreversible|hash/i

/** Requests fail while a killed `up` is not running. */
const KILLED: Cause = { name: 'killed', statuses: [0, 503], says: /Another loader|took/ }

const kill = episode('a loader is killed at a counted request', KILLED, async stand => {
  const { random, nodeGate, place, loader } = stand
  const requests = 1 + below(random, 12)
  stand.grow(1 + below(random, 120))
  if (place.gates !== undefined && random() < 0.6) {
    const { loader: gate } = place.gates
    const { promise: killed, resolve } = Promise.withResolvers<void>()
    let left = 1 + below(random, 40)
    gate.decide(() => {
      left -= 1
      if (left > 0) return pass
      gate.passAll()
      return {
        type: 'end',
        run: () => {
          loader.kill()
          resolve()
        },
      }
    })
    await killed
    return stand.settled('a kill at a request to the store')
  }
  await nodeGate.after(requests)
  if (place.path !== undefined) loader.prepareNext(stand.doomAt(1 + below(random, 600)))
  loader.kill()
  await stand.settled('a kill at a request to the node')
})

const loseStore: Episode = {
  name: 'answers of the store are lost, held and refused',
  play: async stand => {
    const { random, place, loader } = stand
    if (place.gates === undefined) return kill.play(stand)
    const cause = { name: 'store troubled', statuses: [503, 504], says: OUT_OF_REACH }
    await within(stand.causes, cause, async () => {
      const gates = [place.gates?.loader, place.gates?.service]
      for (const gate of gates) gate?.decide(troubled(gate, random, 0.25))
      stand.grow(1 + below(random, 60))
      await place.gates?.loader.after(30 + below(random, 60))
      if (random() < 0.5) loader.kill()
      for (const gate of gates) gate?.passAll()
      await within(stand.causes, KILLED, () => stand.settled('trouble with the store'))
    })
  },
}

const loseNode = episode(
  'answers of the node are lost, held and refused',
  { name: 'node troubled', statuses: [], says: OUT_OF_REACH },
  async stand => {
    const { random, nodeGate } = stand
    nodeGate.decide(troubled(nodeGate, random, 0.4))
    stand.grow(1 + below(random, 100))
    await nodeGate.after(10 + below(random, 20))
    nodeGate.passAll()
    await stand.settled('trouble with the node')
  },
)

const second = episode(
  'a second loader',
  { name: 'second loader', statuses: [0], says: /Another loader|loader took/ },
  async stand => {
    const { random, loader, journal, name } = stand
    const other = stand.start(['load', '--once'])
    stand.grow(1 + below(random, 60))
    if (random() < 0.4) loader.kill()
    const { code, err } = await other.ended
    const fine = code === 0 || /Another loader|loader took/.test(err)
    journal.count(`${name}: second loader ended ${code}`)
    if (!fine) journal.wrong(`${name}: the second loader ended with ${code}: ${err.slice(-500)}`)
    await stand.settled('a second loader')
  },
)

const lie: Episode = {
  name: 'a node lies about a block',
  play: async stand => {
    const { random, nodeGate, journal, name, loader } = stand
    const told = pick(random, LIES)
    const others = random() < 0.5
    // A loader that is killed to change its level may leave a batch half published.
    const cause = { name: `node lies: ${told.name}`, statuses: others ? [0, 503] : [0], says: NODE_LIES }
    await within(stand.causes, cause, async () => {
      if (others) loader.prove(pick(random, PROOF_LEVELS))
      const from = stand.end()
      const blocks = 1 + below(random, 60)
      const height = from + 1 + below(random, blocks)
      const { promise: enough, resolve } = Promise.withResolvers<void>()
      let times = 0
      nodeGate.decide(
        lying(told, height, () => {
          times += 1
          if (times === 3) resolve()
        }),
      )
      stand.grow(blocks)
      // Some lies are never told: a block without transactions has none to drop.
      const asked = nodeGate.after(40)
      await Promise.race([enough, asked])
      nodeGate.passAll()
      if (times > 0) journal.count(`${name}: lies told: ${told.name}`)
      journal.note(`${name}: told ${times} times of block ${height}: ${told.name}`)
      await stand.settled(`lies: ${told.name}`)
    })
  },
}

const libs = episode(
  'the last irreversible block goes back, or is absurd',
  { name: 'node lies: last irreversible block', statuses: [0], says: NODE_LIES },
  async stand => {
    const { random, nodeGate, journal, name } = stand
    const libOf = pick(random, [
      () => '9007199254740000',
      (lib: number) => String(lib + 1_000_000),
      (lib: number) => String(Math.max(0, lib - 90)),
      () => '0',
    ])
    const { promise: enough, resolve } = Promise.withResolvers<void>()
    let left = 1 + below(random, 6)
    nodeGate.decide(
      lyingAboutLib(libOf, () => {
        left -= 1
        if (left === 0) resolve()
      }),
    )
    stand.grow(1 + below(random, 40))
    await enough
    nodeGate.passAll()
    journal.count(`${name}: lies told: last irreversible block`)
    await stand.settled('a last irreversible block that lies')
  },
)

const orphan = episode(
  'an orphan at the tip',
  { name: 'node lies: orphan', statuses: [0, 503], says: NODE_LIES },
  async stand => {
    const { random, nodeGate, node, journal, name, loader } = stand
    const before = loader.remedies()
    stand.grow(1 + below(random, 20))
    nodeGate.decide(await orphanAt(node, stand.end()))
    await stand.settled('an orphan that is believed')
    journal.count(`${name}: orphans believed`)
    nodeGate.passAll()
    if (random() < 0.5) loader.kill()
    stand.grow(1 + below(random, 20))
    await within(stand.causes, KILLED, () => stand.settled('an orphan'))
    journal.count(`${name}: orphans taken back ${loader.remedies() > before ? 'by a command' : 'by itself'}`)
  },
)

const killService = episode(
  'the service is killed',
  { name: 'service killed', statuses: [0], says: NEVER },
  async stand => {
    await stand.killService()
    stand.grow(1 + below(stand.random, 30))
    await stand.settled('a service that was killed')
  },
)

/** A node whose chain ends earlier for a while, as after a restore from a backup. */
const nodeBack = episode(
  'the node itself goes back',
  { name: 'node goes back', statuses: [0], says: NODE_LIES },
  async stand => {
    const { random, nodeGate, node, journal, name } = stand
    node.setHeight(Math.max(0, stand.end() - 1 - below(random, 100)))
    await nodeGate.after(3 + below(random, 12))
    journal.count(`${name}: nodes that went back`)
    stand.grow(1 + below(random, 20))
    await stand.settled('a node that went back')
  },
)

/** The episodes that every run of the tests plays: a process fails, or a node lies. */
export const SAMPLES = { sqlite: [kill, lie], elasticsearch: [kill] } as const

/** All episodes for a store. Repetitions in the list make an episode more frequent. */
export const episodesOn = ({ path }: SoakPlace): readonly Episode[] => [
  kill,
  kill,
  loseStore,
  loseNode,
  second,
  lie,
  lie,
  lie,
  libs,
  nodeBack,
  orphan,
  killService,
  ...VANISHING,
  ...(path === undefined ? INDICES : FILES),
]
