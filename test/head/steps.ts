import { refused } from '../support/nodes/rpc/answer.ts'
import { aboveOf, ancestor, type ForkBlock, type ForkNode, growOn, leadsTo } from './fork-node.ts'
import type { ForkStand } from './stand.ts'

/** A random course of events, and the tips that lost against others. */
export type Course = {
  readonly stand: ForkStand
  readonly random: () => number
  readonly others: ForkBlock[]
  /** The names of the events so far, in order. */
  readonly happened: string[]
}

type Event = {
  readonly name: string
  /** The relative frequency of the event. */
  readonly weight: number
  /** The node does not answer everything, so the next poll need not show its exact head. */
  readonly calm?: false
  /** The service only notices the event when it asks the node. */
  readonly isUnnoticed?: true
  readonly can?: (stand: ForkStand) => boolean
  readonly happens: (course: Course) => void | Promise<void>
}

/** Time in milliseconds for which a node that did not answer is not asked. */
const SHUNNED_MS = 3_000
/** The interval between two polls of the head. */
const LOOK_MS = 200

/** Lets one event happen that also happens to real nodes. Every third one is of a kind that has not happened yet. */
export async function happen(course: Course): Promise<{ readonly name: string; readonly calm: boolean }> {
  const { stand, random, happened } = course
  const nodes = [stand.node, stand.other]
  stand.clock.leap(nodes.some(({ isAway }) => isAway) ? SHUNNED_MS : LOOK_MS)
  for (const node of nodes) Object.assign(node, { meddle: undefined, isAway: false })
  await stand.probe()
  const possible = EVENTS.filter(({ can }) => can?.(stand) ?? true)
  const others = possible.filter(({ name }) => happened.length % 3 === 2 && !happened.includes(name))
  const events = others.length > 0 ? others : possible
  let drawn = random() * events.reduce((sum, { weight }) => sum + weight, 0)
  const event = events.find(({ weight }) => {
    drawn -= weight
    return drawn < 0
  })
  happened.push(event?.name ?? '')
  await event?.happens(course)
  if (event?.calm !== false && event?.isUnnoticed !== true) await stand.probe()
  return { name: event?.name ?? 'nothing', calm: event?.calm ?? true }
}

const grown = ({ stand, random }: Course, parent: ForkBlock, blocks = 1): ForkBlock =>
  growOn(stand.forks, parent, blocks, random)

/** A branch that wins against a node's own. */
export function fork(course: Course, { head, lib }: ForkNode['stand']): ForkBlock {
  const { random } = course
  const above = aboveOf(head, lib)
  const from = above[Math.floor(random() * above.length)]?.parent ?? head
  // The larger number wins, and at equal height the earlier time. So the rival is at least as high.
  return grown(course, from, head.made.height - from.made.height + Math.floor(random() * 3))
}

/** The first node switches to another tip. */
export function goTo({ stand: { node }, others }: Course, head: ForkBlock): void {
  others.push(node.stand.head)
  if (others.length > 8) others.shift()
  node.stand = { ...node.stand, head }
}

/** The next last irreversible block, often a few blocks higher, as far as the head agrees with the final chain. */
function libAfter({ stand, random }: Course, { head, lib }: ForkNode['stand']): number {
  const final = stand.final()
  const isFinal = leadsTo(head, { height: final.lib, hash: ancestor(final.head, final.lib).hash })
  const isOfIt = ({ made: { height }, hash }: ForkBlock): boolean => leadsTo(final.head, { height, hash })
  const agreed = isFinal ? head.made.height : (aboveOf(head, -1).find(isOfIt)?.made.height ?? 0)
  const room = Math.max(0, agreed - lib)
  return lib + (random() < 0.2 ? room : Math.min(room, Math.floor(random() * 6)))
}

const event = (name: string, weight: number, happens: Event['happens'], more: Partial<Event> = {}): Event => ({
  ...{ name, weight, happens },
  ...more,
})

/** A node gets some more blocks. */
function growHead(course: Course, node: ForkNode, blocks = 1): void {
  node.stand = { ...node.stand, head: grown(course, node.stand.head, blocks) }
}

/** A call of the node finds nothing, although its head is higher. */
function findsNothing(what: string): Event {
  const happens = (course: Course): void => {
    const { node } = course.stand
    growHead(course, node)
    node.meddle = call => (call === what ? refused(2, 'block not found') : undefined)
  }
  return event(`${what} finds nothing`, 2.5, happens, { calm: false })
}

/** The node switches to another branch between two calls of one poll. */
function switchLater(course: Course): void {
  const { node } = course.stand
  let calls = Math.floor(course.random() * 6)
  const next = fork(course, node.stand)
  node.meddle = () => {
    if (calls-- === 0) goTo(course, next)
    return undefined
  }
}

/** The time exceeds that for which a head is shown without confirmation. */
async function waitSeconds({ stand }: Course): Promise<void> {
  for (let second = 0; second < 6; second += 1) {
    await stand.poll()
    stand.clock.leap(1_000)
    await stand.probe()
  }
}

/** A tip that lost, but still leads to the node's irreversible block, wins again. */
function goBack(course: Course): void {
  const { head, lib } = course.stand.node.stand
  const isPossible = (tip: ForkBlock): boolean => tip.made.height > lib && ancestor(tip, lib) === ancestor(head, lib)
  const back = course.others.findLast(tip => tip !== head && isPossible(tip))
  if (back !== undefined) goTo(course, grown(course, back, head.made.height - back.made.height))
}

function lagBehind(course: Course): void {
  const { node, other } = course.stand
  const ahead = { ...node.stand, head: grown(course, node.stand.head, 1 + Math.floor(course.random() * 6)) }
  other.stand = { ...ahead, lib: libAfter(course, ahead) }
}

function catchUp({ stand }: Course): void {
  const { node, other } = stand
  if (isBehind(stand)) node.stand = other.stand
  else other.stand = node.stand
}

function conclude(course: Course): void {
  const { node } = course.stand
  node.stand = { ...node.stand, lib: libAfter(course, node.stand) }
}

function goAway({ stand: { node } }: Course): void {
  node.isAway = true
}

const isBehind = ({ node, other }: ForkStand): boolean => other.stand.lib > node.stand.lib
const hasRoom = ({ node: { stand } }: ForkStand): boolean => stand.head.made.height > stand.lib

const EVENTS: readonly Event[] = [
  event('a block', 35, course => growHead(course, course.stand.node)),
  event('another branch', 15, course => goTo(course, fork(course, course.stand.node.stand)), { can: hasRoom }),
  event('the branch before', 10, goBack),
  event('irreversible', 25, conclude),
  event('loaded', 15, ({ stand }) => stand.load()),
  event('a switch between two calls', 5, switchLater, { calm: false }),
  findsNothing('getBlockByHash'),
  findsNothing('getRawBlockByNumber'),
  event('another service', 5, ({ stand }) => stand.restart()),
  event('who was behind catches up', 8, catchUp),
  event('the other node goes on alone', 5, course =>
    growHead(course, course.stand.other, 1 + Math.floor(course.random() * 12)),
  ),
  event('the first node lags behind the other', 4, lagBehind, { can: stand => !isBehind(stand) }),
  event('the first node does not answer', 5, goAway, { isUnnoticed: true }),
  event('the first node is known to be away', 3, goAway),
  event('no block for seconds', 4, waitSeconds),
]

/** All kinds of events. */
export const EVENT_NAMES = EVENTS.map(({ name }) => name)
