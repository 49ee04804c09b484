import { type Answer, found, refused } from '../support/nodes/rpc/answer.ts'
import { parseBool, parseInt64 } from '../support/nodes/rpc/go-values.ts'
import { readHeadRange, readTransactionRange } from '../support/nodes/rpc/ranges.ts'
import type { Call } from '../support/nodes/rpc/routes.ts'
import {
  filteredTransactions,
  hashesOf,
  NO_SIGN,
  rawHead,
  receiptAnswer,
  signaturesIn,
  transactionAnswer,
  withoutTransactions,
} from './block-text.ts'
import type { RecordedCall, Recording } from './recording.ts'

/** Hashes in paths have fewer characters than this (go-iost rpc, checkHashValid). */
const HASH_CHARACTERS = 100

const BLOCK_NOT_FOUND = refused(2, 'block not found')

/** The text of a block; undefined above the head. */
type TextAt = (height: bigint) => string | undefined

/**
 * The calls that a recording can answer at any height up to its last. `height()` is the head and the last
 * irreversible block.
 */
export function replayNode(recording: Recording, height: () => number) {
  const textAt: TextAt = at => (at >= 0n && at <= BigInt(height()) ? recording.blockText(Number(at)) : undefined)
  const hashes = once(() => hashIndex(recording))

  const blockAnswer = (text: string | undefined, complete: boolean): Answer =>
    text === undefined ? BLOCK_NOT_FOUND : found(complete ? text : withoutTransactions(text))

  const transactionPlace = (hash: string): Place | undefined => {
    const place = hashes().transactions.get(hash)
    return place === undefined || place.height > height() ? undefined : place
  }

  return {
    getChainInfo: async (): Promise<Answer> => {
      const recorded = (await recording.calls()).find(({ path, status }) => path === '/getChainInfo' && status === 200)
      const { block } = JSON.parse(withoutTransactions(textAt(BigInt(height())) ?? '')) as {
        block: { hash: string; time: string }
      }
      const now = new Map<string, string>()
      for (const side of ['head', 'lib']) {
        now.set(`${side}_block`, String(height()))
        now.set(`${side}_block_hash`, block.hash)
        now.set(`${side}_block_time`, block.time)
      }
      const text = (recorded?.text ?? '{}').replace(/"(\w+)":"[^"]*"/g, (written, key: string) =>
        now.has(key) ? `"${key}":"${now.get(key)}"` : written,
      )
      return found(text)
    },

    getBlockByNumber: (number: string, complete: string): Answer => {
      const at = parseInt64('number', number)
      if (typeof at !== 'bigint') return at
      const whole = parseBool('complete', complete)
      return typeof whole === 'boolean' ? blockAnswer(textAt(at), whole) : whole
    },

    getBlockByHash: (hash: string, complete: string): Answer => {
      const whole = parseBool('complete', complete)
      if (typeof whole !== 'boolean') return whole
      const at = hashes().blocks.get(hash)
      return tooLong(hash) ?? blockAnswer(at === undefined ? undefined : textAt(BigInt(at)), whole)
    },

    getTxByHash: (hash: string): Answer => {
      const place = transactionPlace(hash)
      const text = place === undefined ? undefined : recording.blockText(place.height)
      if (place === undefined || text === undefined) return tooLong(hash) ?? refused(2, 'tx not found')
      return found(transactionAnswer(text, place.height, place.index))
    },

    getTxReceiptByTxHash: (hash: string): Answer => {
      const place = transactionPlace(hash)
      const text = place === undefined ? undefined : recording.blockText(place.height)
      if (place === undefined || text === undefined)
        return tooLong(hash) ?? refused(2, 'failed to Get the receipt: not found')
      return found(receiptAnswer(text, place.index))
    },

    ...rangeCalls(recording, textAt),
  } as const
}

/** The calls for a range of blocks. */
function rangeCalls(recording: Recording, textAt: TextAt) {
  return {
    getBlockHeaderByRange: async (body: string): Promise<Answer> => {
      const range = readHeadRange(body)
      if ('status' in range) return range
      const { start, end } = range
      const signed = await readSignatures(recording)
      const heads: string[] = []
      for (let at = start; at < end; at += 1n) {
        const text = textAt(at)
        if (text === undefined) break
        heads.push(rawHead(text, signed.get(Number(at)) ?? NO_SIGN))
      }
      return found(`{"block_list":[${heads.join(', ')}]}`)
    },

    getBlockTxsByContract: (body: string): Answer => {
      const asked = readTransactionRange(body)
      if ('status' in asked) return asked
      const { from_block: from, to_block: to } = asked
      const blocks: string[] = []
      for (let at = from; at <= to; at += 1n) {
        const text = textAt(at)
        if (text === undefined) return BLOCK_NOT_FOUND
        const entry = filteredTransactions(text, Number(at), asked)
        if (entry !== undefined) blocks.push(entry)
      }
      return found(`{"blocktx_list":[${blocks.join(', ')}]}`)
    },
  } as const
}

type Place = { readonly height: number; readonly index: number }

const tooLong = (hash: string): Answer | undefined =>
  hash.length >= HASH_CHARACTERS ? refused(2, `hash len(${hash.length}) is greater then ${HASH_CHARACTERS}`) : undefined

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Positions of all hashes, built from all blocks at the first request by hash. */
function hashIndex(recording: Recording) {
  const blocks = new Map<string, number>()
  const transactions = new Map<string, Place>()
  for (let height = 0; height <= recording.height; height += 1) {
    const written = hashesOf(recording.blockText(height) ?? '')
    blocks.set(written.block, height)
    written.transactions.forEach((hash, index) => {
      transactions.set(hash, { height, index })
    })
  }
  return { blocks, transactions } as const
}

/** A value of the recorded calls, made once: hundreds of chains forged from a recording share its function `calls`. */
function cacheByCalls<T>(make: (calls: readonly RecordedCall[]) => T): (recording: Recording) => Promise<T> {
  const known = new WeakMap<Recording['calls'], Promise<T>>()
  return ({ calls }) => {
    const value = known.get(calls) ?? calls().then(make)
    known.set(calls, value)
    return value
  }
}

/** The recorded signatures by height. */
const readSignatures = cacheByCalls(
  calls =>
    new Map(
      calls
        .filter(({ path, status }) => path === '/getBlockHeaderByRange' && status === 200)
        .flatMap(({ text }) => signaturesIn(text)),
    ),
)

const keyOf = (method: string, path: string, body: string): string => `${method} ${path} ${body}`
const readCallIndex = cacheByCalls(
  calls => new Map(calls.map(call => [keyOf(call.method, call.path, call.body ?? ''), call])),
)

/** A body without `by_longest_chain` requests the state of the last irreversible block. */
const bothSides = (body: string): readonly string[] =>
  [
    body,
    body.replace('"by_longest_chain":false', '"by_longest_chain":true'),
    body.includes('"by_longest_chain"') ? body : body.replace(/\}$/, ',"by_longest_chain":true}'),
  ].filter((each, at, all) => all.indexOf(each) === at)

/**
 * The recorded answer to a call. The head of a recording is irreversible, so an answer recorded for one of
 * the two is valid for both. A call that was never recorded is refused with code 2.
 */
export async function recordedAnswer(recording: Recording, { method, path, body }: Call): Promise<Answer> {
  const index = await readCallIndex(recording)
  const end = path.lastIndexOf('/')
  const side = parseBool('by_longest_chain', path.slice(end + 1))
  const paths = typeof side === 'boolean' ? [path, ...[side, !side].map(at => `${path.slice(0, end)}/${at}`)] : [path]
  for (const candidate of paths)
    for (const asked of bothSides(body)) {
      const call = index.get(keyOf(method, candidate, asked))
      if (call !== undefined) return { status: call.status, contentType: call.content_type, text: call.text }
    }
  return refused(2, 'not recorded')
}
