import { decodeBase58 } from '#chain/base58.ts'
import { elementSpans, memberSpans, type TextSpan } from '#chain/json.ts'
import { type Answer, found, refused } from '../support/nodes/rpc/answer.ts'
import { parseBool, parseInt64, readHeadRange, readTransactionRange } from '../support/nodes/rpc/go-values.ts'
import type { Call } from '../support/nodes/rpc/routes.ts'
import type { RecordedCall, Recording } from './recording.ts'

/** Hashes in paths have fewer characters than this (go-iost rpc, checkHashValid). */
const HASH_CHARACTERS = 100

const BLOCK_NOT_FOUND = refused(2, 'block not found')

type TextAt = (height: bigint) => string | undefined

/** The calls that a recording can answer at any height; `height()` is the head and the last irreversible block. */
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

/**
 * Answers of the node, cut out of its answer to getBlockByNumber/{height}/true character by character, so
 * that replayed answers equal the recorded ones.
 */

const blockStart = (text: string): number => memberSpans(text).get('block')?.[0] ?? 0

function transactionSpans(text: string): readonly TextSpan[] {
  const list = memberSpans(text, blockStart(text)).get('transactions')
  return list === undefined ? [] : elementSpans(text, list[0])
}

/** The answer without `complete`: the same text, without its transactions. */
function withoutTransactions(text: string): string {
  const list = memberSpans(text, blockStart(text)).get('transactions')
  return list === undefined ? text : `${text.slice(0, list[0])}[]${text.slice(list[1])}`
}

function transactionAnswer(text: string, height: number, index: number): string {
  const span = transactionSpans(text)[index] ?? [0, 0]
  return `{"status":"IRREVERSIBLE", "transaction":${text.slice(...span)}, "block_number":"${height}"}`
}

function receiptAnswer(text: string, index: number): string {
  const [start] = transactionSpans(text)[index] ?? [0, 0]
  return text.slice(...(memberSpans(text, start).get('tx_receipt') ?? [0, 0]))
}

type CalledAction = { readonly contract: string; readonly action_name: string }

/**
 * A block's entry of getBlockTxsByContract: transactions with a matching action, so never those without
 * actions. undefined when there is none, because the node leaves such blocks out.
 */
function filteredTransactions(text: string, height: number, filter: CalledAction): string | undefined {
  const fitting = transactionSpans(text)
    .map(span => text.slice(...span))
    .filter(written =>
      (JSON.parse(written) as { actions: readonly CalledAction[] }).actions.some(
        ({ contract, action_name }) =>
          (filter.contract === '' || contract === filter.contract) &&
          (filter.action_name === '' || action_name === filter.action_name),
      ),
    )
  return fitting.length === 0
    ? undefined
    : `{"status":"IRREVERSIBLE", "block_number":"${height}", "tx_list":[${fitting.join(', ')}]}`
}

function hashesOf(text: string): { readonly block: string; readonly transactions: readonly string[] } {
  const { block } = JSON.parse(text) as { block: { hash: string; transactions: readonly { hash: string }[] } }
  return { block: block.hash, transactions: block.transactions.map(({ hash }) => hash) }
}

type HeadField = 'version' | 'parent_hash' | 'tx_merkle_hash' | 'tx_receipt_merkle_hash' | 'number' | 'witness' | 'time'

const base64 = (hash: string): string => Buffer.from(decodeBase58(hash)).toString('base64')

export const NO_SIGN = '{"algorithm":0, "sig":"", "pubKey":""}'

/**
 * A block's entry of getBlockHeaderByRange. The block's JSON does not contain its `info`: it is empty for genesis and
 * `{}` for later blocks (derived from the hashes of the recorded chain). `sign` is the node's text.
 */
function rawHead(text: string, sign: string): string {
  const { block } = JSON.parse(withoutTransactions(text)) as { block: Record<HeadField, string> }
  const info = block.number === '0' ? '' : Buffer.from('{}').toString('base64')
  return (
    `{"head":{"version":"${block.version}", "parentHash":"${base64(block.parent_hash)}", ` +
    `"txMerkleHash":"${base64(block.tx_merkle_hash)}", "txReceiptMerkleHash":"${base64(block.tx_receipt_merkle_hash)}", ` +
    `"info":"${info}", "number":"${block.number}", "witness":"${block.witness}", "time":"${block.time}"}, ` +
    `"sign":${sign}, "txs":[], "receipts":[], "txHashes":[], "receiptHashes":[], "blockType":"ONLYHASH"}`
  )
}

function signaturesIn(text: string): readonly (readonly [height: number, sign: string])[] {
  const list = memberSpans(text).get('block_list')
  if (list === undefined) return []
  return elementSpans(text, list[0]).map(([start]) => {
    const entry = memberSpans(text, start)
    const number = memberSpans(text, entry.get('head')?.[0]).get('number') ?? [0, 0]
    return [Number(JSON.parse(text.slice(...number))), text.slice(...(entry.get('sign') ?? [0, 0]))] as const
  })
}
