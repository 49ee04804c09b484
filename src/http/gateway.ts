import { tryParseJson } from '#chain/json.ts'
import type { ForwardedResponse, Node, NodeResponse } from '#node/port.ts'
import { boundedCache } from '#store/bounded-cache.ts'
import type { Clock } from '#time/clock.ts'
import { awaitLimited } from '#time/deadline.ts'

/** An answer whose bytes count until `release`. */
type TakenResponse = NodeResponse & { readonly release: () => void }

/** An answer of a node, which several readers take. */
type SharedAnswer = { readonly passed: ForwardedResponse; readonly take: () => TakenResponse }

/** The bytes of a shared answer are stored once, and count until the last reader releases them. */
function countHolders(passed: ForwardedResponse): SharedAnswer {
  const { status, contentType, body } = passed
  let holders = 0
  const take = (): TakenResponse => {
    let isHeld = true
    holders += 1
    const release = (): void => {
      if (!isHeld) return
      isHeld = false
      holders -= 1
      if (holders === 0) passed.release()
    }
    return { status, contentType, body, release }
  }
  return { passed, take }
}

/**
 * Milliseconds after the call to the node for which an answer is reused. The chain makes a block every 500,
 * so an answer is no older than from a node that is one block behind.
 */
const FRESH_MS = 500
/** Milliseconds for which a final answer is reused. It stays true, but a better node should eventually be asked. */
const FINAL_MS = 60_000
/** Maximum size of a cached answer. A larger one would evict many others. */
const MAX_BYTES = 1024 * 1024

const OPENING = '{'.charCodeAt(0)
const CLOSING = '}'.charCodeAt(0)

/**
 * Whether an answer may be cached at all: a JSON object with status 200, never a refusal, a failure or a proxy's page.
 */
const isKeepable = ({ status, contentType, body }: NodeResponse): boolean =>
  status === 200 &&
  contentType?.startsWith('application/json') === true &&
  body.length <= MAX_BYTES &&
  body[0] === OPENING &&
  body.at(-1) === CLOSING

/** Two fields of an answer: the name of the thing in the path, and the height of its block. */
type AnswerFields = { readonly name: unknown; readonly height: unknown }

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)

/** The methods that return a block or transaction. All others answer for the head or the last irreversible block. */
const FIELDS_OF_METHOD: ReadonlyMap<string, (answer: Json) => AnswerFields> = new Map([
  ['getBlockByNumber', ({ block }) => ({ name: member(block, 'number'), height: member(block, 'number') })],
  [
    'getRawBlockByNumber',
    ({ block }) => {
      const number = member(member(block, 'head'), 'number')
      return { name: number, height: number }
    },
  ],
  ['getBlockByHash', ({ block }) => ({ name: member(block, 'hash'), height: member(block, 'number') })],
  ['getTxByHash', ({ transaction, block_number: height }) => ({ name: member(transaction, 'hash'), height })],
])

/**
 * Whether an answer is final: the node calls the block or transaction in `path` irreversible, and its block
 * is not above `lib`, the last irreversible block known from the nodes.
 */
function isFinal(path: string, body: Uint8Array, lib: number): boolean {
  const [, method = '', asked = ''] = path.split('/')
  const readFields = FIELDS_OF_METHOD.get(method)
  if (readFields === undefined) return false
  const answer = parseBodyObject(body)
  if (answer === undefined || answer['status'] !== 'IRREVERSIBLE') return false
  const { name, height } = readFields(answer)
  return name === (/^0+\d/.test(asked) ? String(BigInt(asked)) : asked) && isHeight(height) && Number(height) <= lib
}

const isHeight = (value: unknown): value is string => typeof value === 'string' && /^\d{1,15}$/.test(value)

function parseBodyObject(body: Uint8Array): Json | undefined {
  const value = tryParseJson(new TextDecoder().decode(body))
  return isObject(value) ? value : undefined
}

/** Estimated bytes of an entry, without its body, its path, and what every cache counts. */
const ENTRY_BYTES = 300

type Entry = {
  readonly answer: SharedAnswer
  readonly since: number
  readonly own: TakenResponse
  /** Whether the answer is final; undefined: unknown, since it was not requested after `FRESH_MS`. */
  isFinal: boolean | undefined
}

/** A cache of node answers by path. Above `maxBytes` the oldest are evicted. */
function createNodeAnswerCache(node: Pick<Node, 'lastInfo'>, elapsed: () => number, maxBytes: number) {
  const entries = boundedCache<Entry>(maxBytes, ({ own }) => own.release())
  /** Only answers that are requested again are parsed, so that a reader of the whole chain pays nothing for it. */
  const isGood = (path: string, entry: Entry): boolean => {
    const age = elapsed() - entry.since
    const { passed } = entry.answer
    if (age >= FINAL_MS || !passed.isUsable()) return false
    if (age < FRESH_MS) return true
    entry.isFinal ??= isFinal(path, passed.body, node.lastInfo()?.libBlock ?? -1)
    return entry.isFinal
  }
  return {
    /** undefined: there is no answer for the path, or it has expired. */
    take: (path: string): TakenResponse | undefined => {
      const entry = entries.get(path)?.value
      if (entry !== undefined && isGood(path, entry)) return entry.answer.take()
      entries.drop(path)
      return undefined
    },
    /** Caches an answer whose call began at `since`, by the clock, unless a later one is cached. */
    keep: (path: string, answer: SharedAnswer, since: number): void => {
      if (since < (entries.get(path)?.value.since ?? since)) return
      const entry = { answer, since, own: answer.take(), isFinal: undefined }
      entries.put(path, entry, ENTRY_BYTES + 2 * path.length + answer.passed.body.length)
    },
    bytes: entries.characters,
  }
}

/**
 * Sources of an answer: the best node, another node because the best one was slow or failing, a call in
 * progress that another request began, or the cache.
 */
export const SOURCES = ['node', 'other_node', 'joined', 'kept'] as const

/** Access to the nodes for callers of `/rpc/`. */
export type Gateway = {
  /** A cached answer; undefined: a node must be asked. */
  kept(path: string): TakenResponse | undefined
  /**
   * The answer of a node, or one that was cached meanwhile. Equal requests within `FRESH_MS` of the first
   * share its call. Each request waits no longer than its own signal, and the call is aborted when none waits
   * any more. A failure is thrown to all of them and never cached.
   */
  ask(path: string, signal: AbortSignal): Promise<TakenResponse>
}

type GatewayOptions = {
  readonly clock: Pick<Clock, 'elapsed'>
  /** Maximum bytes of all cached answers. */
  readonly maxBytes: number
  /** Called with each answer. */
  readonly onAnswer: (source: (typeof SOURCES)[number]) => void
  /** Called with the number of cached bytes. */
  readonly onKept: (bytes: number) => void
}

/** A call to a node, in progress or just answered. */
type Call = {
  readonly since: number
  readonly answer: Promise<SharedAnswer>
  /** The number of waiting requests. */
  readers: number
  /** Called when no request waits any more. */
  readonly leave: () => void
}

export function createGateway(node: Node, { clock: { elapsed }, maxBytes, onAnswer, onKept }: GatewayOptions): Gateway {
  const cached = createNodeAnswerCache(node, elapsed, maxBytes)
  const calls = new Map<string, Call>()
  const takeKept = (path: string): TakenResponse | undefined => {
    const answer = cached.take(path)
    if (answer !== undefined) onAnswer('kept')
    return answer
  }
  /** Calls the node for all requests that arrive while the call is in progress. */
  const begin = (path: string): Call => {
    const since = elapsed()
    const ends = new AbortController()
    const forget = (): void => {
      if (calls.get(path) === call) calls.delete(path)
    }
    let own: TakenResponse | undefined
    const ask = async (): Promise<SharedAnswer> => {
      const passed = await node.get(path, { signal: ends.signal })
      const shared = countHolders(passed)
      // The bytes count until all waiting requests have taken the answer.
      own = shared.take()
      if (isKeepable(passed)) cached.keep(path, shared, since)
      onKept(cached.bytes())
      if (ends.signal.aborted) own.release()
      return shared
    }
    const answer = ask().finally(forget)
    // Each waiting request gets the failure, and there may be none left.
    answer.catch(() => undefined)
    const leave = (): void => {
      forget()
      ends.abort('left')
      own?.release()
    }
    const call: Call = { since, answer, readers: 0, leave }
    calls.set(path, call)
    return call
  }
  return {
    kept: takeKept,
    ask: async (path, signal) => {
      signal.throwIfAborted()
      const answer = takeKept(path)
      if (answer !== undefined) return answer
      const known = calls.get(path)
      const isJoined = known !== undefined && elapsed() - known.since < FRESH_MS
      const call = isJoined ? known : begin(path)
      call.readers += 1
      try {
        const { passed, take } = await awaitLimited(call.answer, { signal })
        onAnswer(isJoined ? 'joined' : passed.isFirst ? 'node' : 'other_node')
        return take()
      } finally {
        call.readers -= 1
        if (call.readers === 0) call.leave()
      }
    },
  }
}
